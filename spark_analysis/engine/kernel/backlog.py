"""How many confirmed messages waited for their first delivery, as a step function of time.

1. A message that was never delivered is not waiting: it is a loss. One that only the drain got
   waited to the end.
2. A delayed message waits from when it is due. Of one that is committed only when the broker asks,
   nobody knows since when.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Ints
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.schema.words import Fate, Via


@dataclass(frozen=True, slots=True)
class Backlog:
    """`heights[i]` messages wait from `times_ns[i]` up to the next time; none before the first."""

    times_ns: Ints
    heights: Ints

    @classmethod
    def of(cls, messages: Messages, arrived: Arrivals) -> Self:
        asked = messages.terms.fates == Fate.COMMIT_WHEN_ASKED
        slots = np.flatnonzero(arrived.delivered & ~asked)
        first = arrived.first[slots]
        from_ns, until_ns = messages.confirmed_ns[slots], arrived.received_ns(first)
        if messages.terms.delayed.any():
            from_ns = np.maximum(from_ns, messages.terms.latest_due_ns(slots))
        until_ns = np.where(arrived.rows.via[first] == Via.DRAIN, NEVER, until_ns)
        waited = from_ns < until_ns
        from_ns, until_ns = np.sort(from_ns[waited]), np.sort(until_ns[waited])
        times_ns = np.unique(np.concatenate([from_ns, until_ns]))
        begun = np.searchsorted(from_ns, times_ns, side="right")
        over = np.searchsorted(until_ns, times_ns, side="right")
        return cls(times_ns, begun - over)

    def at(self, time_ns: int) -> int:
        place = int(np.searchsorted(self.times_ns, time_ns, side="right"))
        return int(self.heights[place - 1]) if place else 0

    def largest(self, from_ns: int, until_ns: int) -> int:
        """The largest backlog in [from_ns, until_ns); 0 if that is empty."""
        if from_ns >= until_ns:
            return 0
        first, last = np.searchsorted(self.times_ns, [from_ns, until_ns])
        return max(self.at(from_ns), int(self.heights[first:last].max(initial=0)))

    def drained_ns(self, base: int, from_ns: int, until_ns: int) -> int | None:
        """The end of the last time above `base` within [from_ns, until_ns]; None if it lasts."""
        if from_ns > until_ns or self.at(until_ns) > base:
            return None
        first, last = np.searchsorted(self.times_ns, [from_ns, until_ns], side="right")
        # The step that holds at from_ns began before it.
        begin = max(int(first) - 1, 0)
        above = np.flatnonzero(self.heights[begin:last] > base)
        if not len(above):
            return from_ns
        return int(self.times_ns[begin + above[-1] + 1])
