"""`latency`: everything leaves so much later than it came, give or take a jitter.

1. Order is kept: one piece at a time has a due instant, drawn when it becomes the first.
2. The delay counts from when the piece came, so that a burst leaves as the burst that it was.
3. An end is not delayed for itself; it waits for what is before it.
4. An interruption lets the first piece go; a release lets all go.
"""

from collections import deque
from dataclasses import dataclass
from random import Random

from faults.proxy.core.toxics.flow import (
    END,
    MS,
    Arrived,
    Chunk,
    Event,
    Interrupted,
    Item,
    Released,
    Retuned,
    Ticked,
)

HELD_MAX = 1024  # pieces, as in the real server


@dataclass(frozen=True, slots=True)
class Latency:
    """Both in milliseconds; the names are the interface's own."""

    latency: int = 0
    jitter: int = 0


class LatencyPipe:
    def __init__(self, settings: Latency, random: Random, _started_ns: int) -> None:
        self._settings = settings
        self._random = random
        self._held: deque[Item] = deque()
        self.due_ns: int | None = None

    @property
    def full(self) -> bool:
        return len(self._held) >= HELD_MAX

    def handle(self, event: Event[Latency]) -> list[Item]:
        left: list[Item] = []
        match event:
            case Arrived(item=item):
                self._held.append(item)
            case Ticked():
                pass
            case Interrupted():
                left = self._first()
            case Retuned(settings=settings):
                self._settings = settings
                left = self._first()
            case Released():
                left = list(self._held)
                self._held.clear()
                self.due_ns = None
        return left + self._due(event.at_ns)

    def _first(self) -> list[Item]:
        if self.due_ns is None:
            return []
        self.due_ns = None
        return [self._held.popleft()]

    def _due(self, now_ns: int) -> list[Item]:
        left: list[Item] = []
        while self._held:
            first = self._held[0]
            if first is not END:
                if self.due_ns is None:
                    self.due_ns = max(now_ns, first.stamp_ns + self._delay_ns())
                if self.due_ns > now_ns:
                    break
                first = Chunk(first.octets, self.due_ns)
                self.due_ns = None
            self._held.popleft()
            left.append(first)
        return left

    def _delay_ns(self) -> int:
        jitter = self._settings.jitter
        drawn = self._random.randrange(-jitter, jitter) if jitter > 0 else 0
        return (self._settings.latency + drawn) * MS
