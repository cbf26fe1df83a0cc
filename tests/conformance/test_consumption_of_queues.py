"""Consumption of queues: each broken history beside a healthy one that nearly looks like it. What
must be said follows from docs/verdicts.md 7.5, by the argument of each story."""

import pytest

from spark_analysis.schema.words import Via
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    FIFO,
    TAKEN_OVER,
    WORKS_ON,
)
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    failover,
    handed_over,
)

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_of_consumption_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- the steady state ----------------------------------------------------------------------------


def held_up(until_ms: float) -> Sketch:
    sketch = calm()
    sketch.hold(15_000, until_ms)
    return sketch


@case(CONSUMED)
def nothing_is_given_for_eight_seconds() -> Sketch:
    return held_up(23_000)


@case(passes=CONSUMED)
def nothing_is_given_for_4900_ms() -> Sketch:
    return held_up(19_900)


@case(unknown=CONSUMED)
def nothing_is_given_while_the_consumer_stalls() -> Sketch:
    sketch = held_up(23_000)
    sketch.history.stall(CONSUMER, at_ms=23_000, late_ms=7_990)
    return sketch


def full(most: int) -> Sketch:
    """From 15 s on the consumer acknowledges nothing for nine seconds. It gets ten messages in the
    first of them, and held `most` at once before."""
    sketch = calm()
    sketch.hold(16_000, 24_000)
    for one in sketch.since(15_000, 16_000):
        one.acked_ms = 24_000
    for one in sketch.since(10_000, 9_900 + most * 100):
        one.acked_ms = 12_500
    for place, one in enumerate(sketch.since(24_000, 24_020)):
        one.move(24_001 + place * 0.6)
    return sketch


@case(unknown=CONSUMED)
def nothing_is_given_to_a_consumer_that_holds_all_it_takes() -> Sketch:
    """It had ten messages, never more: its prefetch count."""
    return full(10)


@case(CONSUMED)
def nothing_is_given_to_a_consumer_that_took_more_before() -> Sketch:
    return full(11)


@case(unknown=CONSUMED)
def consumers_come_eight_seconds_after_the_load_began() -> Sketch:
    sketch = calm()
    sketch.history.rows["client_events"] = []
    sketch.history.client_event("consuming", at_ms=8_000)
    sketch.hold(0, 8_000)
    return sketch


@case(unknown=CONSUMED)
def the_next_consumer_begins_eight_seconds_after_the_first_closed() -> Sketch:
    """No consumer was there to receive anything."""
    return handed_over(calm(), back_ms=23_000)


@case(CONSUMED)
def the_next_consumer_gets_nothing_for_six_seconds_more() -> Sketch:
    sketch = handed_over(calm(), back_ms=23_000)
    sketch.hold(23_000, 29_045)
    return sketch


@case(CONSUMED)
def the_broker_dropped_its_consumer_for_eight_seconds() -> Sketch:
    """A lost connection is not the consumer's own doing."""
    return handed_over(calm(), back_ms=23_000, how="lost")


@case(CONSUMED)
def one_of_two_consumers_closed_and_the_other_gets_nothing() -> Sketch:
    sketch = calm()
    events = sketch.history.worker(OTHER, "consumer")
    events.client_event("consuming", at_ms=1, worker=OTHER)
    events.client_event("closed", at_ms=15_000, worker=OTHER)
    for one in sketch.since(0, 15_000):
        one.named["consumer"] = OTHER if one.sequence % 2 else CONSUMER
    sketch.hold(15_000, 23_000)
    return sketch


def two_queues() -> Sketch:
    """The only consumer receives from one of them; the drain empties the other."""
    sketch = calm()
    sketch.history.queue("payments").worker(4, "publisher")
    sketch.flow(60, 30_000, producer=4, queue="payments")
    for one in sketch.came:
        if "producer" in one.named:
            one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
            one.move(50_000 + one.sequence)
    return sketch


@case(unknown=CONSUMED)
def no_consumer_reads_one_of_two_queues() -> Sketch:
    return two_queues()


@case(CONSUMED)
def a_consumer_of_one_of_two_queues_gets_nothing() -> Sketch:
    sketch = two_queues()
    sketch.history.client_event("consuming", at_ms=2, queue="payments")
    return sketch


def passed_over(until_ms: float) -> Sketch:
    sketch = calm()
    sketch.first(150).move(until_ms)
    return sketch


@case(f"{CONSUMED} {FIFO}")
def one_message_is_passed_over_for_seven_seconds() -> Sketch:
    return passed_over(22_000)


@case(FIFO, passes=CONSUMED)
def one_message_is_passed_over_for_4900_ms() -> Sketch:
    return passed_over(19_955)


@case(not_applicable=f"{CONSUMED} {FIFO}")
def one_message_is_passed_over_for_others_of_higher_priority() -> Sketch:
    sketch = passed_over(22_000)
    sketch.declared["priorities"] = 5
    sketch.history.queue(ordered=False)
    return sketch


