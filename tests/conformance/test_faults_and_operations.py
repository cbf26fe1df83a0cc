"""Faults beside the work of an operator, repeated faults, and faults whose action or undo takes
long. What must be said follows from docs/verdicts.md 2, 7.3 and 9, by the argument of each
story."""

from dataclasses import replace

import pytest

from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, ns
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    CONSUMED_AFTER,
    DELIVERED,
    ELECTION,
    FIFO,
    OF_MIRRORS,
    OF_ONE_NODE,
    ONE_COPY,
    SERVED,
    STEADY,
    TAKEN_OVER,
    WORKS_ON,
)
from tests.rigs.histories.several_faults import fault, frozen, load, operated, process_end
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases
from tests.rigs.histories.ways import Via

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_faults_and_operations_are_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- an operator at work after a fault -----------------------------------------------------------


@case(passes=f"{SERVED} {AFTER} {CONSUMED_AFTER}", not_applicable=STEADY)
def a_node_is_restarted_between_two_kills_and_all_served() -> Sketch:
    return fault(fault(operated(load(130), 50, 56), 15, 35), 70, 95)


@case(unknown=AFTER, passes=SERVED)
def out_while_a_node_is_restarted_after_the_kill() -> Sketch:
    """The fault has been gone for 25 s, and the operator stopped the broker."""
    return fault(operated(load(110, (60, 66)), 60, 70), 15, 35)


@case(AFTER, passes=SERVED)
def out_before_a_node_is_restarted() -> Sketch:
    return fault(operated(load(110, (45, 52)), 60, 70), 15, 35)


@case(AFTER, passes=SERVED)
def out_from_ten_seconds_before_the_operator_came() -> Sketch:
    return fault(operated(load(110, (50, 66)), 60, 70), 15, 35)


@case(AFTER, passes=SERVED)
def out_long_after_a_node_was_restarted() -> Sketch:
    return fault(operated(load(110, (90, 96)), 60, 65), 15, 35)


@case(unknown=AFTER, passes=SERVED)
def out_after_an_operation_whose_end_is_unknown() -> Sketch:
    """As of older runs. Of others the time of their return is known."""
    return fault(operated(load(110, (90, 96)), 60, None), 15, 35)


@case(AFTER, passes=SERVED)
def out_twice_and_once_while_a_node_is_restarted() -> Sketch:
    return fault(operated(load(120, (45, 52), (70, 76)), 70, 80), 15, 35)


@case(unknown=AFTER, passes=SERVED)
def clients_reconnect_for_two_seconds_after_a_restart() -> Sketch:
    return fault(operated(load(110, (68, 72)), 60, 70), 15, 35)


@case(unknown=CONSUMED_AFTER, passes=AFTER)
def nothing_is_given_while_a_node_is_restarted() -> Sketch:
    sketch = fault(operated(load(110), 60, 67), 15, 35)
    sketch.hold(60_000, 68_000)
    return sketch


@case(CONSUMED_AFTER, passes=AFTER)
def nothing_is_given_long_after_a_node_was_restarted() -> Sketch:
    sketch = fault(operated(load(110), 50, 55), 15, 35)
    sketch.hold(80_000, 88_000)
    return sketch


# --- an operator at work under a fault -----------------------------------------------------------


@case(unknown=SERVED, passes=AFTER)
def out_until_the_undo_while_a_mirror_is_restarted() -> Sketch:
    """Two of three nodes were down, one of them by the operator."""
    return fault(operated(load(90, (15, 36)), 20, 40), 15, 35)


@case(SERVED, passes=AFTER)
def out_until_the_undo_and_an_operator_at_work_later() -> Sketch:
    return fault(operated(load(110, (15, 36)), 60, 66), 15, 35)


@case(SERVED, passes=AFTER)
def out_until_the_undo_and_an_operator_at_work_before() -> Sketch:
    return fault(operated(load(110, (35, 61)), 10, 16), 35, 60)


@case(unknown=SERVED, passes=AFTER)
def three_outages_under_a_kill_as_three_nodes_are_restarted() -> Sketch:
    sketch = load(130, (30, 32), (45, 47), (60, 62))
    for at_s in (30, 45, 60):
        operated(sketch, at_s, at_s + 4)
    return fault(sketch, 15, 95)


@case(SERVED, passes=AFTER)
def three_outages_under_a_kill_before_an_operator_comes() -> Sketch:
    sketch = load(130, (30, 32), (45, 47), (60, 62))
    return fault(operated(sketch, 80, 84), 15, 95)


