"""Neutral histories with several consumer groups: read, written, and refused if something is
open."""

import json
from typing import Any

import pytest

from harness.histories import neutral
from harness.plan.problems import PlanError
from tests.rigs.histories.neutral import WORDS, document


def two_groups() -> dict[str, Any]:
    """Changes: two groups read `orders`, the second one without a consumer before the drain."""
    return {
        "facts.queues": [
            {"queue": f"orders-{name}", "ordered": True, "drained": True} for name in ("a", "b")
        ],
        "facts.consumer_groups": [
            {"name": "a", "queues": [{"queue": "orders-a", "of": "orders"}], "consumers": [2]},
            {"name": "b", "queues": [{"queue": "orders-b", "of": "orders"}], "consumers": []},
        ],
        "tables.deliveries.columns.queue": "orders-a",
    }


def test_consumer_groups_are_read_and_written() -> None:
    history = neutral.parse(json.dumps(document(two_groups())), "h.json", WORDS)
    assert [group.names for group in history.facts.consumer_groups] == [
        {"orders": "orders-a"},
        {"orders": "orders-b"},
    ]
    written = json.dumps(neutral.to_json(history))
    assert neutral.parse(written, "h.json", WORDS) == history


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"facts.consumer_groups.1.name": "a"}, "[1].name: 'a' stands there twice"),
        (
            {"facts.consumer_groups.1.queues.0.queue": "orders-a"},
            "consumer_groups: queue 'orders-a' stands there twice",
        ),
        ({"facts.consumer_groups.1.consumers": [2]}, "consumer 2 stands there twice"),
        (
            {"facts.consumer_groups.1.queues.0.of": "bills"},
            "[1].queues: it has no queue of 'orders'",
        ),
        (
            {"facts.consumer_groups.1.queues.0.queue": "orders"},
            "'orders' is a group's queue, and messages are sent to it",
        ),
        (
            {"facts.queues.1.queue": "bills"},
            "facts.queues[1].queue: 'bills' is the queue of no consumer group",
        ),
        (
            {"tables.deliveries.columns.queue": "orders"},
            "deliveries.queue[0]: 'orders' is the queue of no consumer group",
        ),
        (
            {"facts.consumer_groups.0.consumers": [], "facts.consumer_groups.1.consumers": [2]},
            "deliveries.consumer[0]: consumer 2 is of group 'b', "
            "and 'orders-a' is a queue of group 'a'",
        ),
    ],
)
def test_consumer_groups_that_leave_something_open_are_refused(
    changes: dict[str, Any], why: str
) -> None:
    with pytest.raises(PlanError) as found:
        neutral.parse(json.dumps(document(two_groups() | changes)), "h.json", WORDS)
    assert any(why in str(problem) for problem in found.value.problems)


def test_a_consumer_of_no_group_may_receive_for_every_group() -> None:
    changes = two_groups() | {"facts.consumer_groups.0.consumers": []}
    history = neutral.parse(json.dumps(document(changes)), "h.json", WORDS)
    assert not any(group.consumers for group in history.facts.consumer_groups)
