"""Priorities: what is declared, what is published, and what is judged."""

import asyncio
from pathlib import Path

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.checks.demands import priorities
from harness.plan.clients.amqp_section import AmqpWorkload
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.toml import read_scenario
from harness.plan.problems import PlanError
from harness.systems.catalogue import load_system
from harness.workers.protocol import Role
from spark_analysis.schema import tables
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.runs.plans import LAYOUT, SYSTEM, plan
from tests.rigs.workers.rig import config, publisher, rows, until

TEXT = """
title = "Priorities"
[workload]
queues = ["orders"]
publishers = 1
consumers = 1
rate = 10
{keys}
[workload.amqp]
priorities = {levels}
"""


@pytest.mark.parametrize("several", [False, True])
def test_each_key_is_published_with_one_priority(tmp_path: Path, several: bool) -> None:
    async def story() -> None:
        async with TinyBroker() as broker:
            more = (("mqproof.run.parts", "parts"),) if several else ()
            settings = config(
                Role.PUBLISHER,
                tmp_path,
                broker,
                rate=500.0,
                keys=4,
                more_queues=more,
                own={"priorities": 3},
            )
            async with publisher(settings) as worker:
                await until(lambda: worker.status()["confirmed"] >= 30)
            places = len(settings.queues)
            keys = [row["key"] for row in rows(settings, tables.ATTEMPTS)]
            wanted = [key // places % 3 for key in keys][: len(broker.priorities)]
            assert broker.priorities == wanted
            assert set(broker.priorities) == {0, 1, 2}

    asyncio.run(story())


def test_messages_have_no_priority_unless_requested(tmp_path: Path) -> None:
    async def story() -> None:
        async with TinyBroker() as broker:
            settings = config(Role.PUBLISHER, tmp_path, broker, rate=500.0)
            async with publisher(settings) as worker:
                await until(lambda: worker.status()["confirmed"] >= 3)
            assert set(broker.priorities) == {None}

    asyncio.run(story())


@pytest.mark.parametrize(
    ("keys", "levels", "wrong"),
    [
        ("", 2, "2 priorities for 1 keys, and each key has one priority"),
        ("keys = 4", 5, "set keys of .workload. to 5 at least"),
        ("keys = 300", 256, "must be a number of levels from 2 to 255"),
        ("keys = 4", 1, "must be a number of levels from 2 to 255"),
    ],
)
def test_priorities_without_enough_keys_are_refused(keys: str, levels: int, wrong: str) -> None:
    with pytest.raises(PlanError, match=wrong):
        read_scenario("priorities", TEXT.format(keys=keys, levels=levels))


def test_as_many_keys_as_priorities_are_enough() -> None:
    scenario = read_scenario("priorities", TEXT.format(keys="keys = 5", levels=5))
    assert priorities(chosen_client("pika"), scenario.workload) == 5


def test_quorum_queues_have_no_priorities() -> None:
    scenario = plan(keys=5, amqp=AmqpWorkload(priorities=5)).scenario
    assert obstacles(scenario, SYSTEM, LAYOUT, chosen_client("pika"), "compose") == []
    quorum = load_system("rabbitmq-quorum")
    reasons = obstacles(scenario, quorum, LAYOUT, chosen_client("pika"), "compose")
    assert any("rabbitmq-quorum has no queues with priorities" in reason for reason in reasons)
