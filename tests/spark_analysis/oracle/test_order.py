"""Whether messages arrived in the order they were sent."""

import pytest

from spark_analysis.schema.words import Outcome, Redelivered
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, History, affected, counts, ns
from tests.rigs.histories.ways import Via

ORDER = ("in_order", "reordered", "reorder_unknown", "not_judged")
YES = Redelivered.YES
NANOSECOND_MS = 0.000001


def order(history: History, queue: str = "orders") -> dict[str, int]:
    return dict(counts(judge(*history.build()), *ORDER, queue=queue))


def confirmed(*sequences: int) -> History:
    history = History()
    for sequence in sequences:
        history.publish(sequence).confirm(sequence)
    return history


def test_messages_that_arrive_as_they_were_sent_are_in_order() -> None:
    assert order(confirmed(1, 2).deliver(1).deliver(2)) == {"in_order": 2}


def test_a_message_that_arrives_after_a_larger_one_is_reordered() -> None:
    findings = judge(*confirmed(1, 2).deliver(2, at_ms=50).deliver(1, at_ms=60).build())
    assert counts(findings, *ORDER) == {"in_order": 1, "reordered": 1}
    assert affected(findings, "reordered") == [("", 1, 0, ns(60))]


def test_every_message_behind_a_larger_one_is_reordered() -> None:
    history = confirmed(1, 2, 3).deliver(3).deliver(1).deliver(2)
    assert affected(judge(*history.build()), "reordered") == [
        ("", 1, 0, ns(8)),
        ("", 2, 0, ns(9)),
    ]


def test_sequence_0_can_be_reordered() -> None:
    assert order(confirmed(0, 1).deliver(1).deliver(0)) == {"in_order": 1, "reordered": 1}


def test_a_loss_is_never_a_reorder() -> None:
    history = confirmed(1, 2, 3).deliver(1).deliver(3)
    assert order(history) == {"in_order": 2}


def test_an_audit_find_has_no_place_in_the_order() -> None:
    history = confirmed(1, 2).deliver(2, via=Via.AUDIT).deliver(1)
    assert order(history) == {"in_order": 1}


def test_only_first_deliveries_are_compared() -> None:
    history = confirmed(1, 2).deliver(1).deliver(2).deliver(1).deliver(2)
    assert order(history) == {"in_order": 2}


def test_a_second_delivery_does_not_change_a_messages_place() -> None:
    assert order(confirmed(1, 2).deliver(1).deliver(2).deliver(1)) == {"in_order": 2}
    history = confirmed(1, 2).deliver(2).deliver(1, at_ms=50).deliver(1, at_ms=60)
    assert affected(judge(*history.build()), "reordered") == [("", 1, 0, ns(50))]


def test_a_first_delivery_by_the_drain_has_its_place() -> None:
    history = confirmed(1, 2).deliver(2).deliver(1, via=Via.DRAIN)
    assert order(history) == {"in_order": 1, "reordered": 1}


def test_simultaneous_deliveries_are_ordered_by_tag() -> None:
    history = confirmed(1, 2).deliver(1, at_ms=50, tag=4).deliver(2, at_ms=50, tag=3)
    assert order(history) == {"in_order": 1, "reordered": 1}


@pytest.mark.parametrize("other", [{"producer": 7}, {"key": 3}])
def test_messages_of_another_producer_or_key_are_not_compared(
    other: dict[str, int],
) -> None:
    producer = {"producer": other.get("producer", 1)}
    history = History().publish(1).confirm(1).publish(2, **other).confirm(2, **producer)
    assert order(history.deliver(2, **producer).deliver(1)) == {"in_order": 2}


def test_messages_of_another_queue_are_not_compared() -> None:
    history = History().queue("bills").publish(1).confirm(1)
    history.publish(2, queue="bills").confirm(2).deliver(2).deliver(1)
    assert order(history) == {"in_order": 1}
    assert order(history, queue="bills") == {"in_order": 1}


def test_order_is_compared_across_consumers() -> None:
    history = confirmed(1, 2).deliver(2).deliver(1, consumer=3)
    assert order(history) == {"in_order": 1, "reordered": 1}


# --- which of two is before the other ------------------------------------------------------------


def on_two_connections(confirmed_ms: float) -> History:
    """The second one was sent at 20 ms, on a connection of its own, and came first."""
    history = History().publish(1, at_ms=10).confirm(1, at_ms=confirmed_ms)
    history.publish(2, at_ms=20, connection=2).confirm(2)
    return history.deliver(2, at_ms=50).deliver(1, at_ms=60)


def test_a_confirm_before_another_sending_orders_them_across_connections() -> None:
    assert order(on_two_connections(20 - NANOSECOND_MS)) == {"in_order": 1, "reordered": 1}
    assert order(on_two_connections(20)) == {"in_order": 2}


def test_the_first_confirm_of_an_attempt_orders_it() -> None:
    assert order(on_two_connections(30).confirm(1, at_ms=15)) == {"in_order": 1, "reordered": 1}