@case(DELIVERED, unknown=OF_MIRRORS, lost=1)
def lost_while_a_mirror_is_restarted_under_a_kill() -> Sketch:
    """Of three copies one node was killed, and the operator stopped another."""
    sketch = fault(operated(load(90), 20, 30), 15, 35)
    sketch.lose(249)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def lost_at_the_kill_and_a_mirror_is_restarted_later() -> Sketch:
    sketch = fault(operated(load(90), 22, 30), 15, 35)
    sketch.lose(149)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def lost_at_the_kill_after_a_mirror_was_restarted() -> Sketch:
    sketch = fault(operated(load(90), 5, 10), 15, 35)
    sketch.lose(149)
    return sketch


@case(DELIVERED, unknown=ELECTION, lost=1)
def lost_at_the_kill_after_an_operation_whose_end_is_unknown() -> Sketch:
    sketch = fault(operated(load(90), 5, None), 15, 35)
    sketch.lose(149)
    return sketch


@case(DELIVERED, passes=ELECTION, lost=1)
def lost_while_a_node_is_restarted_between_two_kills() -> Sketch:
    sketch = fault(fault(operated(load(130), 50, 56), 15, 35), 70, 95)
    sketch.lose(499)
    return sketch


@case(DELIVERED, unknown=OF_MIRRORS, lost=2)
def one_lost_at_the_kill_or_by_the_operator_and_one_by_him() -> Sketch:
    sketch = fault(operated(load(90), 14, 18), 15, 35)
    sketch.lose(145, 149)
    return sketch


@case(passes=ACKED, duplicated__ambiguous=1)
def acknowledged_just_before_a_node_is_restarted_and_again() -> Sketch:
    """The restart explains it."""
    sketch = fault(operated(load(90), 50, 56), 15, 35)
    sketch.deliver(494, 52_000, again=True)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_two_seconds_before_a_node_is_restarted_and_again() -> Sketch:
    sketch = fault(operated(load(90), 50, 56), 15, 35)
    sketch.deliver(479, 52_000, again=True)
    return sketch


@case(unknown=ONE_COPY, duplicated__ambiguous=1)
def a_second_copy_while_a_node_is_restarted() -> Sketch:
    sketch = fault(operated(load(90), 50, 56), 15, 35)
    sketch.deliver(500, 53_000)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def a_second_copy_after_a_node_was_restarted() -> Sketch:
    sketch = fault(operated(load(90), 50, 56), 15, 35)
    sketch.deliver(600, 63_000)
    return sketch


@case(unknown=f"{SERVED} {AFTER} {DELIVERED} {FIFO}")
def all_served_and_the_operation_failed() -> Sketch:
    sketch = fault(operated(load(90), 50, 56), 15, 35)
    sketch.facts["clock_problem"] = "operation 1 (restart_node rmq1) failed: timeout"
    return sketch


@case(DELIVERED, unknown=f"{AFTER} {ELECTION} {WORKS_ON}", lost=1)
def lost_between_faults_and_the_operation_failed() -> Sketch:
    sketch = all_served_and_the_operation_failed()
    sketch.lose(450)
    return sketch


# --- repeated faults -----------------------------------------------------------------------------


def five_kills(unverified: int = 0, kind: str = "kill") -> Sketch:
    """Each lasts 12 s, and is gone for 18 s when the next one comes."""
    sketch = load(180)
    for number in range(1, 6):
        at_s = 15 + (number - 1) * 30
        fault(sketch, at_s, at_s + 12, kind, verified=number != unverified)
    return sketch


@case(passes=f"{OF_ONE_NODE} {AFTER} {CONSUMED_AFTER} {DELIVERED}")
def five_kills_and_all_served() -> Sketch:
    return five_kills()


@case(f"{DELIVERED} {OF_MIRRORS}", passes=TAKEN_OVER, lost=1)
def the_third_of_five_kills_loses() -> Sketch:
    sketch = five_kills()
    sketch.lose(749)
    return sketch


@case(DELIVERED, passes=OF_ONE_NODE, lost=1)
def lost_between_the_second_and_the_third_of_five_kills() -> Sketch:
    sketch = five_kills()
    sketch.lose(650)
    return sketch


@case(SERVED, passes=AFTER)
def the_last_of_five_kills_waits_for_its_undo() -> Sketch:
    sketch = five_kills()
    sketch.silence(135_000, 148_000)
    return sketch


@case(AFTER, passes=SERVED)
def out_for_good_after_the_last_of_five_kills() -> Sketch:
    sketch = five_kills()
    sketch.silence(155_000, 180_000)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", unknown=AFTER, lost=1)
def the_second_of_five_kills_loses_and_the_fourth_took_no_effect() -> Sketch:
    sketch = five_kills(unverified=4)
    sketch.lose(449)
    return sketch


