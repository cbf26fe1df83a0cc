"""Several consumers, drainers or auditors in one process: one for each queue of the worker.

1. Each has a connection of its own: if one queue ends its channel, the others go on.
2. They share the log and the numbers of connections, so a tag is still unique in its worker.
3. The worker is ready when all of them are.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from harness.workers.consumer import Consumer
from harness.workers.drainer import Drainer

Part = Consumer | Drainer


class Several:
    """The parts of one worker, as one. `make` gets a queue's place and what to call when the part
    is ready."""

    def __init__(
        self,
        count: int,
        make: Callable[[int, Callable[[], None]], Part],
        ready: Callable[[], None],
    ) -> None:
        self._ready = ready
        self._waiting = set(range(count))
        self._parts: Sequence[Part] = [
            make(place, partial(self._on_ready, place)) for place in range(count)
        ]

    async def run(self) -> None:
        """Works until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for part in self._parts:
                tasks.create_task(part.run())

    def start(self, at_ns: int) -> None:
        for part in self._parts:
            part.start(at_ns)

    def stop_load(self) -> None:
        for part in self._parts:
            part.stop_load()

    def tick(self) -> None:
        for part in self._parts:
            part.tick()

    def status(self) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for part in self._parts:
            counts.update(part.status())
        return dict(counts)

    async def close(self, nicely: bool) -> None:
        await asyncio.gather(*(part.close(nicely) for part in self._parts))

    def _on_ready(self, place: int) -> None:
        self._waiting.discard(place)
        if not self._waiting:
            self._ready()
