"""The drainer and the auditor: a consumer that reads one place empty and says when it is.

1. Empty means: nothing was received for `quiet_s` on a live subscription, and two looks, one
   second apart, showed nothing ready, with nothing received in between. Whatever arrives, or a
   new subscription, starts it all again.
2. It ends at `limit_s` at the latest, and then reports what stood against it, and whether it was
   subscribed at any time (`subscribed`).
3. When it has said so it stays subscribed until it is closed; what still comes is recorded.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from harness.workers.clients.port import LinkLost, UnknownBacklog
from harness.workers.consumer import Consumer
from harness.workers.protocol import WorkerConfig

LOOK_APART_S = 1.0


class Drainer:
    """Drains the queue of `consumer`; `say` gets the result once."""

    def __init__(
        self, config: WorkerConfig, consumer: Consumer, say: Callable[[dict[str, Any]], None]
    ) -> None:
        self._config = config
        self._consumer = consumer
        self._say = say
        self._doubt = ""

    async def run(self) -> None:
        """Returns never by itself: the consumer goes on until this is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._consumer.run())
            tasks.create_task(self._drain())

    def start(self, at_ns: int) -> None:
        """Draining begins with the configuration."""

    def stop_load(self) -> None:
        """There is no load."""

    def tick(self) -> None:
        self._consumer.tick()

    def status(self) -> dict[str, int]:
        return self._consumer.status()

    async def close(self, nicely: bool) -> None:
        await self._consumer.close(nicely)

    async def _drain(self) -> None:
        doubt = ""
        try:
            async with asyncio.timeout(self._config.limit_s):
                await self._until_empty()
        except TimeoutError:
            doubt = self._consumer.trouble or self._doubt or "messages kept coming"
            doubt = f"not empty within {self._config.limit_s:g} s: {doubt}"
        queue = self._config.queue_word
        _, subscriptions = self._consumer.marks
        outcome = {"complete": not doubt, "doubt": doubt, "subscribed": subscriptions > 0}
        status = self._consumer.status()
        place = {name: status[name] for name in ("next_offset",) if name in status}
        self._say({"say": "drained", "queue": queue, **outcome, **place})

    async def _until_empty(self) -> None:
        while True:
            await self._quiet()
            marks = self._consumer.marks
            if not await self._nothing_ready():
                continue
            await self._stays_quiet(LOOK_APART_S)
            if await self._nothing_ready() and self._consumer.marks == marks:
                return

    async def _quiet(self) -> None:
        """Until nothing has stirred for `quiet_s` while we were subscribed."""
        while not await self._stays_quiet(self._config.quiet_s) or not self._consumer.subscribed:
            pass

    async def _stays_quiet(self, period_s: float) -> bool:
        """Whether nothing stirs for so long; returns at once when something does."""
        stirred = self._consumer.stirred
        stirred.clear()
        try:
            async with asyncio.timeout(period_s):
                await stirred.wait()
        except TimeoutError:
            return True
        return False

    async def _nothing_ready(self) -> bool:
        link = self._consumer.link
        if link is None:
            return False
        try:
            async with asyncio.timeout(self._consumer.look_limit_s):
                ready = await link.ready_messages()
        except LinkLost as lost:
            self._doubt = f"looking failed: {lost}"
            return False
        except UnknownBacklog as unknown:
            self._doubt = str(unknown)
            return False
        except TimeoutError:
            self._doubt = f"no answer to a look in {self._consumer.look_limit_s:g} s"
            self._consumer.give_up_link(self._doubt)
            return False
        self._doubt = f"{ready} messages ready, none of them delivered" if ready else ""
        return ready == 0
