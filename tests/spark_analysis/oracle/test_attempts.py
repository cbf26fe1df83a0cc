"""What was said of a single attempt, set against what came of just this one."""

import pytest

from spark_analysis.schema.words import Fate, Outcome, Strength
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, History, affected, counts, ns
from tests.rigs.histories.ways import Via

LOST = ("attempt_lost", "attempt_open", "lost", "stranded")
DENIED = ("refused_but_delivered",)


def counts_of(history: History, *measures: str) -> dict[str, int]:
    return dict(counts(judge(*history.build()), *measures))


def twice() -> History:
    """The outcome of the first attempt is unknown; the second one was confirmed."""
    history = History().publish(1, at_ms=10).settle(1, Outcome.UNKNOWN)
    return history.publish(1, at_ms=2_000, attempt=2).confirm(1, attempt=2)


# --- confirmed, and nowhere ----------------------------------------------------------------------


def test_a_confirmed_attempt_of_which_only_another_came_was_lost() -> None:
    findings = judge(*twice().deliver(1, attempt=1).build())
    assert counts(findings, *LOST) == {"attempt_lost replicated": 1}
    assert affected(findings, "attempt_lost") == [("replicated", 1, 2, ns(2_000))]


@pytest.mark.parametrize("via", [Via.LOAD, Via.DRAIN, Via.AUDIT, Via.RETRY_TOPIC, Via.HALF])
def test_a_confirmed_attempt_that_was_seen_anywhere_was_not_lost(via: Via) -> None:
    assert counts_of(twice().deliver(1).deliver(1, attempt=2, via=via), *LOST) == {}


def test_without_deliveries_the_message_is_lost_and_not_its_attempt() -> None:
    assert counts_of(twice(), *LOST) == {"lost replicated": 1}


def test_a_message_with_an_audited_attempt_is_stranded() -> None:
    assert counts_of(twice().deliver(1, via=Via.AUDIT), *LOST) == {"stranded replicated": 1}


def test_every_lost_attempt_counts_by_its_own_strongest_promise() -> None:
    history = twice().confirm(1, attempt=2, strength=Strength.STORED)
    history.publish(1, attempt=3).confirm(1, attempt=3, strength=Strength.BUFFERED)
    assert counts_of(history.deliver(1), *LOST) == {
        "attempt_lost replicated": 1,
        "attempt_lost buffered": 1,
    }


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.UNCONFIRMED, Outcome.REFUSED])
def test_an_attempt_that_was_not_confirmed_may_be_nowhere(outcome: Outcome) -> None:
    history = History().publish(1).settle(1, outcome).publish(1, attempt=2).confirm(1, attempt=2)
    assert counts_of(history.deliver(1, attempt=2), *LOST) == {}


def test_an_attempt_that_was_never_sent_cannot_be_lost() -> None:
    history = twice().not_sent(1, attempt=3).confirm(1, attempt=3)
    assert counts_of(history.deliver(1).deliver(1, attempt=2), *LOST) == {}


def test_a_transactions_attempts_are_judged_elsewhere() -> None:
    history = twice().terms(1, fate=Fate.COMMIT).terms(1, fate=Fate.COMMIT, attempt=2)
    assert counts_of(history.deliver(1), *LOST) == {}


def test_with_open_records_the_fate_of_an_attempt_is_unknown() -> None:
    unread = twice().deliver(1).queue(unreadable=("rmq2",))
    assert counts_of(unread, *LOST) == {"attempt_open unreadable": 1}
    undrained = unread.queue(drained=False, unreadable=("rmq2",))
    assert counts_of(undrained, *LOST) == {"attempt_open drain": 1}
    assert counts_of(undrained.log_open(CONSUMER), *LOST) == {"attempt_open consumer_log": 1}
    assert affected(judge(*undrained.build()), "attempt_open") == [
        ("consumer_log", 1, 2, ns(2_000))
    ]


