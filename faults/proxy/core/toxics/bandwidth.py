"""`bandwidth`: so many kilobytes a second leave, in portions of at most 100 ms.

1. Rate 0 lets nothing go: a link that hangs. A rate below 0 is 0.
2. What was paced too long or too short is made good on the next chunk.
3. An interruption releases the rest of the current chunk; a release lets all go.
"""

from collections import deque
from dataclasses import dataclass
from random import Random

from faults.proxy.core.toxics.flow import (
    END,
    MS,
    WAITING_MAX,
    Arrived,
    Chunk,
    Event,
    Interrupted,
    Item,
    Released,
    Retuned,
    Ticked,
)

PORTION_MS = 100


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Kilobytes a second, which is bytes a millisecond."""

    rate: int = 0


class BandwidthPipe:
    def __init__(self, settings: Bandwidth, _random: Random, _started_ns: int) -> None:
        self._rate = settings.rate
        self._waiting: deque[Item] = deque()
        self._in_hand: Chunk | None = None
        self._debt_ns = 0  # how long what is in hand must still take
        self._paced_from_ns = 0
        self.due_ns: int | None = None

    @property
    def full(self) -> bool:
        return len(self._waiting) >= WAITING_MAX

    def handle(self, event: Event[Bandwidth]) -> list[Item]:
        left: list[Item] = []
        match event:
            case Arrived(item=item):
                self._waiting.append(item)
            case Ticked():
                pass
            case Interrupted():
                left = self._rest()
            case Retuned(settings=settings):
                self._rate = settings.rate
                left = self._rest()
            case Released():
                left = [*self._rest(), *self._waiting]
                self._waiting.clear()
        return left + self._due(event.at_ns)

    def _rest(self) -> list[Item]:
        rest = self._in_hand
        self._in_hand, self._debt_ns, self.due_ns = None, 0, None
        return [] if rest is None else [rest]

    def _due(self, now_ns: int) -> list[Item]:
        left: list[Item] = []
        while self._in_hand is not None or self._waiting:
            if self._in_hand is None:
                item = self._waiting.popleft()
                if item is END:
                    return [*left, END]
                self._take(item, now_ns)
            if self.due_ns is None or now_ns < self.due_ns:
                break
            left.append(self._portion(now_ns))
        return left

    def _take(self, chunk: Chunk, now_ns: int) -> None:
        self._in_hand = chunk
        if self._rate > 0:
            self._debt_ns += len(chunk.octets) * MS // self._rate
        else:
            self._debt_ns = 0
        self._pace(chunk, now_ns)

    def _pace(self, chunk: Chunk, now_ns: int) -> None:
        if self._rate <= 0:
            self.due_ns = None
        elif len(chunk.octets) > self._rate * PORTION_MS:
            self.due_ns = now_ns + PORTION_MS * MS
        else:
            self._paced_from_ns = now_ns
            self.due_ns = now_ns + max(0, self._debt_ns)

    def _portion(self, now_ns: int) -> Chunk:
        """Return the part of the current chunk that is due."""
        assert self._in_hand is not None
        whole, size = self._in_hand, self._rate * PORTION_MS
        if len(whole.octets) <= size:
            self._debt_ns -= now_ns - self._paced_from_ns
            self._in_hand, self.due_ns = None, None
            return whole
        self._in_hand = Chunk(whole.octets[size:], whole.stamp_ns)
        self._debt_ns -= PORTION_MS * MS
        self._pace(self._in_hand, now_ns)
        return Chunk(whole.octets[:size], whole.stamp_ns)
