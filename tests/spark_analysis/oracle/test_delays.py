"""Delayed messages: what came before its time, and what may not be called lost yet."""

import pytest

from spark_analysis.schema.words import NEVER_SENT, Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, affected, counts, ns
from tests.rigs.histories.ways import Via

WAIT_MS = 10_000
SLACK_MS = 11  # a thousandth of the wait, and the broker's own millisecond
DELAYS = ("delayed", "early", "early_unknown")
LOSS = ("lost", "stranded", "loss_unknown", "unreachable")
CONFIRMED_MS = 2_000
OVER_MS = CONFIRMED_MS + WAIT_MS + SLACK_MS  # by then the broker must have given it out


def delayed(load_ended_ms: float = 60_000) -> History:
    """Sent at 1 s with a wait of 10 s, confirmed a second later."""
    history = History(load_ms=(0, load_ended_ms)).publish(1, at_ms=1_000).terms(1, wait_ms=WAIT_MS)
    return history.confirm(1, at_ms=CONFIRMED_MS)


def counts_of(history: History, *measures: str) -> dict[str, int]:
    return dict(counts(judge(*history.build()), *measures))


def loss_doubts(history: History) -> list[tuple[str, str]]:
    doubts = judge(*history.build()).doubts
    return [(one.reason, one.queue) for one in doubts if one.scope == "loss"]


# --- early ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("via", [Via.LOAD, Via.DRAIN, Via.RETRY_TOPIC])
def test_a_delivery_before_its_time_is_early(via: Via) -> None:
    findings = judge(*delayed().deliver(1, at_ms=5_000, via=via).build())
    assert counts(findings, *DELAYS) == {"delayed": 1, "early": 1}
    assert affected(findings, *DELAYS) == [("", 1, 1, ns(5_000))]


@pytest.mark.parametrize("at_ms", [11_000, 12_500])
def test_a_delivery_at_or_after_its_time_is_not_early(at_ms: float) -> None:
    assert counts_of(delayed().deliver(1, at_ms=at_ms), *DELAYS) == {"delayed": 1}


def test_an_early_delivery_within_uncertainty_is_no_fault() -> None:
    within = delayed().deliver(1, at_ms=11_000 - SLACK_MS)
    assert counts_of(within, *DELAYS) == {"delayed": 1, "early_unknown": 1}
    assert affected(judge(*within.build()), *DELAYS) == [("", 1, 1, ns(11_000 - SLACK_MS))]
    beyond = delayed().deliver(1, at_ms=11_000 - SLACK_MS - 0.000001)
    assert counts_of(beyond, *DELAYS) == {"delayed": 1, "early": 1}
    assert counts_of(delayed().deliver(1, at_ms=10_999.999999), "early_unknown") == {
        "early_unknown": 1
    }


@pytest.mark.parametrize("worker", [PUBLISHER, CONSUMER])
def test_a_clock_that_may_be_off_speaks_for_the_broker(worker: int) -> None:
    story = delayed().clock(worker, 400).deliver(1, at_ms=11_000 - SLACK_MS - 400)
    assert counts_of(story, *DELAYS) == {"delayed": 1, "early_unknown": 1}


def test_both_clocks_may_be_off_in_the_same_direction() -> None:
    story = delayed().clock(PUBLISHER, 400).clock(CONSUMER, 300)
    assert "early" not in counts_of(story.deliver(1, at_ms=11_000 - SLACK_MS - 700), *DELAYS)
    story = delayed().clock(PUBLISHER, 400).clock(CONSUMER, 300)
    assert "early" in counts_of(story.deliver(1, at_ms=11_000 - SLACK_MS - 701), *DELAYS)


def test_a_clock_of_somebody_else_excuses_nothing() -> None:
    story = delayed().clock(9, 60_000).deliver(1, at_ms=5_000)
    assert counts_of(story, *DELAYS) == {"delayed": 1, "early": 1}


def test_each_attempt_has_a_time_of_its_own() -> None:
    history = delayed().publish(1, at_ms=4_000, attempt=2).terms(1, wait_ms=WAIT_MS, attempt=2)
    history.deliver(1, at_ms=12_000, attempt=1).deliver(1, at_ms=12_001, attempt=2)
    assert counts_of(history, *DELAYS) == {"delayed": 1, "early": 1}
    assert affected(judge(*history.build()), "early") == [("", 1, 2, ns(12_001))]


def test_every_early_delivery_counts() -> None:
    history = delayed().deliver(1, at_ms=5_000).deliver(1, at_ms=6_000).deliver(1, at_ms=12_000)
    assert counts_of(history, *DELAYS) == {"delayed": 1, "early": 2}


