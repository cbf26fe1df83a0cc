"""Which ways between hosts a cut of some shape closes, and who has to drop what.

1. A way is (from, to): one direction. A cut is a set of ways.
2. A way can be closed at either of its ends; the ends are chosen so that few hosts have to act,
   for a cut by one host takes effect at one moment.
"""

from collections import Counter

from faults.actions import both_ways

Way = tuple[str, str]
SHAPES = {"one": "the target's host against all others"}


def ways(shape: str, host: str, hosts: tuple[str, ...]) -> tuple[Way, ...]:
    """The ways that a cut of this shape closes, seen from the target's host."""
    assert shape in SHAPES, shape
    return both_ways(host, tuple(peer for peer in hosts if peer != host))


def droppers(ways: tuple[Way, ...]) -> dict[str, tuple[Way, ...]]:
    """The hosts that drop packets, and on which ways: again and again the one with most left."""
    left, found = list(dict.fromkeys(ways)), {}
    while left:
        counts = Counter(end for way in left for end in way)
        host = max(counts, key=lambda end: counts[end])  # of equals the first that is named
        found[host] = tuple(way for way in left if host in way)
        left = [way for way in left if host not in way]
    return found


def pairs(ways: tuple[Way, ...]) -> tuple[Way, ...]:
    """One way for each pair of hosts, the first that is named."""
    seen: dict[frozenset[str], Way] = {}
    for way in ways:
        seen.setdefault(frozenset(way), way)
    return tuple(seen.values())
