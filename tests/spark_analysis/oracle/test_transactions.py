"""Transactions: rolled back and yet delivered, half committed, and undecidable ones."""

import pytest

from spark_analysis.schema.words import ROLLBACKS, Fate, Outcome, Strength
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, affected, counts, ns
from tests.rigs.histories.ways import Via

COMMITS = (Fate.COMMIT, Fate.COMMIT_WHEN_CHECKED)
BROKEN = (
    "rolled_back_but_delivered",
    "rollback_unknown",
    "torn_transaction",
    "refused_but_delivered",
)
LOSS = ("lost", "stranded", "loss_unknown", "unreachable")
VISIBLE = [Via.LOAD, Via.RETRY_TOPIC, Via.DRAIN, Via.AUDIT]


def sent(fate: Fate) -> History:
    return History().publish(1, at_ms=10).terms(1, fate=fate)


def rolled_back(fate: Fate = Fate.ROLLBACK) -> History:
    """The library said that the transaction is rolled back, and no more."""
    return sent(fate).settle(1, Outcome.REFUSED)


def committed(fate: Fate = Fate.COMMIT) -> History:
    return sent(fate).confirm(1)


def counts_of(history: History, *measures: str) -> dict[str, int]:
    return dict(counts(judge(*history.build()), *measures))


def loss_doubts(history: History) -> list[tuple[str, str]]:
    doubts = judge(*history.build()).doubts
    return [(one.reason, one.queue) for one in doubts if one.scope == "loss"]


# --- rolled back, and yet delivered --------------------------------------------------------------


@pytest.mark.parametrize("via", VISIBLE)
@pytest.mark.parametrize("fate", ROLLBACKS)
def test_a_delivered_rollback_is_reported_with_its_fate(fate: Fate, via: Via) -> None:
    findings = judge(*rolled_back(fate).deliver(1, at_ms=70, via=via).build())
    word = fate.name.lower()
    assert counts(findings, *BROKEN) == {f"rolled_back_but_delivered {word}": 1}
    assert affected(findings, *BROKEN) == [(word, 1, 0, ns(70))]


def test_a_rolled_back_message_that_never_came_is_correct() -> None:
    findings = judge(*rolled_back().build())
    assert counts(findings, "transactions", "state", *BROKEN, *LOSS) == {
        "transactions rollback": 1,
        "state refused": 1,
    }
    assert findings.affected == ()


def test_a_rolled_back_half_in_the_log_is_no_violation() -> None:
    assert counts_of(rolled_back().deliver(1, via=Via.HALF), *BROKEN, *LOSS) == {}


def test_a_commit_that_the_library_reverted_must_not_come() -> None:
    history = rolled_back(Fate.COMMIT).deliver(1)
    assert counts_of(history, *BROKEN) == {"rolled_back_but_delivered commit": 1}


def test_a_rolled_back_attempt_must_not_come_despite_a_commit() -> None:
    history = rolled_back(Fate.COMMIT).publish(1, attempt=2)
    history.terms(1, fate=Fate.COMMIT, attempt=2).confirm(1, attempt=2)
    assert counts_of(history.deliver(1, attempt=2), *BROKEN) == {}
    assert counts_of(history.deliver(1), *BROKEN) == {"rolled_back_but_delivered commit": 1}


def test_a_message_that_came_often_was_rolled_back_once() -> None:
    history = rolled_back().deliver(1, at_ms=80).deliver(1, at_ms=70, via=Via.AUDIT)
    findings = judge(*history.build())
    assert counts(findings, *BROKEN) == {"rolled_back_but_delivered rollback": 1}
    assert affected(findings, *BROKEN) == [("rollback", 1, 0, ns(70))]


def test_a_delivery_of_an_unknown_attempt_is_only_unexpected() -> None:
    history = rolled_back().deliver(1, attempt=2)
    assert counts_of(history, *BROKEN, "unexpected") == {"unexpected unknown_attempt": 1}


def test_a_delivered_refused_message_is_refused_but_delivered() -> None:
    history = History().publish(1).terms(1, wait_ms=1).settle(1, Outcome.REFUSED).deliver(1)
    assert counts_of(history, *BROKEN) == {"refused_but_delivered refused": 1}


# --- pending: the producer died, or heard nothing ------------------------------------------------


@pytest.mark.parametrize("settled", [None, Outcome.UNKNOWN])
@pytest.mark.parametrize("fate", ROLLBACKS)
def test_a_delivered_pending_rollback_is_no_violation(fate: Fate, settled: Outcome | None) -> None:
    history = sent(fate)
    if settled:
        history.settle(1, settled)
    findings = judge(*history.deliver(1, at_ms=70).build())
    word = fate.name.lower()
    assert counts(findings, *BROKEN, "revived") == {f"rollback_unknown {word}": 1, "revived": 1}
    assert affected(findings, "rollback_unknown") == [(word, 1, 0, ns(70))]