@case(DELIVERED, unknown=f"{ELECTION} {WORKS_ON} {AFTER}", lost=1)
def the_fourth_of_five_kills_took_no_effect_and_messages_are_gone_then() -> Sketch:
    sketch = five_kills(unverified=4)
    sketch.lose(1_049)
    return sketch


@case(DELIVERED, unknown=f"{ELECTION} {WORKS_ON} {AFTER}", lost=1)
def the_last_of_five_kills_loses_and_the_fourth_took_no_effect() -> Sketch:
    sketch = five_kills(unverified=4)
    sketch.lose(1_349)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", unknown=AFTER, lost=1)
def lost_by_a_kill_and_a_later_freeze_of_a_client_took_no_effect() -> Sketch:
    sketch = fault(load(100), 15, 35)
    fault(sketch, 60, 70, "client_freeze", role="none", verified=False)
    sketch.lose(149)
    return sketch


@case(unknown=f"{OF_ONE_NODE} {AFTER}")
def all_served_and_an_earlier_freeze_of_a_client_took_no_effect() -> Sketch:
    sketch = fault(load(120), 5, 10, "client_freeze", role="none", verified=False)
    return fault(sketch, 50, 70)


@case(passes=AFTER, not_applicable=OF_ONE_NODE)
def a_chain_of_three_faults_and_out_until_the_last_is_gone() -> Sketch:
    """The first and the third never met."""
    sketch = fault(load(120, (15, 66)), 15, 35)
    fault(sketch, 30, 50, "freeze", role="mirror")
    return fault(sketch, 45, 65, "partition", role="mirror")


@case(AFTER, not_applicable=OF_ONE_NODE)
def a_chain_of_three_faults_and_out_after_the_last_is_gone() -> Sketch:
    sketch = fault(load(130, (80, 90)), 15, 35)
    fault(sketch, 30, 50, "freeze", role="mirror")
    return fault(sketch, 45, 65, "partition", role="mirror")


@case(unknown=AFTER)
def a_chain_of_three_faults_and_the_second_was_never_seen_to_be_gone() -> Sketch:
    sketch = fault(load(130), 15, 35)
    fault(sketch, 30, 50, "freeze", role="mirror", gone=False)
    return fault(sketch, 45, 65, "partition", role="mirror")


@case(passes=f"{AFTER} {SERVED}")
def a_kill_begins_in_the_instant_in_which_another_had_been_undone() -> Sketch:
    """The undo had returned when it began, and both were taken over in two seconds."""
    sketch = fault(load(130, (15, 17), (40.02, 42.02)), 15, 40, gone_s=40.02)
    return fault(sketch, 40.02, 65)


# --- what takes long -----------------------------------------------------------------------------


def slow_action(sketch: Sketch, returned_s: float, number: int = 1) -> Sketch:
    windows = list(sketch.history._windows)
    windows[number - 1] = replace(windows[number - 1], returned_ns=ns(returned_s * 1_000))
    sketch.facts["windows"] = tuple(windows)
    return sketch


@case(passes=f"{TAKEN_OVER} {AFTER} {ELECTION}")
def a_stop_takes_ten_seconds_and_clients_are_out_for_two() -> Sketch:
    return slow_action(fault(load(100, (22, 24)), 15, 45, "stop"), 25)


@case(f"{DELIVERED} {OF_MIRRORS}", passes=TAKEN_OVER, lost=1)
def lost_while_a_stop_is_still_at_work() -> Sketch:
    sketch = slow_action(fault(load(100), 15, 45, "stop"), 25)
    sketch.lose(180)
    return sketch


@case(SERVED, passes=AFTER)
def out_from_the_beginning_of_a_slow_stop_to_its_undo() -> Sketch:
    return slow_action(fault(load(100, (15, 46)), 15, 45, "stop"), 25)


@case(unknown=f"{OF_ONE_NODE} {AFTER}")
def undone_before_its_action_had_returned() -> Sketch:
    """It was never in force for certain."""
    return slow_action(fault(load(100), 15, 35, "stop"), 35.01)


def slow_undo(sketch: Sketch, ended_s: float) -> Sketch:
    windows = list(sketch.history._windows)
    windows[0] = replace(
        windows[0], ended_ns=ns(ended_s * 1_000), over_ns=ns(ended_s * 1_000 + 950)
    )
    sketch.facts["windows"] = tuple(windows)
    return sketch


@case(SERVED, passes=AFTER)
def out_until_a_slow_undo_has_returned() -> Sketch:
    return slow_undo(fault(load(110, (15, 56)), 15, 35, gone_s=55.05), 55)


@case(SERVED, passes=AFTER)
def out_until_a_slow_undo_is_issued() -> Sketch:
    return slow_undo(fault(load(110, (15, 36)), 15, 35, gone_s=55.05), 55)