def test_the_confirm_of_another_attempt_puts_this_one_nowhere() -> None:
    history = History().publish(1, at_ms=10).publish(1, at_ms=11, attempt=2, connection=3)
    history.confirm(1, at_ms=12).confirm(1, at_ms=40, attempt=2)
    history.publish(2, at_ms=20, connection=2).confirm(2)
    came_as_second = history.deliver(2, at_ms=50).deliver(1, at_ms=60, attempt=2)
    assert order(came_as_second) == {"in_order": 2}


def test_on_one_connection_what_was_sent_earlier_is_before() -> None:
    history = History().publish(2, at_ms=10).publish(1, at_ms=20).confirm(1).confirm(2)
    assert order(history.deliver(1, at_ms=50).deliver(2, at_ms=60)) == {
        "in_order": 1,
        "reordered": 1,
    }


def test_at_one_sending_time_the_smaller_sequence_is_first() -> None:
    history = History().publish(1, at_ms=10).publish(2, at_ms=10).confirm(1).confirm(2)
    assert order(history.deliver(2).deliver(1)) == {"in_order": 1, "reordered": 1}
    assert order(confirmed(1, 2).deliver(1).deliver(2)) == {"in_order": 2}


def test_a_retry_of_one_sending_time_has_no_order_there() -> None:
    """Clocks of other tools may count whole milliseconds."""
    history = confirmed(1).publish(2, at_ms=50).confirm(2).settle(1, Outcome.UNKNOWN, at_ms=40)
    history.publish(1, attempt=2, at_ms=50).confirm(1, attempt=2)
    history.deliver(2, at_ms=60).deliver(1, attempt=2, at_ms=61)
    assert order(history) == {"in_order": 2}
    later = confirmed(1).publish(2, at_ms=50 + NANOSECOND_MS).confirm(2)
    later.publish(1, attempt=2, at_ms=50).confirm(1, attempt=2)
    later.deliver(2, at_ms=60).deliver(1, attempt=2, at_ms=61)
    assert order(later) == {"in_order": 1, "reordered": 1}


def test_a_message_with_impossible_times_has_no_place() -> None:
    """Its records contradict each other, so they prove no reorder; those of others do."""
    early = confirmed(1).publish(2, at_ms=50).confirm(2, at_ms=52)
    early.publish(3, at_ms=60).confirm(3, at_ms=40)
    early.deliver(1, at_ms=61).deliver(2, at_ms=62).deliver(3, at_ms=63)
    found = {"in_order": 2, "not_judged not_certain": 1}
    assert order(early) == found
    history = confirmed(1).publish(2, at_ms=50).confirm(2).publish(3, at_ms=60).confirm(3)
    history.deliver(1).deliver(3, at_ms=45).deliver(2, at_ms=63)
    assert order(history) == found
    assert order(history.clock(CONSUMER, 15)) == {"in_order": 1, "reordered": 2}
    again = History().publish(1, at_ms=50).confirm(1).deliver(1, at_ms=40, via=Via.RETRY_TOPIC)
    assert order(again) == {"not_judged not_certain": 1}


def test_a_retry_that_was_confirmed_stands_where_it_was_sent() -> None:
    history = History().publish(1).settle(1, Outcome.UNKNOWN).publish(2).confirm(2)
    history.publish(1, attempt=2).confirm(1, attempt=2)
    assert order(history.deliver(2).deliver(1, attempt=2)) == {"in_order": 2}
    ahead = history.publish(3).confirm(3)
    ahead.rows["deliveries"].clear()
    assert order(ahead.deliver(3).deliver(1, attempt=2)) == {"in_order": 1, "reordered": 1}


# --- flagged -------------------------------------------------------------------------------------


def test_flagged_ones_among_themselves_are_in_order_or_not() -> None:
    history = confirmed(1, 2).deliver(2, redelivered=YES).deliver(1, redelivered=YES)
    assert order(history) == {"in_order": 1, "reordered": 1}
    history = confirmed(1, 2).deliver(1, redelivered=YES).deliver(2, redelivered=YES)
    assert order(history) == {"in_order": 2}


@pytest.mark.parametrize(
    ("first", "second"), [({}, {"redelivered": YES}), ({"redelivered": YES}, {})]
)
def test_a_flagged_and_an_unflagged_delivery_are_unknown(
    first: dict[str, Redelivered], second: dict[str, Redelivered]
) -> None:
    """The flagged one may have been delivered in its place, to a connection that was not read."""
    history = confirmed(1, 2).deliver(2, **first).deliver(1, at_ms=60, **second)
    findings = judge(*history.build())
    assert counts(findings, *ORDER) == {"in_order": 1, "reorder_unknown": 1}
    assert affected(findings, "reorder_unknown") == [("", 1, 0, ns(60))]


def test_a_proved_violation_outweighs_an_unknown_one() -> None:
    history = confirmed(1, 2, 3).deliver(3, redelivered=YES).deliver(2)
    assert order(history.deliver(1)) == {"in_order": 1, "reorder_unknown": 1, "reordered": 1}


