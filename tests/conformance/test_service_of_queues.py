"""Service and consumption of queues: each broken history beside a healthy one that nearly looks
like it. What must be said follows from docs/verdicts.md, by the argument of each story."""

import pytest

from spark_analysis.schema.facts import ProcessEnd
from spark_analysis.schema.words import Outcome, Via
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, ns
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    failover,
    handed_over,
)

STEADY, CONSUMED = "available-in-steady-state", "consumed-in-steady-state"
AFTER, CONSUMED_AFTER = "available-after-fault", "consumed-after-fault"
TAKEN_OVER, WORKS_ON = "mirror-takes-over", "mirrored-queue-works-on"
UNAVAILABLE = f"{TAKEN_OVER} {WORKS_ON} host-list-fails-over"
FIFO, DELIVERED = "queue-is-first-in-first-out", "confirmed-is-delivered"
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_of_service_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- the steady state ----------------------------------------------------------------------------


def out(from_ms: float, until_ms: float) -> Sketch:
    sketch = calm(40_000)
    sketch.silence(from_ms, until_ms)
    return sketch


@case(STEADY)
def out_for_six_seconds() -> Sketch:
    return out(15_000, 21_000)


@case(passes=STEADY)
def out_for_six_of_the_first_ten_seconds() -> Sketch:
    return out(3_000, 9_000)


@case(STEADY)
def out_from_the_first_ten_seconds_on() -> Sketch:
    return out(8_000, 16_000)


@case(unknown=STEADY)
def returned_for_six_seconds() -> Sketch:
    """The queue may never have been bound."""
    sketch = out(15_000, 21_000)
    for one in sketch.attempts(15_000, 21_000):
        one.outcomes = (Outcome.RETURNED,)
    return sketch


@case(unknown=STEADY)
def the_publisher_left_without_its_last_confirms() -> Sketch:
    """No record shows that it was there until the deadlines of its last five publishes."""
    sketch = calm()
    for sequence in range(295, 300):
        sketch.sent[PUBLISHER, sequence, 1].settled_ms = None
    return sketch


@case(STEADY)
def the_publisher_waited_for_its_last_confirms() -> Sketch:
    sketch = the_publisher_left_without_its_last_confirms()
    sketch.history.client_event("closed", at_ms=31_000, worker=PUBLISHER)
    return sketch


@case(unknown=STEADY)
def out_while_the_publisher_stalled() -> Sketch:
    sketch = out(15_000, 21_000)
    sketch.history.stall(PUBLISHER, at_ms=21_000, late_ms=6_000)
    return sketch


def out_after_a_process_ended(cause: str) -> Sketch:
    sketch = out(15_000, 21_000)
    end = ProcessEnd("rmq1", ns(14_900), cause, "status 1", ns(20_000))
    sketch.facts["process_ends"] = (end,)
    return sketch


@case(STEADY)
def out_after_a_process_ended_by_itself() -> Sketch:
    return out_after_a_process_ended("itself")


@case(unknown=STEADY)
def out_after_a_process_was_killed_from_outside() -> Sketch:
    return out_after_a_process_ended("outside")


# --- the take-over -------------------------------------------------------------------------------


@case(passes=f"{TAKEN_OVER} {AFTER} {CONSUMED_AFTER}")
def unanswered_from_900_ms_before_the_kill_on() -> Sketch:
    """The kill may have kept these from their confirms."""
    sketch = failover()
    sketch.silence(14_100, 15_000)
    return sketch


@case(unknown=TAKEN_OVER)
def out_from_three_seconds_before_the_kill_on() -> Sketch:
    sketch = failover()
    sketch.silence(12_000, 15_000)
    return sketch


@case(UNAVAILABLE)
def out_until_the_undo() -> Sketch:
    return failover(back_ms=36_050)


def out_again(back_ms: float, from_ms: float, until_ms: float) -> Sketch:
    """At ten messages a second a good stretch takes 20 s. Less lies between both outages."""
    sketch = failover(back_ms)
    sketch.silence(from_ms, until_ms)
    return sketch


@case(unknown=f"{TAKEN_OVER} {WORKS_ON}", passes=AFTER)
def taken_over_and_out_again_while_clients_may_reconnect() -> Sketch:
    """For 18 s before the undo all was served: the undo ended no outage under the fault."""
    return out_again(17_050, 35_100, 37_900)


@case(AFTER, unknown=TAKEN_OVER)
def taken_over_and_dead_from_the_undo_on() -> Sketch:
    return out_again(17_050, 35_100, 60_000)


@case(UNAVAILABLE)
def served_for_less_than_ten_seconds_before_the_undo() -> Sketch:
    return out_again(25_050, 35_100, 37_900)


@case(UNAVAILABLE)
def taken_over_and_out_again_before_the_undo() -> Sketch:
    return out_again(17_050, 32_000, 37_900)


@case(AFTER, passes=TAKEN_OVER)
def taken_over_and_out_ten_seconds_after_the_undo() -> Sketch:
    return out_again(17_050, 45_000, 52_000)


@case(f"{UNAVAILABLE} {AFTER}")
def one_of_two_publishers_is_out_for_good() -> Sketch:
    sketch = failover()
    sketch.history.worker(4, "publisher")
    sketch.flow(60, 15_000, producer=4)
    for sequence in range(150, 600):
        at_ms = sequence * 100 + 60
        sketch.send(sequence, at_ms, Outcome.UNKNOWN, settled_ms=at_ms + 1_000, producer=4)
    return sketch


@case()
def publishes_of_a_frozen_publisher_are_excused() -> Sketch:
    sketch = calm(60_000)
    sketch.fault(15_000, 25_000, kind="client_freeze", role="none")
    sketch.history.away(PUBLISHER, 15_000, 25_030)
    for key, one in [*sketch.sent.items()]:
        if 15_000 <= one.at_ms < 25_030:
            del sketch.sent[key]
            sketch.lose(key[1])
            sketch.history.not_sent(key[1], intended_ms=one.at_ms)
    return sketch


# --- consumption ---------------------------------------------------------------------------------


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


# --- overlapping faults, unverified ones, and clocks ---------------------------------------------


@case(DELIVERED, not_applicable=f"{TAKEN_OVER} confirmed-is-on-all-mirrors", lost=1)
def lost_under_two_overlapping_faults() -> Sketch:
    sketch = failover(until_ms=90_000)
    sketch.fault(20_000, 40_000)
    sketch.lose(149)
    return sketch


@case(DELIVERED, unknown=f"{TAKEN_OVER} {AFTER} one-copy", lost=1)
def lost_and_the_fault_was_not_verified_ended() -> Sketch:
    sketch = calm(60_000)
    sketch.fault(gone=False)
    sketch.lose(148)
    return sketch


@case(unknown=f"{DELIVERED} {STEADY} {CONSUMED} {FIFO}")
def delivered_50_ms_before_it_was_sent() -> Sketch:
    sketch = calm()
    sketch.first(100).move(10_000)
    return sketch


@case(passes=f"{DELIVERED} {STEADY} {FIFO}")
def all_delivered_50_ms_early_by_a_clock_that_is_off() -> Sketch:
    sketch = calm()
    sketch.history.clock(CONSUMER, 100)
    for one in sketch.came:
        one.move(one.at_ms - 60)
    return sketch
