"""Delayed messages, transactions, consumers that poll, groups and streams: each broken history
beside a healthy one that nearly looks like it. What must be said was written down before anything
judged it, by the argument of each story."""

from typing import Any

import pytest

from spark_analysis.schema.words import Fate, Outcome, Redelivered
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    CHECKED,
    CONSUMED,
    CONSUMED_AFTER,
    COPY,
    DELIVERED,
    EARLY,
    FIFO,
    HELD,
    ONE_COPY,
    OVERDUE,
    REFUSED,
    ROLLED_BACK,
    TORN,
    UNACKED,
)
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    SketchedDelivery,
    calm,
    failover,
    for_groups,
    relinked,
)
from tests.rigs.histories.ways import Via

UNKNOWN, CONFIRMED, REFUSED_ = Outcome.UNKNOWN, Outcome.CONFIRMED, Outcome.REFUSED
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_delay_or_a_transaction_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- delayed messages ----------------------------------------------------------------------------


def delayed(due_ms: float, came_ms: float | None, *, sequence: int = 100) -> Sketch:
    """One message of 300 is delayed: sent at 10.05 s, confirmed at 10.055 s."""
    sketch = calm()
    sketch.declared |= {"delayed_messages": 1, "operations": 0}
    sketch.history.terms(sequence, due_ms=due_ms)
    if came_ms is None:
        sketch.lose(sequence)
    else:
        sketch.first(sequence).move(came_ms)
    return sketch


@case(passes=f"{EARLY} {OVERDUE}")
def a_delayed_message_comes_when_it_is_due() -> Sketch:
    return delayed(15_050, 15_060)


@case(EARLY, early=1)
def a_delayed_message_comes_at_once() -> Sketch:
    return delayed(15_050, 10_060)


@case(unknown=EARLY, early_unknown=1)
def a_delayed_message_comes_five_ms_early() -> Sketch:
    """A thousandth of its wait is 5 ms, and brokers count whole milliseconds."""
    return delayed(15_050, 15_045)


@case(EARLY, early=1)
def a_delayed_message_comes_seven_ms_early() -> Sketch:
    return delayed(15_050, 15_043)


@case(passes=f"{EARLY} {OVERDUE}", overdue=0)
def a_delayed_message_comes_a_second_late() -> Sketch:
    return delayed(15_050, 16_050)


@case(OVERDUE, passes=EARLY, overdue=1)
def a_delayed_message_comes_1100_ms_late() -> Sketch:
    return delayed(15_050, 16_150)


@case(DELIVERED, lost=1)
def a_delayed_message_never_comes() -> Sketch:
    sketch = delayed(15_050, None)
    sketch.history.queue(quiet_ms=60_000)
    return sketch


@case(unknown=DELIVERED, loss_unknown__not_due=1)
def a_message_is_delayed_beyond_the_drain() -> Sketch:
    sketch = delayed(70_000, None)
    sketch.history.queue(quiet_ms=60_000)
    return sketch


@case(unknown=DELIVERED, loss_unknown__not_due=1)
def it_is_unknown_when_the_queue_of_a_delayed_message_was_quiet() -> Sketch:
    """Only until the load's end was anything surely given."""
    return delayed(31_000, None)


@case(DELIVERED, lost=1)
def a_message_was_due_before_the_load_ended() -> Sketch:
    return delayed(29_000, None)


@case(passes=FIFO, not_judged__not_at_once=1)
def a_delayed_message_is_overtaken() -> Sketch:
    return delayed(15_050, 15_060)


def delayed_twice(*came: tuple[int, float]) -> Sketch:
    """Two attempts, each delayed by 5 s; the first has no answer."""
    sketch = calm()
    sketch.declared |= {"delayed_messages": 1}
    sketch.send(100, 10_050, UNKNOWN, settled_ms=10_550)
    sketch.send(100, 10_560, attempt=2)
    sketch.lose(100)
    sketch.history.terms(100, due_ms=15_050).terms(100, due_ms=15_560, attempt=2)
    for attempt, at_ms in came:
        sketch.deliver(100, at_ms, attempt=attempt)
    return sketch


@case(passes=f"{EARLY} {COPY}", duplicated__publisher_retry=1)
def both_attempts_of_a_delayed_message_come_when_they_are_due() -> Sketch:
    return delayed_twice((1, 15_060), (2, 15_570))


