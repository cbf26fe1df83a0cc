"""When publishes are intended, which are due, and which were missed before they could go out.

1. Open loop: publish i is intended at start + (i + phase) / rate, whatever became of the others.
2. Publishes are taken in order. One whose deadline passes first expires: it is never sent.
3. At rate max (None) a publish is due whenever asked, and nothing is intended or expires.
4. Pure: times are handed in, in nanoseconds of one clock.
"""

import math
from typing import NamedTuple

from spark_analysis.schema.words import NO_INTENT

NS_PER_S = 1_000_000_000


class Publish(NamedTuple):
    """A sequence and its intended time; `deadline_ns` is NO_INTENT where it has none."""

    sequence: int
    intended_ns: int
    deadline_ns: int


class Pacing:
    """The publishes of one publisher, from 0, in order."""

    def __init__(self, rate: float | None, phase: float, deadline_ns: int) -> None:
        assert rate is None or rate > 0, rate
        self._rate = rate
        self._phase = phase
        self._deadline_ns = deadline_ns
        self._start_ns: int | None = None
        self._end: float = math.inf  # publishes in all, known when the load has stopped
        self._next = 0

    def start(self, at_ns: int) -> None:
        assert self._start_ns is None, "started twice"
        self._start_ns = at_ns

    def stop(self, now_ns: int) -> None:
        """No publish is intended after `now_ns`; those before it stand."""
        if self._rate is None or self._start_ns is None:
            self._end = self._next
        else:
            self._end = max(self._next, self._due_by(now_ns))

    @property
    def started_ns(self) -> int | None:
        return self._start_ns

    @property
    def next(self) -> int:
        """The publish that is taken next."""
        return self._next

    def intended_in(self, from_ns: int, until_ns: int) -> range:
        """The publishes that are intended in [from_ns, until_ns), taken or not; none at max."""
        if self._rate is None or self._start_ns is None:
            return range(0)
        return range(self._due_by(from_ns - 1), self._due_by(until_ns - 1))

    def over_by(self, at_ns: int) -> bool:
        """Whether nothing is intended at `at_ns` or later, now or ever."""
        if self._rate is None or self._start_ns is None:
            return True
        return self._due_by(at_ns - 1) >= self._end

    def next_ns(self) -> int | None:
        """When the next publish is due (at max: since when); None if none is to come."""
        if self._start_ns is None or self._next >= self._end:
            return None
        return self._start_ns if self._rate is None else self._intended_ns(self._next)

    def waiting(self, now_ns: int) -> int:
        """How many publishes are due and not taken yet; at max none ever is."""
        if self._rate is None or self._start_ns is None:
            return 0
        return max(0, self._due_by(now_ns) - self._next)

    def take(self, now_ns: int, most: int) -> list[Publish]:
        """The publishes that are due, in order, to be sent now."""
        next_ns = self.next_ns()
        if next_ns is None or next_ns > now_ns:
            return []
        first = self._next
        if self._rate is None:
            self._next = first + most
            return [Publish(each, NO_INTENT, NO_INTENT) for each in range(first, self._next)]
        due = self._due_by(now_ns)
        self._next = int(min(due, first + most))
        times = ((each, self._intended_ns(each)) for each in range(first, self._next))
        return [Publish(each, at_ns, at_ns + self._deadline_ns) for each, at_ns in times]

    def take_range(self, now_ns: int, most: int) -> range:
        """The sequences that are due at rate max; none of them has an intended time."""
        assert self._rate is None, "a paced publish has an intended time"
        next_ns, first = self.next_ns(), self._next
        if next_ns is not None and next_ns <= now_ns:
            self._next = first + most
        return range(first, self._next)

    def expire(self, now_ns: int) -> list[Publish]:
        """The publishes whose deadline has passed before they were taken."""
        return self._skip(now_ns - self._deadline_ns - 1)

    def abandon(self, now_ns: int) -> list[Publish]:
        """At the very end: every publish that was intended by now and never taken."""
        return self._skip(now_ns)

    def _skip(self, until_ns: int) -> list[Publish]:
        return self.take(until_ns, waiting) if (waiting := self.waiting(until_ns)) else []

    def _due_by(self, now_ns: int) -> int:
        """How many publishes in all are intended by `now_ns`."""
        assert self._start_ns is not None
        assert self._rate is not None
        estimate = math.floor((now_ns - self._start_ns) / NS_PER_S * self._rate - self._phase) + 1
        count = max(0, estimate)
        # Rounding may put the estimate one off from what `_intended_ns` says.
        while count and self._intended_ns(count - 1) > now_ns:
            count -= 1
        while self._intended_ns(count) <= now_ns:
            count += 1
        return int(min(count, self._end))

    def _intended_ns(self, sequence: int) -> int:
        assert self._start_ns is not None
        assert self._rate is not None
        return self._start_ns + int((sequence + self._phase) * NS_PER_S / self._rate)
