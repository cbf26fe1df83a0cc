"""`slicer`: each piece leaves in slices of about a size, with a pause after each.

1. Slices are made by halving, each cut moved by at most the variation: none grows above the
   average size plus the variation.
2. A size that could not be halved (0 or less) cuts nothing; the real server would crash.
3. An interruption lets the slices that are left go as one piece; a release lets all go.
"""

from collections import deque
from dataclasses import dataclass
from random import Random

from faults.proxy.core.toxics.flow import (
    END,
    US,
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


@dataclass(frozen=True, slots=True)
class Slicer:
    """Bytes, bytes, microseconds; the names are the interface's own."""

    average_size: int = 0
    size_variation: int = 0
    delay: int = 0


class SlicerPipe:
    def __init__(self, settings: Slicer, random: Random, _started_ns: int) -> None:
        self._settings = settings
        self._random = random
        self._waiting: deque[Item] = deque()
        self._slices: deque[Chunk] = deque()
        self.due_ns: int | None = None  # while it is set, the pause after a slice lasts

    @property
    def full(self) -> bool:
        return len(self._waiting) >= WAITING_MAX

    def handle(self, event: Event[Slicer]) -> list[Item]:
        left: list[Item] = []
        match event:
            case Arrived(item=item):
                self._waiting.append(item)
            case Ticked():
                if self.due_ns is not None and event.at_ns >= self.due_ns:
                    self.due_ns = None
            case Interrupted():
                left = self._rest()
            case Retuned(settings=settings):
                self._settings = settings
                left = self._rest()
            case Released():
                left = [*self._rest(), *self._waiting]
                self._waiting.clear()
        return left + self._cut(event.at_ns)

    def _rest(self) -> list[Item]:
        self.due_ns = None
        if not self._slices:
            return []
        rest = Chunk(b"".join(one.octets for one in self._slices), self._slices[0].stamp_ns)
        self._slices.clear()
        return [rest]

    def _cut(self, now_ns: int) -> list[Item]:
        left: list[Item] = []
        while self.due_ns is None and (self._slices or self._waiting):
            if not self._slices:
                item = self._waiting.popleft()
                if item is END:
                    return [*left, END]
                self._slices.extend(self._sliced(item))
            left.append(self._slices.popleft())
            if self._settings.delay > 0:
                self.due_ns = now_ns + self._settings.delay * US
        return left

    def _sliced(self, whole: Chunk) -> list[Chunk]:
        """Halves, and halves of halves, from left to right."""
        size, variation = self._settings.average_size, max(0, self._settings.size_variation)
        slices, spans = [], [(0, len(whole.octets))]
        while spans:
            start, end = spans.pop()
            if size <= 0 or end - start <= max(1, size + variation):
                slices.append(Chunk(whole.octets[start:end], whole.stamp_ns))
                continue
            middle = start + (end - start) // 2
            if variation:
                middle += self._random.randrange(-variation, variation)
            middle = min(max(middle, start + 1), end - 1)
            spans += [(middle, end), (start, middle)]
        return slices
