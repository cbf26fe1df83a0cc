"""Publishes, missed ones, and the run second by second."""

import pytest

from spark_analysis.schema.availability import Second
from spark_analysis.schema.words import NO_INTENT, Outcome, Via
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, affected, counts, ns

NANOSECOND_MS = 0.000001


def missed(history: History) -> dict[str, int]:
    return dict(counts(judge(*history.build()), "operations", "missed"))


IN_TIME = {"operations": 1}
MISSED = {"operations": 1, "missed": 1}


def test_a_publish_is_in_time_up_to_its_deadline() -> None:
    sent = History(deadline_ms=1_000).publish(1, at_ms=10)
    assert missed(sent.confirm(1, at_ms=1_010)) == IN_TIME


def test_a_publish_confirmed_after_its_deadline_is_missed() -> None:
    sent = History(deadline_ms=1_000).publish(1, at_ms=10)
    assert missed(sent.confirm(1, at_ms=1_010 + NANOSECOND_MS)) == MISSED


def test_the_deadline_counts_from_the_intended_time_not_the_sending() -> None:
    history = History(deadline_ms=1_000).publish(1, at_ms=900, intended_ms=10)
    findings = judge(*history.confirm(1, at_ms=1_011).build())
    assert counts(findings, "operations", "missed") == MISSED
    assert affected(findings, "missed") == [("", 1, 0, ns(10))]


def test_a_publish_that_was_never_sent_is_missed() -> None:
    assert missed(History().not_sent(1, intended_ms=10)) == MISSED


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.CONFIRMED])
def test_only_a_confirm_keeps_a_publish_from_being_missed(outcome: Outcome) -> None:
    assert missed(History().publish(1).settle(1, outcome).deliver(1)) == MISSED


def test_a_confirm_of_any_attempt_counts() -> None:
    history = History().publish(1, at_ms=10).settle(1, Outcome.UNKNOWN)
    assert missed(history.publish(1, at_ms=500, attempt=2).confirm(1, attempt=2)) == IN_TIME


def test_the_earliest_confirm_counts() -> None:
    history = History().publish(1, at_ms=10).publish(1, attempt=2)
    history.confirm(1, at_ms=5_000).confirm(1, at_ms=20, attempt=2)
    assert missed(history) == IN_TIME


def test_a_retry_is_no_publish_of_its_own() -> None:
    history = History().publish(1, at_ms=10).publish(1, attempt=2).publish(1, attempt=3)
    assert missed(history.confirm(1, attempt=3)) == IN_TIME


def test_a_publish_intended_at_the_origin_counts() -> None:
    assert missed(History().publish(1, at_ms=0).confirm(1)) == IN_TIME


def test_a_message_without_an_intended_time_is_no_publish() -> None:
    assert missed(History().publish(1, attempt=2).confirm(1, attempt=2)) == {}
    history = History().publish(1).confirm(1)
    history.rows["attempts"][0]["intended_ns"] = NO_INTENT
    assert missed(history) == {}


def test_a_load_at_full_rate_has_no_publishes() -> None:
    assert missed(History(paced=False).publish(1)) == {}
    history = History(paced=False).publish(1, intended_ms=10)
    history.rows["attempts"][0]["intended_ns"] = ns(10)
    assert missed(history) == {}


def test_a_load_without_confirms_has_no_publishes() -> None:
    assert missed(History(confirms=False).publish(1)) == {}


def test_each_thing_counts_in_the_second_of_its_own_time() -> None:
    history = History().publish(1, at_ms=1_999, intended_ms=999).confirm(1, at_ms=2_000)
    history.deliver(1, at_ms=3_999.999999).deliver(1, at_ms=5_000)
    assert judge(*history.build()).seconds == (
        Second("run", 0, operations=1, missed=1, confirmed=0, delivered=0),
        Second("run", 2, operations=0, missed=0, confirmed=1, delivered=0),
        Second("run", 3, operations=0, missed=0, confirmed=0, delivered=1),
    )


def test_a_second_counts_messages_not_rows() -> None:
    history = History().publish(1, at_ms=10).publish(1, attempt=2).confirm(1)
    history.confirm(1, attempt=2).deliver(1).deliver(1).publish(2).deliver(2)
    assert judge(*history.build()).seconds == (
        Second("run", 0, operations=2, missed=1, confirmed=1, delivered=2),
    )


def test_a_second_without_pace_still_has_its_confirms_and_deliveries() -> None:
    history = History(paced=False).publish(1).confirm(1).deliver(1, via=Via.DRAIN)
    assert judge(*history.build()).seconds == (Second("run", 0, 0, 0, 1, 1),)


def test_messages_found_by_the_audit_were_not_delivered() -> None:
    history = History(confirms=False).publish(1).deliver(1, via=Via.AUDIT)
    assert judge(*history.build()).seconds == ()