def test_undelayed_messages_cannot_be_early() -> None:
    assert counts_of(History().publish(1, at_ms=1_000).confirm(1).deliver(1), *DELAYS) == {}


@pytest.mark.parametrize("via", [Via.AUDIT, Via.HALF])
def test_messages_given_to_no_consumer_are_not_early(via: Via) -> None:
    assert counts_of(delayed().deliver(1, at_ms=5_000, via=via), *DELAYS) == {"delayed": 1}


def test_a_delivery_that_names_no_message_is_not_early() -> None:
    history = delayed().deliver_broken(at_ms=5_000).deliver(1, at_ms=5_001, run_ok=False)
    assert counts_of(history, *DELAYS) == {"delayed": 1}


def test_a_delivery_of_an_attempt_never_made_is_not_early() -> None:
    assert counts_of(delayed().deliver(1, at_ms=5_000, attempt=3), *DELAYS) == {"delayed": 1}


def test_an_attempt_that_was_never_sent_waits_for_nothing() -> None:
    history = History().not_sent(1, intended_ms=1_000).terms(1, due_ms=11_000)
    history.publish(1, at_ms=2_000, attempt=2).confirm(1, attempt=2)
    assert history.rows["attempts"][0]["sent_ns"] == NEVER_SENT
    assert counts_of(history.deliver(1, at_ms=5_000), *DELAYS) == {"delayed": 1}


def test_an_early_delivery_counts_in_the_queue_of_its_message() -> None:
    history = History().queue("bills").publish(1, at_ms=1_000, queue="bills")
    history.terms(1, wait_ms=WAIT_MS).deliver(1, at_ms=2_000, queue="elsewhere")
    findings = judge(*history.build())
    assert counts(findings, "early", queue="bills") == {"early": 1}


# --- lost, or not due ----------------------------------------------------------------------------


def test_a_delayed_message_that_never_came_is_lost() -> None:
    assert counts_of(delayed().queue(quiet_ms=OVER_MS), *LOSS) == {"lost replicated": 1}
    assert loss_doubts(delayed().queue(quiet_ms=OVER_MS)) == []


def test_a_message_not_due_before_the_quiet_time_is_unknown() -> None:
    """Report it as not due, and not as lost."""
    history = delayed().queue(quiet_ms=OVER_MS - 0.000001)
    findings = judge(*history.build())
    assert counts(findings, *LOSS) == {"loss_unknown not_due": 1}
    assert affected(findings, *LOSS) == [("not_due", 1, 0, ns(1_000))]
    assert loss_doubts(history) == [("not_due", "orders")]


def test_an_unknown_quiet_time_cannot_precede_the_load_end() -> None:
    early = delayed(OVER_MS - 1)
    assert counts_of(early, *LOSS) == {"loss_unknown not_due": 1}
    unknown = early.no_queue_end()
    assert counts_of(unknown, *LOSS) == {"loss_unknown not_due": 1}
    assert loss_doubts(unknown) == [("drain", "orders"), ("not_due", "orders")]
    assert counts_of(delayed(OVER_MS), *LOSS) == {"lost replicated": 1}


def test_only_the_publishers_clock_affects_when_a_delay_ends() -> None:
    off = delayed().queue(quiet_ms=OVER_MS).clock(PUBLISHER, 1)
    assert counts_of(off, *LOSS) == {"loss_unknown not_due": 1}
    assert counts_of(off.queue(quiet_ms=OVER_MS + 1), *LOSS) == {"lost replicated": 1}
    assert counts_of(delayed().queue(quiet_ms=OVER_MS).clock(CONSUMER, 999), "lost") == {
        "lost replicated": 1
    }


def test_delayed_messages_in_their_broker_are_not_stranded() -> None:
    found = delayed(OVER_MS - 1).deliver(1, at_ms=20_000, via=Via.AUDIT)
    assert counts_of(found, *LOSS) == {"loss_unknown not_due": 1}
    assert counts_of(found.queue(quiet_ms=OVER_MS), *LOSS) == {"stranded replicated": 1}


def test_one_due_copy_is_enough_to_call_a_message_lost() -> None:
    history = delayed().publish(1, at_ms=30_000, attempt=2).terms(1, wait_ms=WAIT_MS, attempt=2)
    history.confirm(1, at_ms=30_001, attempt=2).queue(quiet_ms=OVER_MS)
    assert counts_of(history, *LOSS) == {"lost replicated": 1}


