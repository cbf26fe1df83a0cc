"""Transactions that were left open for the broker to ask about, and those that it never did."""

import pytest

from spark_analysis.schema.words import Fate
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import PUBLISHER, QUEUE, History, affected, counts, ns
from tests.rigs.histories.ways import Via

CHECKED = ("unchecked", "unchecked_unknown")
WITHIN_MS = 70_000.0


def left_open(
    *,
    fate: Fate = Fate.COMMIT_WHEN_CHECKED,
    within_ms: float | None = WITHIN_MS,
    quiet_ms: float | None = 200_000,
    drained: bool = True,
    unreadable: tuple[str, ...] = (),
) -> History:
    """Sent at 10 ms, its half confirmed at 20 ms: due at 70.02 s, and all is read at 200 s."""
    history = History(checks_within_ms=within_ms)
    history.queue(QUEUE, quiet_ms=quiet_ms, drained=drained, unreadable=unreadable)
    return history.publish(1, at_ms=10).terms(1, fate=fate).confirm(1, at_ms=20)


def counts_of(history: History) -> dict[str, int]:
    return dict(counts(judge(*history.build()), *CHECKED))


def test_an_uncommitted_overdue_half_was_not_checked() -> None:
    findings = judge(*left_open().build())
    assert counts(findings, *CHECKED) == {"unchecked": 1}
    assert affected(findings, *CHECKED) == [("", 1, 0, ns(10))]


@pytest.mark.parametrize("via", [Via.LOAD, Via.DRAIN, Via.AUDIT])
def test_a_delivered_or_stored_message_was_checked(via: Via) -> None:
    assert counts_of(left_open().deliver(1, at_ms=60_000, via=via)) == {}


def test_a_half_alone_shows_no_question() -> None:
    assert counts_of(left_open().deliver(1, at_ms=210_000, via=Via.HALF)) == {"unchecked": 1}


@pytest.mark.parametrize("fate", [Fate.COMMIT, Fate.ROLLBACK, Fate.ROLLBACK_WHEN_CHECKED])
def test_a_half_that_its_producer_decided_needs_no_check(fate: Fate) -> None:
    """And of what is rolled back nothing would show a question."""
    assert counts_of(left_open(fate=fate)) == {}


def test_without_a_declared_check_interval_nothing_is_claimed() -> None:
    assert counts_of(left_open(within_ms=None)) == {}


@pytest.mark.parametrize(("quiet_ms", "measure"), [(70_020, CHECKED[1]), (70_020.001, CHECKED[0])])
def test_its_time_is_over_before_all_was_quiet(quiet_ms: float, measure: str) -> None:
    assert counts_of(left_open(quiet_ms=quiet_ms)) == {measure: 1}


def test_unread_places_leave_missing_checks_undecided() -> None:
    unknown = {"unchecked_unknown": 1}
    assert counts_of(left_open(quiet_ms=None)) == unknown
    assert counts_of(left_open(drained=False)) == unknown
    assert counts_of(left_open(unreadable=("node 3",))) == unknown
    assert counts_of(left_open().worker(7, "consumer", log_closed=False)) == unknown


@pytest.mark.parametrize(("at_ms", "measure"), [(70_020, CHECKED[1]), (70_021, CHECKED[0])])
def test_a_producer_that_was_gone_could_not_be_checked(at_ms: float, measure: str) -> None:
    closed = left_open().client_event("closed", worker=PUBLISHER, at_ms=at_ms)
    assert counts_of(closed) == {measure: 1}
    assert counts_of(left_open().away(PUBLISHER, at_ms)) == {measure: 1}


def test_another_worker_that_went_does_not_matter() -> None:
    assert counts_of(left_open().client_event("lost", worker=7, at_ms=30)) == {"unchecked": 1}


@pytest.mark.parametrize(
    ("at_ms", "over_ms", "measure"),
    [
        (70_020, 80_000, CHECKED[1]),
        (70_021, 80_000, CHECKED[0]),
        (5, 19.9, CHECKED[0]),
        (5, 20, CHECKED[1]),
        (5, None, CHECKED[1]),  # Its end is unknown.
    ],
)
def test_a_fault_in_its_time_may_be_why(at_ms: float, over_ms: float | None, measure: str) -> None:
    assert counts_of(left_open().window(at_ms, over_ms=over_ms)) == {measure: 1}


def test_a_half_on_a_host_that_never_returns_is_unknown() -> None:
    history = left_open().window(5, never_ended=True)
    history.publish(2, at_ms=100).confirm(2, at_ms=110).deliver(2, at_ms=120)
    assert counts_of(history) == {"unchecked_unknown": 1}


def test_an_attempt_that_was_sent_again_is_due_later() -> None:
    again = left_open(quiet_ms=90_000).publish(1, at_ms=30_000, attempt=2)
    again.terms(1, fate=Fate.COMMIT_WHEN_CHECKED, attempt=2).confirm(1, attempt=2, at_ms=30_010)
    assert counts_of(again) == {"unchecked_unknown": 1}
