"""Faults in combination: overlapping ones, ones that follow each other at once, ones that were not
verified, and faults of clients beside others. What must be said follows from docs/verdicts.md, by
the argument of each story."""

import pytest

from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, ns
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    ANY_NODE,
    CONSUMED_AFTER,
    DELIVERED,
    ELECTED,
    ELECTION,
    FIFO,
    KEEPS,
    OF_MIRRORS,
    OF_ONE_NODE,
    ONE_COPY,
    REQUEUED,
    SERVED,
    STEADY,
    TAKEN_OVER,
    UNACKED,
    WORKS_ON,
)
from tests.rigs.histories.several_faults import fault, frozen, load, never_begun, process_end
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases, judged

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_faults_in_combination_are_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- overlapping faults --------------------------------------------------------------------------


@case(passes=f"{AFTER} {CONSUMED_AFTER} {DELIVERED}", not_applicable=OF_ONE_NODE)
def overlapping_kills_and_all_served() -> Sketch:
    return fault(fault(load(100), 15, 35), 25, 45)


@case(AFTER, not_applicable=OF_ONE_NODE)
def overlapping_kills_and_out_for_good() -> Sketch:
    return fault(fault(load(100, (25, 100)), 15, 35), 25, 45)


@case(passes=AFTER, not_applicable=OF_ONE_NODE)
def overlapping_kills_and_out_until_the_second_undo() -> Sketch:
    return fault(fault(load(100, (25, 46)), 15, 35), 25, 45)


@case(passes=AFTER, not_applicable=OF_ONE_NODE)
def out_from_the_first_undo_to_the_second() -> Sketch:
    return fault(fault(load(100, (36, 46)), 15, 35), 25, 45)


@case(AFTER, not_applicable=OF_ONE_NODE)
def out_well_after_both_undos() -> Sketch:
    return fault(fault(load(110, (60, 70)), 15, 35), 25, 45)


@case(DELIVERED, not_applicable=OF_ONE_NODE, lost=1)
def lost_under_nested_kills() -> Sketch:
    sketch = fault(fault(load(100), 15, 60), 25, 40)
    sketch.lose(249)
    return sketch


@case(passes=AFTER, not_applicable=OF_ONE_NODE)
def nested_kills_and_out_until_the_outer_undo() -> Sketch:
    return fault(fault(load(110, (25, 61)), 15, 60), 25, 40)


@case(AFTER, not_applicable=OF_ONE_NODE)
def nested_kills_and_out_for_good_from_the_inner_undo_on() -> Sketch:
    return fault(fault(load(110, (40, 110)), 15, 60), 25, 40)


@case(passes=AFTER, unknown=OF_ONE_NODE)
def two_kills_at_once() -> Sketch:
    return fault(fault(load(100, (15, 17)), 15, 35), 15, 35)


@case(passes=AFTER, not_applicable=OF_ONE_NODE)
def a_partition_and_a_freeze_overlap() -> Sketch:
    sketch = fault(load(100, (15, 46)), 15, 35, "partition")
    return fault(sketch, 25, 45, "freeze")


@case(passes=f"{AFTER} {CONSUMED_AFTER}", not_applicable=OF_ONE_NODE)
def nothing_is_delivered_until_both_are_gone() -> Sketch:
    sketch = fault(fault(load(100), 15, 35), 25, 45, "freeze", role="mirror")
    sketch.hold(16_000, 46_000)
    return sketch


@case(f"{CONSUMED_AFTER} {FIFO}", passes=AFTER, not_applicable=OF_ONE_NODE)
def messages_are_withheld_after_both_are_gone() -> Sketch:
    sketch = fault(fault(load(100), 15, 35), 25, 45)
    for one in sketch.since(55_000, 56_000):
        one.move(one.at_ms + 8_000)
    return sketch


# --- overlapping faults, and one by itself -------------------------------------------------------


def a_pair_and_a_kill_by_itself() -> Sketch:
    """Faults 1 and 2 overlap. Fault 3 comes 35 s after both; a mirror takes over in 2 s."""
    sketch = fault(fault(load(150, (80, 82)), 15, 35), 25, 45)
    return fault(sketch, 80, 105)


