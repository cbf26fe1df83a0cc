"""`noop`: everything passes. The real server registers it as a toxic like any other.

1. It holds nothing, so no event but an arrival means anything to it.
"""

from dataclasses import dataclass
from random import Random

from faults.proxy.core.toxics.flow import Arrived, Event, Item


@dataclass(frozen=True, slots=True)
class Noop:
    """Settings of a toxic without any."""


class NoopPipe:
    full = False
    due_ns = None

    def __init__(self, _settings: Noop, _random: Random, _started_ns: int) -> None:
        pass

    def handle(self, event: Event[Noop]) -> list[Item]:
        return [event.item] if isinstance(event, Arrived) else []