def test_a_copy_that_was_never_confirmed_is_not_waited_for() -> None:
    history = delayed().publish(1, at_ms=30_000, attempt=2).terms(1, wait_ms=WAIT_MS, attempt=2)
    history.settle(1, Outcome.UNKNOWN, attempt=2).queue(quiet_ms=OVER_MS)
    assert counts_of(history, *LOSS) == {"lost replicated": 1}


def test_a_copy_without_delay_is_missed_at_once() -> None:
    history = delayed().publish(1, at_ms=2_500, attempt=2).confirm(1, attempt=2)
    assert counts_of(history, *LOSS) == {"lost replicated": 1}


def test_a_delayed_message_that_came_is_neither_lost_nor_open() -> None:
    assert counts_of(delayed().deliver(1, at_ms=12_000), *LOSS) == {}
    assert loss_doubts(delayed().deliver(1, at_ms=12_000)) == []


def test_another_queues_quiet_says_nothing_of_this_one() -> None:
    history = delayed(OVER_MS - 1).queue("bills", quiet_ms=OVER_MS)
    assert counts_of(history, *LOSS) == {"loss_unknown not_due": 1}


def test_messages_of_one_queue_make_one_doubt() -> None:
    history = delayed(11_000).publish(2, at_ms=1_500).terms(2, wait_ms=WAIT_MS)
    history.confirm(2, at_ms=1_600)
    assert counts_of(history, *LOSS) == {"loss_unknown not_due": 2}
    assert loss_doubts(history) == [("not_due", "orders")]


def test_an_unknown_outcome_stays_what_it_is_whatever_its_time() -> None:
    history = History().publish(1, at_ms=1_000).terms(1, wait_ms=WAIT_MS)
    history.settle(1, Outcome.UNKNOWN)
    assert counts_of(history, *LOSS, "lost_indeterminate") == {"lost_indeterminate": 1}


# --- what else depends on a delay ----------------------------------------------------------------

ORDER = ("in_order", "reordered", "not_judged")


def overtaking(first: int, second: int) -> History:
    """Two messages, and the second one came first."""
    history = History().publish(1, at_ms=1_000).publish(2, at_ms=1_001).confirm(1).confirm(2)
    return history.deliver(second, at_ms=1_010).deliver(first, at_ms=11_500)


def test_an_overtaken_delayed_message_breaks_no_order() -> None:
    assert counts_of(overtaking(1, 2), *ORDER) == {"in_order": 1, "reordered": 1}
    delayed_first = overtaking(1, 2).terms(1, wait_ms=WAIT_MS)
    assert counts_of(delayed_first, *ORDER) == {"in_order": 1, "not_judged not_at_once": 1}


def test_a_delayed_message_that_overtakes_makes_no_other_late() -> None:
    history = overtaking(1, 2).terms(2, wait_ms=1)
    assert counts_of(history, *ORDER) == {"in_order": 1, "not_judged not_at_once": 1}


def test_one_delayed_attempt_makes_a_messages_place_uncertain() -> None:
    history = overtaking(1, 2).publish(1, at_ms=1_002, attempt=2).terms(1, attempt=2, wait_ms=9)
    assert counts_of(history, "reordered") == {}


def test_unordered_queues_have_no_other_order_reason() -> None:
    history = overtaking(1, 2).terms(1, wait_ms=WAIT_MS).queue(ordered=False)
    assert counts_of(history, *ORDER) == {"not_judged not_promised": 2}


def backlog_gone_ms(history: History) -> float | None:
    """After a fault at 20 s; None: not within the load."""
    (stage,) = [one for one in judge(*history.build()).stages if one.stage == "backlog_drained"]
    return stage.after_ns / 1e6 if stage.reached else None


def faulted() -> History:
    """Consumers are back 200 ms after the fault."""
    history = History(load_ms=(0, 60_000)).window(20_000, returned_ms=20_000)
    history.publish(9, at_ms=20_100).confirm(9).deliver(9, at_ms=20_200)
    return history.publish(1, at_ms=21_000).confirm(1, at_ms=21_001)


def test_a_delayed_message_waits_from_when_it_is_due() -> None:
    late = faulted().deliver(1, at_ms=31_500)
    assert backlog_gone_ms(late) == 11_500
    assert backlog_gone_ms(late.terms(1, wait_ms=9_500)) == 200
    assert backlog_gone_ms(faulted().terms(1, wait_ms=9_499).deliver(1, at_ms=31_500)) == 11_500


def test_a_message_not_due_within_load_keeps_no_backlog() -> None:
    history = faulted().deliver(1, at_ms=70_000, via=Via.DRAIN)
    assert backlog_gone_ms(history) is None
    assert backlog_gone_ms(history.terms(1, wait_ms=45_000)) == 200


