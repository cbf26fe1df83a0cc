"""Connections of the simulated world.

1. Octets of one connection come in their order, each after a while of its own.
2. Where a direction is cut they wait, and come when it is whole again, as TCP would have it; what
   is dialled there is refused after the time that a dial may take.
3. To a host that stands still the kernel accepts and keeps them. A host that is gone refuses; one
   that lost its power says nothing to anybody until it is back.
4. One direction of one connection may stall while others pass, as with a lost packet or one bad
   path of several. So what was sent on it comes after what was sent later, on another connection.
"""

from collections import deque
from collections.abc import Iterator

import msgspec


class End(msgspec.Struct, eq=False):
    """One end of a connection, on a host, under the number by which its server knows it."""

    host: str
    number: int
    boot: int
    waiting: deque[bytes]  # for the other end, not yet arrived
    peer: "End | None" = None
    is_open: bool = False  # its server knows of it
    is_closed: bool = False


class Network:
    """`cuts`: pairs of hosts; nothing comes from the one to the other. `stalls`: ends, by host
    and number, from which nothing comes."""

    def __init__(self) -> None:
        self.cuts: set[tuple[str, str]] = set()
        self.stalls: set[tuple[str, int]] = set()
        self._ends: dict[tuple[str, int], End] = {}
        self._last = 0

    def connect(self, near: str, far: str, near_boot: int, far_boot: int) -> tuple[End, End]:
        one, other = self._end(near, near_boot), self._end(far, far_boot)
        one.peer, other.peer = other, one
        return one, other

    def end(self, host: str, number: int) -> End | None:
        return self._ends.get((host, number))

    def drop(self, end: End) -> None:
        self._ends.pop((end.host, end.number), None)

    def of(self, host: str) -> list[End]:
        return [end for end in self._ends.values() if end.host == host]

    def towards(self, host: str) -> list[End]:
        """Return the ends whose octets are under way to that host."""
        return [end for end in self._ends.values() if end.peer and end.peer.host == host]

    def passes(self, end: End) -> bool:
        """Return whether what this end says reaches the other one."""
        assert end.peer is not None, "both were made together"
        is_cut = (end.host, end.peer.host) in self.cuts
        return not is_cut and (end.host, end.number) not in self.stalls

    def between(self, one: str, other: str) -> Iterator[End]:
        for end in [*self._ends.values()]:
            if end.peer is not None and {end.host, end.peer.host} == {one, other}:
                yield end

    def _end(self, host: str, boot: int) -> End:
        self._last += 1
        end = self._ends[host, self._last] = End(host, self._last, boot, deque())
        return end
