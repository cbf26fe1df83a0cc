"""`slow_close`: bytes pass; the end leaves so much later than it came.

1. An interruption restarts the delay; a release lets the end go at once.
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
class SlowClose:
    """In milliseconds."""

    delay: int = 0


class SlowClosePipe:
    full = False

    def __init__(self, settings: SlowClose, _random: Random, _started_ns: int) -> None:
        self._delay_ms = settings.delay
        self.due_ns: int | None = None  # set: the end is held

    def handle(self, event: Event[SlowClose]) -> list[Item]:
        match event:
            case Arrived(item=item):
                if item is not END:
                    return [item]
                self._delay_from(event.at_ns)
            case Ticked():
                pass
            case Interrupted():
                self._restart(event.at_ns)
            case Retuned(settings=settings):
                self._delay_ms = settings.delay
                self._restart(event.at_ns)
            case Released():
                return [] if self.due_ns is None else [END]
        return [END] if self.due_ns is not None and event.at_ns >= self.due_ns else []

    def _restart(self, now_ns: int) -> None:
        if self.due_ns is not None:
            self._delay_from(now_ns)

    def _delay_from(self, now_ns: int) -> None:
        self.due_ns = now_ns + max(0, self._delay_ms) * MS
