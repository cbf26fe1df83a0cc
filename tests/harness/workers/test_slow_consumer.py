"""A consumer that takes time for each message: when it acknowledges, and what it gives up."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from harness.workers.clients.port import Fetched
from harness.workers.consumer import Consumer
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema import tables
from spark_analysis.schema.body import Identity, encode
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.machine import virtual_time
from tests.rigs.workers.loghand import PatientClient
from tests.rigs.workers.rig import QUEUE, RUN_NUMBER, config, consumer, rows, until

EACH_S = 0.5
ABOUT_S = 0.01  # what happens at a time has happened so long after it
Story = Callable[[Consumer, PatientClient], Awaitable[None]]


def body(sequence: int) -> bytes:
    return encode(Identity(RUN_NUMBER, 1, sequence, 1, 0, 1_000 + sequence), 100)


def settings_of(folder: Path, **rest: Any) -> WorkerConfig:
    endpoints = (Endpoint("host1", "127.0.0.1", 1),)
    chosen = {"acknowledge": 1, "processing_s": EACH_S, "endpoints": endpoints}
    return config(Role.CONSUMER, folder, **{**chosen, **rest})


def play(folder: Path, story: Story, **rest: Any) -> tuple[PatientClient, list[tuple[int, int]]]:
    """The client, and the acknowledgements on record after a nice close and some time."""
    client, settings = PatientClient(), settings_of(folder, **rest)

    async def played() -> None:
        async with consumer(settings, client) as worker:
            await story(worker, client)
        acknowledged = [*client.acknowledged]
        await asyncio.sleep(10 * EACH_S)
        assert client.acknowledged == acknowledged, "nothing is due after the close"

    virtual_time.run(played())
    found = rows(settings, tables.ACKNOWLEDGEMENTS)
    return client, [(row["first_tag"], row["last_tag"]) for row in found]


def deliver(worker: Consumer, *tags: int) -> None:
    for tag in tags:
        worker.delivered(tag, False, body(tag))


async def passes(messages: float) -> None:
    """As long as so many messages take, and a little longer."""
    await asyncio.sleep(messages * EACH_S + ABOUT_S)


def test_each_message_is_acknowledged_when_it_is_processed(tmp_path: Path) -> None:
    async def story(worker: Consumer, client: PatientClient) -> None:
        deliver(worker, 1, 2, 3)
        await asyncio.sleep(EACH_S - ABOUT_S)
        assert client.acknowledged == []
        await asyncio.sleep(2 * ABOUT_S)
        assert client.acknowledged == [1]
        await asyncio.sleep(EACH_S)
        assert client.acknowledged == [1, 2]
        await asyncio.sleep(EACH_S)
        assert client.acknowledged == [1, 2, 3]

    _, found = play(tmp_path, story)
    assert found == [(1, 1), (2, 2), (3, 3)]


def test_deliveries_are_on_record_before_they_are_processed(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)

    async def story() -> None:
        async with consumer(settings, PatientClient()) as worker:
            deliver(worker, 1, 2)
            await asyncio.sleep(ABOUT_S)
            assert len(rows(settings, tables.DELIVERIES)) == 2
            assert rows(settings, tables.ACKNOWLEDGEMENTS) == []

    virtual_time.run(story())


def test_a_batch_is_acknowledged_when_its_last_message_is_processed(tmp_path: Path) -> None:
    async def story(worker: Consumer, client: PatientClient) -> None:
        deliver(worker, 1, 2, 3)
        await asyncio.sleep(2 * EACH_S - ABOUT_S)
        assert client.acknowledged == []
        await asyncio.sleep(2 * ABOUT_S)
        assert client.acknowledged == [2]
        await asyncio.sleep(EACH_S)
        assert client.acknowledged == [2, 3]

    _, found = play(tmp_path, story, acknowledge=2)
    assert found == [(1, 2), (3, 3)]


def test_a_waiting_library_is_answered_when_everything_is_processed(tmp_path: Path) -> None:
    async def story(_: Consumer, client: PatientClient) -> None:
        given = (
            Fetched(tag, body(tag), "b/0", tag, False, None, time.monotonic_ns())
            for tag in (1, 2, 3)
        )
        client.give_out(*given)
        await asyncio.sleep(3 * EACH_S - ABOUT_S)
        assert client.acknowledged == []
        await asyncio.sleep(2 * ABOUT_S)
        assert client.acknowledged == [3]

    _, found = play(tmp_path, story)
    assert found == [(1, 3)]


def test_an_idle_consumer_begins_when_a_message_comes(tmp_path: Path) -> None:
    async def story(worker: Consumer, client: PatientClient) -> None:
        deliver(worker, 1)
        await passes(4)
        deliver(worker, 2)
        await asyncio.sleep(EACH_S - 2 * ABOUT_S)
        assert client.acknowledged == [1]
        await asyncio.sleep(4 * ABOUT_S)
        assert client.acknowledged == [1, 2]

    play(tmp_path, story)


def test_a_lost_link_gives_up_what_it_held(tmp_path: Path) -> None:
    async def story(worker: Consumer, client: PatientClient) -> None:
        deliver(worker, 1, 2, 3, 4)
        await passes(1)
        worker.lost("cut")
        await until(lambda: worker.subscribed)
        assert client.links == 2
        await passes(4)
        assert client.acknowledged == [1]
        deliver(worker, 1)
        await passes(1)
        assert client.acknowledged == [1, 1], "it does not first process what is given up"

    _, found = play(tmp_path, story)
    assert found == [(1, 1), (1, 1)]


def test_a_nice_close_acknowledges_everything_on_record(tmp_path: Path) -> None:
    async def story(worker: Consumer, client: PatientClient) -> None:
        deliver(worker, 1, 2, 3)
        await passes(0)
        assert client.acknowledged == []

    client, found = play(tmp_path, story, acknowledge=2)
    assert client.acknowledged == [2, 3]
    assert found == [(1, 2), (3, 3)]


def test_a_prefetch_count_makes_deliveries_wait_for_the_processing(tmp_path: Path) -> None:
    """Only a lower bound: a busy machine makes it take longer. 12 messages, 2 of them at once."""

    async def story() -> list[int]:
        async with TinyBroker() as broker:
            how: dict[str, Any] = {"acknowledge": 1, "processing_s": 0.02, "own": {"prefetch": 2}}
            settings = config(Role.CONSUMER, tmp_path, broker, **how)
            for sequence in range(12):
                broker.put(QUEUE, body(sequence))
            async with consumer(settings) as worker:
                await until(lambda: worker.status()["delivered"] == 12)
        return [row["received_ns"] for row in rows(settings, tables.DELIVERIES)]

    received = asyncio.run(story())
    assert (max(received) - min(received)) / 1e9 >= 10 * 0.02
