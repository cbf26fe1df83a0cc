"""Every place of a broker that may hold a topic's messages is read, and only its own are taken."""

from dataclasses import replace

import pytest

from harness.workers.remoting.holdings import HALVES, belongs, queues_to_read
from harness.workers.remoting.requests import TopicQueue
from harness.workers.remoting.tables import Topic
from tests.rigs.rocketmq.stored_messages import message


def test_topic_queues_are_read_before_those_for_set_aside_messages() -> None:
    topics = [
        Topic("%DLQ%readers", 1, 1, 2),
        Topic("SCHEDULE_TOPIC_XXXX", 2, 2, 6),
        Topic("SELF_TEST_TOPIC", 1, 1, 6),
        Topic("invoices", 4, 4, 6),
        Topic("orders", 1, 2, 6),
    ]
    assert queues_to_read(topics, "orders") == (
        TopicQueue("orders", 0),
        TopicQueue("orders", 1),
        TopicQueue("%DLQ%readers", 0),
        TopicQueue("SCHEDULE_TOPIC_XXXX", 0),
        TopicQueue("SCHEDULE_TOPIC_XXXX", 1),
        HALVES,
    )


def test_a_broker_without_the_topic_may_still_hold_its_messages() -> None:
    topics = [Topic("%RETRY%readers", 1, 1, 6), Topic("invoices", 4, 4, 6)]
    assert queues_to_read(topics, "orders") == (TopicQueue("%RETRY%readers", 0), HALVES)


def test_halves_are_read_once_whether_their_topic_is_known() -> None:
    known = [Topic(HALVES.topic, 1, 1, 6)]
    assert queues_to_read(known, "orders") == queues_to_read([], "orders") == (HALVES,)


@pytest.mark.parametrize(
    ("place", "properties", "ours"),
    [
        ("orders", {}, True),
        ("invoices", {}, False),
        ("SCHEDULE_TOPIC_XXXX", {"REAL_TOPIC": "orders"}, True),
        ("SCHEDULE_TOPIC_XXXX", {"REAL_TOPIC": "invoices"}, False),
        ("SCHEDULE_TOPIC_XXXX", {"REAL_TOPIC": "%RETRY%g", "RETRY_TOPIC": "orders"}, True),
        ("%DLQ%g", {"RETRY_TOPIC": "orders"}, True),
        ("%RETRY%g", {}, False),
    ],
)
def test_message_in_a_shared_place_belongs_to_its_named_topic(
    place: str, properties: dict[str, str], ours: bool
) -> None:
    one = replace(message(0, TopicQueue(place, 0)), properties=properties)
    assert belongs(one, "orders") is ours
