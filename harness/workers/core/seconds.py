"""The share of a publisher's load that was on time, second by second, when it is final.

1. A publish belongs to the second of run time that it was intended for, whenever it was sent.
2. A second is reported once: a deadline after its end, or when its publisher closes. After a stall
   at most AT_ONCE are reported at a time, to spare the event loop.
3. A message costs an addition; how many were due is computed when their second is reported.
4. What is to be rolled back is never due. At rate max nothing is.
5. Pure: times are handed in, in nanoseconds of run time.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from harness.workers.core.pacing import NS_PER_S, Pacing

# Answers of a library come through its threads: one may be in time and be heard of a little later.
HEARD_WITHIN_NS = 200_000_000
AT_ONCE = 10


class Second(NamedTuple):
    """`second` is that of run time, from 0."""

    second: int
    due: int
    on_time: int


class Seconds:
    """The seconds of one publisher. `withdrawn`: whether a publish is to be rolled back; None
    where none is."""

    def __init__(
        self, pacing: Pacing, deadline_ns: int, withdrawn: Callable[[int], bool] | None
    ) -> None:
        self._pacing = pacing
        self._deadline_ns = deadline_ns
        self._withdrawn = withdrawn
        self._on_time: defaultdict[int, int] = defaultdict(int)
        self._next: int | None = None  # None until the load has a beginning

    def in_time(self, deadline_ns: int) -> None:
        """The publish with this deadline was confirmed by then."""
        self._on_time[(deadline_ns - self._deadline_ns) // NS_PER_S] += 1

    def settled(self, now_ns: int, closed: bool = False) -> list[Second]:
        """The seconds that are final now and were not told yet. `closed`: nothing will be
        intended or confirmed any more."""
        started_ns = self._pacing.started_ns
        if started_ns is None:
            return []
        second = started_ns // NS_PER_S if self._next is None else self._next
        final_ns = now_ns - self._deadline_ns - HEARD_WITHIN_NS
        final: list[Second] = []
        while not self._pacing.over_by(second * NS_PER_S):
            is_final = (second + 1) * NS_PER_S <= final_ns and len(final) < AT_ONCE
            if not (closed or is_final):
                break
            final.append(Second(second, self._due_in(second), self._on_time.pop(second, 0)))
            second += 1
        self._next = second
        return final

    def _due_in(self, second: int) -> int:
        from_ns = second * NS_PER_S
        publishes = self._pacing.intended_in(from_ns, from_ns + NS_PER_S)
        if self._withdrawn is None:
            return len(publishes)
        return sum(not self._withdrawn(sequence) for sequence in publishes)
