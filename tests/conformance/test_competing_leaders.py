"""Two leaders of one queue: copies that both give out, what both confirm, stale reads after a
partition, and clients on either side. What must be said follows from docs/verdicts.md 4.1, 5.2, 6
and 7.3, by the argument of each story."""

import pytest

from spark_analysis.schema.words import Outcome, Redelivered, Strength
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    DELIVERED,
    ELECTION,
    FIFO,
    HELD,
    ONE_COPY,
    REFUSED,
    STEADY,
    TAKEN_OVER,
    UNACKED,
    WORKS_ON,
)
from tests.rigs.histories.several_faults import fault, load, operated
from tests.rigs.histories.sketches import OTHER, Sketch, SketchCase, SketchCases
from tests.rigs.histories.ways import Via

ON_ALL = "confirmed-is-on-all-mirrors"
SECOND = 4  # a publisher
NS = 0.000_001  # ms
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_competing_leaders_are_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def split(
    from_ms: float = 15_500,
    until_ms: float = 34_500,
    *,
    queue: str = "orders",
    verified: bool = True,
) -> Sketch:
    """A partition from 15 s to 35 s. Two leaders live for a part of it."""
    sketch = fault(load(100), 15, 35, "partition", verified=verified)
    sketch.history.competing_leaders(from_ms, until_ms, queue=queue)
    return sketch


def other_side(sketch: Sketch) -> Sketch:
    """A second consumer reads on the other side."""
    sketch.history.worker(OTHER, "consumer").client_event("consuming", at_ms=1, worker=OTHER)
    return sketch


# --- copies --------------------------------------------------------------------------------------


@case(passes=f"{ONE_COPY} {DELIVERED} {FIFO} {AFTER} {TAKEN_OVER}", not_applicable=ELECTION)
def two_leaders_and_each_message_comes_once() -> Sketch:
    return split()


@case(ONE_COPY, duplicated__diverged=1)
def a_copy_in_the_instant_in_which_the_second_leader_was_elected() -> Sketch:
    sketch = split(21_500)
    sketch.deliver(200, 21_500)
    return sketch


@case(unknown=ONE_COPY, duplicated__ambiguous=1)
def a_copy_one_nanosecond_before_the_second_leader_was_elected() -> Sketch:
    sketch = split(21_500)
    sketch.deliver(200, 21_500 - NS)
    return sketch


@case(ONE_COPY, duplicated__diverged=1)
def a_copy_in_the_instant_in_which_the_second_leader_stepped_down() -> Sketch:
    sketch = split(until_ms=21_500)
    sketch.deliver(200, 21_500)
    return sketch


@case(unknown=ONE_COPY, duplicated__ambiguous=1)
def a_copy_one_nanosecond_after_the_second_leader_stepped_down() -> Sketch:
    """A new leader does not flag what only the old one had given out."""
    sketch = split(until_ms=21_500)
    sketch.deliver(200, 21_500 + NS)
    return sketch


@case(unknown=ONE_COPY, duplicated__ambiguous=1)
def a_copy_while_another_queue_had_two_leaders() -> Sketch:
    sketch = split(queue="payments")
    sketch.deliver(200, 21_500)
    return sketch


@case(ONE_COPY, duplicated__diverged=1)
def a_copy_on_the_other_side() -> Sketch:
    sketch = other_side(split())
    sketch.deliver(200, 21_500, consumer=OTHER)
    return sketch


@case(ONE_COPY, duplicated__diverged=20)
def each_message_of_two_seconds_comes_on_both_sides() -> Sketch:
    sketch = other_side(split())
    for sequence in range(200, 220):
        sketch.deliver(sequence, 22_500 + sequence, consumer=OTHER)
    return sketch


@case(ONE_COPY, duplicated__diverged=1)
def a_copy_under_two_leaders_without_any_fault() -> Sketch:
    sketch = load(40)
    sketch.history.competing_leaders(15_000, 20_000)
    sketch.deliver(150, 16_000)
    return sketch


@case(ONE_COPY, unknown=f"{AFTER} {DELIVERED}", duplicated__diverged=1)
def a_copy_under_two_leaders_and_the_partition_was_not_verified() -> Sketch:
    """The copy is on record, whatever split the cluster."""
    sketch = split(verified=False)
    sketch.deliver(200, 21_500)
    return sketch


@case(unknown=ONE_COPY, duplicated__diverged=0)
def a_copy_under_two_leaders_by_a_clock_that_may_be_off() -> Sketch:
    sketch = split(21_000, 22_000)
    sketch.history.clock(CONSUMER, 600)
    sketch.deliver(200, 21_500)
    return sketch


