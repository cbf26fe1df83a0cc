"""Consumer, drainer and auditor of streams, with real pika against a tiny broker."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pika import spec

from harness.workers.clients.amqp_stream import STREAM, AmqpStreamClient
from harness.workers.clients.port import UnknownBacklog
from harness.workers.consumer import Consumer
from harness.workers.drainer import Drainer
from harness.workers.protocol import Role, WorkerConfig
from harness.workers.recorder import Recorder
from harness.workers.stream_audit import StreamAuditor
from spark_analysis.schema import tables
from spark_analysis.schema.body import Identity, encode
from spark_analysis.schema.words import Via
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.workers.rig import QUEUE, RUN_NUMBER, config, consumer, fail, rows, until

Story = Callable[[TinyBroker], Awaitable[None]]


def play(story: Story, count: int = 0, **switches: Any) -> None:
    async def with_broker() -> None:
        stream = [body(sequence) for sequence in range(count)]
        async with TinyBroker(streams={QUEUE: stream}, **switches) as broker:
            await story(broker)

    asyncio.run(with_broker())


def body(sequence: int) -> bytes:
    return encode(Identity(RUN_NUMBER, 1, sequence, 1, sequence % 3, 1_000 + sequence), 100)


def settings_of(folder: Path, *brokers: TinyBroker, **rest: Any) -> WorkerConfig:
    chosen = {"acknowledge": 10, "resume_at": 0, "client": "pika-stream", **rest}
    return config(chosen.pop("role", Role.CONSUMER), folder, *brokers, **chosen)


def offsets(settings: WorkerConfig) -> list[int]:
    return [row["offset"] for row in rows(settings, tables.DELIVERIES)]


def test_a_new_consumer_reads_from_the_first_message(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = settings_of(tmp_path, broker)
        async with consumer(settings, AmqpStreamClient(settings)) as worker:
            await until(lambda: worker.status()["delivered"] == 450)
            broker.put(QUEUE, body(450))
            await until(lambda: worker.status()["next_offset"] == 451)
        found = rows(settings, tables.DELIVERIES)
        assert [(row["sequence"], row["offset"]) for row in found] == [(n, n) for n in range(451)]
        assert {(row["via"], row["broker"]) for row in found} == {(Via.LOAD, STREAM)}
        assert len(broker.streams[QUEUE]) == 451

    play(story, count=450)


def test_a_new_connection_goes_on_after_what_is_on_record(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = settings_of(tmp_path, broker, own={"prefetch": 4})
        async with consumer(settings, AmqpStreamClient(settings)) as worker:
            await until(lambda: worker.status()["delivered"] >= 20)
            broker.drop()
            await until(lambda: worker.status()["next_offset"] == 60)
        assert offsets(settings) == list(range(60))

    play(story, count=60)


def test_a_cancelled_subscription_goes_on_after_what_is_on_record(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = settings_of(tmp_path, broker)
        async with consumer(settings, AmqpStreamClient(settings)) as worker:
            await until(lambda: worker.status()["delivered"] == 10)
            broker.cancel_consumers()
            broker.put(QUEUE, body(10))
            await until(lambda: worker.status()["delivered"] == 11)
        assert offsets(settings) == list(range(11))

    play(story, count=10)


def test_the_end_of_a_look_renews_no_subscription(tmp_path: Path) -> None:
    """Two subscriptions on one link would get every message twice."""

    async def story(broker: TinyBroker) -> None:
        settings = settings_of(tmp_path, broker)
        async with consumer(settings, AmqpStreamClient(settings)) as worker:
            await until(lambda: worker.status()["delivered"] == 10)
            (channel,) = broker.channels()
            channel.send(spec.Basic.Cancel("look", nowait=True))
            broker.put(QUEUE, body(10))
            await until(lambda: worker.status()["delivered"] == 11)
            assert worker.marks == (11, 1)
        assert offsets(settings) == list(range(11))

    play(story, count=10)


def test_a_broker_that_forgets_the_offset_is_on_record(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = settings_of(tmp_path, broker)
        async with consumer(settings, AmqpStreamClient(settings)) as worker:
            await until(lambda: worker.status()["delivered"] == 10)
            broker.drop()
            await until(lambda: worker.status()["delivered"] == 20)
            assert worker.status()["next_offset"] == 10
        assert offsets(settings) == [*range(10), *range(10)]

    play(story, count=10, rewinds=True)


def test_a_stream_without_offsets_keeps_its_place(tmp_path: Path) -> None:
    """A classic queue in a stream's place: nothing says where its messages were."""

    async def story(broker: TinyBroker) -> None:
        del broker.streams[QUEUE]
        broker.put(QUEUE, body(0))
        settings = settings_of(tmp_path, broker)
        async with consumer(settings, AmqpStreamClient(settings)) as worker:
            await until(lambda: worker.status()["delivered"] == 1)
            assert worker.status()["next_offset"] == 0
        assert offsets(settings) == [-1]

    play(story)


async def drained(settings: WorkerConfig) -> dict[str, Any]:
    """The outcome of a drain."""
    outcomes: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    recorder = Recorder(settings, fail)
    reader = Consumer(settings, recorder, AmqpStreamClient(settings), lambda: None, Via.DRAIN)
    drainer = Drainer(settings, reader, outcomes.put_nowait)
    running = asyncio.create_task(drainer.run())
    outcome = await outcomes.get()
    running.cancel()
    await asyncio.wait([running])
    await drainer.close(nicely=True)
    recorder.close()
    return outcome


