"""The kinds of faults that there are: ours, and those of packages beside mqproof.

`processes`      kill, stop, freeze
`client_links`   hang, close, refuse, reset, slow, cut_after
`network`        partition, black_hole, reboot, flap
`peer_links`     slow_peers
`alarms`         alarm
`clients`        client_crash, client_freeze

1. Each is declared once, in its own module (kind.py says what it has to answer).
2. Another package names its kinds by the entry point group `mqproof.faults`: each leads to a Kind.
3. Where a deployment or a system cannot do a kind, it says why: never silently.
"""

from collections.abc import Iterable
from importlib.metadata import entry_points

from faults.kind import Kind
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
from faults.kinds.peer_links.slow_peers import SLOW_PEERS
from faults.kinds.processes.freeze import FREEZE
from faults.kinds.processes.kill import KILL
from faults.kinds.processes.stop import STOP
from faults.mechanisms import DIRECT, TOXIPROXY

GROUP = "mqproof.faults"
OURS = (
    *(KILL, STOP, FREEZE),
    *(HANG, CLOSE, REFUSE, RESET, SLOW, CUT_AFTER),
    *(PARTITION, BLACK_HOLE, REBOOT, FLAP),
    SLOW_PEERS,
    ALARM,
    *(CLIENT_CRASH, CLIENT_FREEZE),
)


class KindError(Exception):
    """A package beside mqproof declares a kind that cannot be taken: which, and why not."""


def found() -> tuple[Kind, ...]:
    """What other packages declare. Raises KindError with the entry point and what is wrong."""
    kinds = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        where = f"entry point {point.name} = {point.value} of {GROUP}"
        try:
            kind = point.load()
        except Exception as error:  # whatever a stranger's module raises when it is read
            raise KindError(f"{where}: {type(error).__name__}: {error}") from error
        if not isinstance(kind, Kind):
            raise KindError(f"{where} is a {type(kind).__name__}, not a faults.kind.Kind")
        if kind.name != point.name:
            raise KindError(f"{where} is the kind {kind.name}: the two names must be one")
        kinds.append(kind)
    return tuple(kinds)


def by_name(kinds: Iterable[Kind]) -> dict[str, Kind]:
    """Raises KindError where two bear one name, or two of their actions do."""
    known: dict[str, Kind] = {}
    actions: dict[str, type] = {}
    for kind in kinds:
        if kind.name in known:
            raise KindError(f"there are two kinds of faults named {kind.name}")
        known[kind.name] = kind
        for action in kind.actions:
            if actions.setdefault(action.__name__, action) is not action:
                raise KindError(f"{kind.name}: there is another action {action.__name__}")
    return known


KINDS = by_name((*OURS, *found()))


def by_signals() -> tuple[str, ...]:
    """The kinds that strike one process of a host alone, or several places at once."""
    return tuple(kind.name for kind in KINDS.values() if kind.strikes_processes)


def by_command() -> tuple[str, ...]:
    """The kinds that a user's own commands do, to hosts that are not ours."""
    return tuple(kind.name for kind in KINDS.values() if kind.verify_commanded is not None)


def mechanism(kind: str, deployment: str, peer_links: str = DIRECT) -> str:
    """By what it is done; "" where nothing does it."""
    offered = KINDS[kind]
    by_proxy = offered.by_peer_links if peer_links == TOXIPROXY else {}
    return by_proxy.get(deployment) or offered.offers.get(deployment, "")


def offered(kind: Kind, deployment: str) -> str:
    """Every mechanism of a kind, and what it hangs on; "-": none."""
    words = [kind.offers[deployment]] if deployment in kind.offers else []
    if deployment in kind.by_peer_links:
        words.append(f"{kind.by_peer_links[deployment]} if peer_links = {TOXIPROXY}")
    return "; ".join(words) or "-"
