"""PURE: what active faults hide from an observer of another one.

1. Only actions count, not the names of kinds: a kind from another package interferes, too.
2. A way that another fault closes says nothing of this fault: neither that it holds nor that it
   has ended, nor that more is cut than the scenario says.
3. A broker that another fault stops or ends cannot speak. Its host still has a network.
"""

from collections.abc import Iterable, Iterator
from itertools import product

from faults.core.actions import (
    AddToxic,
    Cut,
    Disable,
    Freeze,
    Impair,
    Isolate,
    Kill,
    RaiseAlarm,
    Stop,
    both_ways,
)
from faults.core.mechanisms import PROXY
from faults.core.model import Armed, Interference, Proof
from faults.core.peers import peer_link
from faults.core.places import host_of
from faults.core.shapes import Way

HANDSHAKE_KB = 4  # at most, of a canary that opens
GIVEN_UP = 1.25  # of the detection timeout, at most: then a silent peer is down
LATENCY = "latency"  # the toxic's type, and its attribute in ms


def interference(
    armed: Armed, others: Iterable[Armed], detection_timeout_s: float = 0.0
) -> Interference:
    """Return what these other active faults hide from an observer of `armed`.
    `detection_timeout_s`: the layout's detection timeout."""
    others = tuple(others)
    actions = [action for other in others for action in other.actions]
    meeting = [one for one in others if _meets(armed, one)]
    stopped = (one.host for one in actions if isinstance(one, Freeze | Kill | Stop))
    return Interference(
        mute=frozenset(map(host_of, stopped)),
        closed=frozenset(way for one in actions for way in _closed(one, armed.hosts)),
        slowed=frozenset(way for one in actions for way in _slowed(one, armed.hosts)),
        links=frozenset(link for other in others if other.proxies for link in _links(other)),
        alarms=frozenset(
            (one.host, one.resource) for one in actions if isinstance(one, RaiseAlarm)
        ),
        round_trip_s=sum(2 * _latency_s(one) for one in meeting),
        agreeing_s=GIVEN_UP * detection_timeout_s if any(map(_silences, actions)) else 0.0,
        narrow_s=sum(map(_handshake_s, meeting)),
    )


def visible(armed: Armed, ways: Iterable[Way], timed: bool = False) -> tuple[Way, ...]:
    """The ways (from, to) that no other active fault closes; `timed`: nor makes late.

    A word of the reference's peers needs its own direction alone. A handshake, or a word that is
    answered, needs both.
    """
    meanwhile = armed.meanwhile()
    closed = meanwhile.closed | meanwhile.slowed if timed else meanwhile.closed
    one_way = armed.mechanism == PROXY
    return tuple(way for way in ways if way not in closed and (one_way or way[::-1] not in closed))


def undisturbed(proof: Proof, armed: Armed, ways: Iterable[Way], timed: bool = False) -> Proof:
    """Return a proof by what came over these ways; a doubt where another fault has begun to hide
    one of them meanwhile, whose doing it may be."""
    ways = tuple(ways)
    if not proof.ok or visible(armed, ways, timed) == ways:
        return proof
    return Proof(ok=False, detail="", doubt="another fault began to hide these ways meanwhile")


def _links(other: Armed) -> Iterator[str]:
    """The links of clients that a fault closes or holds."""
    for action in other.actions:
        if isinstance(action, Disable) or (isinstance(action, AddToxic) and not _slow(action)):
            yield from action.proxies


def _slow(action: AddToxic) -> bool:
    """Return whether everything passes, but later."""
    return action.type == LATENCY or _attribute(action, "rate") > 0


def _latency_s(other: Armed) -> float:
    """Return what a fault adds to the way in one direction."""
    return max((_attribute(one, LATENCY) for one in _toxics(other)), default=0) / 1000


def _handshake_s(other: Armed) -> float:
    """Return how long a handshake takes at the rate of a fault; 0 without one."""
    rates = [rate for one in _toxics(other) if (rate := _attribute(one, "rate")) > 0]
    return HANDSHAKE_KB / min(rates) if rates else 0.0


def _toxics(other: Armed) -> Iterator[AddToxic]:
    return (one for one in other.actions if isinstance(one, AddToxic))


def _attribute(action: AddToxic, name: str) -> int:
    return dict(action.attributes).get(name, 0)


def _silences(action: object) -> bool:
    """Return whether brokers wait for a silent peer until they give it up."""
    lossy = isinstance(action, Impair) and action.loss > 0
    return lossy or isinstance(action, Freeze | Cut | Isolate)


def _slowed(action: object, hosts: tuple[str, ...]) -> Iterator[Way]:
    """The ways between hosts that an action makes late."""
    if isinstance(action, AddToxic) and action.type == LATENCY:
        yield from _toxic(action, hosts)


def _closed(action: object, hosts: tuple[str, ...]) -> Iterator[Way]:
    """The ways between hosts that an action closes; a way that loses or delays packets says as
    little of another fault."""
    match action:
        case Cut(ways=ways):
            yield from ways
        case Isolate(host=host) | Impair(host=host):
            yield from both_ways(host, tuple(peer for peer in hosts if peer != host))
        case AddToxic(type=type) if type != LATENCY:
            yield from _toxic(action, hosts)


def _toxic(action: AddToxic, hosts: tuple[str, ...]) -> Iterator[Way]:
    """The ways that a toxic meets; none where it is on links of clients."""
    for start, end in product(hosts, hosts):
        if any(_is_link(name, start, end) for name in action.proxies):
            yield from _carried(start, end, action.streams)


def _is_link(name: str, start: str, end: str) -> bool:
    own = peer_link(start, end)
    return name == own or name.startswith(f"{own}.")


def _carried(start: str, end: str, streams: tuple[str, ...]) -> Iterator[Way]:
    if "upstream" in streams:
        yield start, end
    if "downstream" in streams:
        yield end, start


def _meets(armed: Armed, other: Armed) -> bool:
    """Return whether both are on one link of a client, or both on links between hosts."""
    of_links = bool(armed.proxies) or bool(armed.clients)
    if other.proxies:
        return bool(set(armed.proxies) & set(other.proxies))
    return not of_links
