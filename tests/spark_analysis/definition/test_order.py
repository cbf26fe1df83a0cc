"""Whether messages arrived in the order they were sent."""

import pytest

from spark_analysis.definition.judge import judge
from spark_analysis.schema.words import Outcome, Redelivered, Via
from tests.histories import History, affected, counts, ns

ORDER = ("in_order", "reordered", "not_judged")


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


def test_every_message_behind_a_larger_one_is_reordered_not_only_its_neighbour() -> None:
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


def test_a_find_of_the_audit_has_no_place_in_the_order() -> None:
    history = confirmed(1, 2).deliver(2, via=Via.AUDIT).deliver(1)
    assert order(history) == {"in_order": 1}


def test_only_first_deliveries_are_compared() -> None:
    history = confirmed(1, 2).deliver(1).deliver(2).deliver(1).deliver(2)
    assert order(history) == {"in_order": 2}


def test_a_second_delivery_moves_a_message_neither_behind_another_nor_in_time() -> None:
    assert order(confirmed(1, 2).deliver(1).deliver(2).deliver(1)) == {"in_order": 2}
    history = confirmed(1, 2).deliver(2).deliver(1, at_ms=50).deliver(1, at_ms=60)
    assert affected(judge(*history.build()), "reordered") == [("", 1, 0, ns(50))]


def test_a_first_delivery_by_the_drain_has_its_place() -> None:
    history = confirmed(1, 2).deliver(2).deliver(1, via=Via.DRAIN)
    assert order(history) == {"in_order": 1, "reordered": 1}


def test_of_deliveries_at_one_time_the_smaller_tag_was_earlier() -> None:
    history = confirmed(1, 2).deliver(1, at_ms=50, tag=4).deliver(2, at_ms=50, tag=3)
    assert order(history) == {"in_order": 1, "reordered": 1}


@pytest.mark.parametrize("other", [{"producer": 7}, {"key": 3}, {"connection": 2}])
def test_messages_of_another_producer_key_or_connection_are_not_compared(
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


def test_the_connection_that_counts_is_that_of_the_first_attempt() -> None:
    history = confirmed(1).publish(1, attempt=2, connection=2).publish(2).confirm(2)
    assert order(history.deliver(2).deliver(1)) == {"in_order": 1, "reordered": 1}


def test_order_is_not_judged_where_it_was_not_promised() -> None:
    history = confirmed(1, 2).queue(ordered=False).deliver(2).deliver(1)
    assert order(history) == {"not_judged not_promised": 2}


def test_order_is_not_judged_where_nothing_is_known_of_the_queue() -> None:
    history = confirmed(1).no_queue_end().deliver(1)
    assert order(history) == {"not_judged not_promised": 1}


def test_order_is_not_judged_of_a_message_that_was_not_confirmed() -> None:
    history = confirmed(2).publish(1).settle(1, Outcome.UNKNOWN).deliver(2).deliver(1)
    assert order(history) == {"not_judged not_first_attempt": 1, "in_order": 1}


def test_order_is_not_judged_of_a_message_that_was_confirmed_as_a_retry() -> None:
    history = confirmed(2).publish(1).publish(1, attempt=2).confirm(1, attempt=2)
    history.deliver(2).deliver(1)
    assert order(history) == {"not_judged not_first_attempt": 1, "in_order": 1}


def test_order_is_not_judged_of_a_message_that_first_arrived_as_a_retry() -> None:
    history = confirmed(1, 2).publish(1, attempt=2).deliver(2).deliver(1, attempt=2).deliver(1)
    assert order(history) == {"not_judged not_first_attempt": 1, "in_order": 1}


def test_order_is_not_judged_of_a_message_that_first_arrived_as_an_attempt_before_the_first() -> (
    None
):
    history = confirmed(1, 2).deliver(2).deliver(1, attempt=0)
    assert order(history) == {"not_judged not_first_attempt": 1, "in_order": 1}


def test_order_is_not_judged_of_a_message_whose_first_attempt_has_no_row() -> None:
    history = History().publish(1, attempt=2).confirm(1).deliver(1)
    assert order(history) == {"not_judged not_first_attempt": 1}


@pytest.mark.parametrize("flag", [Redelivered.YES, Redelivered.NOT_TOLD])
def test_order_is_not_judged_of_a_first_delivery_that_may_be_a_redelivery(
    flag: Redelivered,
) -> None:
    history = confirmed(1, 2).deliver(2).deliver(1, redelivered=flag)
    assert order(history) == {"not_judged redelivered": 1, "in_order": 1}


def test_a_log_that_flags_nothing_is_judged_by_its_first_deliveries() -> None:
    place = {"place": "broker-a/3", "redelivered": Redelivered.NOT_TOLD}
    history = confirmed(1, 2).deliver(2, offset=8, **place).deliver(1, offset=7, **place)
    assert order(history) == {"reordered": 1, "in_order": 1}
    flagged = {**place, "redelivered": Redelivered.YES}
    history = confirmed(1, 2).deliver(2, offset=8, **place).deliver(1, offset=7, **flagged)
    assert order(history) == {"not_judged redelivered": 1, "in_order": 1}


def test_a_message_that_is_not_judged_makes_no_other_reordered() -> None:
    history = confirmed(1, 2).deliver(2, redelivered=Redelivered.YES).deliver(1)
    assert order(history) == {"not_judged redelivered": 1, "in_order": 1}


def test_a_redelivery_after_the_first_delivery_leaves_its_place_certain() -> None:
    history = confirmed(1).deliver(1).deliver(1, redelivered=Redelivered.YES)
    assert order(history) == {"in_order": 1}


def test_of_all_reasons_the_first_counts() -> None:
    history = History().publish(1).deliver(1, redelivered=Redelivered.YES)
    assert order(history) == {"not_judged not_first_attempt": 1}
    assert order(history.queue(ordered=False)) == {"not_judged not_promised": 1}


def test_what_is_in_order_or_not_judged_affects_nobody() -> None:
    history = confirmed(1, 2).deliver(1).deliver(2, redelivered=Redelivered.YES)
    assert judge(*history.build()).affected == ()