@case(COPY, attempt_lost=1)
def the_confirmed_attempt_of_a_delayed_message_is_gone() -> Sketch:
    return delayed_twice((1, 15_060))


@case(EARLY, early=1)
def the_second_attempt_of_a_delayed_message_comes_with_the_first() -> Sketch:
    return delayed_twice((1, 15_060), (2, 15_061))


@case(passes=EARLY)
def the_first_attempt_of_a_delayed_message_is_gone() -> Sketch:
    """It had no answer."""
    return delayed_twice((2, 15_570))


@case(passes=CONSUMED)
def consumers_wait_ten_seconds_for_delayed_messages_alone() -> Sketch:
    """From 12 s on every message is delayed to 22 s."""
    sketch = calm()
    sketch.declared |= {"delayed_messages": 100}
    for sequence in range(120, 220):
        sketch.history.terms(sequence, due_ms=22_060)
        sketch.first(sequence).move(22_061 + sequence / 1_000)
    return sketch


@case(f"{CONSUMED}", not_applicable=OVERDUE)
def delayed_messages_are_due_and_wait_for_eight_seconds() -> Sketch:
    sketch = calm()
    sketch.declared |= {"delayed_messages": 150}
    for sequence in range(120, 270):
        sketch.history.terms(sequence, due_ms=max(14_000, sequence * 100 + 51))
        sketch.first(sequence).move(27_000 + sequence / 1_000)
    return sketch


# --- transactions --------------------------------------------------------------------------------


def one_transaction(fate: Fate, *answers: Outcome, **declared: Any) -> Sketch:
    """Message 100 is one, among 300 messages of an unordered queue that was quiet at 60 s."""
    sketch = calm()
    sketch.history.queue(ordered=False, quiet_ms=60_000).terms(100, fate=fate)
    sketch.declared |= {"messages_in_transactions": 1, **declared}
    sketch.answer(100, *answers)
    return sketch


@case(passes=f"{DELIVERED} {TORN}")
def a_commit_is_confirmed_and_comes() -> Sketch:
    return one_transaction(Fate.COMMIT, CONFIRMED, messages_to_commit=1)


@case(DELIVERED, lost=1)
def a_commit_is_confirmed_and_gone() -> Sketch:
    sketch = one_transaction(Fate.COMMIT, CONFIRMED, messages_to_commit=1)
    sketch.lose(100)
    return sketch


@case(lost_indeterminate=1)
def a_commit_without_an_answer_is_gone() -> Sketch:
    sketch = one_transaction(Fate.COMMIT, UNKNOWN, messages_to_commit=1)
    sketch.lose(100)
    return sketch


@case(revived=1)
def a_commit_without_an_answer_comes() -> Sketch:
    return one_transaction(Fate.COMMIT, UNKNOWN, messages_to_commit=1)


@case(ROLLED_BACK, rolled_back_but_delivered=1)
def a_rollback_is_answered_and_the_message_comes() -> Sketch:
    return one_transaction(Fate.ROLLBACK, REFUSED_)


@case(unknown=ROLLED_BACK, rollback_unknown=1)
def a_rollback_without_an_answer_and_the_message_comes() -> Sketch:
    return one_transaction(Fate.ROLLBACK, UNKNOWN)


@case(passes=ROLLED_BACK)
def a_rollback_is_answered_and_nothing_comes() -> Sketch:
    sketch = one_transaction(Fate.ROLLBACK, REFUSED_, messages_to_commit=0, messages_to_check=0)
    sketch.lose(100)
    return sketch


@case(lost=0, rolled_back_but_delivered=0)
def a_rollback_without_an_answer_and_nothing_comes() -> Sketch:
    sketch = one_transaction(Fate.ROLLBACK, UNKNOWN)
    sketch.lose(100)
    return sketch


def half(sketch: Sketch) -> Sketch:
    """The audit finds the half of message 100 alone."""
    sketch.lose(100)
    where: dict[str, Any] = {"consumer": 90, "connection": 9, "place": "broker-a"}
    sketch.deliver(100, 61_000, acked=False, via=Via.HALF, **where)
    return sketch


@case(f"{TORN} {DELIVERED}", torn_transaction=1)
def a_commit_is_confirmed_and_only_its_half_is_found() -> Sketch:
    return half(one_transaction(Fate.COMMIT, CONFIRMED, messages_to_commit=1))


