"""Whose sends failed under a fault, how many of them, until when and how."""

import pytest

from spark_analysis.schema.sends import FailedAnswer, Sent, answer_of
from spark_analysis.schema.words import Outcome
from tests.oracle.sends import sends
from tests.rigs.histories.by_hand import History, ns

FAULT_MS = 10_000


def sends_of(history: History, producer: int = 1, window: int = 1) -> Sent:
    rows = sends(*history.build()).sends
    (row,) = (one for one in rows if (one.producer, one.window) == (producer, window))
    return row


def faulted() -> History:
    return History().window(FAULT_MS)


def test_failed_sends_have_a_share_and_a_last_time() -> None:
    """Fail every fourth send of three seconds: a producer uses four queues, and one hangs."""
    history = faulted()
    for number in range(40):
        at_ms = FAULT_MS + 100 + 1_000 * number
        history.publish(number, at_ms=at_ms)
        if number % 4 or number >= 24:
            history.confirm(number, at_ms=at_ms + 5)
        else:
            history.settle(number, Outcome.UNKNOWN, at_ms=at_ms + 3_000)
    row = sends_of(history)
    assert (row.sent, row.failed) == (40, 6)
    assert (row.first_failed_ns, row.last_failed_ns) == (ns(3_100), ns(23_100))
    assert row.sent_by_then == 24


def test_without_failed_sends_there_is_no_failure_time() -> None:
    row = sends_of(faulted().publish(1, at_ms=FAULT_MS).confirm(1))
    assert row == Sent("run", 1, 1, 1, 0, None, None, 0)


def test_sends_before_the_fault_count_for_no_window() -> None:
    history = faulted().publish(1, at_ms=FAULT_MS - 0.000001)
    assert sends(*history.build()).sends == ()


def test_sends_that_fail_after_a_second_fault_count_twice() -> None:
    history = faulted().window(20_000)
    history.publish(1, at_ms=25_000).settle(1, Outcome.UNKNOWN, at_ms=28_000)
    assert sends_of(history, window=1).last_failed_ns == ns(18_000)
    assert sends_of(history, window=2).last_failed_ns == ns(8_000)


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.REFUSED, Outcome.RETURNED])
def test_every_outcome_except_a_confirm_is_a_failed_send(outcome: Outcome) -> None:
    history = faulted().publish(1, at_ms=FAULT_MS).settle(1, outcome, at_ms=FAULT_MS + 3)
    assert sends_of(history).failed == 1


def test_late_confirms_and_unanswered_publishes_are_no_failures() -> None:
    history = faulted().publish(1, at_ms=FAULT_MS).settle(1, Outcome.UNKNOWN, at_ms=FAULT_MS + 3)
    history.confirm(1, at_ms=FAULT_MS + 4)
    history.publish(2, at_ms=FAULT_MS + 5)
    row = sends_of(history)
    assert (row.sent, row.failed, row.last_failed_ns) == (2, 0, None)


def test_a_retry_that_is_confirmed_leaves_its_first_try_failed() -> None:
    history = faulted().publish(1, at_ms=FAULT_MS).settle(1, Outcome.UNKNOWN, at_ms=FAULT_MS + 3)
    history.publish(1, attempt=2, at_ms=FAULT_MS + 5).confirm(1, attempt=2, at_ms=FAULT_MS + 6)
    row = sends_of(history)
    assert (row.sent, row.failed, row.sent_by_then) == (2, 1, 1)


def test_without_confirms_failures_are_unknown() -> None:
    history = History(confirms=False).window(FAULT_MS).publish(1, at_ms=FAULT_MS + 1)
    assert sends(*history.build()).sends == ()


def answers_of(history: History) -> list[FailedAnswer]:
    return sorted(sends(*history.build()).answers)


def test_answers_of_failed_sends_are_counted_by_kind() -> None:
    history = faulted()
    gone = "RemotingSendRequestException send request to <rkt1/10.0.0.%d:10911> failed"
    raws = ["nack", "nack", gone % 1, gone % 2, "connection lost: StreamLostError: ('EOF',)", ""]
    for number, raw in enumerate(raws):
        history.publish(number, at_ms=FAULT_MS + number)
        history.settle(number, Outcome.UNKNOWN, at_ms=FAULT_MS + number + 5, raw=raw)
    at_ms = FAULT_MS + 100
    history.publish(9, at_ms=at_ms).settle(9, Outcome.RETURNED, raw="return 312 NO_ROUTE")
    history.publish(10, at_ms=at_ms).confirm(10)
    history.publish(11, at_ms=FAULT_MS - 1).settle(11, Outcome.UNKNOWN, raw="nack")
    assert [(one.outcome, one.answer, one.attempts) for one in answers_of(history)] == [
        (Outcome.RETURNED, "return 312 NO_ROUTE", 1),
        (Outcome.UNKNOWN, "", 1),
        (Outcome.UNKNOWN, "RemotingSendRequestException", 2),
        (Outcome.UNKNOWN, "connection lost: StreamLostError", 1),
        (Outcome.UNKNOWN, "nack", 2),
    ]


def test_the_first_answer_says_how_an_attempt_failed() -> None:
    history = faulted().publish(1, at_ms=FAULT_MS)
    history.settle(1, Outcome.UNKNOWN, at_ms=FAULT_MS + 5, raw="connection lost")
    history.settle(1, Outcome.REFUSED, at_ms=FAULT_MS + 3, raw="refused by b")
    history.settle(1, Outcome.REFUSED, at_ms=FAULT_MS + 3, raw="refused by a")
    (one,) = answers_of(history)
    assert (one.outcome, one.answer, one.attempts) == (Outcome.REFUSED, "refused by a", 1)


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ("MQBrokerException 2 [TIMEOUT_CLEAN_QUEUE]broker busy", "MQBrokerException 2"),
        ("RemotingTimeoutException wait response on </1:1> timeout", "RemotingTimeoutException"),
        (
            "connection lost: closed by the publisher: late",
            "connection lost: closed by the publisher",
        ),
        ("connection lost: ConnectionResetError(104)", "connection lost: ConnectionResetError"),
        ("x" * 100, "x" * 60),
    ],
)
def test_an_answers_kind_leaves_out_what_differs_between_attempts(raw: str, answer: str) -> None:
    assert answer_of(raw) == answer