@case(DELIVERED, passes=f"{OF_ONE_NODE} {AFTER}", lost=1)
def lost_under_the_pair() -> Sketch:
    """Two failed nodes say nothing of sentences about one; the third fault bears them out."""
    sketch = a_pair_and_a_kill_by_itself()
    sketch.lose(249)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", passes=f"{TAKEN_OVER} {AFTER}", lost=1)
def lost_under_the_kill_by_itself() -> Sketch:
    sketch = a_pair_and_a_kill_by_itself()
    sketch.lose(799)
    return sketch


@case(UNACKED, unknown=REQUEUED, not_redelivered=1)
def forgotten_under_the_pair_and_requeued_after_the_kill_by_itself() -> Sketch:
    """It could have come again at any later time: any of the three may have kept it away."""
    sketch = a_pair_and_a_kill_by_itself()
    events = sketch.history
    for at_s, connection in ((25, 1), (80, 2)):
        events.client_event("lost", at_ms=at_s * 1_000 + 100, connection=connection)
        events.client_event("consuming", at_ms=at_s * 1_000 + 500, connection=connection + 1)
    for one in sketch.came:
        one.named["connection"] = 1 + (one.at_ms > 25_000) + (one.at_ms > 80_000)
    for sequence in range(250, 255):
        sketch.first(sequence).move(25_501 + sequence - 250)
    sketch.forget_to_acknowledge(248, 798)
    sketch.deliver(798, 81_000, again=True, connection=3)
    return sketch


@case(DELIVERED, unknown=f"{TAKEN_OVER} {ELECTION}", lost=1)
def lost_under_two_kills_at_once_and_kept_later() -> Sketch:
    sketch = fault(fault(load(150, (80, 82)), 15, 35), 15, 35)
    fault(sketch, 80, 105)
    sketch.lose(149)
    return sketch


# --- unplanned ends beside overlapping faults ----------------------------------------------------


def ended_after_nested_kills(cause: str) -> Sketch:
    """A process ends 15 s after both faults were gone, and the cluster is out for 20 s."""
    sketch = fault(fault(load(130, (75, 95)), 15, 60), 25, 40)
    return process_end(sketch, 75, 95, cause)


@case(unknown=AFTER)
def out_after_a_process_was_killed_from_outside() -> Sketch:
    return ended_after_nested_kills("outside")


@case(AFTER)
def out_after_a_process_ended_by_itself() -> Sketch:
    return ended_after_nested_kills("itself")


@case(DELIVERED, unknown=ELECTION, lost=1)
def lost_under_a_fault_with_an_unplanned_end_and_kept_under_the_next() -> Sketch:
    sketch = fault(fault(load(130), 15, 35), 70, 90)
    sketch.lose(249)
    return process_end(sketch, 24, 30, "outside")


# --- one after the other -------------------------------------------------------------------------


@case(passes=f"{OF_ONE_NODE} {AFTER}")
def the_same_kill_twice_and_taken_over_both_times() -> Sketch:
    return fault(fault(load(100, (15, 17), (37, 39)), 15, 35), 37, 60)


@case(SERVED, passes=AFTER)
def the_same_kill_twice_without_recovery_in_between() -> Sketch:
    """The first undo is a second old when the second kill comes. All is well after that one."""
    return fault(fault(load(100, (15, 47)), 15, 25), 26, 46)


@case(f"{SERVED} {AFTER}")
def the_same_kill_twice_and_never_back() -> Sketch:
    """Before the first fault all was well, and both faults are gone."""
    return fault(fault(load(100, (15, 100)), 15, 25), 26, 46)


@case(unknown=f"{SERVED} {AFTER}")
def sick_before_the_first_of_two_kills() -> Sketch:
    return fault(fault(load(100, (11, 100)), 15, 25), 26, 46)


