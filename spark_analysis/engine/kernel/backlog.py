"""Confirmed messages that waited too long for their first delivery, and when none waited any more.

1. A message that was never delivered does not wait: it is a loss. A message that only the drain
   received waited to the end.
2. A delayed message waits from when it is due. For a message that is committed only at the
   broker's check, the start of its wait is unknown.
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
    """Messages that waited too long at every time between `from_ns` and `until_ns`."""

    from_ns: Ints
    until_ns: Ints

    @classmethod
    def of(cls, messages: Messages, arrived: Arrivals, deadline_ns: int) -> Self:
        held = arrived.delivered & (messages.confirmed_ns < NEVER)
        held &= messages.terms.fates != Fate.COMMIT_WHEN_CHECKED
        slots = np.flatnonzero(held)
        first = arrived.first[slots]
        from_ns = messages.confirmed_ns[slots]
        if messages.terms.delayed.any():
            from_ns = np.maximum(from_ns, messages.terms.latest_due_ns(slots))
        from_ns = from_ns + deadline_ns
        until_ns = np.where(
            arrived.rows.via[first] == Via.DRAIN, NEVER, arrived.received_ns(first)
        )
        waited = from_ns < until_ns
        return cls(from_ns[waited], until_ns[waited])

    def drained_ns(self, resumed_ns: int, returned_ns: int, limit_ns: int) -> int | None:
        """Return when no message waited too long any more; None if one does at the limit.

        `resumed_ns`: since when there was consumption, and it cannot have been earlier.
        """
        waits = (self.from_ns < limit_ns) & (self.until_ns > limit_ns)
        if returned_ns > limit_ns or waits.any():
            return None
        over_ns = self.until_ns[(self.until_ns > returned_ns) & (self.until_ns <= limit_ns)]
        return int(over_ns.max(initial=resumed_ns))