@case(passes=f"{SERVED} {AFTER}")
def out_for_two_seconds_while_a_slow_undo_is_at_work() -> Sketch:
    return slow_undo(fault(load(110, (45, 47)), 15, 35, gone_s=55.05), 55)


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def lost_while_a_slow_undo_is_at_work() -> Sketch:
    sketch = slow_undo(fault(load(110), 15, 35, gone_s=55.05), 55)
    sketch.lose(450)
    return sketch


@case(passes=AFTER, not_applicable=OF_ONE_NODE)
def a_mirror_is_killed_while_the_undo_of_another_kill_is_at_work() -> Sketch:
    """Until the undo has returned, the first node may be down."""
    windows = [*slow_undo(fault(load(130), 15, 35, gone_s=55.05), 55).facts["windows"]]
    sketch = fault(fault(load(130), 15, 35, gone_s=55.05), 45, 65, role="mirror")
    sketch.facts["windows"] = (*windows, sketch.history.facts.windows[1])
    return sketch


# --- unplanned ends beside operations and clients ------------------------------------------------


@case(unknown=f"{AFTER} {OF_ONE_NODE}")
def a_process_was_killed_from_outside_while_a_consumer_stood_still() -> Sketch:
    sketch = frozen(fault(load(110, (40, 50)), 15, 35), CONSUMER, 38, 42)
    return process_end(sketch, 14, 50, "outside")


@case(AFTER, passes=SERVED)
def a_process_ended_by_itself_after_an_operation() -> Sketch:
    sketch = fault(operated(load(130, (80, 90)), 50, 56), 15, 35)
    return process_end(sketch, 80, 90, "itself")


@case(unknown=f"{TAKEN_OVER} {AFTER}")
def a_process_ended_by_itself_and_another_was_killed_from_outside() -> Sketch:
    sketch = fault(load(130, (60, 70)), 15, 35)
    process_end(sketch, 60, 70, "itself")
    return process_end(sketch, 62, 64, "outside")


@case(passes=f"{TAKEN_OVER} {DELIVERED}", unknown=AFTER)
def a_publisher_stands_still_in_the_seconds_after_the_undo() -> Sketch:
    return frozen(fault(load(110, (15, 17)), 15, 35), PUBLISHER, 36, 44)


# --- loads that are not judged, and clients that never return ------------------------------------


@case(not_applicable=f"{SERVED} {AFTER}", passes=f"{DELIVERED} {ELECTION}")
def a_kill_at_the_highest_rate_and_nothing_lost() -> Sketch:
    return fault(load(100, paced=False), 15, 35)


@case(f"{DELIVERED} {OF_MIRRORS}", not_applicable=f"{TAKEN_OVER} {AFTER}", lost=1)
def a_kill_at_the_highest_rate_and_one_lost() -> Sketch:
    sketch = fault(load(100, paced=False), 15, 35)
    sketch.lose(149)
    return sketch


def second_publisher(sketch: Sketch, until_s: float, end_s: float) -> Sketch:
    """It sends until then, and was killed for good."""
    sketch.history.worker(4, "publisher").away(4, until_s * 1_000)
    for number in range(round(end_s * 10)):
        at_ms = 60 + number * 100.0
        if at_ms < until_s * 1_000:
            sketch.send(number, at_ms, producer=4)
            sketch.deliver(number, at_ms + 10, producer=4)
        else:
            sketch.history.not_sent(number, intended_ms=at_ms, producer=4)
    return fault(sketch, until_s, None, "client_crash", role="none")


@case(passes=f"{TAKEN_OVER} {AFTER} {DELIVERED}")
def one_of_two_publishers_was_killed_for_good_before_the_kill() -> Sketch:
    return fault(second_publisher(load(100, (20, 22)), 12, 100), 20, 40)


@case(SERVED, passes=AFTER)
def out_until_the_undo_after_a_publisher_was_killed_for_good() -> Sketch:
    return fault(second_publisher(load(100, (20, 41)), 12, 100), 20, 40)


@case(AFTER, passes=SERVED)
def out_after_the_undo_after_a_publisher_was_killed_for_good() -> Sketch:
    return fault(second_publisher(load(100, (60, 66)), 12, 100), 20, 40)


@case(
    unknown=WORKS_ON,
    not_applicable=CONSUMED_AFTER,
    passes=f"{TAKEN_OVER} {AFTER} {DELIVERED}",
)
def the_only_consumer_was_killed_for_good_before_the_kill() -> Sketch:
    sketch = load(100)
    sketch.history.away(CONSUMER, 12_000)
    for place, one in enumerate(sketch.since(12_000)):
        one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        one.move(150_000 + place)
    return fault(fault(sketch, 12, None, "client_crash", role="none"), 20, 40)
