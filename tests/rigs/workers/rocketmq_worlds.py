"""Clients in worker processes against a real name server and broker: what their tests share."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema import tables
from tests.rigs.rocketmq.clusters import Cluster
from tests.rigs.workers.rig import Process, config, rows

LIMIT_S = 180.0  # a JVM starts in seconds, unless the machine is busy
_topics = itertools.count(1)


@dataclass
class World:
    """A topic of its own on real servers, and a client library."""

    servers: Cluster
    client: str
    folder: Path
    topic: str

    @classmethod
    def make(cls, standing: Cluster, client: str, folder: Path) -> "World":
        topic = f"orders{next(_topics)}"
        asyncio.run(standing.create_topic(topic))
        return cls(standing, client, folder, topic)

    def settings(self, role: Role, options: RocketOptions, **rest: Any) -> WorkerConfig:
        way = (Endpoint("host1", "127.0.0.1", self.servers["ns1"].port),)
        values = {"client": self.client, "queue": self.topic, "endpoints": way}
        values |= {"deadline_s": 30.0, "own": asdict(options), "limit_s": 60.0}
        return config(role, self.folder, **{**values, **rest})


@contextlib.asynccontextmanager
async def worker(settings: WorkerConfig, **how: Any) -> AsyncIterator[Process]:
    """Ready; closed in good order at the end. `how`: arguments of its start."""
    process = await Process.spawn(limit_s=LIMIT_S, **how)

    async def ping() -> None:
        while True:
            process.say(do="ping")
            await asyncio.sleep(1.0)

    pinging = asyncio.create_task(ping())
    try:
        process.say(do="configure", config=settings.to_json())
        ready = await process.hear("ready", LIMIT_S)
        assert bool(ready["scheduling"]) is settings.paced
        yield process
        process.say(do="close")
        await process.hear("closed", LIMIT_S)
    finally:
        pinging.cancel()
        with contextlib.suppress(ProcessLookupError):
            process.process.kill()
        async with asyncio.timeout(LIMIT_S):
            await process.process.wait()


async def publish(settings: WorkerConfig, least: int) -> None:
    """Sends at its rate until so many are sent, and waits for what is out."""
    async with worker(settings) as process:
        process.say(do="start", at_ns=time.monotonic_ns())
        await _until(process, lambda status: status["sent"] >= least)
        process.say(do="stop_load")
        await _until(process, lambda status: not status["outstanding"])


async def delivered(process: Process, count: int) -> None:
    """Waits until a consumer has been given so many."""
    await _until(process, lambda status: status["delivered"] >= count)


async def _until(process: Process, enough: Any) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not enough(await process.hear("status", LIMIT_S)):
            pass


async def drain(settings: WorkerConfig) -> dict[str, Any]:
    async with worker(settings) as process:
        return await process.hear("drained", LIMIT_S)


def sequences(settings: WorkerConfig) -> list[int]:
    return sorted(row["sequence"] for row in rows(settings, tables.DELIVERIES))


def events(settings: WorkerConfig) -> list[tuple[str, str]]:
    found = rows(settings, tables.CLIENT_EVENTS)
    return [(str(row["kind"]), str(row["detail"])) for row in found]
