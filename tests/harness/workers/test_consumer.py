"""Consumer and drainer with real pika against a tiny broker."""

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
from spark_analysis.schema import tables
from spark_analysis.schema.body import Identity, encode
from spark_analysis.schema.words import Redelivered, Via
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.workers.rig import QUEUE, RUN_NUMBER, config, consumer, fail, rows, until

Story = Callable[[TinyBroker, Path], Awaitable[None]]


def play(story: Story, folder: Path) -> None:
    async def with_broker() -> None:
        async with TinyBroker() as broker:
            await story(broker, folder)

    asyncio.run(with_broker())


def body(sequence: int, run: int = RUN_NUMBER) -> bytes:
    return encode(Identity(run, 1, sequence, 1, sequence % 3, 1_000 + sequence), 100)


def fill(broker: TinyBroker, count: int) -> None:
    for sequence in range(count):
        broker.put(QUEUE, body(sequence))


def settings_of(broker: TinyBroker, folder: Path, **rest: Any) -> WorkerConfig:
    return config(Role.CONSUMER, folder, broker, **{"acknowledge": 10, **rest})


def test_deliveries_are_on_record_as_their_headers_say(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder)
        broker.put(QUEUE, body(5))
        broker.put(QUEUE, body(6), redelivered=True)
        broker.put(QUEUE, body(7, run=1))
        broker.put(QUEUE, b"nothing of ours")
        broker.put(QUEUE, body(8)[:-1] + b"?")
        async with consumer(settings) as worker:
            await until(lambda: worker.status()["delivered"] == 5)
        found = rows(settings, tables.DELIVERIES)
        columns = ("sequence", "redelivered", "run_ok", "header_ok", "payload_ok", "tag")
        assert [tuple(row[column] for column in columns) for row in found] == [
            (5, Redelivered.NO, 1, 1, 1, 1),
            (6, Redelivered.YES, 1, 1, 1, 2),
            (7, Redelivered.NO, 0, 1, 1, 3),
            (0, Redelivered.NO, 0, 0, 0, 4),
            (8, Redelivered.NO, 1, 1, 0, 5),
        ]
        assert {(row["queue"], row["broker"], row["via"]) for row in found} == {
            ("orders", None, Via.LOAD)
        }
        assert [row["kind"] for row in rows(settings, tables.CLIENT_EVENTS)] == [
            "connecting",
            "connected",
            "consuming",
            "closed",
        ]

    play(story, tmp_path)


def test_a_delivery_by_a_way_of_its_system_is_on_record_as_such(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, ways=(9,), acknowledge=0)
        async with consumer(settings) as worker:
            worker.delivered(1, False, body(5), 9)
            worker.delivered(2, False, body(6))
            with pytest.raises(AssertionError, match="way 4, which its system does not declare"):
                worker.delivered(3, False, body(7), 4)
        assert [row["via"] for row in rows(settings, tables.DELIVERIES)] == [9, Via.LOAD]

    play(story, tmp_path)


def test_acknowledgements_are_cumulative_by_batch_and_the_rest_by_tick(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder)
        fill(broker, 25)
        async with consumer(settings):
            await until(lambda: (25, True) in broker.acknowledged)
        assert broker.acknowledged == [(10, True), (20, True), (25, True)]
        found = rows(settings, tables.ACKNOWLEDGEMENTS)
        assert [(row["first_tag"], row["last_tag"]) for row in found] == [
            (1, 10),
            (11, 20),
            (21, 25),
        ]

    play(story, tmp_path)


def test_deliveries_during_the_subscription_are_acknowledged_too(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, own={"prefetch": 10})
        fill(broker, 40)
        async with consumer(settings) as worker:
            await until(lambda: worker.status()["delivered"] == 40)
        assert [tag for tag, _ in broker.acknowledged] == [10, 20, 30, 40]

    play(story, tmp_path)


def test_unacknowledged_mode_records_no_frame_and_the_broker_forgets(
    tmp_path: Path,
) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, acknowledge=0)
        fill(broker, 25)
        async with consumer(settings) as worker:
            await until(lambda: worker.status()["delivered"] == 25)
            worker.tick()
        assert broker.acknowledged == []
        assert rows(settings, tables.ACKNOWLEDGEMENTS) == []
        assert len(rows(settings, tables.DELIVERIES)) == 25

    play(story, tmp_path)


