"""Masters that controllers replace: order, delays, transactions and acknowledgements across a
switch, and long before it. What must be said follows from docs/verdicts.md 4.6, 4.7, 5.2, 6, 9 and
11, by each story's argument."""

from typing import Any

import pytest

from spark_analysis.schema.words import Fate, Outcome
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    CONSUMED_AFTER,
    DELIVERED,
    EARLY,
    FIFO,
    IN_SYNC,
    OF_MIRRORS,
    ONE_COPY,
    OVERDUE,
    ROLLED_BACK,
    SERVED,
    TORN,
    UNACKED,
)
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases, failover
from tests.rigs.histories.ways import Via

SWITCH, ORDER = "controllers-switch-the-master", "switch-keeps-order"
WAITING, TWO = "switch-keeps-delayed-messages", "two-replicas-are-enough"
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_switch_of_masters_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- a slave replaces its master -----------------------------------------------------------------


def switched(back_ms: float = 17_050, **declared: Any) -> Sketch:
    """The master is killed at 15 s, and comes back at 35 s; a slave becomes the master."""
    sketch = failover(back_ms)
    controllers = {"elects_by_majority": False, "route_poll_s": 30}
    sketch.declared |= controllers | declared
    return sketch


def pair(back_ms: float = 17_050) -> Sketch:
    """A master and one slave."""
    sketch = switched(back_ms, copies=2)
    sketch.recorded[1] |= {"mirrors_at_fault": 1, "synchronised_mirrors_at_fault": 1}
    return sketch


@case(passes=f"{SWITCH} {ORDER} {IN_SYNC} {DELIVERED} {FIFO} {AFTER}", not_applicable=WAITING)
def a_slave_takes_over_and_nothing_is_lost() -> Sketch:
    return switched()


@case(f"{SWITCH} {SERVED} {TWO}", passes=f"{ORDER} {IN_SYNC} {AFTER}")
def a_pair_waits_for_its_master() -> Sketch:
    return pair(36_050)


@case(passes=f"{SWITCH} {TWO} {ORDER} {IN_SYNC}")
def the_slave_of_a_pair_takes_over() -> Sketch:
    return pair()


@case(f"{DELIVERED} {OF_MIRRORS} {ORDER} {WAITING} {IN_SYNC} {TWO}", lost=1)
def the_slave_of_a_pair_lacks_what_was_confirmed() -> Sketch:
    sketch = pair()
    sketch.lose(149)
    return sketch


@case(f"{DELIVERED} {IN_SYNC}", passes=f"{ORDER} {TWO} {SWITCH}", lost=1)
def a_pair_loses_one_long_before_the_switch() -> Sketch:
    """No switch took it: what came later came in time."""
    sketch = pair()
    sketch.lose(50)
    return sketch


@case(f"{FIFO} {ORDER}", passes=f"{IN_SYNC} {SWITCH}", reordered=1)
def two_are_swapped_at_the_switch() -> Sketch:
    sketch = switched()
    sketch.first(200).move(sketch.first(205).at_ms + 1)
    return sketch


@case(FIFO, passes=f"{ORDER} {SWITCH}", reordered=1)
def two_are_swapped_long_before_the_switch() -> Sketch:
    sketch = switched()
    sketch.first(50).move(sketch.first(55).at_ms + 1)
    return sketch


def two_keys() -> Sketch:
    sketch = switched()
    for (_, sequence, _), one in sketch.sent.items():
        one.named["key"] = sequence % 2
    return sketch


@case(passes=f"{FIFO} {ORDER}", reordered=0)
def one_of_two_keys_is_behind_after_the_switch() -> Sketch:
    """Each key keeps its order."""
    sketch = two_keys()
    for sequence in range(200, 260, 2):
        sketch.first(sequence).move(sketch.first(sequence).at_ms + 1_500)
    for sequence in range(260, 275, 2):
        first = sketch.first(sequence)
        first.move(max(first.at_ms, sketch.first(258).at_ms + sequence / 100))
    return sketch


@case(f"{FIFO} {ORDER}", reordered=1)
def two_of_one_key_are_swapped_after_the_switch() -> Sketch:
    sketch = two_keys()
    sketch.first(200).move(sketch.first(202).at_ms + 1)
    return sketch


# --- messages that wait, and a switch ------------------------------------------------------------