@pytest.mark.parametrize(
    ("quiet_ms", "became"),
    [
        (12_012, "attempt_lost replicated"),
        (12_012 - 0.000001, "attempt_open not_due"),
        (None, "attempt_lost replicated"),  # not before the load ended, at 60 s
    ],
)
def test_an_attempt_whose_time_had_not_come_is_not_lost(
    quiet_ms: float | None, became: str
) -> None:
    """Confirmed at 2,001 ms, it waits for 10 s, and 11 ms in doubt."""
    history = twice().terms(1, wait_ms=10_000, attempt=2).deliver(1)
    assert counts_of(history.queue(quiet_ms=quiet_ms), *LOST) == {became: 1}


# --- refused, and delivered ----------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [Outcome.REFUSED, Outcome.RETURNED])
@pytest.mark.parametrize("via", [Via.LOAD, Via.DRAIN, Via.RETRY_TOPIC])
def test_a_delivered_refused_or_returned_message_is_refused_but_delivered(
    outcome: Outcome, via: Via
) -> None:
    findings = judge(
        *History().publish(1).settle(1, outcome).deliver(1, at_ms=70, via=via).build()
    )
    word = outcome.name.lower()
    assert counts(findings, *DENIED) == {f"refused_but_delivered {word}": 1}
    assert affected(findings, *DENIED) == [(word, 1, 1, ns(70))]


@pytest.mark.parametrize("via", [Via.AUDIT, Via.HALF])
def test_a_refused_and_only_found_message_was_not_delivered(via: Via) -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED).deliver(1, via=via)
    assert counts_of(history, *DENIED) == {}
    assert counts_of(history, "denied") == {"denied refused": 1}


def test_refused_but_delivered_dates_from_the_attempts_earliest_delivery() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED).deliver(1, at_ms=70)
    history.publish(1, attempt=2).deliver(1, at_ms=50, attempt=2)
    findings = judge(*history.deliver(1, at_ms=60, via=Via.AUDIT).build())
    assert affected(findings, *DENIED) == [("refused", 1, 1, ns(70))]


def test_a_refusal_of_one_attempt_says_nothing_of_another() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED).publish(1, attempt=2)
    history.confirm(1, attempt=2).deliver(1, attempt=2)
    assert counts_of(history, *DENIED) == {}


def test_a_delivered_refused_attempt_counts_although_another_was_confirmed() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED).publish(1, attempt=2)
    history.confirm(1, attempt=2).deliver(1, attempt=1).deliver(1, attempt=2)
    assert counts_of(history, *DENIED) == {"refused_but_delivered refused": 1}


def test_a_publisher_with_another_answer_got_no_failure_notice() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED).settle(1, Outcome.UNKNOWN)
    assert counts_of(history.deliver(1), *DENIED) == {}
    assert counts_of(History().publish(1).deliver(1), *DENIED) == {}


def test_returned_outweighs_refused() -> None:
    history = History().publish(1).settle(1, Outcome.RETURNED).settle(1, Outcome.REFUSED)
    assert counts_of(history.deliver(1), *DENIED) == {"refused_but_delivered returned": 1}


def test_a_refused_transaction_counts_as_rolled_back() -> None:
    history = History().publish(1).terms(1, fate=Fate.COMMIT).settle(1, Outcome.REFUSED)
    assert counts_of(history.deliver(1), *DENIED) == {}


# --- in another queue ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("via", "found"),
    [(Via.LOAD, 1), (Via.DRAIN, 1), (Via.AUDIT, 0), (Via.RETRY_TOPIC, 0)],
)
def test_a_message_in_another_queue_than_its_own_is_misrouted(via: Via, found: int) -> None:
    history = History().publish(1).confirm(1).deliver(1, at_ms=70, via=via, queue="bills")
    findings = judge(*history.build())
    assert counts(findings, "misrouted").get("misrouted", 0) == found
    assert affected(findings, "misrouted") == [("", 1, 1, ns(70))] * found


def test_every_delivery_elsewhere_counts_and_those_at_home_do_not() -> None:
    history = History().publish(1).deliver(1, queue="bills").deliver(1).deliver(1, queue="bills")
    assert counts_of(history, "misrouted") == {"misrouted": 2}


def test_a_queue_without_a_name_is_not_another_queue() -> None:
    assert counts_of(History().publish(1).deliver(1, queue=""), "misrouted") == {}
    nameless = History().publish(1, queue="").deliver(1, queue="bills")
    assert counts(judge(*nameless.build()), "misrouted", queue="") == {}
