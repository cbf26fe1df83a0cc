"""Workers under test: in this process against a tiny broker, or as a process of their own."""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from harness.plan.clients.registry import named
from harness.run.drivers import driver
from harness.workers.clients.amqp import AmqpClient
from harness.workers.clients.port import Client
from harness.workers.consumer import Consumer
from harness.workers.periodic import every
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from harness.workers.publisher import Publisher
from harness.workers.recorder import Recorder
from harness.workers.rocketmq.ways import ROCKETMQ_WAYS
from spark_analysis.schema.body import Identity, decode
from spark_analysis.schema.tables import Table
from spark_analysis.schema.words import Strength
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.runs.log_rows import read_rows

ROOT = Path(__file__).parents[3]
QUEUE = "mqproof.run.orders"
RUN_NUMBER = 77
LIMIT_S = 60.0  # of a condition that comes true at once, unless the machine is busy


async def until(
    condition: Callable[[], object], what: str = "it", limit_s: float = LIMIT_S
) -> None:
    """Looks again and again; fails after `limit_s`."""
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s, f"{what} did not come true in {limit_s} s"
        await asyncio.sleep(0.002)


def config(role: Role, folder: Path, *brokers: TinyBroker, **rest: Any) -> WorkerConfig:
    """A worker called after its role; `broker1` is its entry."""
    endpoints = tuple(
        Endpoint(f"broker{number}", "127.0.0.1", broker.port)
        for number, broker in enumerate(brokers, start=1)
    )
    values: dict[str, Any] = {
        "role": role,
        "number": 1 if role is Role.PUBLISHER else 2,
        "run": "run",
        "run_number": RUN_NUMBER,
        "origin_ns": time.monotonic_ns(),
        "log": str(folder / role),
        "queue": QUEUE,
        "queue_word": "orders",
        "endpoints": endpoints,
        "connection_name": f"mqproof.run.{role}",
        "strength": int(Strength.STORED),
        "ways": tuple(way.number for way in ROCKETMQ_WAYS),
        "body_bytes": 100,
    }
    client = rest.pop("client", "pika")
    chosen = {"client": client, "driver": driver(named(client))}
    return WorkerConfig(**{**values, **chosen, **rest})


def rows(settings: WorkerConfig, table: Table) -> list[dict[str, Any]]:
    """What the log holds at this moment."""
    return [dict(row) for row in read_rows(Path(settings.log), table)]


def identities(bodies: list[bytes]) -> list[Identity]:
    found = [decode(body) for body in bodies]
    assert all(each.identity is not None and each.payload_ok for each in found)
    return [each.identity for each in found if each.identity is not None]


def fail(doubt: str) -> Any:
    raise AssertionError(doubt)


@contextlib.asynccontextmanager
async def publisher(
    settings: WorkerConfig, client: Client | None = None
) -> AsyncIterator[Publisher]:
    """Connected and started, by pika where no client is given; closed at the end."""
    ready = asyncio.Event()
    client = client or AmqpClient(settings)
    worker = Publisher(settings, Recorder(settings, fail), client, ready.set)
    async with _running(worker, ready):
        worker.start(time.monotonic_ns())
        yield worker


@contextlib.asynccontextmanager
async def consumer(
    settings: WorkerConfig, client: Client | None = None
) -> AsyncIterator[Consumer]:
    """Subscribed, by pika where no client is given; closed at the end."""
    ready = asyncio.Event()
    client = client or AmqpClient(settings)
    worker = Consumer(settings, Recorder(settings, fail), client, ready.set)
    async with _running(worker, ready):
        yield worker


@contextlib.asynccontextmanager
async def _running(worker: Publisher | Consumer, ready: asyncio.Event) -> AsyncIterator[None]:
    running = asyncio.create_task(worker.run())
    end_ticks = every(0.02, worker.tick)
    try:
        async with asyncio.timeout(LIMIT_S):
            await ready.wait()
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])
        end_ticks()
        await worker.close(nicely=True)
        worker._recorder.flush()


class Process:
    """A worker process, seen from the harness's side."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard: list[dict[str, Any]] = []

    @classmethod
    async def spawn(
        cls, settings: WorkerConfig | None = None, limit_s: float = LIMIT_S, **how: Any
    ) -> "Process":
        """Greeted; configured and ready where there are settings."""
        pipe = asyncio.subprocess.PIPE
        command = [sys.executable, "-m", "harness.workers", "test"]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, cwd=ROOT, **how
        )
        worker = cls(process)
        worker.say(do="hello", packages=settings.driver.packages if settings else ())
        await worker.hear("hello", limit_s)
        if settings is not None:
            worker.say(do="configure", config=settings.to_json())
            await worker.hear("ready")
        return worker

    def say(self, **message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def hear(self, word: str, limit_s: float = LIMIT_S) -> dict[str, Any]:
        """The next message of this kind."""
        assert self.process.stdout
        async with asyncio.timeout(limit_s):
            while line := await self.process.stdout.readline():
                self.heard.append(json.loads(line))
                if self.heard[-1]["say"] == word:
                    return self.heard[-1]
        raise AssertionError(f"it ended without {word}: {self.heard}")

    async def exit_code(self) -> int:
        async with asyncio.timeout(LIMIT_S):
            await asyncio.gather(self.process.wait(), self._read_to_end())
        assert self.process.returncode is not None
        return self.process.returncode

    async def _read_to_end(self) -> None:
        assert self.process.stdout
        async for line in self.process.stdout:
            self.heard.append(json.loads(line))
