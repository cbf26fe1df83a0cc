"""Deliveries that are not what anybody sent."""

import pytest

from spark_analysis.schema.words import Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, affected, counts, ns
from tests.rigs.histories.ways import Via

STRAYS = ("unexpected", "unrecorded", "corrupt")


def strays(history: History, queue: str = "orders") -> dict[str, int]:
    return dict(counts(judge(*history.build()), *STRAYS, queue=queue))


def test_a_delivery_of_what_was_sent_is_no_stray() -> None:
    assert strays(History().publish(1).confirm(1).deliver(1)) == {}


@pytest.mark.parametrize("via", list(Via))
def test_an_unsent_delivery_is_unexpected_by_any_path(via: Via) -> None:
    findings = judge(*History().deliver(4, at_ms=50, attempt=2, via=via).build())
    assert counts(findings, *STRAYS) == {"unexpected never_sent": 1}
    assert affected(findings, *STRAYS) == [("never_sent", 4, 2, ns(50))]


def test_a_delivery_of_an_unknown_producer_is_unexpected() -> None:
    assert strays(History().publish(1).deliver(1, producer=9)) == {"unexpected never_sent": 1}


def test_a_delivery_of_another_run_is_unexpected_with_any_name() -> None:
    findings = judge(*History().publish(1).deliver(1, at_ms=50, run_ok=False).build())
    assert counts(findings, *STRAYS) == {"unexpected other_run": 1}
    assert affected(findings, *STRAYS) == [("other_run", 1, 1, ns(50))]


def test_a_delivery_of_an_unsent_message_is_unexpected() -> None:
    findings = judge(*History().not_sent(1).deliver(1, at_ms=50).build())
    assert counts(findings, *STRAYS) == {"unexpected not_sent": 1}
    assert affected(findings, *STRAYS) == [("not_sent", 1, 1, ns(50))]


def test_a_delivery_of_an_unsent_message_stays_unexpected_when_refused() -> None:
    history = History().not_sent(1).settle(1, Outcome.REFUSED).deliver(1)
    assert strays(history) == {"unexpected not_sent": 1}


def test_a_delivery_of_an_attempt_without_a_row_is_unexpected() -> None:
    findings = judge(*History().publish(1).deliver(1, at_ms=50, attempt=2).build())
    assert counts(findings, *STRAYS) == {"unexpected unknown_attempt": 1}
    assert affected(findings, *STRAYS) == [("unknown_attempt", 1, 2, ns(50))]


def test_a_delivery_of_an_unsent_attempt_is_unexpected() -> None:
    history = History().not_sent(1).publish(1, attempt=2).deliver(1)
    assert strays(history) == {"unexpected unknown_attempt": 1}


def test_a_delivery_of_a_missing_first_attempt_is_unexpected() -> None:
    history = History().publish(1, attempt=2).deliver(1)
    assert strays(history) == {"unexpected unknown_attempt": 1}


@pytest.mark.parametrize("attempt", [0, -1])
def test_an_attempt_below_1_does_not_match_the_previous_message(attempt: int) -> None:
    history = History().publish(1).publish(1, attempt=2).publish(2).deliver(2, attempt=attempt)
    assert strays(history) == {"unexpected unknown_attempt": 1}


def test_an_attempt_beyond_the_last_does_not_match_another_message() -> None:
    history = History().publish(1).publish(2).publish(2, attempt=2).deliver(1, attempt=5)
    assert strays(history) == {"unexpected unknown_attempt": 1}


def test_a_delivery_of_a_refused_message_is_not_unexpected() -> None:
    assert strays(History().publish(1).settle(1, Outcome.REFUSED).deliver(1)) == {}


def test_strays_are_counted_per_delivery_in_their_queue() -> None:
    history = History().publish(1).deliver(1, attempt=2, queue="bills")
    history.deliver(1, attempt=2, queue="bills").deliver(1, payload_ok=False, queue="bills")
    assert strays(history) == {}
    expected = {"unexpected unknown_attempt": 2, "corrupt payload": 1}
    assert strays(history, queue="bills") == expected


def test_strays_are_unrecorded_where_a_publisher_died() -> None:
    history = History().log_open(PUBLISHER).worker(8, "publisher")
    history.deliver(4, at_ms=50).not_sent(1).deliver(1).publish(2).deliver(2, attempt=2)
    findings = judge(*history.build())
    assert counts(findings, *STRAYS) == {
        "unrecorded never_sent": 1,
        "unrecorded not_sent": 1,
        "unrecorded unknown_attempt": 1,
    }
    assert affected(findings, *STRAYS)[0] == ("never_sent", 4, 1, ns(50))


def test_another_runs_delivery_is_unexpected_even_after_a_publisher_death() -> None:
    history = History().log_open(PUBLISHER).deliver(1, run_ok=False)
    assert strays(history) == {"unexpected other_run": 1}


def test_strays_are_proved_where_only_a_consumer_died() -> None:
    assert strays(History().log_open(CONSUMER).deliver(1)) == {"unexpected never_sent": 1}


@pytest.mark.parametrize("role", ["auditor", "prober", "watcher"])
def test_strays_are_proved_where_a_worker_died_that_publishes_nothing(role: str) -> None:
    history = History().worker(9, role, log_closed=False).deliver(1)
    assert strays(history) == {"unexpected never_sent": 1}


@pytest.mark.parametrize("via", list(Via))
def test_a_broken_payload_is_corrupt_by_whatever_way(via: Via) -> None:
    history = History().publish(1).publish(1, attempt=2)
    history.deliver(1, at_ms=50, attempt=2, via=via, payload_ok=False)
    findings = judge(*history.build())
    assert counts(findings, *STRAYS) == {"corrupt payload": 1}
    assert affected(findings, *STRAYS) == [("payload", 1, 2, ns(50))]


def test_a_broken_header_is_corrupt_and_names_nothing() -> None:
    findings = judge(*History().deliver_broken(at_ms=50).build())
    assert counts(findings, *STRAYS) == {"corrupt header": 1}
    (row,) = findings.affected
    assert (row.detail, row.producer, row.sequence, row.attempt) == ("header", -1, -1, 0)
    assert row.at_ns == ns(50)


def test_a_delivery_can_be_corrupt_and_unexpected() -> None:
    history = History().deliver(1, payload_ok=False, run_ok=False)
    assert strays(history) == {"unexpected other_run": 1, "corrupt payload": 1}
