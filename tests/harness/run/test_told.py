"""How many messages of a scenario are special, where these are few on purpose."""

import pytest

from harness.plan.model import RocketWorkload, RunPlan
from harness.plan.rocketmq_checks import FATES
from harness.run.told import planned
from tests.rigs.runs.plans import plan

NOTHING = {
    "delayed_messages": None,
    "messages_in_transactions": None,
    "messages_to_commit": None,
    "messages_to_ask": None,
}


def of(hundreds: int, publishers: int = 1, **own: int) -> RunPlan:
    """So many hundred messages a publisher."""
    rate = (100 * hundreds + 0.5) * publishers / plan().schedule.load_s
    return plan(rate=rate, publishers=publishers, rocketmq=RocketWorkload(fates=FATES, **own))


def test_few_are_counted_by_what_becomes_of_them() -> None:
    assert planned(of(2, delayed_percent=10, transactional_percent=20)) == {
        "delayed_messages": 20,
        "messages_in_transactions": 40,
        "messages_to_commit": 10,
        "messages_to_ask": 10,
    }


def test_each_publisher_has_his_own() -> None:
    assert planned(of(1, publishers=2, delayed_percent=10)) == {**NOTHING, "delayed_messages": 20}


@pytest.mark.parametrize(("hundreds", "told"), [(9, 90), (10, None)])
def test_a_hundred_are_many(hundreds: int, told: int | None) -> None:
    assert planned(of(hundreds, delayed_percent=10))["delayed_messages"] == told


def test_where_none_is_special_nothing_is_said() -> None:
    assert planned(of(1)) == NOTHING
    assert planned(plan(rate=None, rocketmq=RocketWorkload(delayed_percent=10))) == NOTHING
