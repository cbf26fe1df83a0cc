"""Ten queues, one of which is worse off than the others, and brokers that limp: all comes, late or
slowly. What must be said follows from docs/verdicts.md 7.1 to 7.5, by each story's argument."""

from typing import Any

import pytest

from spark_analysis.schema.words import Outcome
from tests.rigs.histories.claim_names import (
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    DELIVERED,
    FIFO,
    MISROUTED,
    ONE_COPY,
    SERVED,
    STEADY,
    TAKEN_OVER,
    WORKS_ON,
)
from tests.rigs.histories.several_faults import fault, load
from tests.rigs.histories.sketches import (
    DRAIN,
    SentAttempt,
    Sketch,
    SketchCase,
    SketchCases,
    SketchedDelivery,
)
from tests.rigs.histories.ways import Via

CASES = SketchCases()
case = CASES.case
BAD = 3  # the queue that is worse off


@pytest.mark.parametrize("one", CASES, ids=str)
def test_ten_queues_are_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def ten(until_s: float = 100, **options: Any) -> Sketch:
    """Message n goes to queue n modulo 10: one a second to each."""
    sketch = load(until_s, **options)
    sketch.history.no_queue_end()
    for number in range(10):
        sketch.history.queue(f"q{number}")
    for (_, sequence, _), one in sketch.sent.items():
        one.named["queue"] = f"q{sequence % 10}"
    return sketch


def killed(sketch: Sketch, undo_s: float = 45) -> Sketch:
    return fault(sketch, 15, undo_s)


def sent_to(sketch: Sketch, queue: int, from_s: float, until_s: float) -> list[SentAttempt]:
    sent = sketch.sent.items()
    times = (from_s * 1_000, until_s * 1_000)
    return [
        one
        for (_, sequence, _), one in sent
        if sequence % 10 == queue and times[0] <= one.at_ms < times[1]
    ]


