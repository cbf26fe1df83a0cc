"""`timeout`: whatever comes is dropped, and the connection ends after a while without any.

1. Timeout 0 never ends it. Each chunk restarts the time, as does an interruption.
2. The source's end passes at once.
3. Removing the toxic ends the connection (`catalogue.ends_on_removal`): what was dropped can never
   come again.
"""

from dataclasses import dataclass
from random import Random

from faults.proxy.toxics.flow import (
    END,
    MS,
    Arrived,
    Event,
    Interrupted,
    Item,
    Released,
    Retuned,
    Ticked,
)


@dataclass(frozen=True, slots=True)
class Timeout:
    """In milliseconds."""

    timeout: int = 0


class TimeoutPipe:
    full = False

    def __init__(self, settings: Timeout, _random: Random, started_ns: int) -> None:
        self._timeout_ms = settings.timeout
        self.due_ns: int | None = None
        self._start(started_ns)

    def handle(self, event: Event[Timeout]) -> list[Item]:
        match event:
            case Arrived(item=item):
                if item is END:
                    return [END]
                self._start(event.at_ns)
            case Ticked():
                if self.due_ns is not None and event.at_ns >= self.due_ns:
                    return [END]
            case Interrupted():
                self._start(event.at_ns)
            case Retuned(settings=settings):
                self._timeout_ms = settings.timeout
                self._start(event.at_ns)
            case Released():
                self.due_ns = None
        return []

    def _start(self, now_ns: int) -> None:
        self.due_ns = now_ns + self._timeout_ms * MS if self._timeout_ms > 0 else None
