"""Whether queues are read again after a fault, and whether each consumer works again."""

from typing import Any

import pytest

from spark_analysis.schema.service import Consumption
from spark_analysis.schema.words import Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, History
from tests.rigs.histories.ways import Via

NANOSECOND_MS = 0.000001
OTHER = 8


def rows(history: History, scope: str, window: int = 1) -> list[Consumption]:
    found = judge(*history.build()).consumption
    return sorted(row for row in found if (row.scope, row.window) == (scope, window))


def consumption_of(
    history: History, scope: str, window: int = 1
) -> list[tuple[str, int, bool, float]]:
    return [
        (row.name, row.due, row.resumed, row.at_ns / 1e6) for row in rows(history, scope, window)
    ]


def faulted(**window: Any) -> History:
    """A fault from 10 s on; one message came before it."""
    history = History().window(10_000, returned_ms=10_300, ended_ms=20_000, **window)
    return history.publish(1, at_ms=5_000).confirm(1).deliver(1)


def sent(history: History, sequence: int, at_ms: float = 11_000) -> History:
    return history.publish(sequence, at_ms=at_ms).confirm(sequence, at_ms=at_ms + 1)


def test_a_queue_resumes_with_a_delivery_sent_during_the_fault() -> None:
    history = sent(sent(faulted(), 2), 3).deliver(3, at_ms=12_000).deliver(2, at_ms=13_000)
    assert consumption_of(history, "queue") == [("orders", 2, True, 12_000)]


def test_a_queue_that_is_no_longer_read_does_not_resume() -> None:
    history = sent(faulted(), 2).deliver(2, at_ms=61_000, via=Via.DRAIN)
    assert consumption_of(history, "queue") == [("orders", 1, False, 20_000)]


def test_messages_sent_before_the_fault_was_active_prove_nothing() -> None:
    early = 10_300 - NANOSECOND_MS
    assert consumption_of(sent(faulted(), 2, early).deliver(2, at_ms=12_000), "queue") == []
    both = sent(sent(faulted(), 2, early), 3).deliver(2, at_ms=12_000)
    assert consumption_of(both, "queue") == [("orders", 1, False, 20_000)]


def test_messages_confirmed_in_the_last_deadline_need_not_be_delivered() -> None:
    history = faulted().publish(2, at_ms=11_000)
    assert consumption_of(history.confirm(2, at_ms=19_000), "queue") == [
        ("orders", 1, False, 20_000)
    ]
    history = faulted().publish(2, at_ms=11_000)
    assert consumption_of(history.confirm(2, at_ms=19_000 + NANOSECOND_MS), "queue") == []


def test_unconfirmed_messages_are_not_due_for_consumption() -> None:
    history = faulted().publish(2, at_ms=11_000).settle(2, Outcome.UNKNOWN)
    assert consumption_of(history, "queue") == []


def test_a_window_ends_with_the_next_fault() -> None:
    history = sent(faulted().window(15_000), 2).deliver(2, at_ms=15_000)
    assert consumption_of(history, "queue") == [("orders", 1, True, 15_000)]
    later = sent(faulted().window(15_000), 2).deliver(2, at_ms=15_000 + NANOSECOND_MS)
    assert consumption_of(later, "queue") == [("orders", 1, False, 15_000)]


def test_a_retry_topic_shows_that_a_queue_is_read() -> None:
    history = sent(faulted(), 2).deliver(2, at_ms=12_000, via=Via.RETRY_TOPIC)
    assert consumption_of(history, "queue") == [("orders", 1, True, 12_000)]


def test_every_queue_is_checked_separately() -> None:
    history = sent(faulted().queue("bills"), 2).deliver(2, at_ms=12_000)
    history.publish(3, at_ms=11_000, queue="bills").confirm(3)
    assert consumption_of(history, "queue") == [
        ("bills", 1, False, 20_000),
        ("orders", 1, True, 12_000),
    ]


def test_a_consumer_that_worked_before_the_fault_is_expected() -> None:
    history = sent(faulted(), 2).deliver(2, at_ms=12_000)
    assert consumption_of(history, "consumer") == [("2", 1, True, 12_000)]
    assert consumption_of(sent(faulted(), 2), "consumer") == [("2", 1, False, 20_000)]


def test_one_idle_reader_of_two_does_not_count_as_resumed() -> None:
    history = faulted().worker(OTHER, "consumer").queue(ordered=False)
    history.publish(5, at_ms=6_000).confirm(5).deliver(5, consumer=OTHER)
    for sequence in (10, 11, 12):
        sent(history, sequence).deliver(sequence, at_ms=12_000)
    assert consumption_of(history, "consumer") == [("2", 1, True, 12_000), ("8", 1, False, 20_000)]


def test_another_reader_may_take_over_where_order_is_promised() -> None:
    history = sent(faulted().worker(OTHER, "consumer"), 2)
    history.deliver(2, at_ms=12_000, consumer=OTHER)
    assert consumption_of(history, "consumer") == []


def test_what_is_sent_into_the_fault_may_wait_behind_earlier_messages() -> None:
    history = sent(faulted(), 2).publish(5, at_ms=6_000).confirm(5)
    history.deliver(5, at_ms=15_000)
    assert consumption_of(history, "queue") == [("orders", 1, False, 15_000)]
    early = sent(faulted(), 2).publish(5, at_ms=6_000).confirm(5)
    early.deliver(5, at_ms=15_000 - NANOSECOND_MS)
    assert consumption_of(early, "queue") == [("orders", 1, False, 20_000)]


def test_a_consumer_idle_before_the_fault_is_not_expected() -> None:
    history = faulted().worker(OTHER, "consumer")
    assert [row.name for row in rows(sent(history, 2), "consumer")] == ["2"]


@pytest.mark.parametrize("how", [{"via": Via.RETRY_TOPIC}, {"offset": 3, "place": "broker-a/0"}])
def test_the_next_reader_of_logs_and_retry_topics_is_unknown(how: dict[str, Any]) -> None:
    history = History().window(10_000).publish(1, at_ms=5_000).confirm(1).deliver(1, **how)
    assert rows(sent(history, 2), "consumer") == []


@pytest.mark.parametrize(
    ("until_ms", "judged"), [(10_000, True), (10_000.1, False), (None, False)]
)
def test_a_consumer_that_was_away_is_not_expected(until_ms: float | None, judged: bool) -> None:
    history = sent(faulted().away(CONSUMER, 9_000, until_ms), 2)
    assert bool(rows(history, "consumer")) == judged


def test_without_consumers_nothing_resumes() -> None:
    assert judge(*sent(faulted(), 2).no_consumer().build()).consumption == ()