def test_a_lost_connection_is_replaced_and_tags_begin_again(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder, acknowledge=1_000)
        async with consumer(settings) as worker:
            # Else its tick may acknowledge them first, and the broker would redeliver nothing.
            worker._fill_batch = lambda: None
            fill(broker, 3)
            await until(lambda: worker.status()["delivered"] == 3)
            broker.drop()
            await until(lambda: worker.status()["delivered"] >= 6)
        found = rows(settings, tables.DELIVERIES)
        assert [(row["connection"], row["tag"]) for row in found[-3:]] == [(2, 1), (2, 2), (2, 3)]
        assert {row["redelivered"] for row in found[-3:]} == {Redelivered.YES}

    play(story, tmp_path)


def test_a_cancelled_subscription_is_renewed_on_the_same_connection(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder)
        async with consumer(settings) as worker:
            broker.cancel_consumers()
            fill(broker, 3)
            await until(lambda: worker.status()["delivered"] == 3)
        kinds = [(row["kind"], row["connection"]) for row in rows(settings, tables.CLIENT_EVENTS)]
        assert kinds[2:5] == [("consuming", 1), ("cancelled", 1), ("consuming", 1)]

    play(story, tmp_path)


def test_temporarily_missing_queue_is_subscribed_when_it_returns(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = settings_of(broker, folder)
        async with consumer(settings) as worker:
            broker.missing = True
            broker.cancel_consumers()
            await until(lambda: "404" in worker.trouble)
            broker.missing = False
            fill(broker, 3)
            await until(lambda: worker.status()["delivered"] == 3)
        details = [row["detail"] or "" for row in rows(settings, tables.CLIENT_EVENTS)]
        assert any("404" in detail for detail in details)

    play(story, tmp_path)


@contextlib.asynccontextmanager
async def drainer(
    settings: WorkerConfig,
) -> AsyncIterator[tuple[Drainer, list[dict[str, Any]]]]:
    said: list[dict[str, Any]] = []
    recorder = Recorder(settings, fail)
    via = Via.AUDIT if settings.role is Role.AUDITOR else Via.DRAIN
    inner = Consumer(settings, recorder, AmqpClient(settings), lambda: None, via)
    worker = Drainer(settings, inner, said.append)
    running = asyncio.create_task(worker.run())
    end_ticks = every(0.02, worker.tick)
    try:
        yield worker, said
    finally:
        running.cancel()
        await asyncio.wait([running])
        end_ticks()
        await worker.close(nicely=True)
        recorder.flush()


@pytest.fixture
def _quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.workers.drainer.LOOK_APART_S", 0.1)


@pytest.mark.usefixtures("_quick_looks")
def test_drain_is_complete_after_silence_and_two_empty_checks(
    tmp_path: Path,
) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = config(Role.DRAINER, folder, broker, acknowledge=10, quiet_s=0.2)
        fill(broker, 25)
        async with drainer(settings) as (_, said):
            await until(lambda: said)
        outcome = {"complete": True, "doubt": "", "subscribed": True}
        assert said == [{"say": "drained", "queue": "orders", **outcome}]
        found = rows(settings, tables.DELIVERIES)
        assert len(found) == 25
        assert {(row["via"], row["broker"]) for row in found} == {(Via.DRAIN, "broker1")}
        assert broker.acknowledged[-1] == (25, True)

    play(story, tmp_path)


@pytest.mark.usefixtures("_quick_looks")
def test_message_between_the_two_checks_restarts_the_drain(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = config(Role.DRAINER, folder, broker, acknowledge=10, quiet_s=0.15)
        async with drainer(settings) as (worker, said):
            for sequence in range(8):
                broker.put(QUEUE, body(sequence))
                await asyncio.sleep(0.1)
                assert not said
            await until(lambda: said)
            assert worker.status()["delivered"] == 8
        assert said[0]["complete"]

    play(story, tmp_path)


@pytest.mark.usefixtures("_quick_looks")
def test_audit_without_a_reachable_place_says_so_at_its_limit(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = config(Role.AUDITOR, folder, broker, acknowledge=10, quiet_s=0.1, limit_s=0.4)
        broker.refuse()
        async with drainer(settings) as (_, said):
            await until(lambda: said)
        assert not said[0]["complete"]
        assert said[0]["doubt"].startswith("not empty within 0.4 s: broker1: ")

    play(story, tmp_path)


@pytest.mark.usefixtures("_quick_looks")
def test_a_drain_survives_a_lost_connection_and_begins_again(tmp_path: Path) -> None:
    async def story(broker: TinyBroker, folder: Path) -> None:
        settings = config(Role.DRAINER, folder, broker, acknowledge=1_000, quiet_s=0.2)
        fill(broker, 3)
        async with drainer(settings) as (worker, said):
            await until(lambda: worker.status()["delivered"] == 3)
            broker.drop()
            await until(lambda: said)
        assert said[0]["complete"]
        connections = [row["connection"] for row in rows(settings, tables.DELIVERIES)]
        assert connections[0] == 1

    play(story, tmp_path)
