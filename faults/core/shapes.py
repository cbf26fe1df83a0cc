"""Shapes of cuts: which ways between hosts a shape closes, and which hosts have to drop what.

1. A way is (from, to): one direction. A cut is a set of ways.
2. A way can be closed at either of its ends; the ends are chosen so that few hosts have to act,
   for a cut by one host takes effect at one moment.
3. Hosts are taken in one order, the target first and then as the layout has them: the same target
   and layout always give the same cut.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product

from faults.core.actions import both_ways

Way = tuple[str, str]
Hosts = tuple[str, ...]  # the target first


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of a cut. With fewer hosts than `hosts_min` it closes nothing, or means another
    shape."""

    meaning: str
    hosts_min: int
    closes: Callable[[Hosts], tuple[Way, ...]]


def ways(shape: str, host: str, hosts: Hosts) -> tuple[Way, ...]:
    """The ways that a cut of this shape closes, seen from the target's host."""
    assert host in hosts, (host, hosts)
    return SHAPES[shape].closes((host, *(peer for peer in hosts if peer != host)))


def left_open(cut: tuple[Way, ...], hosts: Hosts) -> tuple[Way, ...]:
    """The ways between these hosts that a cut does not close."""
    return tuple(way for way in product(hosts, hosts) if way[0] != way[1] and way not in cut)


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


def _one(hosts: Hosts) -> tuple[Way, ...]:
    return both_ways(hosts[0], hosts[1:])


def _halves(hosts: Hosts) -> tuple[Way, ...]:
    middle = len(hosts) // 2
    return _between(hosts[:middle], hosts[middle:])


def _one_way_in(hosts: Hosts) -> tuple[Way, ...]:
    return tuple((peer, hosts[0]) for peer in hosts[1:])


def _one_way_out(hosts: Hosts) -> tuple[Way, ...]:
    return tuple((hosts[0], peer) for peer in hosts[1:])


def _ring(hosts: Hosts) -> tuple[Way, ...]:
    apart = (
        (one, other)
        for one, other in combinations(range(len(hosts)), 2)
        if other - one not in (1, len(hosts) - 1)
    )
    return tuple(way for one, other in apart for way in both_ways(hosts[one], (hosts[other],)))


def _bridge(hosts: Hosts) -> tuple[Way, ...]:
    middle = 1 + (len(hosts) - 1) // 2
    return _between(hosts[1:middle], hosts[middle:])


def _between(side: Hosts, other: Hosts) -> tuple[Way, ...]:
    return tuple(way for host in side for way in both_ways(host, other))


SHAPES = {
    "one": Shape("the target's host against all others", 2, _one),
    "halves": Shape(
        "the smaller half, with the target's host in it, against the other", 2, _halves
    ),
    "one_way_in": Shape("nothing from others reaches the target's host", 2, _one_way_in),
    "one_way_out": Shape("nothing from the target's host reaches others", 2, _one_way_out),
    "ring": Shape("each host reaches its two neighbours alone", 5, _ring),
    "bridge": Shape("two halves that both reach the target's host, not each other", 3, _bridge),
}