@case(unknown=ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_while_the_load_was_degraded_and_again_at_the_kill() -> Sketch:
    """The acknowledgement may have taken longer than a second."""
    sketch = fault(load(100, (45, 56)), 50, 70)
    sketch.deliver(440, 52_000, again=True)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_and_again_long_before_the_load_was_degraded() -> Sketch:
    sketch = fault(load(100, (45, 56)), 50, 70)
    sketch.deliver(100, 20_000, again=True)
    return sketch


@case(f"{ACKED} {SERVED} {AFTER}", duplicated__redelivery_after_ack=1)
def acknowledged_and_again_at_a_kill_before_the_degraded_load() -> Sketch:
    """Before the first kill all was well. The second one came much later than the redelivery."""
    sketch = fault(fault(load(100, (15, 47)), 15, 25), 35, 46)
    sketch.deliver(120, 20_000, again=True)
    return sketch


@case(passes=f"{SERVED} {AFTER}")
def two_kills_far_apart() -> Sketch:
    return fault(fault(load(140, (15, 17), (70, 73)), 15, 35), 70, 95)


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def the_second_of_two_kills_loses() -> Sketch:
    sketch = two_kills_far_apart()
    sketch.lose(699)
    return sketch


@case(SERVED, passes=f"{AFTER} {ELECTION}")
def the_second_of_two_kills_waits_for_its_undo() -> Sketch:
    return fault(fault(load(140, (15, 17), (70, 96)), 15, 35), 70, 95)


@case(AFTER, passes=SERVED)
def out_between_two_kills() -> Sketch:
    return fault(fault(load(140, (45, 55)), 15, 35), 90, 110)


# --- faults of clients beside those of the cluster -----------------------------------------------


@case(passes=f"{TAKEN_OVER} {AFTER} {CONSUMED_AFTER}")
def a_consumer_stands_still_under_a_kill() -> Sketch:
    return frozen(fault(load(100, (15, 17)), 15, 50), CONSUMER, 35, 46)


@case(passes=f"{TAKEN_OVER} {AFTER}", unknown=WORKS_ON)
def the_only_consumer_stands_still_all_through_a_kill() -> Sketch:
    return fault(frozen(load(100, (15, 17)), CONSUMER, 14, 46), 15, 45)


@case(unknown=f"{TAKEN_OVER} {AFTER}")
def the_only_publisher_stands_still_all_through_a_kill() -> Sketch:
    return fault(frozen(load(100), PUBLISHER, 14, 46), 15, 45)


@case(SERVED, passes=AFTER)
def out_until_the_undo_though_a_consumer_ran_on_before() -> Sketch:
    return frozen(fault(load(100, (15, 46)), 15, 45), CONSUMER, 20, 30)


@case(f"{DELIVERED} {OF_MIRRORS}", passes=TAKEN_OVER, lost=1)
def lost_by_a_kill_as_a_frozen_consumer_takes_nothing_from_a_broker() -> Sketch:
    sketch = frozen(fault(load(100), 15, 50), CONSUMER, 20, 30)
    sketch.lose(198)
    return sketch


# --- links, and hosts behind them ----------------------------------------------------------------


@case(ANY_NODE, passes=AFTER)
def refused_and_out_until_the_undo() -> Sketch:
    return fault(load(90, (15, 36)), 15, 35, "refuse")


@case(passes=AFTER, not_applicable=ANY_NODE)
def refused_while_another_host_is_dead() -> Sketch:
    return fault(fault(load(90, (20, 36)), 15, 35, "refuse"), 20, 40, role="mirror")


@case(ANY_NODE, passes=AFTER)
def refused_while_a_consumer_stands_still() -> Sketch:
    return frozen(fault(load(90, (15, 36)), 15, 35, "refuse"), CONSUMER, 20, 30)


# --- not verified --------------------------------------------------------------------------------


@case(unknown=f"{STEADY} {AFTER} {TAKEN_OVER} {DELIVERED} {FIFO} {ONE_COPY}")
def the_second_kill_took_no_effect() -> Sketch:
    return fault(fault(load(140), 15, 35), 70, 95, verified=False)


@case(f"{DELIVERED} {OF_MIRRORS}", unknown=f"{AFTER} {ONE_COPY}", lost=1)
def the_first_kill_lost_and_the_second_took_no_effect() -> Sketch:
    """What comes later takes nothing back."""
    sketch = the_second_kill_took_no_effect()
    sketch.lose(149)
    return sketch


@case(DELIVERED, unknown=f"{ELECTION} {WORKS_ON} {AFTER}", lost=1)
def the_second_kill_lost_and_the_first_took_no_effect() -> Sketch:
    sketch = fault(fault(load(140), 15, 35, verified=False), 70, 95)
    sketch.lose(699)
    return sketch


@case(unknown=f"{AFTER} {OF_ONE_NODE}")
def out_until_the_undo_beside_a_kill_that_took_no_effect() -> Sketch:
    """Whether another node had failed is unknown."""
    return fault(fault(load(110, (15, 61)), 15, 60), 25, 40, role="mirror", verified=False)


@case(unknown=f"{AFTER} {OF_ONE_NODE}")
def the_first_undo_failed_and_a_second_kill_comes() -> Sketch:
    sketch = fault(load(110, (70, 110)), 15, None, gone=False)
    return fault(sketch, 70, 90)


@case(unknown=f"{AFTER} {OF_ONE_NODE}")
def the_first_kill_is_not_seen_to_be_gone_and_a_second_comes() -> Sketch:
    return fault(fault(load(110, (70, 110)), 15, 35, gone=False), 70, 90)


def lost_from_a_transient_queue(verified: bool) -> Sketch:
    sketch = fault(load(80), 15, 35, verified=verified)
    sketch.declared["durable"] = False
    sketch.lose(148)
    return sketch


@case(unknown=DELIVERED, lost=1)
def lost_from_a_transient_queue_whose_broker_perhaps_never_ended() -> Sketch:
    return lost_from_a_transient_queue(verified=False)


@case(OF_MIRRORS, not_applicable=DELIVERED, lost=1)
def lost_from_a_transient_queue_whose_broker_ended() -> Sketch:
    return lost_from_a_transient_queue(verified=True)


@case(unknown=f"{AFTER} {STEADY} {OF_ONE_NODE} {CONSUMED_AFTER}")
def never_verified_and_well() -> Sketch:
    return fault(load(80), 15, 35, verified=False, gone=False)


# --- ends ----------------------------------------------------------------------------------------


@case(unknown=AFTER)
def the_first_never_returns_and_the_second_does() -> Sketch:
    return fault(fault(load(100), 15, None), 40, 60)


@case(passes=AFTER)
def the_first_returns_and_the_second_never_does() -> Sketch:
    return fault(fault(load(100), 15, 35), 60, None)


@case(AFTER)
def the_first_returns_out_and_the_second_never_does() -> Sketch:
    return fault(fault(load(120, (36, 70)), 15, 35), 90, None)


@case(passes=AFTER)
def the_second_begins_while_the_first_still_starts() -> Sketch:
    """It was undone at 35 s and answers at 50 s; recovery begins after the last one."""
    return fault(fault(load(110, (36, 62)), 15, 35, gone_s=50), 40, 60)


# --- before the load, and after it ---------------------------------------------------------------


def late_load(from_s: float, until_s: float) -> Sketch:
    sketch = load(until_s)
    sketch.facts["load_started_ns"] = ns(from_s * 1_000)
    for key, one in [*sketch.sent.items()]:
        if one.at_ms < from_s * 1_000:
            del sketch.sent[key]
            sketch.lose(key[1])
    return sketch


@case(passes=f"{OF_ONE_NODE} {AFTER}", not_applicable=STEADY)
def a_kill_before_the_load_and_into_it() -> Sketch:
    return fault(late_load(20, 90), 15, 45)


@case(passes=DELIVERED, not_applicable=STEADY, unknown=f"{TAKEN_OVER} {AFTER}")
def a_kill_that_was_over_before_the_load() -> Sketch:
    return fault(late_load(20, 90), 5, 15)


@case(SERVED, unknown=AFTER, passes=STEADY)
def out_until_the_load_ends_under_a_kill() -> Sketch:
    return fault(load(60, (40, 60)), 40, 100)


@case(passes=f"{SERVED} {STEADY}", unknown=AFTER)
def taken_over_under_a_kill_that_outlasts_the_load() -> Sketch:
    return fault(load(80, (40, 42)), 40, 100)


@case(passes=f"{STEADY} {DELIVERED}", unknown=f"{TAKEN_OVER} {AFTER}")
def a_kill_after_the_load() -> Sketch:
    return fault(load(60), 65, 70)


# --- roles ---------------------------------------------------------------------------------------


@case(passes=f"{SERVED} {AFTER}")
def the_old_master_is_killed_again_as_a_mirror() -> Sketch:
    """No client was served then, which breaks no claim about masters."""
    sketch = fault(load(140, (15, 17), (70, 80)), 15, 35)
    return fault(sketch, 70, 95, role="mirror")


@case(DELIVERED, passes=f"{ELECTION} {WORKS_ON}", lost=1)
def lost_when_the_old_master_is_killed_as_a_mirror() -> Sketch:
    sketch = the_old_master_is_killed_again_as_a_mirror()
    sketch.lose(699)
    return sketch


@case(unknown=f"{TAKEN_OVER} {ELECTION}", passes=f"{AFTER} {DELIVERED}")
def whom_the_second_kill_met_is_not_on_record() -> Sketch:
    sketch = fault(fault(load(140), 15, 35), 70, 95)
    sketch.recorded[2] = {}
    return sketch


@case(DELIVERED, unknown=f"{ELECTION} {WORKS_ON}", lost=1)
def lost_by_a_kill_of_the_master_or_of_a_mirror() -> Sketch:
    """No message came between the confirm and the second fault."""
    sketch = fault(load(140), 15, 35)
    fault(sketch, 36, 60, role="mirror")
    sketch.lose(358)
    return sketch


# --- nodes that were down before -----------------------------------------------------------------


def by_majority(*out_s: tuple[float, float], kind: str = "kill", undo_s: float = 65) -> Sketch:
    """Of five copies a mirror fails at 15 s and stays away; the leader fails at 40 s."""
    sketch = load(110, *out_s)
    sketch.declared |= {
        "copies": 5,
        "elects_by_majority": True,
        "confirm_waits_for_majority": True,
        "confirm_waits_for_mirrors": False,
    }
    counts = {"mirrors_at_fault": 4, "synchronised_mirrors_at_fault": 4}
    fault(sketch, 15, None if kind == "kill" else 80, kind, role="mirror", recorded=counts)
    counts = {"mirrors_at_fault": 3, "synchronised_mirrors_at_fault": 3}
    return fault(sketch, 40, undo_s, recorded=counts)


@case(passes=ELECTED, not_applicable=TAKEN_OVER)
def a_follower_is_elected_beside_a_dead_node() -> Sketch:
    return by_majority((40, 42))


@case(ELECTED, not_applicable=TAKEN_OVER)
def no_follower_is_elected_beside_a_dead_node() -> Sketch:
    return by_majority((40, 66))


@case(not_applicable=f"{ELECTED} {TAKEN_OVER}")
def no_follower_is_elected_beside_a_frozen_node() -> Sketch:
    return by_majority((40, 66), kind="freeze")


@case(f"{DELIVERED} {KEEPS}", lost=1)
def lost_by_a_majority_under_two_kills() -> Sketch:
    sketch = fault(fault(load(100), 15, 35), 25, 45)
    sketch.declared |= {
        "elects_by_majority": True,
        "confirm_waits_for_majority": True,
        "confirm_waits_for_mirrors": False,
    }
    sketch.lose(249)
    return sketch


@case(DELIVERED, unknown=KEEPS, lost=1)
def lost_by_a_majority_beside_a_node_that_never_returns() -> Sketch:
    sketch = by_majority((40, 42))
    sketch.lose(399)
    return sketch


# --- duplicates, and order -----------------------------------------------------------------------


@case(ACKED, passes=ONE_COPY, duplicated__redelivery_after_ack=2)
def redelivered_under_each_of_two_faults_though_acknowledged_before_both() -> Sketch:
    sketch = fault(fault(load(100), 15, 35), 25, 45)
    sketch.deliver(100, 16_000, again=True)
    sketch.deliver(100, 26_000, again=True)
    return sketch


@case(unknown=ACKED, duplicated__ambiguous=1)
def redelivered_under_the_second_though_acknowledged_under_the_first() -> Sketch:
    sketch = fault(fault(load(100), 15, 35), 25, 45)
    sketch.deliver(200, 26_000, again=True)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def a_second_copy_between_two_faults() -> Sketch:
    sketch = fault(fault(load(130), 15, 35), 70, 90)
    sketch.deliver(500, 55_000)
    return sketch


@case(unknown=ONE_COPY, duplicated__ambiguous=1)
def a_second_copy_after_a_fault_whose_end_is_not_on_record() -> Sketch:
    sketch = fault(fault(load(130), 15, 35, over=False), 70, 90)
    sketch.deliver(500, 55_000)
    return sketch


@case(FIFO, not_applicable=OF_ONE_NODE, reordered=1)
def reordered_under_two_faults() -> Sketch:
    sketch = fault(fault(load(100), 15, 35), 25, 45)
    sketch.first(280).move(28_400)
    return sketch


@case(passes=f"{FIFO} {DELIVERED}", lost_indeterminate=20)
def unanswered_under_two_faults() -> Sketch:
    sketch = fault(fault(load(100), 15, 35), 25, 45)
    for one in sketch.attempts(26_000, 28_000):
        one.outcomes, one.settled_ms = (Outcome.UNKNOWN,), one.at_ms + 1_000
    sketch.lose(*range(260, 280))
    return sketch


# --- times of each fault -------------------------------------------------------------------------


def times(sketch: Sketch, stage: str) -> list[tuple[bool, float]]:
    """By window: whether the stage was reached, and after how many seconds."""
    rows = [row for row in judged(sketch)[0].stages if row.stage == stage]
    return [(row.reached, row.after_ns / 1e9) for row in sorted(rows, key=lambda it: it.window)]


def test_each_of_two_faults_has_its_own_recovery() -> None:
    sketch = two_kills_far_apart()
    assert times(sketch, "first_success") == [(True, 2.055), (True, 3.055)]
    assert times(two_kills_far_apart(), "sustained_success") == [(True, 2.05), (True, 3.05)]


def test_a_fault_that_comes_into_an_outage_ends_the_time_of_the_first() -> None:
    """What the first would have taken by itself is unknown: a lower bound."""
    sketch = fault(fault(load(100, (15, 18)), 15, 60), 16, 40)
    assert times(sketch, "first_success") == [(False, 1.0), (True, 2.055)]


def test_one_outage_under_two_faults_is_one_outage() -> None:
    findings, _ = judged(fault(fault(load(100, (25, 46)), 15, 35), 25, 45))
    of_run = [row for row in findings.outages if row.scope == "run"]
    assert [(row.windows, row.ended) for row in of_run] == [("1,2", "undo")]


# --- planned faults that never began ------------------------------------------------------------


@case(f"{DELIVERED} {OF_MIRRORS}", unknown=f"{AFTER} {TAKEN_OVER}", lost=1)
def lost_under_the_first_kill_and_the_second_never_began() -> Sketch:
    """Only the first kill can have taken it, so the claims about one failed node are refuted. But
    nothing passes: the run is not the planned one."""
    sketch = never_begun(fault(load(80), 15, 35))
    sketch.lose(249)
    return sketch


@case(unknown=f"{AFTER} {DELIVERED} {OF_ONE_NODE} {STEADY}")
def all_served_and_the_second_kill_never_began() -> Sketch:
    return never_begun(fault(load(80), 15, 35))


@case(STEADY, unknown=f"{AFTER} {OF_ONE_NODE}")
def out_for_six_seconds_and_the_only_kill_never_began() -> Sketch:
    """Without a fault the whole load is the steady state."""
    return never_begun(load(40, (15, 21)))


@case(unknown=f"{STEADY} {OF_ONE_NODE}")
def out_for_six_seconds_and_the_later_kill_began_perhaps() -> Sketch:
    """The same, but nothing proves that the kill never began: it may explain the outage."""
    return fault(load(40, (15, 21)), 0.1, None, verified=False, gone=False, over=False)
