"""How late this worker's own clockwork runs: the instrument watches itself.

1. A tick is due every 10 ms, counted from the last one; late is how long after it ran.
2. Each second's worst tick is recorded, so that a second without a row is a second without a
   worker; every tick that is more than 50 ms late is recorded at once, on its own.
3. Pure: times are handed in, in nanoseconds of one clock.
"""

from typing import NamedTuple

TICK_NS = 10_000_000
STALL_NS = 50_000_000
SECOND_NS = 1_000_000_000


class Late(NamedTuple):
    """A tick that ran at `at_ns` and was due `late_ns` earlier."""

    at_ns: int
    late_ns: int


class Lateness:
    """Fed with the time of every tick; says what is to be recorded."""

    def __init__(self, now_ns: int) -> None:
        self._due_ns = now_ns + TICK_NS
        self._second = now_ns // SECOND_NS
        self._worst: Late | None = None
        self._lately_ns = 0

    def tick(self, now_ns: int) -> list[Late]:
        """A tick ran. The rows that it completes."""
        late = Late(now_ns, max(0, now_ns - self._due_ns))
        self._due_ns = now_ns + TICK_NS
        self._lately_ns = max(self._lately_ns, late.late_ns)
        rows = self.end() if now_ns // SECOND_NS != self._second else []
        self._second = now_ns // SECOND_NS
        if late.late_ns > STALL_NS:
            rows.append(late)
        elif self._worst is None or late.late_ns > self._worst.late_ns:
            self._worst = late
        return rows

    def end(self) -> list[Late]:
        """The worst tick of a second that is over."""
        rows = [] if self._worst is None else [self._worst]
        self._worst = None
        return rows

    def worst_lately_ns(self) -> int:
        """The worst lateness since this was last asked."""
        worst_ns, self._lately_ns = self._lately_ns, 0
        return worst_ns
