"""Service of queues: each broken history beside a healthy one that nearly looks like it. What must
be said follows from docs/verdicts.md, by the argument of each story."""

import pytest

from spark_analysis.schema.facts import ProcessEnd
from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, ns
from tests.rigs.histories.claim_names import (
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    DELIVERED,
    FIFO,
    SERVED,
    STEADY,
    TAKEN_OVER,
    WORKS_ON,
)
from tests.rigs.histories.sketches import (
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    failover,
)

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


@case(SERVED)
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


@case(SERVED)
def served_for_less_than_ten_seconds_before_the_undo() -> Sketch:
    return out_again(25_050, 35_100, 37_900)


@case(SERVED)
def taken_over_and_out_again_before_the_undo() -> Sketch:
    return out_again(17_050, 32_000, 37_900)


@case(AFTER, passes=TAKEN_OVER)
def taken_over_and_out_ten_seconds_after_the_undo() -> Sketch:
    return out_again(17_050, 45_000, 52_000)


@case(f"{SERVED} {AFTER}")
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
