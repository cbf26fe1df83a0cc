"""When the operations of a long run are intended, and whose they are.

1. They come one by one or in bursts of one instant, at an even rate; in parts of some runs there
   is no load, or none for one queue, or none by one publisher.
"""

from dataclasses import dataclass
from random import Random

from tests.rigs.generated.facts import PUBLISHERS, QUEUES, SECOND, Style


@dataclass(frozen=True, slots=True)
class Pause:
    """A time [from_ns, until_ns) without load: all of it, or one queue's or publisher's."""

    from_ns: int
    until_ns: int
    queue: str = ""
    producer: int = 0


class Pace:
    """Of one long run that lasts from `start_ns` to `end_ns`."""

    def __init__(self, style: Style, start_ns: int, end_ns: int, tags: set[str]) -> None:
        self._die = Random(f"pace of {style.seed}")
        self._start_ns = start_ns
        self._step_ns = (end_ns - start_ns) // max(style.messages, 1)
        self._burst = self._die.choice([1, 1, 1, 2, 5]) if style.spells else 1
        self._pauses: list[Pause] = []
        if style.spells and self._die.random() < 0.3:
            self._pauses = [self._pause(start_ns, end_ns) for _ in range(self._die.choice([1, 2]))]
        for pause in self._pauses:
            tags.add(f"no load {'of one' if pause.queue or pause.producer else 'at all'}")

    def intended_ns(self, number: int) -> int | None:
        """None: no publish was due then."""
        at_ns = self._start_ns + number // self._burst * self._burst * self._step_ns
        return None if any(_whole(each) and _in(each, at_ns) for each in self._pauses) else at_ns

    def queue(self, at_ns: int, queue: str) -> str:
        idle = [each.queue for each in self._pauses if _in(each, at_ns)]
        return next(each for each in QUEUES if each != queue) if queue in idle else queue

    def producer(self, at_ns: int, producer: int) -> int:
        idle = [each.producer for each in self._pauses if _in(each, at_ns)]
        return (
            next(each for each in PUBLISHERS if each != producer) if producer in idle else producer
        )

    def _pause(self, start_ns: int, end_ns: int) -> Pause:
        from_ns = self._die.randrange(start_ns, end_ns)
        until_ns = from_ns + self._die.choice([SECOND, 3 * SECOND, 6 * SECOND, end_ns])
        sort = self._die.choice(["whole", "queue", "publisher"])
        if sort == "queue":
            return Pause(from_ns, until_ns, queue=self._die.choice(QUEUES))
        if sort == "publisher":
            return Pause(from_ns, until_ns, producer=self._die.choice(PUBLISHERS))
        return Pause(from_ns, until_ns)


def _whole(pause: Pause) -> bool:
    return not pause.queue and not pause.producer


def _in(pause: Pause, at_ns: int) -> bool:
    return pause.from_ns <= at_ns < pause.until_ns