@case(unknown=f"{TORN} {DELIVERED}", torn_transaction=0)
def a_commit_is_confirmed_and_a_place_beside_its_half_was_unreadable() -> Sketch:
    sketch = half(one_transaction(Fate.COMMIT, CONFIRMED, messages_to_commit=1))
    sketch.history.queue(ordered=False, quiet_ms=60_000, unreadable=("broker-b",))
    return sketch


@case(torn_transaction=0, lost=0)
def a_commit_without_an_answer_and_only_its_half_is_found() -> Sketch:
    return half(one_transaction(Fate.COMMIT, UNKNOWN, messages_to_commit=1))


def to_be_checked(*answers: Outcome) -> Sketch:
    return one_transaction(
        Fate.COMMIT_WHEN_CHECKED, *answers, messages_to_check=1, checks_within_s=6.0
    )


@case(passes=CHECKED)
def a_transaction_left_open_is_checked_and_comes() -> Sketch:
    sketch = to_be_checked(UNKNOWN, CONFIRMED)
    sketch.first(100).move(14_000)
    return sketch


@case(CHECKED, unknown=DELIVERED, unchecked=1)
def a_transaction_left_open_is_never_checked() -> Sketch:
    return half(to_be_checked(CONFIRMED))


@case(unknown=CHECKED, unchecked=0)
def a_transaction_left_open_without_an_answer_is_never_checked() -> Sketch:
    """When the broker had its half is unknown."""
    return half(to_be_checked(UNKNOWN))


@case(unknown=CHECKED, unchecked_unknown=1)
def a_transaction_left_open_and_its_publisher_died() -> Sketch:
    sketch = half(to_be_checked(CONFIRMED))
    sketch.history.log_open(PUBLISHER)
    return sketch


# --- consumers that poll, and that are full ------------------------------------------------------


def polling(sketch: Sketch) -> Sketch:
    sketch.declared["polls"] = True
    return sketch


@case(FIFO, passes=CONSUMED)
def a_poll_passes_one_message_over_for_seven_seconds() -> Sketch:
    """Its own pace decides how long messages wait; their order is the queue's."""
    sketch = polling(calm())
    sketch.first(150).move(22_000)
    return sketch


@case(CONSUMED)
def polls_get_nothing_for_eight_seconds() -> Sketch:
    sketch = polling(calm())
    sketch.hold(15_000, 23_000)
    return sketch


@case(passes=f"{CONSUMED} {FIFO}")
def polls_are_slower_than_the_load() -> Sketch:
    sketch = polling(calm())
    for place, one in enumerate(sketch.came):
        one.move(60 + place * 180)
    return sketch


@case(unknown=CONSUMED)
def slow_consumers_get_nothing_for_eight_seconds() -> Sketch:
    sketch = calm()
    sketch.declared["processing_s"] = 0.5
    sketch.hold(15_000, 23_000)
    return sketch


# --- groups that each get everything -------------------------------------------------------------


def broadcast() -> Sketch:
    return for_groups(calm(), (10, 11))


def of_b(sketch: Sketch, from_ms: float, until_ms: float = 10**9) -> list[SketchedDelivery]:
    return [it for it in sketch.since(from_ms, until_ms) if it.named["queue"] == "orders-b"]


@case(CONSUMED, passes=f"{FIFO} {DELIVERED}")
def one_of_two_groups_gets_nothing_for_eight_seconds() -> Sketch:
    sketch = broadcast()
    for place, one in enumerate(of_b(sketch, 15_000, 23_000)):
        one.move(23_001 + place * 0.05)
    return sketch


@case(unknown=CONSUMED, passes=DELIVERED)
def one_of_two_groups_gets_nothing_in_the_last_four_seconds() -> Sketch:
    sketch = broadcast()
    for one in of_b(sketch, 26_000):
        one.named |= {"via": Via.DRAIN, "consumer": 91, "connection": 9}
        one.move(40_000 + one.sequence / 1_000)
    return sketch


@case(FIFO, reordered=1)
def one_of_two_groups_gets_two_in_the_wrong_order() -> Sketch:
    sketch = broadcast()
    of_b(sketch, 15_000)[0].move(15_165)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def one_of_two_groups_gets_a_message_twice() -> Sketch:
    sketch = broadcast()
    sketch.deliver(150, 15_165, consumer=11, queue="orders-b")
    return sketch


# --- retries, refusals and redeliveries across a takeover ----------------------------------------


