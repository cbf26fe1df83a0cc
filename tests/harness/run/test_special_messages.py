"""What comes of a section in a run: the workers' options, and how many messages are special."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.clients.amqp_section import AmqpWorkload
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq import CLIENTS
from harness.plan.clients.rocketmq_section import RocketWorkload
from harness.plan.clients.rocketmq_table import FATES
from harness.plan.model import RunPlan
from harness.run.series import special_messages
from spark_analysis.schema.words import Strength
from tests.harness.run.live_runs import run
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.plans import LAYOUT, plan

NOTHING = {
    "delayed_messages": None,
    "messages_in_transactions": None,
    "messages_to_commit": None,
    "messages_to_check": None,
}


def of(hundreds: int, publishers: int = 1, **shares: int) -> RunPlan:
    """So many hundred messages a publisher."""
    rate = (100 * hundreds + 0.5) * publishers / plan().schedule.load_s
    own = RocketWorkload(fates=FATES, **shares)
    return replace(
        plan(rate=rate, publishers=publishers, rocketmq=own), client=chosen_client(CLIENTS[0].name)
    )


def test_few_are_counted_by_what_becomes_of_them() -> None:
    assert special_messages(of(2, delayed_percent=10, transactional_percent=20)) == {
        "delayed_messages": 20,
        "messages_in_transactions": 40,
        "messages_to_commit": 10,
        "messages_to_check": 10,
    }


def test_each_publisher_has_his_own() -> None:
    assert special_messages(of(1, publishers=2, delayed_percent=10)) == {
        **NOTHING,
        "delayed_messages": 20,
    }


@pytest.mark.parametrize(("hundreds", "expected"), [(9, 90), (10, None)])
def test_a_hundred_are_many(hundreds: int, expected: int | None) -> None:
    assert special_messages(of(hundreds, delayed_percent=10))["delayed_messages"] == expected


def test_without_special_messages_none_are_planned() -> None:
    assert special_messages(of(1)) == NOTHING
    late = RocketWorkload(delayed_percent=10)
    assert (
        special_messages(
            replace(plan(rate=None, rocketmq=late), client=chosen_client(CLIENTS[0].name))
        )
        == NOTHING
    )


def test_options_of_other_clients_are_not_counted() -> None:
    assert (
        special_messages(replace(of(1, delayed_percent=10), client=chosen_client("pika")))
        == NOTHING
    )


@pytest.mark.parametrize(
    ("mandatory", "worth"), [(True, Strength.REPLICATED), (False, Strength.UNROUTED_POSSIBLE)]
)
def test_confirm_of_a_possibly_unroutable_message_has_lower_level(
    tmp_path: Path, mandatory: bool, worth: Strength
) -> None:
    cluster = SimulatedCluster(LAYOUT)
    run(cluster, plan(amqp=AmqpWorkload(mandatory=mandatory, confirm_window=7)), tmp_path)
    publisher = cluster.configured["publisher-1"]
    assert (publisher.own["mandatory"], publisher.strength) == (mandatory, worth)
    assert publisher.confirm_window == 7
