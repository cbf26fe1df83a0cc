"""A consumer that polls by basic.get, with real pika against a tiny broker."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.analyse.questions import question
from harness.claims.state import KnownFacts
from harness.plan.clients.amqp_section import GET, PUSH, SECTION, AmqpWorkload
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.toml import read_scenario
from harness.plan.problems import PlanError
from harness.workers.protocol import Role, WorkerConfig
from spark_analysis.schema import tables
from spark_analysis.schema.words import Redelivered
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.workers.rig import QUEUE, config, consumer, rows, until

Story = Callable[[TinyBroker], Awaitable[None]]


def play(story: Story) -> None:
    async def with_broker() -> None:
        async with TinyBroker() as broker:
            await story(broker)

    asyncio.run(with_broker())


def polling(
    broker: TinyBroker, folder: Path, pause_s: float = 0.01, **rest: object
) -> WorkerConfig:
    own = {"consume": GET, "get_pause_s": pause_s}
    values = {"acknowledge": 1, "own": own, "deadline_s": 0.5, **rest}
    return config(Role.CONSUMER, folder, broker, **values)


def test_polled_messages_are_recorded_and_acknowledged(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = polling(broker, tmp_path)
        for _ in range(5):
            broker.put(QUEUE, b"")
        broker.put(QUEUE, b"", redelivered=True)
        async with consumer(settings) as worker:
            await until(lambda: worker.status()["delivered"] == 6)
            await until(lambda: broker.acknowledged[-1:] == [(6, True)])
        found = rows(settings, tables.DELIVERIES)
        assert [row["tag"] for row in found] == list(range(1, 7))
        assert [row["redelivered"] for row in found] == [Redelivered.NO] * 5 + [Redelivered.YES]

    play(story)


def test_an_empty_queue_is_polled_again_after_the_pause(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        async with consumer(polling(broker, tmp_path)) as worker:
            await until(lambda: broker.gets >= 3)
            broker.put(QUEUE, b"")
            await until(lambda: worker.status()["delivered"] == 1)

    play(story)


def test_a_get_without_an_answer_ends_the_connection(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = polling(broker, tmp_path)
        async with consumer(settings) as worker:
            await until(lambda: broker.gets)
            broker.answers_gets = False
            await until(lambda: broker.opened > 1)
            broker.answers_gets = True
            broker.put(QUEUE, b"")
            await until(lambda: worker.status()["delivered"] == 1)
        lost = [row for row in rows(settings, tables.CLIENT_EVENTS) if row["kind"] == "lost"]
        assert lost[0]["detail"] == "no answer to basic.get for 0.5 s: taken for dead"

    play(story)


def test_a_poller_reconnects_when_its_queue_is_missing(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        async with consumer(polling(broker, tmp_path)) as worker:
            await until(lambda: broker.gets)
            broker.missing = True
            await until(lambda: "404" in worker.trouble)
            broker.missing = False
            broker.put(QUEUE, b"")
            await until(lambda: worker.status()["delivered"] == 1)

    play(story)


def test_a_drainer_of_a_polled_queue_subscribes(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = config(Role.DRAINER, tmp_path, broker, acknowledge=1, own={"consume": GET})
        broker.put(QUEUE, b"")
        async with consumer(settings) as worker:
            await until(lambda: worker.status()["delivered"] == 1)
        assert not broker.gets

    play(story)


TEXT = """
title = "Polling"
[workload]
queues = ["orders"]
publishers = 1
consumers = {consumers}
rate = 10
[workload.amqp]
{keys}
"""


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ('consume = "pull"', "consume: 'pull' is not a valid value"),
        ('consume = "get"\nprefetch = 10', "sends only what is requested: leave prefetch out"),
        ('consume = "get"\ncancel_on_ha_failover = true', "no subscription that a failover"),
        ('consume = "get"\nget_pause = "1001 ms"', "must be from 1 ms to 1 s"),
        ('consume = "get"\nget_pause = "0 s"', "must be from 1 ms to 1 s"),
    ],
)
def test_keys_that_contradict_each_other_are_refused(keys: str, wrong: str) -> None:
    with pytest.raises(PlanError, match=wrong):
        read_scenario("polling", TEXT.format(consumers=1, keys=keys))


def test_polling_needs_a_client_that_can_pull() -> None:
    keys = 'consume = "get"\nget_pause = "20 ms"'
    workload = read_scenario("polling", TEXT.format(consumers=1, keys=keys)).workload
    assert SECTION.of(workload) == AmqpWorkload(consume=GET, get_pause_s=0.02)
    assert "pull" in chosen_client("pika").wanted(workload)
    assert question(KnownFacts.from_json(chosen_client("pika").facts(workload))).polls
    alone = read_scenario("polling", TEXT.format(consumers=0, keys=keys)).workload
    assert "pull" not in chosen_client("pika").wanted(alone)
    assert AmqpWorkload().consume == PUSH
    pushed = replace(workload, sections={})
    assert not question(KnownFacts.from_json(chosen_client("pika").facts(pushed))).polls
