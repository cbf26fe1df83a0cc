"""Claims about delays and transactions: what comes early, torn, unseen, or not yet."""

from dataclasses import replace

import pytest

from spark_analysis.schema.words import ProblemCause
from tests.harness.claims.judging import (
    FAIL,
    INCONCLUSIVE,
    NOT_APPLICABLE,
    OF_TERMS,
    PASS,
    verdict,
)
from tests.rigs.runs.findings import Story

SHOWN = ("early", "rolled_back_but_delivered", "torn_transaction")  # in the order of OF_TERMS


def termed(could_show: int = 100) -> Story:
    """Some messages were delayed, some in transactions of every fate."""
    story = Story().count("delayed", "", 700)
    for shown in SHOWN:
        story.count("could_show", shown, could_show)
    for fate in ("commit", "commit_when_checked", "rollback", "rollback_when_checked"):
        story.count("transactions", fate, 100)
    return story


def test_run_without_delays_or_transactions_reports_why_both_are_unjudged() -> None:
    reasons = {name: verdict(name, Story()).not_judged for name in OF_TERMS}
    assert reasons == {
        "nothing-early": ("not applicable, because no message was delayed (`early == 0`)",),
        "rolled-back-stays-unseen": (
            "not applicable, because no transaction was to be rolled back "
            "(`rolled_back_but_delivered == 0`)",
        ),
        "no-transaction-torn": (
            "not applicable, because no transaction was to be committed (`torn_transaction == 0`)",
        ),
    }
    rolled_back = Story().count("transactions", "rollback", 100)
    rolled_back.count("could_show", "rolled_back_but_delivered", 100)
    assert verdict("rolled-back-stays-unseen", rolled_back).outcome is PASS
    assert verdict("no-transaction-torn", rolled_back).outcome is NOT_APPLICABLE


def test_a_run_with_delays_and_transactions_is_judged_by_them() -> None:
    assert [verdict(name, termed()).outcome for name in OF_TERMS] == [PASS, PASS, PASS]


@pytest.mark.parametrize("claim", OF_TERMS)
def test_class_that_too_few_messages_could_show_does_not_pass(claim: str) -> None:
    few = verdict(claim, termed(could_show=99))
    assert few.outcome is INCONCLUSIVE
    assert "there were only 99 " in few.not_judged[0]


def test_transactions_that_all_commit_say_nothing_about_rollbacks() -> None:
    committed = Story().count("transactions", "commit", 500)
    assert verdict("rolled-back-stays-unseen", committed).outcome is NOT_APPLICABLE
    committed.count("could_show", "rolled_back_but_delivered", 1)
    committed.count("rolled_back_but_delivered", "commit", 1)
    assert verdict("rolled-back-stays-unseen", committed).outcome is FAIL


@pytest.mark.parametrize(
    ("claim", "measure", "detail", "story"),
    [
        (
            "nothing-early",
            "early",
            "",
            "was delivered at +12.400 s, attempt 0, before it was due",
        ),
        (
            "rolled-back-stays-unseen",
            "rolled_back_but_delivered",
            "rollback",
            "was in a transaction that was rolled back, and yet delivered at +12.400 s",
        ),
        (
            "no-transaction-torn",
            "torn_transaction",
            "stored",
            "was committed (stored) and never delivered; the audit found its half, without the "
            "commit, at +12.400 s",
        ),
    ],
)
def test_broken_delay_or_transaction_is_a_fail_with_its_story(
    claim: str, measure: str, detail: str, story: str
) -> None:
    broken = termed().count(measure, detail, 2).affect(measure, detail, 3, at=12.4)
    one = verdict(claim, broken)
    assert one.outcome is FAIL
    (line,) = one.judged
    assert line.startswith("2 ")
    assert line.endswith(f"; the claim allows none (`{measure} == 0`)")
    assert (
        one.story == f"message 3 of publisher 1 (producer 1 in the raw tables) in orders {story}"
    )


def test_a_delivery_within_clock_uncertainty_is_neither_pass_nor_fail() -> None:
    story = termed().count("early_unknown", "", 4)
    one = verdict("nothing-early", story)
    assert one.outcome is INCONCLUSIVE
    assert one.not_judged == (
        "0 delayed messages were delivered too early; uncertain, because 4 more came before "
        "their time by no more than the clocks are off (`early == 0`)",
    )
    assert verdict("nothing-early", story.count("early", "", 1)).outcome is FAIL


def test_a_delivery_with_an_unconfirmed_rollback_is_no_pass() -> None:
    story = termed().count("rollback_unknown", "rollback", 1)
    assert verdict("rolled-back-stays-unseen", story).outcome is INCONCLUSIVE
    story.count("rolled_back_but_delivered", "commit", 1)
    assert verdict("rolled-back-stays-unseen", story).outcome is FAIL


@pytest.mark.parametrize(
    ("reason", "sentence", "advice"),
    [
        (
            "not_due",
            "the drain of orders did not outlast the delay of the missing messages",
            "let the drain last until the longest delay is over (drain_limit)",
        ),
        (
            "pending",
            "the missing messages of orders were to be committed at the broker's check, and no "
            "record shows that check",
            "keep the producers running until the broker has checked their transactions",
        ),
    ],
)
def test_missing_messages_that_may_still_arrive_leave_loss_undecided(
    reason: str, sentence: str, advice: str
) -> None:
    story = termed().count("loss_unknown", reason, 5).doubt("loss", reason, queue="orders")
    one = verdict("election-loses-nothing", story)
    assert one.outcome is INCONCLUSIVE
    assert f"5 messages are undecided, because {sentence}" in one.not_judged[0]
    assert one.advice == (advice,)


def test_undrained_queue_leaves_a_torn_transaction_open() -> None:
    story = termed().doubt("loss", "drain", queue="orders")
    assert verdict("no-transaction-torn", story).outcome is INCONCLUSIVE


def test_delayed_messages_have_no_promised_order() -> None:
    story = Story().count("in_order", "", 0).count("not_judged", "not_at_once", 700)
    one = verdict("queue-is-first-in-first-out", story)
    assert one.outcome is NOT_APPLICABLE
    assert one.not_judged == (
        "not applicable, because order is not promised (all were delayed, or in transactions) "
        "(`reordered == 0`)",
    )


def test_order_is_unknown_if_a_run_ended_before_its_drain() -> None:
    story = Story().count("in_order", "", 0).count("not_judged", "not_promised", 700)
    story.facts = replace(story.facts, queues=(), clock_problem="No space left on device")
    one = verdict("queue-is-first-in-first-out", story.doubt("run", "clock"))
    assert one.outcome is INCONCLUSIVE
    assert "it is not recorded which queues promise order" in one.not_judged[0]


def test_a_failed_run_is_not_blamed_on_a_suspended_machine() -> None:
    story = Story().doubt("run", "clock")
    why = "manifest.json: No space left on device"
    story.facts = replace(story.facts, clock_problem=why, problem_cause=ProblemCause.FAILED.value)
    one = verdict("confirmed-is-delivered", story)
    assert one.advice == ("remove the named cause, then run it again",)