def test_contradictory_rollback_answers_are_pending() -> None:
    history = rolled_back().settle(1, Outcome.UNKNOWN).deliver(1)
    assert counts_of(history, *BROKEN) == {"rollback_unknown rollback": 1}


def test_a_rolled_back_attempt_outweighs_a_pending_one() -> None:
    history = rolled_back().publish(1, attempt=2).terms(1, fate=Fate.ROLLBACK, attempt=2)
    history.deliver(1, at_ms=70, attempt=2).deliver(1, at_ms=80)
    findings = judge(*history.build())
    assert counts(findings, *BROKEN) == {"rolled_back_but_delivered rollback": 1}
    assert affected(findings, *BROKEN) == [("rollback", 1, 0, ns(80))]


@pytest.mark.parametrize("fate", list(Fate)[1:])
def test_pending_transactions_are_never_lost(fate: Fate) -> None:
    measures = (*BROKEN, *LOSS, "lost_indeterminate")
    assert counts_of(sent(fate), *measures) == {"lost_indeterminate": 1}
    found = sent(fate).deliver(1, via=Via.HALF)
    assert counts_of(found, *measures) == {"lost_indeterminate found": 1}


@pytest.mark.parametrize("fate", COMMITS)
def test_a_pending_commit_may_come(fate: Fate) -> None:
    assert counts_of(sent(fate).deliver(1), *BROKEN, "revived") == {"revived": 1}


def test_a_confirmed_rollback_is_not_missing() -> None:
    history = sent(Fate.ROLLBACK).confirm(1)
    assert counts_of(history, *BROKEN, *LOSS) == {}
    assert counts_of(history.deliver(1), *BROKEN) == {"rollback_unknown rollback": 1}


# --- committed -----------------------------------------------------------------------------------


def test_a_committed_message_that_never_came_is_lost() -> None:
    findings = judge(*committed().build())
    assert counts(findings, *LOSS, *BROKEN) == {"lost replicated": 1}
    assert affected(findings, *LOSS) == [("replicated", 1, 0, ns(10))]


def test_a_commit_that_waits_for_a_check_may_be_pending() -> None:
    findings = judge(*committed(Fate.COMMIT_WHEN_CHECKED).build())
    assert counts(findings, *LOSS, *BROKEN) == {"loss_unknown pending": 1}
    assert affected(findings, *LOSS) == [("pending", 1, 0, ns(10))]
    assert loss_doubts(committed(Fate.COMMIT_WHEN_CHECKED)) == [("pending", "orders")]


def test_a_complete_message_found_beside_a_loss_is_stranded() -> None:
    history = History().publish(1).terms(1, fate=Fate.COMMIT_WHEN_CHECKED).confirm(1)
    history.publish(2).confirm(2).deliver(1, via=Via.AUDIT)
    found = counts(judge(*history.build()), "lost", "stranded", "loss_unknown")
    assert found == {"lost replicated": 1, "stranded replicated": 1}


def test_a_commit_awaiting_its_check_is_pending_despite_other_unknowns() -> None:
    history = committed(Fate.COMMIT_WHEN_CHECKED).queue(drained=False, unreadable=("b",))
    assert counts_of(history.log_open(CONSUMER), *LOSS) == {"loss_unknown pending": 1}


def test_a_commit_awaiting_its_check_remains_a_half() -> None:
    history = committed(Fate.COMMIT_WHEN_CHECKED).deliver(1, via=Via.HALF)
    assert counts_of(history, *LOSS, *BROKEN) == {"loss_unknown pending": 1}


def test_a_commit_checked_in_a_dead_log_is_stranded() -> None:
    history = committed(Fate.COMMIT_WHEN_CHECKED).deliver(1, via=Via.HALF)
    assert counts_of(history.deliver(1, via=Via.AUDIT), *LOSS) == {"stranded replicated": 1}


@pytest.mark.parametrize("fate", COMMITS)
def test_a_committed_message_that_came_is_as_it_should_be(fate: Fate) -> None:
    history = committed(fate).deliver(1).deliver(1, via=Via.HALF)
    findings = judge(*history.build())
    word = f"transactions {fate.name.lower()}"
    assert counts(findings, "transactions", *LOSS, *BROKEN) == {word: 1}
    assert findings.affected == ()
    assert loss_doubts(history) == []