# --- under a fault, and after it -----------------------------------------------------------------


def left_to_the_drain(from_ms: float) -> Sketch:
    sketch = failover()
    for one in sketch.since(from_ms):
        one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        one.move(70_000 + one.sequence / 1_000)
    return sketch


@case(CONSUMED_AFTER, passes=f"{TAKEN_OVER} {AFTER}")
def consumers_get_nothing_after_the_fault() -> Sketch:
    return left_to_the_drain(36_000)


@case(unknown=CONSUMED_AFTER, passes=f"{TAKEN_OVER} {AFTER}")
def consumers_closed_after_the_fault() -> Sketch:
    sketch = left_to_the_drain(40_000)
    sketch.history.client_event("closed", at_ms=40_000, connection=2)
    return sketch


@case(WORKS_ON, passes=f"{TAKEN_OVER} {CONSUMED_AFTER}")
def consumers_get_nothing_under_the_fault() -> Sketch:
    sketch = failover()
    sketch.hold(15_000, 35_500)
    return sketch


def passed_on(at_ms: float, back_ms: float) -> Sketch:
    """The first consumer closes then and never returns; another one begins at `back_ms`."""
    sketch = failover()
    sketch.history.rows["client_events"] = []
    sketch.history.client_event("consuming", at_ms=1)
    for one in sketch.came:
        one.named["connection"] = 1
    return handed_over(sketch, at_ms, back_ms)


@case(passes=f"{TAKEN_OVER} {WORKS_ON}")
def another_consumer_had_taken_over_before_the_kill() -> Sketch:
    """Nothing is expected of the one that had closed."""
    return passed_on(10_000, 10_100)


@case(unknown=WORKS_ON, passes=f"{TAKEN_OVER} {CONSUMED_AFTER}")
def no_consumer_was_there_under_the_fault() -> Sketch:
    return passed_on(14_965, 35_500)


@case(WORKS_ON, passes=TAKEN_OVER)
def one_consumer_had_closed_and_another_gets_nothing_under_the_fault() -> Sketch:
    sketch = passed_on(10_000, 10_100)
    sketch.hold(15_000, 35_500)
    return sketch


# --- times that are too short to show anything ---------------------------------------------------


def nothing_given_until_the_undo(undo_ms: float) -> Sketch:
    """A mirror serves from 20.05 s on: confirms come again from 20.055 s on. Clients may need a
    deadline of 1 s, 2 s to reconnect, and 5 s, until 28.055 s."""
    sketch = calm(60_000)
    sketch.silence(15_000, 20_000)
    sketch.fault(15_000, undo_ms)
    sketch.hold(15_000, 28_200)
    return sketch


@case(unknown=WORKS_ON)
def nothing_is_given_until_a_moment_before_consumers_must_be_back() -> Sketch:
    return nothing_given_until_the_undo(28_054)


@case(WORKS_ON)
def nothing_is_given_until_a_moment_after_consumers_must_be_back() -> Sketch:
    return nothing_given_until_the_undo(28_056)


@case(unknown=WORKS_ON)
def another_queue_is_served_before_and_consumers_of_this_one_may_need_longer() -> Sketch:
    sketch = nothing_given_until_the_undo(28_040)
    sketch.history.worker(71, "publisher").worker(72, "consumer").queue("audits")
    sketch.history.client_event("consuming", at_ms=2, worker=72)
    sketch.flow(80, 60_000, producer=71, queue="audits", consumer=72)
    return sketch


@case(unknown=WORKS_ON)
def nothing_is_given_until_consumers_must_perhaps_be_back_by_a_publishers_clock() -> Sketch:
    """The first confirm may have come 50 ms later than its publisher's clock says."""
    sketch = nothing_given_until_the_undo(28_100)
    sketch.history.clock(PUBLISHER, 50)
    return sketch


@case(WORKS_ON)
def nothing_is_given_until_consumers_must_be_back_by_any_publishers_clock() -> Sketch:
    sketch = nothing_given_until_the_undo(28_106)
    sketch.history.clock(PUBLISHER, 50)
    return sketch


def healthy_after(until_ms: float) -> Sketch:
    """The fault is gone at 35.05 s, and clients had a deadline and 2 s to reconnect. The load ends
    soon after 38.05 s."""
    sketch = calm(until_ms)
    sketch.fault()
    return sketch


@case(unknown=CONSUMED_AFTER)
def all_is_given_in_the_five_seconds_that_can_be_judged() -> Sketch:
    """No wait of more than 5 s could show in that time."""
    return healthy_after(43_050)


@case(passes=CONSUMED_AFTER)
def all_is_given_in_a_moment_more_than_five_seconds() -> Sketch:
    return healthy_after(43_051)
