"""Claims over several fault windows: promises and warnings that hold in one window, fail in
another, or cannot be judged in a third. What must be said follows from docs/verdicts.md 9 and 11,
by the argument of each story."""

from dataclasses import replace

import pytest

from tests.rigs.histories.by_hand import CONSUMER, ns
from tests.rigs.histories.claim_names import (
    AFTER,
    DELIVERED,
    ELECTION,
    HOSTS,
    OF_MIRRORS,
    OF_ONE_NODE,
    REQUEUED,
    SERVED,
    TAKEN_OVER,
    UNSYNCHRONISED,
    WORKS_ON,
)
from tests.rigs.histories.several_faults import fault, frozen, load, operated
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases
from tests.rigs.histories.ways import Via

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_claim_over_several_windows_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- a warning: PASS means that the harm came, FAIL that it did not ------------------------------


def unsynchronised(*, synchronised: tuple[int, ...] = (), verified: int = 0) -> Sketch:
    """The master is killed at 15 and at 70 s, and mirrors lack messages then. `synchronised`:
    windows in which they do not. `verified`: the one that was not verified."""
    sketch = load(130)
    sketch.declared["promote_on_failure"] = "always"
    for number, at_s in ((1, 15), (2, 70)):
        fault(sketch, at_s, at_s + 20, verified=number != verified)
        if number not in synchronised:
            sketch.recorded[number]["synchronised_mirrors_at_fault"] = 0
    return sketch


@case(f"{DELIVERED} {WORKS_ON}", passes=UNSYNCHRONISED, lost=1)
def foretold_harm_came_in_the_first_of_two_windows() -> Sketch:
    sketch = unsynchronised()
    sketch.lose(149)
    return sketch


@case(f"{DELIVERED} {WORKS_ON}", passes=UNSYNCHRONISED, lost=1)
def foretold_harm_came_in_the_second_of_two_windows() -> Sketch:
    sketch = unsynchronised()
    sketch.lose(699)
    return sketch


@case(f"{DELIVERED} {WORKS_ON}", passes=UNSYNCHRONISED, lost=1)
def foretold_harm_came_in_either_of_two_windows() -> Sketch:
    """No consumer read the queue in between."""
    sketch = unsynchronised()
    sketch.history.no_consumer()
    sketch.declared |= {"consumers": 0, "acknowledges": False}
    for one in sketch.came:
        one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        one.move(150_000 + one.sequence / 100)
    sketch.lose(140)
    return sketch


@case(f"{DELIVERED} {WORKS_ON}", unknown=UNSYNCHRONISED, lost=1)
def foretold_harm_came_and_the_other_kill_took_no_effect() -> Sketch:
    """Of a run that is in doubt nothing holds."""
    sketch = unsynchronised(verified=2)
    sketch.lose(149)
    return sketch


@case(unknown=UNSYNCHRONISED)
def foretold_harm_did_not_come_and_the_other_kill_took_no_effect() -> Sketch:
    return unsynchronised(verified=2)


@case(DELIVERED, unknown=UNSYNCHRONISED, lost=1)
def foretold_harm_came_while_an_operator_restarted_a_node() -> Sketch:
    sketch = operated(unsynchronised(synchronised=(2,)), 14, 18)
    sketch.lose(149)
    return sketch


@case(f"{DELIVERED} {ELECTION} {WORKS_ON}", lost=1)
def lost_in_the_window_of_synchronised_mirrors_alone() -> Sketch:
    """The warning speaks of the other window."""
    sketch = unsynchronised(synchronised=(2,))
    sketch.declared["confirm_waits_for_mirrors"] = False
    sketch.lose(699)
    return sketch


@case(f"{DELIVERED} {WORKS_ON}", passes=UNSYNCHRONISED, lost=2)
def foretold_harm_came_beside_a_loss_that_no_fault_caused() -> Sketch:
    sketch = unsynchronised()
    sketch.lose(149, 500)
    return sketch


# --- promises ------------------------------------------------------------------------------------


@case(unknown=f"{SERVED} {AFTER}")
def taken_over_and_a_second_kill_is_too_short() -> Sketch:
    return fault(fault(load(120, (15, 17)), 15, 40), 80, 83)


@case(SERVED, unknown=AFTER)
def out_until_the_undo_and_a_second_kill_is_too_short() -> Sketch:
    return fault(fault(load(120, (15, 41)), 15, 40), 80, 83)


@case(unknown=SERVED)
def a_mirror_and_then_the_master_for_too_short_a_time() -> Sketch:
    return fault(fault(load(120), 15, 40, role="mirror"), 80, 83)