def delayed(sequence: int, due_ms: float, came_ms: float | None) -> Sketch:
    """One delayed message, and the scenario plans no other. Message n is sent at n * 100 ms."""
    sketch = switched(delayed_messages=1, messages_in_transactions=0)
    sketch.history.terms(sequence, due_ms=due_ms)
    if came_ms is None:
        sketch.lose(sequence)
    else:
        sketch.first(sequence).move(came_ms)
    return sketch


@case(passes=f"{EARLY} {ORDER}", not_applicable=f"{OVERDUE} {WAITING}")
def due_while_no_master_serves_and_three_seconds_late() -> Sketch:
    """The switch explains the delay."""
    return delayed(100, 16_000, 19_000)


@case(passes=EARLY, not_applicable=WAITING)
def due_after_the_switch_and_in_time() -> Sketch:
    return delayed(100, 25_000, 25_010)


@case(f"{EARLY} {WAITING}", early=1)
def given_out_at_once_by_the_new_master() -> Sketch:
    return delayed(140, 45_000, 17_500)


@case(EARLY, early=1)
def given_out_at_once_long_before_the_switch() -> Sketch:
    """No switch did that: it came before the fault."""
    return delayed(50, 45_000, 5_100)


@case(EARLY, early=1)
def given_out_at_once_though_it_was_sent_long_after_the_switch() -> Sketch:
    """The fault was over 14 s before the message was sent."""
    return delayed(500, 58_000, 50_100)


@case(f"{DELIVERED} {OF_MIRRORS} {ORDER} {WAITING} {IN_SYNC}", lost=1, early=0)
def forgotten_by_the_new_master_while_it_waits() -> Sketch:
    return delayed(100, 25_000, None)


@case(f"{DELIVERED} {IN_SYNC}", passes=ORDER, lost=1)
def forgotten_long_before_the_switch() -> Sketch:
    return delayed(50, 7_000, None)


def rolled_back(sequence: int, came_ms: float | None) -> Sketch:
    sketch = switched(messages_in_transactions=1, messages_to_commit=0, messages_to_check=0)
    sketch.declared["delayed_messages"] = 0
    sketch.history.terms(sequence, fate=Fate.ROLLBACK)
    sketch.answer(sequence, Outcome.REFUSED)
    sketch.lose(sequence)
    if came_ms is not None:
        sketch.deliver(sequence, came_ms)
    return sketch


@case(f"{ROLLED_BACK} {WAITING}", rolled_back_but_delivered=1)
def rolled_back_and_given_out_by_the_new_master() -> Sketch:
    return rolled_back(140, 17_500)


@case(ROLLED_BACK, rolled_back_but_delivered=1)
def rolled_back_and_given_out_long_before_the_switch() -> Sketch:
    return rolled_back(50, 5_100)


@case(passes=ROLLED_BACK, rolled_back_but_delivered=0)
def rolled_back_before_the_switch_and_never_given_out() -> Sketch:
    return rolled_back(140, None)


def torn(sequence: int) -> Sketch:
    """A commit was confirmed, and the audit finds its half alone."""
    sketch = switched(messages_in_transactions=1, messages_to_commit=1, messages_to_check=0)
    sketch.history.queue(quiet_ms=70_000).terms(sequence, fate=Fate.COMMIT)
    sketch.lose(sequence)
    where: dict[str, Any] = {"consumer": 90, "connection": 9, "place": "broker-a"}
    sketch.deliver(sequence, 71_000, acked=False, via=Via.HALF, **where)
    return sketch


@case(f"{TORN} {DELIVERED} {OF_MIRRORS} {ORDER} {WAITING} {IN_SYNC}", torn_transaction=1)
def torn_at_the_switch() -> Sketch:
    return torn(149)


@case(f"{TORN} {DELIVERED} {IN_SYNC}", torn_transaction=1, stranded=1)
def torn_long_before_the_switch() -> Sketch:
    """What was sent later had come in time before the fault."""
    return torn(50)


# --- duplicates of a switch ----------------------------------------------------------------------


@case(ACKED, duplicated__redelivery_after_ack=1, passes=f"{ORDER} {ONE_COPY}")
def acknowledged_three_seconds_before_the_switch_and_again() -> Sketch:
    sketch = switched()
    sketch.deliver(119, 18_000, again=True, connection=2)
    return sketch


@case(passes=f"{ACKED} {UNACKED} {ONE_COPY} {CONSUMED_AFTER}", duplicated__redelivery=1)
def unacknowledged_at_the_switch_and_again() -> Sketch:
    sketch = switched()
    sketch.forget_to_acknowledge(149)
    sketch.deliver(149, 18_000, again=True, connection=2)
    return sketch