@case(REFUSED, refused_but_delivered=1)
def a_refused_attempt_comes_after_the_takeover() -> Sketch:
    sketch = failover()
    sketch.answer(155, REFUSED_)
    sketch.deliver(155, 17_500, connection=2)
    return sketch


@case(revived=1)
def an_attempt_without_an_answer_comes_after_the_takeover() -> Sketch:
    sketch = failover()
    sketch.deliver(155, 17_055, connection=2)
    return sketch


@case(passes=f"{UNACKED} {ACKED} {ONE_COPY}", duplicated__redelivery=1)
def an_unacknowledged_message_comes_again_after_the_takeover() -> Sketch:
    sketch = failover()
    sketch.forget_to_acknowledge(148)
    sketch.deliver(148, 16_000, again=True, connection=2)
    return sketch


@case(passes=f"{UNACKED} {ACKED} {ONE_COPY}", duplicated__redelivery=1)
def an_unacknowledged_message_comes_again_without_the_flag() -> Sketch:
    """The flag is a hint."""
    sketch = failover()
    sketch.forget_to_acknowledge(148)
    sketch.deliver(148, 16_000, connection=2)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def what_was_acknowledged_long_ago_comes_again_after_the_takeover() -> Sketch:
    sketch = failover()
    sketch.deliver(100, 16_000, again=True, connection=2)
    return sketch


@case(passes=ACKED, duplicated__ambiguous=1, acknowledged_late=1)
def what_was_acknowledged_just_before_the_fault_comes_again() -> Sketch:
    """The acknowledgement was on its way: the broker need not have it."""
    sketch = failover()
    sketch.deliver(148, 16_000, again=True, connection=2)
    return sketch


@case(HELD, duplicated__redelivered_without_cause=1)
def what_a_consumer_holds_comes_to_it_again() -> Sketch:
    sketch = calm()
    sketch.forget_to_acknowledge(150)
    sketch.deliver(150, 16_000, again=True)
    return sketch


def without_flags(sketch: Sketch) -> Sketch:
    """The client does not report whether a delivery is flagged."""
    for one in sketch.came:
        one.named["redelivered"] = Redelivered.NOT_REPORTED
    return sketch


@case(passes=HELD)
def flags_are_not_reported_and_nothing_comes_again() -> Sketch:
    return without_flags(calm())


@case(unknown=HELD, duplicated__ambiguous=1)
def what_a_consumer_holds_comes_to_it_again_perhaps_flagged() -> Sketch:
    return without_flags(what_a_consumer_holds_comes_to_it_again())


@case(passes=f"{HELD} {UNACKED}", duplicated__redelivery=1)
def what_a_consumer_held_comes_to_another_one() -> Sketch:
    sketch = relinked(calm())
    sketch.forget_to_acknowledge(151)
    sketch.history.worker(OTHER, "consumer").client_event("consuming", at_ms=2, worker=OTHER)
    sketch.deliver(151, 15_300, again=True, consumer=OTHER)
    return sketch


@case(unknown=FIFO, reorder_unknown=1)
def a_redelivery_to_a_connection_without_a_reader_comes_behind() -> Sketch:
    """Message 150 is new to every reader and yet flagged."""
    sketch = relinked(calm(), 15_040, 15_300)
    sketch.first(150).named |= {"redelivered": Redelivered.YES}
    sketch.first(150).move(15_480)
    return sketch


@case(passes=f"{FIFO} {AFTER} {CONSUMED_AFTER}")
def everything_after_the_takeover_is_flagged_and_in_order() -> Sketch:
    """A mirror flags what it held."""
    sketch = failover()
    for one in sketch.since(15_000, 20_000):
        one.named["redelivered"] = Redelivered.YES
    return sketch


@case(FIFO, reordered=1)
def two_flagged_messages_of_a_mirror_are_swapped() -> Sketch:
    sketch = failover()
    for one in sketch.since(17_000, 20_000):
        one.named["redelivered"] = Redelivered.YES
    sketch.first(180).move(18_165)
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY}")
def a_consumer_that_the_fault_took_holds_nothing() -> Sketch:
    sketch = calm(60_000)
    sketch.fault(15_000, 25_000, kind="client_kill", role="none")
    sketch.history.away(CONSUMER, 15_000, 25_030)
    sketch.history.client_event("consuming", at_ms=25_040, connection=2)
    for one in sketch.since(15_000):
        one.named["connection"] = 2
        one.move(max(one.at_ms, 25_050 + one.sequence / 1_000))
    return sketch
