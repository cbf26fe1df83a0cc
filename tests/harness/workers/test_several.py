"""Consumers and drainers of several queues in one process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from harness.workers.clients.amqp import AmqpClient
from harness.workers.consumer import Consumer
from harness.workers.drainer import Drainer
from harness.workers.periodic import every
from harness.workers.protocol import Role, WorkerConfig
from harness.workers.recorder import Recorder
from harness.workers.several import Several
from spark_analysis.schema import tables
from spark_analysis.schema.words import Via
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.workers.rig import LIMIT_S, QUEUE, config, fail, rows, until

PARTS = "mqproof.run.parts"
MORE = ((PARTS, "parts"),)
Story = Callable[[TinyBroker], Awaitable[None]]


def play(story: Story) -> None:
    async def with_broker() -> None:
        async with TinyBroker() as broker:
            await story(broker)

    asyncio.run(with_broker())


@contextlib.asynccontextmanager
async def several(
    settings: WorkerConfig, drains: bool = False
) -> AsyncIterator[tuple[Several, list[dict[str, Any]], asyncio.Event]]:
    said: list[dict[str, Any]] = []
    recorder, ready = Recorder(settings, fail), asyncio.Event()

    def make(place: int, on_ready: Callable[[], None]) -> Consumer | Drainer:
        queue = settings.queues[place]
        own, log = settings.alone(queue), recorder.of_queue(queue[1])
        via = Via.DRAIN if drains else Via.LOAD
        inner = Consumer(own, log, AmqpClient(own), on_ready, via)
        return Drainer(own, inner, said.append) if drains else inner

    worker = Several(len(settings.queues), make, ready.set)
    running = asyncio.create_task(worker.run())
    end_ticks = every(0.02, worker.tick)
    try:
        yield worker, said, ready
    finally:
        running.cancel()
        await asyncio.wait([running])
        end_ticks()
        await worker.close(nicely=True)
        recorder.flush()


def test_each_queue_is_consumed_under_its_own_name(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = config(Role.CONSUMER, tmp_path, broker, acknowledge=1, more_queues=MORE)
        async with several(settings) as (worker, _, ready):
            async with asyncio.timeout(LIMIT_S):
                await ready.wait()
            for name in (QUEUE, PARTS, PARTS):
                broker.put(name, b"")
            await until(lambda: worker.status()["delivered"] == 3)
        found = rows(settings, tables.DELIVERIES)
        assert sorted(row["queue"] for row in found) == ["orders", "parts", "parts"]
        tags = {(row["connection"], row["tag"]) for row in found}
        assert len(tags) == 3, "a tag is unique in its worker"
        opened = [
            (row["queue"], row["connection"])
            for row in rows(settings, tables.CLIENT_EVENTS)
            if row["kind"] == "connected"
        ]
        assert len(opened) == len({number for _, number in opened}) == 2
        assert {word for word, _ in opened} == {"orders", "parts"}

    play(story)


def test_it_is_ready_when_every_queue_is_subscribed(tmp_path: Path) -> None:
    waiting: list[Callable[[], None]] = []
    ready: list[bool] = []

    async def story(broker: TinyBroker) -> None:
        settings = config(Role.CONSUMER, tmp_path, broker, acknowledge=1, more_queues=MORE)
        recorder = Recorder(settings, fail)

        def make(place: int, on_ready: Callable[[], None]) -> Consumer:
            waiting.append(on_ready)
            own = settings.alone(settings.queues[place])
            return Consumer(own, recorder, AmqpClient(own), on_ready)

        Several(2, make, lambda: ready.append(True))
        waiting[0]()
        waiting[0]()
        assert not ready
        waiting[1]()
        assert ready

    play(story)


@pytest.mark.usefixtures("_quick_looks")
def test_each_queue_has_a_drain_of_its_own(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = config(Role.DRAINER, tmp_path, broker, acknowledge=10, quiet_s=0.2, limit_s=2.0)
        settings = WorkerConfig(**{**_fields(settings), "more_queues": MORE})
        broker.put(QUEUE, b"")
        async with several(settings, drains=True) as (_, said, _ready):
            while not said or said[-1]["queue"] != "parts":
                if len(said) < 2:
                    broker.put(PARTS, b"")  # it never falls silent
                await asyncio.sleep(0.05)
        found = {one["queue"]: one["complete"] for one in said}
        assert found == {"orders": True, "parts": False}

    play(story)


def _fields(settings: WorkerConfig) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


@pytest.fixture
def _quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.workers.drainer.LOOK_APART_S", 0.1)
