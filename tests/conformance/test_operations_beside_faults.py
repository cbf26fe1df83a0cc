"""An operation beside a fault explains what it can explain, and no more: a broker that is simply
broken is found. What must be said follows from docs/verdicts.md 7.3 and 9."""

from dataclasses import replace

import pytest

from spark_analysis.schema.facts import LeadershipChange
from spark_analysis.schema.operation_times import NOTICED_WITHIN_NS
from tests.rigs.histories.by_hand import ns
from tests.rigs.histories.claim_names import (
    AFTER,
    CONSUMED_AFTER,
    DELIVERED,
    ELECTION,
    OF_MIRRORS,
    SERVED,
    WORKS_ON,
)
from tests.rigs.histories.client_faults import confirm_late
from tests.rigs.histories.several_faults import (
    as_older_run,
    fault,
    load,
    operated,
    process_end,
)
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases, judged

POLL = "broken-links-are-noticed-soon"
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_operations_beside_faults_are_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- a source that names a time ------------------------------------------------------------------


def by_poll(*out_s: tuple[float, float]) -> Sketch:
    """Of two masters one fails; clients learn it by their next poll of routes, by 45 s."""
    sketch = load(110, (15, 17), *out_s)
    sketch.declared |= {"masters": 2, "elects": False, "route_poll_s": 30}
    return fault(sketch, 15, 75)


@case(POLL)
def out_again_after_the_poll_and_no_operator_came() -> Sketch:
    return by_poll((55, 62))


@case(unknown=POLL)
def out_again_since_an_operator_came_after_the_poll() -> Sketch:
    return operated(by_poll((55, 62)), 55, 56)


@case(unknown=POLL)
def out_since_an_operator_stopped_a_node_after_the_poll() -> Sketch:
    return operated(by_poll((55, 74)), 55, 56, stays=True)


@case(POLL)
def out_for_five_seconds_after_the_poll_when_an_operator_came() -> Sketch:
    return operated(by_poll((50, 62)), 55, 56)


@case(POLL)
def out_past_the_poll_when_an_operator_came() -> Sketch:
    return operated(by_poll((17, 62)), 55, 56)


@case(POLL)
def out_again_long_after_an_operation_before_the_poll() -> Sketch:
    return operated(by_poll((55, 62)), 30, 31)


@case(passes=POLL)
def served_after_the_poll_though_an_operator_came_before() -> Sketch:
    return operated(by_poll((30, 34)), 30, 31)


# --- confirms that are held until the undo, in time for patient clients --------------------------


def held_until_the_undo() -> Sketch:
    """What is sent from 45.6 s on is confirmed only after the undo at 60 s, within 15 s."""
    return confirm_late(load(100, deadline_ms=15_000), 45.6, 60, 14_500)


@case(SERVED)
def held_until_the_undo_long_after_an_operation() -> Sketch:
    """Clients had been back for half a minute when nothing was confirmed any more."""
    return fault(operated(held_until_the_undo(), 20, 21), 15, 60)


@case(unknown=SERVED)
def held_until_the_undo_since_an_operation() -> Sketch:
    return fault(operated(held_until_the_undo(), 45, 47), 15, 60)


@case(SERVED)
def held_long_before_an_operation_at_the_undo() -> Sketch:
    """What was due five seconds before the operation had not been confirmed when it came."""
    return fault(operated(held_until_the_undo(), 59, 59.5), 15, 60)


# --- a broker that does not recover, and an operation that has ended -----------------------------


@case(AFTER, unknown=SERVED)
def out_for_good_since_the_kill_and_an_operator_comes_before_the_undo() -> Sketch:
    """The outage began 20 s before the operator came, who was done before service was due. Under
    the fault a mirror may still have taken over later."""
    return fault(operated(load(110, (60, 110)), 80, 82), 60, 85)


@case(AFTER, passes=SERVED)
def out_for_good_since_a_restart() -> Sketch:
    """The operator had returned, and the node runs: nothing explains a whole minute."""
    return fault(operated(load(130, (62, 130)), 60, 70), 15, 35)


@case(AFTER, passes=SERVED)
def out_for_good_soon_after_a_restart() -> Sketch:
    return fault(operated(load(130, (73, 130)), 60, 70), 15, 35)


@case(unknown=AFTER, passes=SERVED)
def out_after_a_restart_for_as_long_as_a_node_may_boot() -> Sketch:
    return fault(operated(load(130, (62, 95)), 60, 70), 15, 35)


@case(unknown=AFTER, passes=SERVED)
def out_for_good_since_an_operator_stopped_the_only_copy() -> Sketch:
    return fault(operated(load(130, (62, 130)), 60, 70, stays=True), 15, 35)


