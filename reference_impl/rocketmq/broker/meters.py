"""Counts and recent rates of the messages that a broker took and gave out, for tools.

1. A rate is that of the last seconds by the clock that never goes back; of older ones only the sum
   is kept.
2. A group's rate is reported by topic, as the real one does it.
"""

from collections import defaultdict, deque
from collections.abc import Callable

from reference_impl.rocketmq.effects import Clock

SPANS_S = 10, 60, 600  # what `putTps` tells
_MS = 1000


class Meter:
    """`total`: since the broker began."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._began_ms = now_ms()
        self._ends: deque[tuple[int, int]] = deque()  # a second, and the total at its end
        self.total = 0

    def add(self, messages: int = 1) -> None:
        self.total += messages
        second = self._now_ms() // _MS
        if self._ends and self._ends[-1][0] == second:
            self._ends.pop()
        self._ends.append((second, self.total))
        # One that is older than every span stays: the sum of all before.
        while len(self._ends) > 1 and self._ends[1][0] < second - max(SPANS_S):
            self._ends.popleft()

    def per_s(self, span_s: int) -> float:
        """Of the last seconds, or of all since the beginning where these are fewer."""
        now_ms = self._now_ms()
        since = now_ms // _MS - span_s
        before = max((total for second, total in self._ends if second <= since), default=0)
        length_s = max(1.0, min(span_s, (now_ms - self._began_ms) / _MS))
        return (self.total - before) / length_s

    def rates_text(self) -> str:
        """Return the rates in the form of `putTps`."""
        return " ".join(f"{self.per_s(span_s):.2f}" for span_s in SPANS_S)


class Meters:
    def __init__(self, clock: Clock) -> None:
        self.put = Meter(clock.now_ms)
        self.given = Meter(clock.now_ms)
        self.by_group: defaultdict[tuple[str, str], Meter] = defaultdict(
            lambda: Meter(clock.now_ms)
        )  # and topic

    def gave(self, group: str, topic: str, messages: int) -> None:
        if messages:
            self.given.add(messages)
            self.by_group[group, topic].add(messages)