# --- torn ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", [Strength.STORED, Strength.REPLICATED])
def test_a_commit_of_which_only_the_half_remains_is_torn(strength: Strength) -> None:
    history = sent(Fate.COMMIT).confirm(1, strength=strength)
    history.deliver(1, at_ms=90, via=Via.HALF).deliver(1, at_ms=80, via=Via.HALF)
    findings = judge(*history.build())
    word = strength.name.lower()
    assert counts(findings, *BROKEN, *LOSS) == {
        f"torn_transaction {word}": 1,
        f"stranded {word}": 1,
    }
    assert affected(findings, "torn_transaction") == [(word, 1, 0, ns(80))]


@pytest.mark.parametrize("via", VISIBLE)
def test_a_commit_that_is_whole_somewhere_is_not_torn(via: Via) -> None:
    history = committed().deliver(1, via=Via.HALF).deliver(1, via=via)
    assert "torn_transaction replicated" not in counts_of(history, *BROKEN)


def test_a_rolled_back_or_pending_half_is_not_torn() -> None:
    for fate in list(Fate)[1:]:
        assert counts_of(rolled_back(fate).deliver(1, via=Via.HALF), "torn_transaction") == {}
        assert counts_of(sent(fate).deliver(1, via=Via.HALF), "torn_transaction") == {}


def test_an_unreadable_place_prevents_a_torn_verdict() -> None:
    def half() -> History:
        return committed().deliver(1, via=Via.HALF)

    for blind in (half().log_open(CONSUMER), half().queue(drained=False), half().no_queue_end()):
        assert counts_of(blind, *BROKEN, *LOSS) == {"stranded replicated": 1}
    unread = half().queue(unreadable=("broker-b",))
    assert counts_of(unread, *BROKEN, *LOSS) == {"unreachable replicated": 1}
    whole = unread.deliver(1, via=Via.AUDIT)
    assert counts_of(whole, *BROKEN, *LOSS) == {"stranded replicated": 1}
    others = half().queue("bills", drained=False).log_open(PUBLISHER)
    assert counts_of(others, "torn_transaction") == {"torn_transaction replicated": 1}


def test_a_delayed_transaction_is_not_torn_before_its_time() -> None:
    history = (
        History(load_ms=(0, 1_000)).publish(1, at_ms=10).terms(1, wait_ms=1_000, fate=Fate.COMMIT)
    )
    history.confirm(1, at_ms=20).deliver(1, via=Via.HALF)
    assert counts_of(history, *BROKEN, *LOSS) == {"loss_unknown not_due": 1}
    torn = {"torn_transaction replicated": 1, "stranded replicated": 1}
    assert counts_of(history.queue(quiet_ms=2_000), *BROKEN, *LOSS) == torn


# --- what else depends on a fate -----------------------------------------------------------------


@pytest.mark.parametrize("fate", ROLLBACKS)
def test_a_publish_to_be_rolled_back_is_no_missed_publish(fate: Fate) -> None:
    history = rolled_back(fate).publish(2).confirm(2).deliver(2)
    assert counts_of(history, "operations", "missed") == {"operations": 1}


@pytest.mark.parametrize("fate", COMMITS)
def test_only_messages_to_be_committed_count_as_publishes(fate: Fate) -> None:
    assert counts_of(rolled_back(fate), "operations", "missed") == {"operations": 1, "missed": 1}
    assert counts_of(committed(fate).deliver(1), "operations", "missed") == {"operations": 1}


def test_a_find_of_a_half_is_no_delivery() -> None:
    history = History().publish(1).settle(1, Outcome.UNKNOWN).deliver(1, via=Via.HALF)
    assert counts_of(history, "revived", "lost_indeterminate") == {"lost_indeterminate found": 1}


@pytest.mark.parametrize("fate", COMMITS)
def test_when_a_transaction_is_given_out_says_nothing_of_order(fate: Fate) -> None:
    history = committed(fate).publish(2).confirm(2).deliver(2).deliver(1)
    assert counts_of(history, "in_order", "reordered", "not_judged") == {
        "in_order": 1,
        "not_judged not_at_once": 1,
    }


def test_messages_awaiting_a_transaction_check_are_no_backlog() -> None:
    def reached(fate: Fate) -> bool:
        history = History().window(5).publish(1, at_ms=10).terms(1, fate=fate).confirm(1)
        history.publish(2, at_ms=20).confirm(2).deliver(2)
        stages = judge(*history.deliver(1, via=Via.DRAIN, at_ms=90_000).build()).stages
        return next(one.reached for one in stages if one.stage == "backlog_drained")

    assert reached(Fate.COMMIT_WHEN_CHECKED)
    assert not reached(Fate.COMMIT)