# --- what is not judged --------------------------------------------------------------------------


def test_order_is_not_judged_where_it_was_not_promised() -> None:
    history = confirmed(1, 2).queue(ordered=False).deliver(2).deliver(1)
    assert order(history) == {"not_judged not_promised": 2}


def test_order_is_not_judged_without_records_of_the_queue() -> None:
    history = confirmed(1).no_queue_end().deliver(1)
    assert order(history) == {"not_judged not_promised": 1}


def test_one_attempt_of_unknown_outcome_is_ordered_on_its_connection() -> None:
    history = confirmed(2).publish(3).settle(3, Outcome.UNKNOWN).publish(4)
    assert order(history.deliver(4).deliver(3).deliver(2)) == {"in_order": 1, "reordered": 2}
    elsewhere = History().publish(1).publish(2, connection=2).confirm(2).deliver(2).deliver(1)
    assert order(elsewhere) == {"in_order": 2}


@pytest.mark.parametrize("outcome", [Outcome.REFUSED, Outcome.RETURNED])
def test_order_of_refused_messages_is_not_certain(outcome: Outcome) -> None:
    history = confirmed(2).publish(1).settle(1, outcome).deliver(2).deliver(1)
    assert order(history) == {"not_judged not_certain": 1, "in_order": 1}


def test_an_unconfirmed_attempt_of_two_makes_the_place_uncertain() -> None:
    history = confirmed(2).publish(1).publish(1, attempt=2).confirm(1, attempt=2)
    assert order(history.deliver(2).deliver(1)) == {"not_judged not_certain": 1, "in_order": 1}


def test_the_confirmed_one_of_two_attempts_is_ordered() -> None:
    history = confirmed(1, 2).publish(1, attempt=2).deliver(2).deliver(1)
    assert order(history) == {"in_order": 1, "reordered": 1}


def test_an_unsent_second_attempt_makes_the_place_uncertain() -> None:
    history = History().publish(1).not_sent(1, attempt=2).deliver(1)
    assert order(history) == {"not_judged not_certain": 1}


@pytest.mark.parametrize("attempt", [0, 3])
def test_a_delivery_of_an_unknown_attempt_is_not_certain(attempt: int) -> None:
    history = confirmed(1).deliver(1, attempt=attempt)
    assert order(history) == {"not_judged not_certain": 1}


def test_a_delivery_of_an_unsent_attempt_makes_the_place_uncertain() -> None:
    history = History().not_sent(1).publish(1, attempt=2).confirm(1, attempt=2).deliver(1)
    assert order(history) == {"not_judged not_certain": 1}


def test_without_redelivery_flags_order_is_not_judged() -> None:
    history = confirmed(1, 2).deliver(2).deliver(1, redelivered=Redelivered.NOT_REPORTED)
    assert order(history) == {"not_judged not_reported": 1, "in_order": 1}


def test_order_by_the_retry_topic_is_not_judged() -> None:
    history = confirmed(1, 2).deliver(2).deliver(1, via=Via.RETRY_TOPIC)
    assert order(history) == {"not_judged not_reported": 1, "in_order": 1}


def test_a_log_without_flags_is_judged_by_first_deliveries() -> None:
    place = {"place": "broker-a/3", "redelivered": Redelivered.NOT_REPORTED}
    history = confirmed(1, 2).deliver(2, offset=8, **place).deliver(1, offset=7, **place)
    assert order(history) == {"reordered": 1, "in_order": 1}
    flagged = {**place, "redelivered": YES}
    history = confirmed(1, 2).deliver(2, offset=8, **place).deliver(1, offset=7, **flagged)
    assert order(history) == {"reorder_unknown": 1, "in_order": 1}


def test_a_message_that_is_not_judged_makes_no_other_reordered() -> None:
    history = confirmed(1, 2).deliver(2, redelivered=Redelivered.NOT_REPORTED).deliver(1)
    assert order(history) == {"not_judged not_reported": 1, "in_order": 1}


def test_a_redelivery_after_the_first_delivery_leaves_its_place_certain() -> None:
    history = confirmed(1).deliver(1).deliver(1, redelivered=Redelivered.YES)
    assert order(history) == {"in_order": 1}


def test_the_first_reason_for_unjudged_order_counts() -> None:
    history = History().publish(1).settle(1, Outcome.REFUSED)
    history.deliver(1, redelivered=Redelivered.NOT_REPORTED)
    assert order(history) == {"not_judged not_certain": 1}
    delayed = history.terms(1, wait_ms=0)
    assert order(delayed) == {"not_judged not_at_once": 1}
    assert order(history.queue(ordered=False)) == {"not_judged not_promised": 1}


def test_ordered_or_unjudged_messages_affect_no_one() -> None:
    history = confirmed(1, 2).deliver(1).deliver(2, redelivered=Redelivered.NOT_REPORTED)
    assert judge(*history.build()).affected == ()
