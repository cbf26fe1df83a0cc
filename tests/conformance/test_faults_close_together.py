"""Faults one into another, one soon after another, and restarts of all nodes in turn. What must be
said follows from docs/verdicts.md 2, 7.3, 9 and 11, by each story's argument."""

import pytest

from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    DELIVERED,
    ELECTION,
    OF_MIRRORS,
    OF_ONE_NODE,
    ONE_COPY,
    SERVED,
    STEADY,
    TAKEN_OVER,
)
from tests.rigs.histories.several_faults import fault, load, operated
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_faults_close_together_are_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- a second fault before clients had time to be back -------------------------------------------


def twice(*out_s: tuple[float, float], again_s: float = 37) -> Sketch:
    """The master is killed from 15 to 35 s, and the next one for 20 s from `again_s` on."""
    return fault(fault(load(85, *out_s), 15, 35), again_s, again_s + 20)


@case(passes=f"{TAKEN_OVER} {DELIVERED} {AFTER}")
def the_new_master_is_killed_two_seconds_after_the_undo() -> Sketch:
    """Each is replaced. After the first one there was no time that could be judged."""
    return twice((15, 17), (37, 39))


@case(passes=f"{TAKEN_OVER} {AFTER}")
def the_new_master_is_killed_ten_seconds_after_the_undo() -> Sketch:
    return twice((15, 17), (45, 47), again_s=45)


@case(unknown=TAKEN_OVER, passes=AFTER)
def out_from_before_the_undo_until_the_second_kill_is_taken_over() -> Sketch:
    """It had begun before the second kill, and too late under the first one."""
    return twice((34.5, 39))


@case(SERVED, passes=AFTER)
def the_first_is_taken_over_and_the_second_waits_for_its_undo() -> Sketch:
    return twice((15, 17), (37, 58))


@case(f"{SERVED} {AFTER}")
def out_for_good_from_the_second_kill_on() -> Sketch:
    return twice((15, 17), (37, 85))


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def lost_two_seconds_after_the_undo_at_the_second_kill() -> Sketch:
    """Both may have taken it, and either way a master was killed and a message lost."""
    sketch = twice((15, 17), (37, 39))
    sketch.lose(369)
    return sketch


# --- one fault within another --------------------------------------------------------------------


def nested(*out_s: tuple[float, float], inner_undo_s: float = 60) -> Sketch:
    """A mirror's host is frozen from 20 s on, under a kill from 15 to 35 s."""
    sketch = fault(load(95, *out_s), 15, 35)
    return fault(sketch, 20, inner_undo_s, "freeze", role="mirror")


@case(passes=f"{AFTER} {DELIVERED}", not_applicable=OF_ONE_NODE)
def a_mirror_freezes_under_a_kill_and_outlasts_it() -> Sketch:
    return nested((15, 17), (20, 22))


@case(passes=AFTER, not_applicable=OF_ONE_NODE)
def out_until_the_later_of_two_undos() -> Sketch:
    """Two of three nodes were away."""
    return nested((20, 61))


@case(AFTER, not_applicable=OF_ONE_NODE)
def out_until_long_after_the_later_of_two_undos() -> Sketch:
    return nested((20, 75))


@case(AFTER, not_applicable=OF_ONE_NODE)
def out_again_long_after_both_undos() -> Sketch:
    return nested((15, 17), (75, 85))


@case(CONSUMED_AFTER, passes=AFTER)
def nothing_is_given_any_more_after_both_undos() -> Sketch:
    sketch = nested((15, 17))
    sketch.hold(70_000, 94_900)
    return sketch


@case(unknown=f"{AFTER} {DELIVERED}")
def the_inner_fault_was_not_verified_and_all_is_served() -> Sketch:
    sketch = fault(load(60, (15, 17)), 15, 35)
    return fault(sketch, 20, 30, "freeze", role="mirror", verified=False)


@case(DELIVERED, unknown=ELECTION, lost=1)
def the_inner_fault_was_not_verified_and_one_is_lost_under_both() -> Sketch:
    sketch = the_inner_fault_was_not_verified_and_all_is_served()
    sketch.lose(240)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def a_second_copy_comes_long_after_both_undos() -> Sketch:
    sketch = nested((15, 17))
    sketch.deliver(850, 90_000)
    return sketch


# --- all nodes are restarted in turn -------------------------------------------------------------


def rolling(*out_s: tuple[float, float]) -> Sketch:
    """Three nodes are restarted: from 20 to 25 s, from 30 to 35 s and from 40 to 45 s."""
    sketch = load(125, *out_s)
    for at_s in (20, 30, 40):
        operated(sketch, at_s, at_s + 5, settles_s=30)
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY} {ACKED}", not_applicable=f"{STEADY} {CONSUMED} {AFTER}")
def three_restarts_and_all_served() -> Sketch:
    return rolling((20, 21), (30, 31), (40, 41))


@case(DELIVERED, lost=1)
def lost_at_the_second_restart() -> Sketch:
    sketch = rolling()
    sketch.lose(299)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_five_seconds_before_a_restart_and_again() -> Sketch:
    sketch = rolling()
    sketch.deliver(150, 32_000, again=True)
    return sketch


@case(passes=DELIVERED, not_applicable=f"{STEADY} {CONSUMED} {AFTER}")
def out_for_good_from_the_last_restart_on() -> Sketch:
    """Without a fault no claim asks who is served beside operations (docs/verdicts.md 11)."""
    return rolling((45, 125))


@case(f"{SERVED}", passes=AFTER)
def three_restarts_and_long_after_them_a_kill_waits_for_its_undo() -> Sketch:
    return fault(rolling((90, 111)), 90, 110)


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def three_restarts_and_long_after_them_a_kill_loses_one() -> Sketch:
    sketch = fault(rolling(), 90, 110)
    sketch.lose(899)
    return sketch


@case(DELIVERED, unknown=ELECTION, lost=1)
def a_kill_amid_three_restarts_loses_one() -> Sketch:
    """The operator, or the fault."""
    sketch = fault(rolling(), 42, 80)
    sketch.lose(419)
    return sketch


@case(AFTER)
def a_kill_amid_three_restarts_and_out_for_good_since_its_undo() -> Sketch:
    return fault(rolling((42, 44), (110, 125)), 42, 100)