def test_a_message_is_late_after_its_last_copy_is_due() -> None:
    history = faulted().terms(1, wait_ms=1_000).publish(1, at_ms=22_000, attempt=2)
    assert backlog_gone_ms(history.deliver(1, at_ms=30_000)) == 10_000
    assert backlog_gone_ms(history.terms(1, wait_ms=10_000, attempt=2)) == 200


# --- overdue -------------------------------------------------------------------------------------

LATEST_MS = OVER_MS + 1_000  # brokers look at what waits once a second


@pytest.mark.parametrize("via", [Via.LOAD, Via.DRAIN, Via.RETRY_TOPIC])
def test_messages_later_than_the_brokers_limit_are_overdue(via: Via) -> None:
    in_time = delayed().deliver(1, at_ms=LATEST_MS, via=via)
    assert counts_of(in_time, "overdue") == {}
    late = judge(*delayed().deliver(1, at_ms=LATEST_MS + 0.000001, via=via).build())
    assert counts(late, "overdue") == {"overdue": 1}
    assert affected(late, "overdue") == [("", 1, 0, ns(LATEST_MS + 0.000001))]


def test_a_delay_begins_by_the_confirm_and_ends_when_due() -> None:
    """Sent at 1 s, due at 11 s; a confirm that came before it was sent shortens no wait."""
    history = History().publish(1, at_ms=1_000).terms(1, wait_ms=WAIT_MS).confirm(1, at_ms=900)
    latest_ms = 11_000 + SLACK_MS + 1_000
    assert counts_of(history.deliver(1, at_ms=latest_ms), "overdue") == {}
    history.rows["deliveries"].clear()
    assert counts_of(history.deliver(1, at_ms=latest_ms + 1), "overdue") == {"overdue": 1}


@pytest.mark.parametrize("worker", [PUBLISHER, CONSUMER])
def test_clocks_of_both_sides_excuse_what_is_overdue(worker: int) -> None:
    history = delayed().clock(worker, 400).deliver(1, at_ms=LATEST_MS + 400)
    assert counts_of(history, "overdue") == {}
    history = delayed().clock(worker, 400).deliver(1, at_ms=LATEST_MS + 401)
    assert counts_of(history, "overdue") == {"overdue": 1}


def test_a_message_due_before_its_sending_waits_zero_time() -> None:
    latest_ms = CONFIRMED_MS + 1 + 1_000  # the broker's own millisecond, and its second

    def overdue(at_ms: float) -> dict[str, int]:
        history = History().publish(1, at_ms=1_000).terms(1, due_ms=500)
        return counts_of(history.confirm(1, at_ms=CONFIRMED_MS).deliver(1, at_ms=at_ms), "overdue")

    assert overdue(latest_ms) == {}
    assert overdue(latest_ms + 0.000001) == {"overdue": 1}


def test_the_first_delivery_decides_whether_it_is_overdue() -> None:
    history = delayed().deliver(1, at_ms=12_000).deliver(1, at_ms=50_000)
    assert counts_of(history, "overdue") == {}


def test_the_first_confirm_starts_the_wait() -> None:
    history = delayed().confirm(1, at_ms=30_000).deliver(1, at_ms=LATEST_MS + 1)
    assert counts_of(history, "overdue") == {"overdue": 1}


def test_unconfirmed_messages_and_deliveries_of_other_attempts_are_not_overdue() -> None:
    unknown = History().publish(1, at_ms=1_000).terms(1, wait_ms=WAIT_MS)
    assert counts_of(unknown.deliver(1, at_ms=50_000), "overdue") == {}
    other = delayed().publish(1, at_ms=40_000, attempt=2).confirm(1, attempt=2)
    assert counts_of(other.deliver(1, at_ms=50_000, attempt=2), "overdue") == {}


def test_a_drained_message_is_overdue_if_consumers_could_have_it() -> None:
    def drained(load_ended_ms: float) -> History:
        history = History(load_ms=(0, load_ended_ms)).publish(1, at_ms=1_000)
        history.terms(1, wait_ms=WAIT_MS).confirm(1, at_ms=CONFIRMED_MS)
        return history.deliver(1, at_ms=90_000, via=Via.DRAIN)

    assert counts_of(drained(LATEST_MS), "overdue") == {}
    assert counts_of(drained(LATEST_MS + 0.000001), "overdue") == {"overdue": 1}
    assert counts_of(drained(LATEST_MS + 1).no_consumer(), "overdue") == {}
