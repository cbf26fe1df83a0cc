"""The registry of fault kinds: ours, and those of other packages.

`processes`      kill, stop, freeze
`client_links`   hang, close, refuse, reset, slow, cut_after
`network`        partition, black_hole, reboot, flap
`packets`        packet_loss, packet_delay
`peer_links`     slow_peers
`alarms`         alarm
`clients`        client_crash, client_freeze
`families`       the constructors of kinds, one a family

1. Each is declared once, in its own module (core/kind.py says what it has to answer).
2. Another package names its kinds by the entry point group `mqproof.faults`: each leads to a Kind.
   The use of a broken one is an error that names its package and the reason.
3. If a deployment or a system cannot do a kind, it says why: never silently.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from faults.core.kind import Kind
from faults.core.mechanisms import DIRECT, TOXIPROXY
from faults.core.options import GENERAL, FaultOptions, Option
from faults.kinds.alarms.alarm import ALARM
from faults.kinds.client_links.close import CLOSE
from faults.kinds.client_links.cut_after import CUT_AFTER
from faults.kinds.client_links.hang import HANG
from faults.kinds.client_links.refuse import REFUSE
from faults.kinds.client_links.reset import RESET
from faults.kinds.client_links.slow import SLOW
from faults.kinds.clients.client_crash import CLIENT_CRASH
from faults.kinds.clients.client_freeze import CLIENT_FREEZE
from faults.kinds.network.black_hole import BLACK_HOLE
from faults.kinds.network.flap import FLAP
from faults.kinds.network.partition import PARTITION
from faults.kinds.network.reboot import REBOOT
from faults.kinds.packets.packet_delay import PACKET_DELAY
from faults.kinds.packets.packet_loss import PACKET_LOSS
from faults.kinds.peer_links.slow_peers import SLOW_PEERS
from faults.kinds.processes.freeze import FREEZE
from faults.kinds.processes.kill import KILL
from faults.kinds.processes.stop import STOP

GROUP = "mqproof.faults"
OURS = (
    *(KILL, STOP, FREEZE),
    *(HANG, CLOSE, REFUSE, RESET, SLOW, CUT_AFTER),
    *(PARTITION, BLACK_HOLE, REBOOT, FLAP),
    *(PACKET_LOSS, PACKET_DELAY),
    SLOW_PEERS,
    ALARM,
    *(CLIENT_CRASH, CLIENT_FREEZE),
)


@dataclass(frozen=True, slots=True)
class FaultRegistry:
    """`packages`: whose a kind is, where it is not ours; `spoilt`: why an offer is not used."""

    kinds: Mapping[str, Kind]
    packages: Mapping[str, str]
    spoilt: Mapping[str, str]


def read(points: Iterable[EntryPoint]) -> FaultRegistry:
    """Return our kinds and those that other packages offer. A broken offer does not block the
    others."""
    kinds = {kind.name: kind for kind in OURS}
    packages, spoilt = dict[str, str](), dict[str, str]()
    by_name: dict[str, list[EntryPoint]] = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    for name, same in sorted(by_name.items()):
        whose = " and ".join(sorted(map(_package, same)))
        try:
            kinds[name] = _taken(same, kinds)
            packages[name] = whose
        except (Exception, SystemExit) as failure:  # another's module may raise anything
            why = str(failure) if isinstance(failure, ValueError) else repr(failure)
            spoilt[name] = f"the fault {name} of {whose} cannot be used: {why}"
    return FaultRegistry(kinds, packages, spoilt)


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"


def _taken(same: Sequence[EntryPoint], known: Mapping[str, Kind]) -> Kind:
    """Of what is offered under one name. Raises ValueError with what is wrong; and whatever its
    module raises."""
    if len(same) > 1:
        raise ValueError("it is ambiguous which of them is meant")
    (point,) = same
    if point.name in known:
        raise ValueError("there is another kind of that name, which is the one that is used")
    kind = point.load()
    if not isinstance(kind, Kind):
        raise ValueError(f"{point.value} is a {type(kind).__name__}, not a faults.core.kind.Kind")
    if kind.name != point.name:
        raise ValueError(f"{point.value} is the kind {kind.name}: the two names must be one")
    actions = {action.__name__: action for one in known.values() for action in one.actions}
    for action in kind.actions:
        if actions.get(action.__name__, action) is not action:
            raise ValueError(f"there is another action {action.__name__}")
    options = {key: option for one in known.values() for key, option in _options_of(one).items()}
    for key, option in _options_of(kind).items():
        if key in GENERAL or options.get(key, option) != option:
            raise ValueError(f"there is another key {key} of a fault")
    return kind


def _options_of(kind: Kind) -> dict[str, Option]:
    """Return a kind's options by their keys. Raise ValueError where its type declares none."""
    if not isinstance(kind.options, type) or not issubclass(kind.options, FaultOptions):
        raise ValueError("its options are no type of faults.core.options.FaultOptions")
    return {option.key: option for option in kind.options.by_field().values()}


def _words_first(kinds: Mapping[str, Kind]) -> dict[str, Option]:
    """Return all options by their keys, in the order of kinds: words, then lengths and numbers."""
    found = {key: option for kind in kinds.values() for key, option in _options_of(kind).items()}
    return dict(sorted(found.items(), key=lambda each: not each[1].choices))


REGISTRY = read(entry_points(group=GROUP))
KINDS = REGISTRY.kinds
OPTIONS = _words_first(KINDS)


def by_signals() -> tuple[str, ...]:
    """The kinds that strike one process of a host alone, or several places at once."""
    return tuple(kind.name for kind in KINDS.values() if kind.strikes_processes)


def by_command() -> tuple[str, ...]:
    """The kinds that a user's own commands do, to hosts that are not ours."""
    return tuple(kind.name for kind in KINDS.values() if kind.verify_commanded is not None)


def mechanism(kind: str, deployment: str, peer_links: str = DIRECT) -> str:
    """Return the mechanism that does the kind of this name; "" if there is none."""
    return KINDS[kind].mechanism(deployment, peer_links)


def offered(kind: Kind, deployment: str) -> str:
    """Return every mechanism of a kind, and its condition; "-": none."""
    words = [kind.offers[deployment]] if deployment in kind.offers else []
    if deployment in kind.by_peer_links:
        words.append(f"{kind.by_peer_links[deployment]} if peer_links = {TOXIPROXY}")
    return "; ".join(words) or "-"
