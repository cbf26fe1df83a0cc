"""The audit of streams: each node's own replica is read from its start to its end.

1. Nodes are read one after another, each through its own address. All share the time limit.
2. The client says where a replica ends (`ready_messages`): for an auditor, by its node alone.
3. It reports at which offset each replica's next message would be.
4. What could not be read is reported, node by node: it may hold anything.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.workers.consumer import Consumer
from harness.workers.drainer import Drainer
from harness.workers.loading import loaded
from harness.workers.protocol import Endpoint, WorkerConfig
from harness.workers.recorder import Recorder
from spark_analysis.schema.words import Via

BATCH = 100


class StreamAuditor:
    """Reads the replicas at `config.endpoints`; `say` gets the result once."""

    def __init__(
        self,
        config: WorkerConfig,
        recorder: Recorder,
        ready: Callable[[], None],
        say: Callable[[dict[str, Any]], None],
    ) -> None:
        self._config = replace(config, acknowledge=BATCH, resume_at=0)
        self._recorder = recorder
        self._ready = ready
        self._say = say
        self._new_client = loaded(config.driver.client)
        self._consumer: Consumer | None = None
        self._delivered = 0  # by those before it
        self._next_offsets: list[int] = []  # after the last message of each replica that was read

    async def run(self) -> None:
        """Return when all is read and reported."""
        ends_s = asyncio.get_running_loop().time() + self._config.limit_s
        doubts = [await self._read(endpoint, ends_s) for endpoint in self._config.endpoints]
        queue, doubt = self._config.queue_word, "; ".join(filter(None, doubts))
        outcome = {"complete": not doubt, "doubt": doubt, "doubts": doubts}
        places = {"next_offsets": self._next_offsets}
        self._say({"say": "drained", "queue": queue, **outcome, **places})

    def start(self, at_ns: int) -> None:
        """Reading begins with the configuration."""

    def stop_load(self) -> None:
        """There is no load."""

    def tick(self) -> None:
        if self._consumer is not None:
            self._consumer.tick()

    def status(self) -> dict[str, int]:
        counts = dict.fromkeys(("sent", "confirmed", "unknown", "missed", "outstanding"), 0)
        own = self._consumer.status()["delivered"] if self._consumer else 0
        return {**counts, "delivered": self._delivered + own}

    async def close(self, nicely: bool) -> None:
        if self._consumer is not None:
            await self._consumer.close(nicely)

    async def _read(self, endpoint: Endpoint, ends_s: float) -> str:
        """Return what stands against one replica being read whole; "" if nothing does."""
        left_s = max(0.0, ends_s - asyncio.get_running_loop().time())
        config = replace(self._config, endpoints=(endpoint,), limit_s=left_s)
        opened = self._consumer.connections if self._consumer else 0
        self._delivered = self.status()["delivered"]
        consumer = self._consumer = Consumer(
            config, self._recorder, self._new_client(config), self._ready, Via.AUDIT, opened
        )
        outcomes: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        drainer = Drainer(config, consumer, outcomes.put_nowait)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(drainer.run())
            outcome = await outcomes.get()
            running.cancel()
        await consumer.close(nicely=True)
        self._next_offsets.append(int(outcome["next_offset"]))
        return str(outcome["doubt"])
