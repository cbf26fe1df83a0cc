"""A publisher that commits transactions of a channel, with real pika against a tiny broker."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.clients.amqp_section import SECTION, AmqpWorkload
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.toml import read_scenario
from harness.plan.problems import PlanError
from harness.workers.clients.amqp import AmqpClient
from harness.workers.protocol import Role, WorkerConfig
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.workers.rig import config, identities, publisher, rows, until

Story = Callable[[TinyBroker], Awaitable[None]]
SIZE = 7


def play(story: Story) -> None:
    async def with_broker() -> None:
        async with TinyBroker() as broker:
            await story(broker)

    asyncio.run(with_broker())


def committing(broker: TinyBroker, folder: Path, **rest: object) -> WorkerConfig:
    values = {"rate": None, "own": {"transaction_size": SIZE}, "deadline_s": 0.5, **rest}
    return config(Role.PUBLISHER, folder, broker, **values)


def outcomes(settings: WorkerConfig) -> list[Outcome]:
    return [Outcome(row["outcome"]) for row in rows(settings, tables.SETTLEMENTS)]


def test_a_commit_confirms_all_messages_of_its_transaction(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        settings = committing(broker, tmp_path)
        async with publisher(settings) as worker:
            await until(lambda: worker.status()["confirmed"] >= 10 * SIZE)
            worker.stop_load()
            await until(lambda: not worker.status()["outstanding"])
        assert max(broker.commits) == SIZE
        assert sum(broker.commits) == len(broker.published)
        assert outcomes(settings) == [Outcome.CONFIRMED] * len(broker.published)
        sequences = [one.sequence for one in identities(broker.published)]
        assert sequences == sorted(sequences)

    play(story)


def test_nothing_is_published_while_a_commit_is_processed(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        broker.hold = True
        settings = committing(broker, tmp_path, deadline_s=60.0)
        async with publisher(settings) as worker:
            await until(lambda: len(broker.published) == SIZE)
            await until(lambda: worker.status()["outstanding"] > SIZE)
            assert len(broker.published) == SIZE
            assert worker.status()["confirmed"] == 0

    play(story)


def test_a_commit_without_an_answer_ends_the_connection(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        broker.hold = True
        settings = committing(broker, tmp_path)
        async with publisher(settings) as worker:
            await until(lambda: broker.opened > 1)
            broker.hold = False
            await until(lambda: worker.status()["confirmed"] >= SIZE)
        assert Outcome.UNKNOWN in outcomes(settings)
        assert Outcome.CONFIRMED in outcomes(settings)

    play(story)


def test_at_most_the_next_transaction_waits_on_record(tmp_path: Path) -> None:
    """What waited for longer would be taken for a connection that does not answer."""

    async def story(broker: TinyBroker) -> None:
        settings = committing(broker, tmp_path)
        assert AmqpClient(settings).window(1000) == 2 * SIZE
        assert AmqpClient(settings).window(SIZE) == SIZE
        assert AmqpClient(replace(settings, own={})).window(1000) == 1000

    play(story)


def test_a_refused_transaction_leaves_its_messages_unknown(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        broker.nack = True
        settings = committing(broker, tmp_path)
        async with publisher(settings) as worker:
            await until(lambda: worker.status()["unknown"] >= SIZE)
            assert worker.status()["confirmed"] == 0
        lost = [row for row in rows(settings, tables.CLIENT_EVENTS) if row["kind"] == "lost"]
        assert "406" in lost[0]["detail"]

    play(story)


def test_messages_that_a_commit_returns_are_returned_not_confirmed(tmp_path: Path) -> None:
    async def story(broker: TinyBroker) -> None:
        broker.unroutable = True
        settings = committing(broker, tmp_path, rate=500.0, deadline_s=60.0)
        async with publisher(settings) as worker:
            await until(lambda: worker.status()["sent"] >= SIZE)
            worker.stop_load()
            await until(lambda: not worker.status()["outstanding"])
            assert worker.status()["confirmed"] == 0
        assert set(outcomes(settings)) == {Outcome.RETURNED}
        assert sum(broker.commits) == len(broker.published)
        assert not broker.queues

    play(story)


TEXT = """
title = "Transactions"
[workload]
queues = ["orders"]
publishers = 1
consumers = 1
rate = 10
confirms = {confirms}
[workload.amqp]
transaction_size = {size}
"""


def text(confirms: str = "true", size: int = SIZE) -> str:
    return TEXT.format(confirms=confirms, size=size)


@pytest.mark.parametrize(
    ("document", "wrong"),
    [
        (text(size=-1), "transaction_size"),
        (text(size=10_001), "transaction_size"),
        (text(confirms="false"), "commits, which confirm: set confirms of .workload. to true"),
    ],
)
def test_transactions_that_make_no_sense_are_refused(document: str, wrong: str) -> None:
    with pytest.raises(PlanError, match=wrong):
        read_scenario("transactions", document)


def test_transactions_need_a_client_that_commits() -> None:
    workload = read_scenario("transactions", text()).workload
    assert SECTION.of(workload) == AmqpWorkload(transaction_size=SIZE)
    assert "channel transaction" in chosen_client("pika").wanted(workload)
    assert chosen_client("pika").shown(workload) == [
        "publishers commit transactions of at most 7 messages"
    ]
    alone = replace(workload, publishers=0)
    assert "channel transaction" not in chosen_client("pika").wanted(alone)