def out(sketch: Sketch, from_s: float, until_s: float, queue: int = BAD) -> Sketch:
    """What is sent to this queue in that time is never confirmed, and gone."""
    for one in sent_to(sketch, queue, from_s, until_s):
        one.outcomes, one.settled_ms = (Outcome.UNKNOWN,), one.at_ms + 1_000
        sketch.lose(round(one.at_ms - 50) // 100)
    return sketch


def of_bad(sketch: Sketch, from_s: float, until_s: float) -> list[SketchedDelivery]:
    since = sketch.since(from_s * 1_000, until_s * 1_000)
    return [one for one in since if one.sequence % 10 == BAD]


# --- one of ten is not served --------------------------------------------------------------------


@case(passes=f"{TAKEN_OVER} {AFTER} {DELIVERED} {CONSUMED_AFTER} {FIFO} {MISROUTED} {ONE_COPY}")
def all_ten_are_served() -> Sketch:
    return killed(ten())


@case(SERVED, passes=f"{AFTER} {DELIVERED}")
def one_of_ten_waits_for_the_undo() -> Sketch:
    """Nine are taken over. The tenth has no master."""
    return out(killed(ten()), 15, 46)


@case(f"{SERVED} {AFTER}")
def one_of_ten_never_comes_back() -> Sketch:
    return out(killed(ten()), 15, 100)


@case(AFTER, passes=TAKEN_OVER)
def one_of_ten_is_out_long_after_the_undo() -> Sketch:
    return out(killed(ten()), 60, 70)


@case(passes=f"{AFTER} {TAKEN_OVER}")
def one_of_ten_has_one_late_publish_after_the_undo() -> Sketch:
    return out(killed(ten()), 60, 61)


@case(STEADY)
def one_of_ten_is_out_for_eight_seconds_without_a_fault() -> Sketch:
    return out(ten(), 30, 38)


@case(STEADY)
def each_of_ten_is_out_for_two_seconds_in_turn() -> Sketch:
    """The cluster as a whole always serves nine."""
    sketch = ten()
    for queue in range(10):
        out(sketch, 20 + 3 * queue, 22 + 3 * queue, queue)
    return sketch


@case(unknown=STEADY)
def each_of_ten_has_one_late_publish_in_turn() -> Sketch:
    """Of no queue more is late than any may have; of all together it is."""
    sketch = ten()
    for queue in range(10):
        out(sketch, 20 + queue, 21 + queue, queue)
    return sketch


@case(DELIVERED, passes=f"{AFTER} {TAKEN_OVER}", lost=1)
def one_of_ten_loses_one_long_after_the_fault() -> Sketch:
    sketch = killed(ten())
    sketch.lose(703)
    return sketch


@case(FIFO, passes=MISROUTED, reordered=1)
def one_of_ten_swaps_two() -> Sketch:
    sketch = killed(ten())
    sketch.first(703).move(sketch.first(713).at_ms + 1)
    return sketch


@case(passes=FIFO, reordered=0)
def one_of_ten_is_behind_all_others() -> Sketch:
    """Two queues promise no order between them."""
    sketch = killed(ten())
    for one in of_bad(sketch, 50, 99):
        one.move(one.at_ms + 950)
    return sketch


@case(MISROUTED, misrouted=1, lost=0)
def one_of_ten_gets_what_was_sent_to_another() -> Sketch:
    sketch = killed(ten())
    sketch.first(703).named["queue"] = "q4"
    return sketch


# --- one of ten gives nothing --------------------------------------------------------------------


@case(CONSUMED, passes=STEADY)
def one_of_ten_gives_nothing_for_eight_seconds() -> Sketch:
    sketch = ten()
    for place, one in enumerate(of_bad(sketch, 30, 38)):
        one.move(38_300 + place)
    return sketch


@case(passes=f"{CONSUMED} {STEADY}")
def one_of_ten_gives_nothing_for_four_seconds() -> Sketch:
    sketch = ten()
    for place, one in enumerate(of_bad(sketch, 30, 34)):
        one.move(34_300 + place)
    return sketch


@case(CONSUMED_AFTER, passes=AFTER)
def one_of_ten_gives_nothing_any_more_after_the_undo() -> Sketch:
    sketch = killed(ten())
    for place, one in enumerate(of_bad(sketch, 50, 101)):
        one.move(110_000 + place)
        one.named |= {"via": Via.DRAIN, "consumer": DRAIN, "connection": 9}
    return sketch


@case(WORKS_ON, passes=f"{TAKEN_OVER} {AFTER}")
def one_of_ten_takes_messages_and_gives_none_until_the_undo() -> Sketch:
    """Publishers see nothing of it."""
    sketch = killed(ten())
    for place, one in enumerate(of_bad(sketch, 15, 45.2)):
        one.move(45_300 + place)
    return sketch


# --- brokers that limp ---------------------------------------------------------------------------


def limping(sketch: Sketch, from_s: float, until_s: float, in_time: int = 20) -> Sketch:
    """One of so many publishes is confirmed at once, and all others after 3 s."""
    for (_, sequence, _), one in sketch.sent.items():
        if from_s * 1_000 <= one.at_ms < until_s * 1_000 and sequence % in_time:
            one.settled_ms = one.at_ms + 3_000
    return sketch


@case(SERVED, passes=f"{AFTER} {DELIVERED}")
def five_percent_are_served_until_the_undo() -> Sketch:
    return limping(killed(load(100)), 15, 46)


@case(f"{SERVED} {AFTER}", passes=DELIVERED)
def five_percent_are_served_from_the_fault_on() -> Sketch:
    return limping(killed(load(100)), 15, 100)


@case(AFTER, passes=f"{TAKEN_OVER} {DELIVERED}")
def five_percent_are_served_from_long_after_the_undo_on() -> Sketch:
    return limping(killed(load(100)), 60, 100)


@case(STEADY, passes=DELIVERED)
def five_percent_are_served_without_a_fault() -> Sketch:
    return limping(load(60), 20, 40)


@case(unknown=STEADY, passes=DELIVERED)
def nine_of_ten_are_served_without_a_fault() -> Sketch:
    """The rate may be too high for the machine."""
    sketch = load(60)
    for (_, sequence, _), one in sketch.sent.items():
        if 20_000 <= one.at_ms < 40_000 and not sequence % 10:
            one.settled_ms = one.at_ms + 3_000
    return sketch


@case(f"{SERVED} {AFTER}", passes=DELIVERED)
def one_of_ten_limps_from_the_fault_on() -> Sketch:
    sketch = killed(ten())
    for one in sent_to(sketch, BAD, 15, 100):
        one.settled_ms = one.at_ms + 1_500
    return sketch


@case(passes=f"{TAKEN_OVER} {AFTER} {DELIVERED}")
def one_of_ten_takes_almost_its_deadline_from_the_fault_on() -> Sketch:
    sketch = killed(ten())
    for one in sent_to(sketch, BAD, 15, 100):
        one.settled_ms = one.at_ms + 990
    return sketch


@case(SERVED, passes=AFTER)
def one_of_ten_is_up_for_five_seconds_and_down_for_five_until_the_undo() -> Sketch:
    sketch = killed(ten(140), 75)
    for from_s in range(15, 75, 10):
        out(sketch, from_s, from_s + 5)
    return sketch


@case(passes=f"{TAKEN_OVER} {AFTER}")
def one_of_ten_is_down_for_five_seconds_once() -> Sketch:
    return out(killed(ten(140), 75), 15, 20)