@case(AFTER, passes=SERVED)
def out_for_good_long_after_an_operator_stopped_a_node() -> Sketch:
    return fault(operated(load(130, (90, 130)), 60, 70, stays=True), 15, 35)


@case(CONSUMED_AFTER, passes=AFTER)
def nothing_is_given_for_good_after_a_short_operation() -> Sketch:
    sketch = fault(operated(load(130), 37, 38), 15, 35)
    sketch.hold(38_500, 125_000)
    return sketch


# --- an operator who comes late under a fault ----------------------------------------------------


@case(f"{SERVED} {AFTER}")
def out_for_three_minutes_before_an_operator_comes() -> Sketch:
    return fault(operated(load(300, (60, 300)), 240, 246), 60, 250)


@case(SERVED, passes=AFTER)
def out_until_the_undo_and_an_operator_comes_ten_seconds_before() -> Sketch:
    return fault(operated(load(300, (60, 250.5)), 240, 246), 60, 250)


@case(unknown=SERVED, passes=AFTER)
def out_until_a_late_undo_and_an_operator_comes_at_once() -> Sketch:
    """He restarts the node that had to take over."""
    return fault(operated(load(300, (60, 250.5)), 62, 68), 60, 250)


@case(unknown=SERVED, passes=AFTER)
def out_until_the_undo_of_a_freeze_and_an_operator_comes_before_it_is_noticed() -> Sketch:
    """Peers notice a silent host after up to two detection timeouts of 30 s."""
    sketch = fault(operated(load(300, (60, 250.5)), 140, 146), 60, 250, "freeze")
    sketch.declared["detection_timeout_s"] = 30
    return sketch


@case(SERVED, passes=AFTER)
def out_until_the_undo_of_a_freeze_and_an_operator_comes_late() -> Sketch:
    sketch = fault(operated(load(300, (60, 250.5)), 240, 246), 60, 250, "freeze")
    sketch.declared["detection_timeout_s"] = 30
    return sketch


@case(WORKS_ON, passes=AFTER)
def nothing_is_given_under_a_fault_and_an_operator_comes_late() -> Sketch:
    sketch = fault(operated(load(130), 100, 101), 60, 105)
    sketch.hold(60_000, 105_000)
    return sketch


@case(unknown=WORKS_ON, passes=AFTER)
def nothing_is_given_under_a_fault_and_an_operator_comes_at_once() -> Sketch:
    sketch = fault(operated(load(130), 64, 66), 60, 105)
    sketch.hold(60_000, 105_000)
    return sketch


# --- how soon an operator has to come ------------------------------------------------------------
# Within 38 s: a deadline of 1 s, 2 s to reconnect, 5 s, and 30 s in which clients request routes.


def out_from_sixty(operator_s: float, kind: str = "kill") -> Sketch:
    """The first late message is sent at 60.05 s."""
    sketch = fault(operated(load(200, (60, 165.5)), operator_s, operator_s + 6), 60, 165, kind)
    sketch.declared["detection_timeout_s"] = 30
    return sketch


@case(unknown=SERVED, passes=AFTER)
def an_operator_comes_a_moment_before_clients_must_have_noticed_a_kill() -> Sketch:
    return out_from_sixty(98.049)


@case(SERVED, passes=AFTER)
def an_operator_comes_a_moment_after_clients_must_have_noticed_a_kill() -> Sketch:
    return out_from_sixty(98.051)


@case(unknown=SERVED, passes=AFTER)
def an_operator_comes_a_moment_before_peers_must_have_noticed_a_freeze() -> Sketch:
    """Two detection timeouts of 30 s are added."""
    return out_from_sixty(158.049, "freeze")


@case(SERVED, passes=AFTER)
def an_operator_comes_a_moment_after_peers_must_have_noticed_a_freeze() -> Sketch:
    return out_from_sixty(158.051, "freeze")


def nothing_given_from_sixty(operator_s: float) -> Sketch:
    """What is sent at 80.05 s is confirmed at 80.055 s: the first success."""
    sketch = fault(operated(load(150, (60, 80)), operator_s, operator_s + 6), 60, 125)
    sketch.hold(60_000, 125_000)
    return sketch


@case(unknown=WORKS_ON, passes=AFTER)
def an_operator_comes_a_moment_before_consumers_must_be_back() -> Sketch:
    return nothing_given_from_sixty(118.054)


@case(WORKS_ON, passes=AFTER)
def an_operator_comes_a_moment_after_consumers_must_be_back() -> Sketch:
    return nothing_given_from_sixty(118.056)


