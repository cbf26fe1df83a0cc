"""Redeliveries whose cause a history may hide."""

import pytest

from harness.histories.denominators import unshown
from harness.histories.history import History
from harness.histories.requeues import hidden_cause
from spark_analysis.schema.words import Redelivered
from tests.rigs.defects.runs import history, of_rows
from tests.rigs.histories import by_hand

YES = Redelivered.YES
UNCLEAR = (
    "consumer 2 requeued something on connection 1, and no row says which of the messages that it "
    "held"
)


def as_history(built: by_hand.History) -> History:
    facts, rows = built.build()
    tables = {
        name: {column: [row[column] for row in listed] for column in listed[0]}
        for name, listed in rows.items()
    }
    return History(facts, {}, {}, tables)


def holding(*, others: int = 1) -> by_hand.History:
    """The consumer holds message 0, tag 1, and so many others."""
    built = by_hand.History().client_event("consuming", at_ms=1)
    for number in range(1 + others):
        built.publish(number, at_ms=100 + number).confirm(number).deliver(
            number, at_ms=200 + number
        )
    return built


def again(built: by_hand.History, *, tag: int | None = None) -> str:
    return hidden_cause(as_history(built.deliver(0, at_ms=900, redelivered=YES, tag=tag)))


def test_nothing_is_hidden_if_events_and_tags_are_in_order() -> None:
    assert hidden_cause(as_history(holding())) == ""
    assert again(holding()) == ""


@pytest.mark.parametrize(
    ("others", "detail", "hidden"),
    [(1, None, UNCLEAR), (0, None, ""), (1, "1", ""), (1, "2", ""), (1, "both", UNCLEAR)],
)
def test_a_requeue_names_its_delivery_or_its_connection_held_no_other(
    others: int, detail: str | None, hidden: str
) -> None:
    built = holding(others=others).client_event("requeued", at_ms=500, detail=detail)
    assert again(built) == hidden


@pytest.mark.parametrize(("at_ms", "hidden"), [(500, ""), (501, UNCLEAR)])
def test_acknowledged_messages_are_held_no_more(at_ms: float, hidden: str) -> None:
    built = holding().acknowledge(2, at_ms=at_ms).client_event("requeued", at_ms=500)
    assert again(built) == hidden


def test_requeued_messages_are_held_no_more() -> None:
    built = holding().client_event("requeued", at_ms=300, detail="2")
    assert again(built.client_event("requeued", at_ms=500)) == ""


def test_a_message_that_is_requeued_again_and_again_hides_nothing() -> None:
    built = holding(others=0)
    for round_ms in (300, 400, 500):
        built.client_event("requeued", at_ms=round_ms)
        built.deliver(0, at_ms=round_ms + 10, redelivered=YES)
    built.client_event("requeued", at_ms=600)
    assert again(built) == ""


@pytest.mark.parametrize("at_ms", [199, 900])
def test_only_a_requeue_between_the_two_deliveries_matters(at_ms: float) -> None:
    assert again(holding().client_event("requeued", at_ms=at_ms)) == ""


def test_a_consumer_without_client_events_may_have_requeued() -> None:
    built = holding()
    del built.rows["client_events"]
    assert again(built) == (
        "consumer 2 has no client event on record, so what it requeued is unknown"
    )


def test_tags_that_do_not_ascend_show_a_number_that_was_used_twice() -> None:
    assert again(holding(), tag=1) == (
        "tags of connection 1 of consumer 2 do not ascend: its number was used twice, so what it "
        "requeued is unknown"
    )


def test_a_hidden_cause_is_why_no_redelivery_without_cause_is_shown() -> None:
    built = by_hand.History().client_event("consuming", at_ms=1)
    for number in range(101):
        built.publish(number, at_ms=number * 100).confirm(number).deliver(number)
    built.acknowledge(3, 101, at_ms=20_000).client_event("requeued", at_ms=21_000)
    facts, rows = built.deliver(0, at_ms=22_000, redelivered=YES).build()
    found = unshown(history(of_rows("run", facts, {}, {}, rows)))
    assert found["duplicated.redelivered_without_cause"] == UNCLEAR