@case(ONE_COPY, duplicated__diverged=1)
def a_copy_under_two_leaders_by_any_clock_within_its_bound() -> Sketch:
    sketch = split(20_000, 23_000)
    sketch.history.clock(CONSUMER, 600)
    sketch.deliver(200, 21_500)
    return sketch


@case(ONE_COPY, duplicated__diverged=1)
def deleted_by_the_one_leader_and_given_out_by_the_other() -> Sketch:
    sketch = split()
    for one in sketch.came:
        one.acked_ms = None
    sketch.declared |= {"acknowledges": False, "no_ack": True}
    sketch.deliver(200, 21_500, acked=False)
    return sketch


# --- stale reads ---------------------------------------------------------------------------------


@case(ONE_COPY, duplicated__diverged=1, duplicated__redelivery_after_ack=0)
def acknowledged_before_the_partition_and_given_out_by_the_stale_leader() -> Sketch:
    sketch = split()
    sketch.deliver(100, 20_000, again=True)
    return sketch


@case(ACKED, passes=ONE_COPY, duplicated__redelivery_after_ack=1)
def acknowledged_before_the_partition_and_again_under_one_leader() -> Sketch:
    sketch = split(until_ms=18_000)
    sketch.deliver(100, 20_000, again=True)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_under_two_leaders_and_again_long_after_the_partition() -> Sketch:
    """It was acknowledged ten seconds after both were there, and again 30 s later; the partition
    was over before it was acknowledged on."""
    sketch = split()
    sketch.deliver(400, 70_000, again=True)
    return sketch


@case(unknown=ACKED, duplicated__ambiguous=1)
def acknowledged_under_two_leaders_and_again_after_the_partition() -> Sketch:
    """The side that got the acknowledgement lost."""
    sketch = split()
    sketch.deliver(250, 45_000, again=True)
    return sketch


@case(passes=f"{ACKED} {ONE_COPY} {HELD}", duplicated__redelivery=1)
def held_when_the_partition_began_and_again_from_the_other_side() -> Sketch:
    sketch = other_side(split())
    sketch.forget_to_acknowledge(149)
    sketch.deliver(149, 20_000, again=True, consumer=OTHER)
    return sketch


@case(unknown=f"{ACKED} {ONE_COPY}", duplicated__ambiguous=1)
def held_and_from_the_other_side_perhaps_flagged() -> Sketch:
    """The client does not report flags, so it may be a redelivery."""
    sketch = held_when_the_partition_began_and_again_from_the_other_side()
    for one in sketch.came:
        one.named["redelivered"] = Redelivered.NOT_REPORTED
    return sketch


@case(passes=ACKED, duplicated__ambiguous=1, acknowledged_late=1)
def acknowledged_half_a_second_before_the_partition_and_again() -> Sketch:
    sketch = split()
    sketch.deliver(145, 20_000, again=True)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def a_second_copy_long_after_two_leaders() -> Sketch:
    sketch = split()
    sketch.deliver(600, 70_000)
    return sketch


# --- what both sides confirm ---------------------------------------------------------------------


@case(f"{DELIVERED} {ON_ALL} {WORKS_ON}", not_applicable=ELECTION, lost=5)
def confirmed_by_the_side_that_loses_and_discarded() -> Sketch:
    sketch = split()
    sketch.lose(*range(200, 205))
    return sketch


@case(f"{DELIVERED} {ON_ALL} {WORKS_ON}", lost__slave_not_available=5)
def confirmed_without_a_slave_by_the_side_that_loses() -> Sketch:
    sketch = split()
    sketch.lose(*range(200, 205))
    for sequence in range(200, 205):
        sketch.sent[PUBLISHER, sequence, 1].level = Strength.SLAVE_NOT_AVAILABLE
    return sketch


@case(passes=f"{DELIVERED} {WORKS_ON}", lost_indeterminate=5)
def unanswered_on_the_side_that_loses_and_discarded() -> Sketch:
    sketch = split()
    sketch.lose(*range(200, 205))
    for sequence in range(200, 205):
        sketch.answer(
            sequence, Outcome.UNKNOWN, settled_ms=sketch.sent[1, sequence, 1].at_ms + 900
        )
    return sketch


def confirmed_by_both() -> Sketch:
    """Each side has one attempt of message 200, and confirmed it."""
    sketch = split()
    sketch.send(200, 20_300, attempt=2)
    return sketch


@case("confirmed-copy-is-kept", passes=DELIVERED, attempt_lost=1)
def both_sides_confirmed_an_attempt_and_one_survives() -> Sketch:
    return confirmed_by_both()