@case(not_applicable=OF_ONE_NODE, passes=AFTER)
def two_mirrors_one_after_the_other() -> Sketch:
    return fault(fault(load(120), 15, 40, role="mirror"), 70, 95, role="mirror")


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def a_mirror_and_then_the_master_which_loses_one() -> Sketch:
    sketch = fault(fault(load(120), 15, 40, role="mirror"), 70, 95)
    sketch.lose(699)
    return sketch


@case(DELIVERED, passes=ELECTION, lost=1)
def a_mirror_which_loses_one_and_then_the_master() -> Sketch:
    sketch = fault(fault(load(120), 15, 40, role="mirror"), 70, 95)
    sketch.lose(149)
    return sketch


@case(SERVED, passes=ELECTION)
def a_stop_is_taken_over_and_a_kill_is_not() -> Sketch:
    return fault(fault(load(130, (70, 96)), 15, 40, "stop"), 70, 95)


@case(f"{TAKEN_OVER} {WORKS_ON}", passes=f"{HOSTS} {ELECTION}")
def a_freeze_is_not_taken_over_and_a_kill_is() -> Sketch:
    """The claim about lists of hosts speaks of no frozen host."""
    return fault(fault(load(130, (15, 41)), 15, 40, "freeze"), 70, 95)


@case(passes=f"{SERVED} {ELECTION}")
def taken_over_beside_an_alarm_that_blocked_publishers() -> Sketch:
    """An alarm is a fault of another kind; these claims speak of none."""
    return fault(fault(load(130, (15, 41)), 15, 40, "alarm"), 70, 95)


@case(not_applicable=AFTER, passes=TAKEN_OVER)
def taken_over_and_the_host_never_returned() -> Sketch:
    sketch = fault(load(100, (15, 17)), 15, None, gone=False)
    windows = sketch.history.facts.windows
    sketch.facts["windows"] = tuple(replace(one, gone=True) for one in windows)
    return sketch


@case(unknown=REQUEUED)
def redelivered_after_the_first_of_two_kills_or_by_a_frozen_consumer() -> Sketch:
    sketch = frozen(fault(load(130), 15, 35), CONSUMER, 16, 20)
    sketch.forget_to_acknowledge(149)
    sketch.deliver(149, 22_000, again=True)
    return sketch


@case(passes=f"{SERVED} {AFTER}")
def the_same_instant_ends_one_fault_and_begins_the_next() -> Sketch:
    """Their undo had returned by then."""
    sketch = fault(load(150, (15, 17)), 15, 45, gone_s=45.02)
    return fault(sketch, 50, 75)


@case(DELIVERED, passes=ELECTION, lost=1)
def lost_in_the_judged_time_of_a_kill_that_was_over() -> Sketch:
    """A window is judged until the next one, but its influence ends when it is over."""
    sketch = fault(fault(load(130), 15, 35), 90, 110)
    sketch.lose(600)
    return sketch


@case(DELIVERED, unknown=ELECTION, lost=1)
def lost_after_a_kill_whose_influence_has_no_end_on_record() -> Sketch:
    """Both kills may have caused it, or none of them; the second began later."""
    sketch = fault(fault(load(130), 15, 35, over=False), 60.5, 85, role="mirror")
    sketch.lose(600)
    return sketch


@case(DELIVERED, unknown=OF_MIRRORS, lost=1)
def lost_long_after_a_kill_whose_influence_has_no_end_on_record() -> Sketch:
    """That kill may have caused it, or no fault: the end of its influence is not on record."""
    sketch = fault(load(130), 15, 35, over=False)
    sketch.lose(600)
    return sketch


@case(DELIVERED, passes=ELECTION, lost=1)
def lost_before_the_first_of_two_kills_and_its_end_is_not_on_record() -> Sketch:
    sketch = fault(fault(load(130), 15, 35, over=False), 70, 90)
    sketch.lose(100)
    return sketch


def late_start(sketch: Sketch, number: int, at_s: float) -> Sketch:
    """The window's action had returned at that time only."""
    windows = list(sketch.history.facts.windows)
    windows[number - 1] = replace(windows[number - 1], returned_ns=ns(at_s * 1_000))
    sketch.facts["windows"] = tuple(windows)
    return sketch


@case(DELIVERED, not_applicable=OF_ONE_NODE, lost=1)
def a_second_kill_began_while_the_action_of_the_first_had_not_returned() -> Sketch:
    sketch = late_start(fault(fault(load(110), 15, 45), 20, 50), 1, 22)
    sketch.lose(199)
    return sketch
