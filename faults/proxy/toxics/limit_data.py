"""`limit_data`: so many bytes pass, then the connection ends.

1. Bytes count from when the toxic, or the connection, was added; settings change the limit, never
   the count.
2. The byte that reaches the limit is delivered, and the end follows it at once; above the limit
   the next piece brings the end.
"""

from dataclasses import dataclass
from random import Random

from faults.proxy.toxics.flow import END, Arrived, Chunk, Event, Item, Retuned


@dataclass(frozen=True, slots=True)
class LimitData:
    bytes: int = 0


class LimitDataPipe:
    full = False
    due_ns = None

    def __init__(self, settings: LimitData, _random: Random, _started_ns: int) -> None:
        self._limit = settings.bytes
        self._passed = 0

    def handle(self, event: Event[LimitData]) -> list[Item]:
        match event:
            case Arrived(item=item):
                return [END] if item is END else self._pass(item)
            case Retuned(settings=settings):
                self._limit = settings.bytes
            case _:
                pass
        return []

    def _pass(self, chunk: Chunk) -> list[Item]:
        octets = chunk.octets[: max(0, self._limit - self._passed)]
        self._passed += len(octets)
        passing: list[Item] = [Chunk(octets, chunk.stamp_ns)] if octets else []
        return [*passing, END] if self._passed >= self._limit else passing
