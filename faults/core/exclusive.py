"""PURE: the things that a fault needs for itself while it is active: the end of one fault would
undo another one there.

1. Such undos are absolute: a host is started, a listener opened, whichever fault stopped or closed
   it. Of two faults on one thing the end of the first ends both, and the other is believed to
   hold.
2. What carries a name of its own window (a chain, a toxic) coexists with others of its kind.
3. A limit of a broker lasts as long as its process: a fault that ends the process ends it, too.
"""

from collections.abc import Iterable, Sequence

from faults.core import places
from faults.core.kind import Excludes, Kind

Thing = tuple[str, ...]
ENDED, RESOURCE = "ended", "resource"


def things(
    kind: Kind,
    meant: Sequence[str],
    resource: str,
    links: Sequence[str],
    clients: Sequence[str],
) -> frozenset[Thing]:
    """Return what a fault of this kind has for itself. `meant`: places; `links`, `clients`: those
    that it means."""
    match kind.excludes:
        case Excludes.PLACE:
            words = ("host", ENDED) if kind.ends_broker else ("host",)
            return frozenset((word, place) for word in words for place in meant)
        case Excludes.LISTENERS:
            return frozenset(("link", link) for link in links)
        case Excludes.CLIENTS:
            return frozenset(("client", client) for client in clients)
        case Excludes.RESOURCE:
            return frozenset((RESOURCE, place, resource) for place in meant)
        case Excludes.QUEUES:
            return frozenset(("queues", place) for place in meant)
        case Excludes.NOTHING:
            return frozenset()


def clash(own: Iterable[Thing], others: Iterable[Thing]) -> bool:
    """Return whether two faults share one thing. What a host has, its processes have, too."""
    others = tuple(others)
    return any(_same(one, other) for one in own for other in others)


def _same(one: Thing, other: Thing) -> bool:
    if one[0] == other[0] == "host" or {one[0], other[0]} == {ENDED, RESOURCE}:
        return places.overlap(one[1], other[1])
    return one == other