def drainer_of(folder: Path, broker: TinyBroker, resume_at: int) -> WorkerConfig:
    times = {"quiet_s": 0.1, "limit_s": 4.0 if resume_at else 10.0}
    return settings_of(folder, broker, role=Role.DRAINER, resume_at=resume_at, **times)


def test_a_drain_reads_from_the_given_offset_to_the_end(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = drainer_of(tmp_path, broker, resume_at=17)
        assert (await drained(settings))["complete"]
        found = rows(settings, tables.DELIVERIES)
        assert [row["offset"] for row in found] == [17, 18, 19]
        assert {(row["via"], row["broker"]) for row in found} == {(Via.DRAIN, STREAM)}

    play(story, count=20)


@pytest.mark.parametrize("count", [0, 1, 20])
def test_a_stream_that_was_read_is_empty(tmp_path: Path, count: int) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = drainer_of(tmp_path, broker, resume_at=count)
        assert await drained(settings) == {
            "say": "drained",
            "queue": "orders",
            "complete": True,
            "doubt": "",
            "subscribed": True,
            "next_offset": count,
        }
        assert offsets(settings) == []

    play(story, count=count)


def test_a_replica_behind_its_leader_is_not_empty(tmp_path: Path) -> None:
    """All nodes report the leader's count; what this one gives ends before it."""

    async def story(broker: TinyBroker) -> None:
        settings = drainer_of(tmp_path, broker, resume_at=0)
        outcome = await drained(settings)
        assert not outcome["complete"]
        assert "2 messages ready, none of them delivered" in outcome["doubt"]
        assert offsets(settings) == list(range(18))

    play(story, count=20, lags=2)


@pytest.mark.parametrize("counted", [0, 19])
def test_a_count_below_a_known_offset_ends_no_drain(tmp_path: Path, counted: int) -> None:
    """The leader does not answer, and the drained replica may lack what it has."""

    async def story(broker: TinyBroker) -> None:
        settings = drainer_of(tmp_path, broker, resume_at=18)
        outcome = await drained(settings)
        assert not outcome["complete"]
        assert f"count of messages, {counted}, is not current: 20 are known" in outcome["doubt"]
        assert offsets(settings) == [18, 19]

    play(story, count=20, counts=counted)


@pytest.mark.parametrize("role", [Role.DRAINER, Role.AUDITOR])
def test_a_stream_without_a_last_chunk_is_not_empty(tmp_path: Path, role: Role) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = settings_of(tmp_path, broker, role=role)
        async with consumer(settings, AmqpStreamClient(settings)) as worker:
            assert worker.link is not None
            with pytest.raises(UnknownBacklog, match=r"nothing of .* last chunk .* 3 messages"):
                await worker.link.ready_messages()

    play(story, count=3, lags=3)


def test_a_last_chunk_that_nobody_got_is_not_empty(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = settings_of(tmp_path, broker)
        async with consumer(settings, AmqpStreamClient(settings)) as worker:
            await until(lambda: worker.status()["delivered"] == 20)
            assert worker.link is not None
            for channel in broker.channels():
                for tag in list(channel.consumers):
                    del channel.consumers[tag]
            broker.streams[QUEUE] += [body(20), body(21)]
            assert await worker.link.ready_messages() == 2

    play(story, count=20)


def test_an_audit_reads_each_nodes_own_replica_from_its_start(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        stream = [body(sequence) for sequence in range(7)]
        async with TinyBroker(streams={QUEUE: stream}, lags=2) as behind:
            times = {"quiet_s": 0.1, "limit_s": 10.0}
            settings = settings_of(tmp_path, broker, behind, role=Role.AUDITOR, **times)
            said: list[dict[str, Any]] = []
            recorder = Recorder(settings, fail)
            auditor = StreamAuditor(settings, recorder, lambda: None, said.append)
            await auditor.run()
            assert auditor.status()["delivered"] == 25
            recorder.close()
        assert [(one["complete"], one["doubts"]) for one in said] == [(True, ["", ""])]
        assert said[0]["next_offsets"] == [20, 5]
        found = rows(settings, tables.DELIVERIES)
        assert {row["via"] for row in found} == {Via.AUDIT}
        by_node = {
            node: [row["offset"] for row in found if row["broker"] == node]
            for node in ("broker1", "broker2")
        }
        assert by_node == {"broker1": list(range(20)), "broker2": list(range(5))}
        numbers = [row["connection"] for row in rows(settings, tables.CLIENT_EVENTS)]
        assert sorted(set(numbers)) == [1, 2], "each node's replica has a connection of its own"

    play(story, count=20)


def test_an_audit_names_the_node_that_cannot_be_read(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        async with TinyBroker(missing=True) as without:
            times = {"quiet_s": 0.1, "limit_s": 2.0}
            settings = settings_of(tmp_path, broker, without, role=Role.AUDITOR, **times)
            said: list[dict[str, Any]] = []
            recorder = Recorder(settings, fail)
            auditor = StreamAuditor(settings, recorder, lambda: None, said.append)
            await auditor.run()
            recorder.close()
        (outcome,) = said
        assert not outcome["complete"]
        assert outcome["doubts"][0] == ""
        assert "NOT_FOUND" in outcome["doubts"][1]

    play(story, count=20)