@case(f"{DELIVERED} {ON_ALL} {WORKS_ON}", lost=1)
def both_sides_confirmed_an_attempt_and_none_survives() -> Sketch:
    sketch = confirmed_by_both()
    sketch.lose(200)
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY}", duplicated__publisher_retry=1)
def both_sides_confirmed_an_attempt_and_both_come() -> Sketch:
    sketch = confirmed_by_both()
    sketch.deliver(200, 20_310, attempt=2)
    return sketch


@case(REFUSED, refused_but_delivered=1)
def returned_by_one_side_and_delivered_by_the_other() -> Sketch:
    sketch = split()
    sketch.answer(200, Outcome.RETURNED)
    return sketch


@case(f"{DELIVERED} {ON_ALL} {WORKS_ON}", stranded=1)
def the_audit_finds_it_on_the_side_that_lost() -> Sketch:
    sketch = split()
    sketch.lose(200)
    sketch.deliver(200, 120_000, via=Via.AUDIT)
    return sketch


@case(DELIVERED, unknown=f"{ON_ALL} {WORKS_ON}", lost=1)
def lost_under_two_leaders_while_an_operator_restarts_a_node() -> Sketch:
    sketch = operated(split(), 19, 25)
    sketch.lose(200)
    return sketch


@case(DELIVERED, passes=WORKS_ON, lost=1)
def lost_long_after_the_partition() -> Sketch:
    sketch = split()
    sketch.lose(600)
    return sketch


@case(UNACKED, not_redelivered=1)
def held_by_the_stale_leaders_client_and_never_again() -> Sketch:
    sketch = split()
    sketch.history.client_event("lost", at_ms=35_100)
    sketch.history.client_event("consuming", at_ms=35_200, connection=2)
    for one in sketch.since(35_100):
        one.named["connection"] = 2
        one.move(max(one.at_ms, 35_201 + one.sequence / 1_000))
    sketch.forget_to_acknowledge(250)
    return sketch


# --- order, and clients on either side -----------------------------------------------------------


@case(FIFO, reordered=1)
def one_is_late_under_two_leaders() -> Sketch:
    sketch = split()
    sketch.first(200).move(20_460)
    return sketch


@case(FIFO, reordered=1)
def one_comes_late_on_the_other_side() -> Sketch:
    """Its consumer had got nothing before; one consumer at a time is active."""
    sketch = other_side(split())
    sketch.first(200).named["consumer"] = OTHER
    sketch.first(200).move(20_460)
    return sketch


def beside(sketch: Sketch, from_s: float, end_s: float, until_s: float = 100) -> Sketch:
    """A second publisher, on the other side; nothing of that time is confirmed."""
    sketch.history.worker(SECOND, "publisher")
    for number in range(round(until_s * 10)):
        at_ms = 60 + number * 100.0
        if from_s * 1_000 <= at_ms < end_s * 1_000:
            sketch.send(number, at_ms, Outcome.UNKNOWN, settled_ms=at_ms + 1_000, producer=SECOND)
        else:
            sketch.send(number, at_ms, producer=SECOND)
            sketch.deliver(number, at_ms + 10, producer=SECOND)
    return sketch


@case(f"{TAKEN_OVER} {WORKS_ON}", passes=AFTER)
def the_publisher_of_the_minority_is_out_until_the_undo() -> Sketch:
    return beside(split(), 15, 36)


@case(passes=f"{TAKEN_OVER} {WORKS_ON} {AFTER}")
def the_publisher_of_the_minority_is_served_by_another_node_after_three_seconds() -> Sketch:
    return beside(split(), 15, 18)


@case(f"{TAKEN_OVER} {WORKS_ON}", passes=f"{AFTER} {DELIVERED}")
def neither_side_serves_until_the_undo() -> Sketch:
    sketch = split()
    sketch.silence(15_000, 36_000)
    return sketch


@case(AFTER, passes=TAKEN_OVER)
def neither_side_serves_once_the_partition_is_gone() -> Sketch:
    sketch = split()
    sketch.silence(39_000, 60_000)
    return sketch


@case(unknown=STEADY)
def two_leaders_and_an_outage_before_the_partition() -> Sketch:
    """Only a run without faults shows its cause."""
    sketch = fault(load(100, (12, 14)), 25, 45, "partition")
    sketch.history.competing_leaders(12_000, 14_000)
    return sketch


@case(STEADY, passes=ONE_COPY)
def two_leaders_and_an_outage_without_any_fault() -> Sketch:
    sketch = load(60, (15, 21))
    sketch.history.competing_leaders(15_000, 21_000)
    return sketch