def relapses_beside_an_operation(*out_s: tuple[float, float]) -> Sketch:
    """He is at work from 60 s to 66 s, and explains the outage from 60 s to 63 s."""
    return fault(operated(load(200, (60, 63), *out_s), 60, 66), 60, 170)


@case(unknown=SERVED, passes=AFTER)
def out_twice_more_than_an_operation_explains() -> Sketch:
    return relapses_beside_an_operation((90, 92), (120, 122))


@case(SERVED, passes=AFTER)
def out_three_times_more_than_an_operation_explains() -> Sketch:
    return relapses_beside_an_operation((90, 92), (110, 112), (130, 132))


# --- operations after which a leader may move at any time ----------------------------------------


def changed(sketch: Sketch, at_s: float, until_s: float) -> Sketch:
    """A policy: what follows from it has happened 30 s later, or is no more of its doing."""
    return operated(sketch, at_s, until_s, settles_s=30)


@case(f"{SERVED} {AFTER}")
def out_for_good_since_a_kill_long_after_a_policy_was_set() -> Sketch:
    return fault(changed(load(110, (60, 110)), 5, 6), 60, 85)


@case(AFTER, passes=SERVED)
def out_long_after_a_policy_was_set() -> Sketch:
    return fault(changed(load(130, (110, 116)), 60, 62), 15, 35)


@case(unknown=AFTER, passes=SERVED)
def out_twenty_seconds_after_a_policy_was_set() -> Sketch:
    return fault(changed(load(130, (82, 88)), 60, 62), 15, 35)


@case(f"{DELIVERED} {OF_MIRRORS}", lost=5)
def lost_at_a_kill_long_after_a_policy_was_set() -> Sketch:
    sketch = fault(changed(load(110), 5, 6), 60, 85)
    sketch.lose(*range(595, 600))
    return sketch


@case(DELIVERED, unknown=ELECTION, lost=1)
def lost_at_a_kill_soon_after_a_policy_was_set() -> Sketch:
    sketch = fault(changed(load(110), 50, 51), 60, 85)
    sketch.lose(599)
    return sketch


# --- a queue that is blocked while it synchronises -----------------------------------------------


@case(unknown=AFTER, passes=SERVED)
def out_while_a_queue_synchronises() -> Sketch:
    return fault(operated(load(130, (61, 89)), 60, 90, moves_leader=False), 15, 35)


@case(AFTER, passes=SERVED)
def out_after_a_queue_had_been_synchronised() -> Sketch:
    return fault(operated(load(130, (100, 110)), 60, 90, moves_leader=False), 15, 35)


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def lost_at_a_kill_while_a_queue_synchronises() -> Sketch:
    """It moves no leader, so it loses nothing."""
    sketch = fault(operated(load(110), 55, 70, moves_leader=False), 60, 85)
    sketch.lose(599)
    return sketch


# --- runs of an older version --------------------------------------------------------------------


def ended_by_itself() -> Sketch:
    """Its records do not say that this change of a leader came from the end of a process."""
    sketch = process_end(fault(load(110, (70, 90)), 15, 35), 70, 90, "itself")
    change = LeadershipChange(ns(70_000) - NOTICED_WITHIN_NS, None)
    sketch.facts["leadership_changes"] = (change,)
    return sketch


@case(AFTER, passes=SERVED)
def a_process_ended_by_itself_in_an_older_run() -> Sketch:
    return ended_by_itself()


@case(unknown=AFTER, passes=SERVED)
def out_after_an_operation_of_an_older_run_whose_end_is_unknown() -> Sketch:
    return as_older_run(fault(operated(load(110, (90, 96)), 60, None), 15, 35))


@case(unknown=AFTER, passes=SERVED)
def out_for_good_since_an_operation_of_an_older_run() -> Sketch:
    """It may have stopped the only copy."""
    return as_older_run(fault(operated(load(130, (62, 130)), 60, 70), 15, 35))


# --- why a loss may need no fault ----------------------------------------------------------------


@pytest.mark.parametrize(("operation_s", "beside"), [((5, 8), False), ((80, 90), True)])
def test_an_operator_is_named_only_if_he_came_near(
    operation_s: tuple[float, float], beside: bool
) -> None:
    sketch = load(110)
    sent = next(key for key, one in sketch.sent.items() if one.at_ms >= 85_900)
    sketch.sent[sent] = replace(sketch.sent[sent], settled_ms=86_400)
    sketch.lose(sent[1])
    _, verdicts = judged(fault(operated(sketch, *operation_s), 60, 85))
    text = str(verdicts[ELECTION])
    assert ("an operator was at work" in text) is beside
    assert ("their confirms were read after the fault" in text) is not beside
