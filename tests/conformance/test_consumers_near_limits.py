"""Consumers, and measured times, near the limits of the rules: one millisecond, or one message,
separates neighbours. What must be said was written down before anything judged it."""

from typing import Any

import pytest

from spark_analysis.schema.words import Outcome, Via
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, QUEUE, ns
from tests.rigs.histories.claim_names import (
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    FIFO,
    STEADY,
    TAKEN_OVER,
    WORKS_ON,
)
from tests.rigs.histories.sketches import OTHER, Sketch, SketchCase, SketchCases, calm, judged

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_consumer_near_a_limit_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def killed(until_s: float = 60, undo_s: float = 35, **options: Any) -> Sketch:
    sketch = calm(until_s * 1_000, **options)
    sketch.fault(15_000, undo_s * 1_000)
    return sketch


def drained(sketch: Sketch, from_ms: float) -> Sketch:
    """Consumers get nothing from then on; the drain gets all of it."""
    for one in sketch.since(from_ms):
        one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        one.move(sketch.history.facts.load_ended_ns / 1e6 + 10_000 + one.sequence / 1_000)
    return sketch


# --- the steady state ----------------------------------------------------------------------------


def held_until(at_ms: float) -> Sketch:
    """The first message that waits is confirmed at 15.055 s, and comes then."""
    sketch = calm()
    sketch.hold(15_000, at_ms - 1)
    return sketch


@case(passes=CONSUMED)
def the_first_waits_for_5000_ms() -> Sketch:
    return held_until(20_055)


@case(CONSUMED)
def the_first_waits_for_5001_ms() -> Sketch:
    return held_until(20_056)


@case(CONSUMED)
def nothing_comes_in_the_first_eight_seconds_of_the_load() -> Sketch:
    """Consumers have no time to warm up."""
    sketch = calm()
    sketch.hold(0, 8_000)
    return sketch


@case(passes=f"{CONSUMED} {STEADY}")
def nothing_is_sent_for_18_seconds() -> Sketch:
    sketch = calm(60_000)
    for key, one in [*sketch.sent.items()]:
        if 10_000 <= one.at_ms < 28_000:
            del sketch.sent[key]
            sketch.lose(key[1])
    return sketch


@case(unknown=CONSUMED)
def nothing_is_given_any_more_from_4900_ms_before_the_load_ends() -> Sketch:
    """What lies behind the load is not judged, and within it none waited for more than 5 s. But
    the queue may be dead."""
    return drained(calm(), 25_100)


@case(CONSUMED)
def nothing_is_given_any_more_from_5100_ms_before_the_load_ends() -> Sketch:
    return drained(calm(), 24_900)


@case(passes=CONSUMED)
def consumers_are_always_four_seconds_late() -> Sketch:
    sketch = calm()
    for one in sketch.came:
        one.move(one.at_ms + 4_000)
    return sketch


def slower_than_the_load(every_ms: float, until_s: float = 60) -> Sketch:
    """Consumers receive one message each `every_ms`, in order: the backlog grows."""
    sketch = calm(until_s * 1_000)
    for place, one in enumerate(sketch.came):
        one.move(60 + place * every_ms)
    return sketch


@case(passes=f"{CONSUMED} {FIFO}")
def a_backlog_that_grows_makes_deliveries_late() -> Sketch:
    return slower_than_the_load(188)


def two_queues(until_s: float = 60) -> Sketch:
    """The drain alone empties the second."""
    sketch = calm(until_s * 1_000)
    sketch.history.queue("payments").worker(4, "publisher")
    sketch.flow(60, until_s * 1_000, producer=4, queue="payments")
    for one in sketch.came:
        if "producer" in one.named:
            one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
            one.move(until_s * 1_000 + 10_000 + one.sequence / 1_000)
    return sketch


@case(CONSUMED)
def a_queue_without_readers_and_one_that_gives_its_readers_nothing() -> Sketch:
    sketch = two_queues()
    of_orders = [one for one in sketch.since(15_000, 23_000) if "producer" not in one.named]
    for place, one in enumerate(of_orders):
        one.move(23_001 + place * 0.05)
    return sketch


# --- under a fault -------------------------------------------------------------------------------


@case(unknown=WORKS_ON, passes=TAKEN_OVER)
def what_is_sent_into_the_fault_waits_behind_a_backlog() -> Sketch:
    """All the time the queue gives what came before."""
    sketch = slower_than_the_load(188)
    sketch.fault(15_000, 30_000)
    return sketch


@case(unknown=WORKS_ON)
def nothing_that_is_sent_into_the_fault_comes_before_a_backlog_is_gone() -> Sketch:
    sketch = slower_than_the_load(188)
    sketch.fault(15_000, 27_900)
    return sketch


@case(WORKS_ON, passes=TAKEN_OVER)
def a_backlog_stands_still_under_the_fault() -> Sketch:
    sketch = slower_than_the_load(188)
    sketch.fault(15_000, 30_000)
    sketch.hold(15_000, 30_500)
    return sketch


def half_of_what_came(share: int) -> Sketch:
    """Of ten messages that are sent into the fault consumers get so many in time."""
    sketch = killed()
    for one in sketch.since(15_000, 35_000):
        if one.sequence % 10 >= share:
            one.named["queue"] = QUEUE
            one.move(35_500 + one.sequence / 1_000)
    sketch.history.queue(ordered=False)
    return sketch


@case(passes=WORKS_ON)
def half_of_the_messages_come_under_the_fault() -> Sketch:
    return half_of_what_came(5)


@case(unknown=WORKS_ON)
def four_of_ten_come_under_the_fault() -> Sketch:
    return half_of_what_came(4)


@case(WORKS_ON)
def none_comes_under_the_fault() -> Sketch:
    return half_of_what_came(0)


@case(unknown=WORKS_ON)
def nothing_comes_under_a_fault_that_is_short() -> Sketch:
    """Publishing goes on at once. Clients may need 2 s, a deadline, and 5 s more."""
    sketch = killed(undo_s=22.9)
    sketch.hold(15_000, 23_000)
    return sketch


def another_is_active(ordered: bool) -> Sketch:
    """Two consumers are there all the time. The fault cuts the first one off; it is back soon, and
    from then on the second one alone gets everything."""
    sketch = killed()
    sketch.history.queue(ordered=ordered).worker(OTHER, "consumer")
    events = sketch.history.client_event("consuming", at_ms=2, worker=OTHER)
    events.client_event("lost", at_ms=15_010)
    events.client_event("consuming", at_ms=16_000, connection=2)
    for one in sketch.since(15_000):
        one.named["consumer"] = OTHER
    return sketch


@case(passes=f"{WORKS_ON} {TAKEN_OVER} {FIFO}")
def the_next_consumer_becomes_the_active_one_of_an_ordered_queue() -> Sketch:
    return another_is_active(ordered=True)


@case(WORKS_ON, passes=TAKEN_OVER)
def one_of_two_consumers_that_share_a_queue_gets_nothing_any_more() -> Sketch:
    return another_is_active(ordered=False)


@case(WORKS_ON, passes=TAKEN_OVER)
def neither_consumer_of_an_ordered_queue_gets_anything() -> Sketch:
    sketch = another_is_active(ordered=True)
    sketch.hold(15_000, 35_500)
    return sketch


# --- after a fault -------------------------------------------------------------------------------


def starved_until(at_ms: float) -> Sketch:
    """Clients had time to reconnect until 38.05 s."""
    sketch = killed()
    for one in sketch.since(35_000, at_ms):
        one.move(at_ms)
    return sketch


@case(passes=f"{CONSUMED_AFTER} {AFTER}")
def starved_until_5000_ms_after_clients_had_time_to_reconnect() -> Sketch:
    return starved_until(43_050)


@case(CONSUMED_AFTER, passes=AFTER)
def starved_until_5001_ms_after_clients_had_time_to_reconnect() -> Sketch:
    return starved_until(43_051)


@case(unknown=CONSUMED_AFTER, passes=AFTER)
def starved_while_the_consumer_stalls() -> Sketch:
    sketch = starved_until(45_000)
    sketch.history.stall(CONSUMER, at_ms=45_000, late_ms=6_000)
    return sketch


@case(unknown=CONSUMED_AFTER, passes=AFTER)
def starved_for_longer_than_a_clock_may_be_off_or_not() -> Sketch:
    sketch = starved_until(43_500)
    sketch.history.clock(CONSUMER, 500)
    return sketch


def silent_at_the_end(*, before_ms: float = 0, at_end_ms: float) -> Sketch:
    """The judged time ends at 60 s, in a silence. Another one began at 45 s."""
    sketch = killed()
    sketch.hold(45_000, 45_000 + before_ms)
    sketch.hold(60_000 - at_end_ms, 60_000)
    return sketch


@case(unknown=CONSUMED_AFTER, passes=AFTER)
def the_judged_time_ends_in_a_silence_of_four_seconds() -> Sketch:
    """It may last for longer than 5 s."""
    return silent_at_the_end(at_end_ms=4_000)


@case(unknown=CONSUMED_AFTER, passes=AFTER)
def the_judged_time_ends_in_a_silence_after_a_longer_one() -> Sketch:
    """That another one lasted 4.9 s says nothing of how long the last one will."""
    return silent_at_the_end(before_ms=4_900, at_end_ms=4_000)


@case(CONSUMED_AFTER, passes=AFTER)
def the_judged_time_ends_in_a_silence_after_a_starvation() -> Sketch:
    return silent_at_the_end(before_ms=5_200, at_end_ms=4_000)


@case(passes=f"{CONSUMED_AFTER} {AFTER}")
def the_judged_time_ends_in_a_silence_of_two_seconds() -> Sketch:
    return silent_at_the_end(before_ms=4_900, at_end_ms=2_000)


@case(unknown=CONSUMED_AFTER, passes=AFTER)
def the_judged_time_ends_in_a_silence_by_clocks_that_may_be_off() -> Sketch:
    sketch = silent_at_the_end(at_end_ms=4_000)
    sketch.history.clock(CONSUMER, 10)
    return sketch


@case(WORKS_ON, passes=f"{CONSUMED_AFTER} {AFTER}")
def a_backlog_of_the_fault_is_given_slowly() -> Sketch:
    """In order, twice as fast as the load, from the undo on: the last came 20 s late."""
    sketch = killed(80)
    for place, one in enumerate(sketch.since(15_000)):
        one.move(max(one.at_ms, 36_000 + place * 50))
    return sketch


# --- measured times ------------------------------------------------------------------------------


def times(sketch: Sketch, stage: str) -> tuple[bool, float]:
    """Whether the stage was reached, and after how many seconds."""
    (row,) = [row for row in judged(sketch)[0].stages if row.stage == stage]
    return row.reached, row.after_ns / 1e9


def outages(sketch: Sketch, scope: str = "run") -> list[tuple[float, float, str]]:
    rows = sorted(row for row in judged(sketch)[0].outages if row.scope == scope)
    return [(row.from_ns / 1e9, row.until_ns / 1e9, row.ended) for row in rows]


def silence(sketch: Sketch, window: int = 0) -> tuple[float, bool]:
    """The longest time without a confirm, and whether a later confirm is missing."""
    rows = judged(sketch)[0].availability
    (row,) = [row for row in rows if (row.window, row.queue) == (window, "")]
    return row.silence_ns / 1e9, row.silence_censored


def out(sketch: Sketch, *spans_s: tuple[float, float]) -> Sketch:
    for from_s, end_s in spans_s:
        sketch.silence(from_s * 1_000, end_s * 1_000)
    return sketch


@pytest.mark.parametrize(
    ("sent_ms", "after_s"), [(15_050, 0.055), (15_020, 0.055), (15_019, 2.055)]
)
def test_the_first_confirm_is_of_what_was_sent_when_the_action_had_returned(
    sent_ms: float, after_s: float
) -> None:
    sketch = out(killed(), (15.1, 17))
    sketch.sent[PUBLISHER, 150, 1].at_ms = sent_ms
    assert times(sketch, "first_success") == (True, after_s)


def test_a_late_confirm_of_what_was_sent_before_the_fault_is_no_first_confirm() -> None:
    sketch = out(killed(), (15, 17))
    sketch.answer(149, Outcome.CONFIRMED, settled_ms=15_500)
    assert times(sketch, "first_success") == (True, 2.055)


def test_a_confirm_after_a_timeout_is_the_first_confirm() -> None:
    sketch = out(killed(), (15, 17))
    sketch.answer(150, Outcome.UNKNOWN, Outcome.CONFIRMED, settled_ms=16_900)
    assert times(sketch, "first_success") == (True, 1.9)


def test_without_a_confirm_the_time_is_a_lower_bound() -> None:
    assert times(out(killed(), (15, 60)), "first_success") == (False, 45.0)
    assert times(out(killed(), (15, 60)), "sustained_success") == (False, 45.0)
    assert outages(out(killed(), (15, 60))) == [(15.05, 60.0, "never")]
    assert silence(out(killed(), (15, 60)), 1) == (44.95, True)


def test_two_outages_under_one_fault_are_two() -> None:
    sketch = out(killed(110, 75), (15, 17), (45, 48))
    assert outages(sketch) == [(15.05, 17.05, "system"), (45.05, 48.05, "system")]


def test_an_outage_that_begins_after_the_undo_is_the_systems() -> None:
    assert outages(out(killed(), (36, 39))) == [(36.05, 39.05, "system")]


def test_an_outage_before_the_fault_is_an_outage_of_its_own() -> None:
    assert outages(out(killed(90, 75), (11, 13), (45, 48))) == [
        (11.05, 13.05, "system"),
        (45.05, 48.05, "system"),
    ]


def test_late_deliveries_are_no_outage() -> None:
    def late() -> Sketch:
        sketch = killed()
        for one in sketch.came:
            one.move(one.at_ms + 3_000)
        return sketch

    assert outages(late()) == []
    assert times(late(), "consumers_resumed") == (True, 3.06)


def test_the_backlog_is_gone_when_no_message_waits_longer_than_a_deadline() -> None:
    def late() -> Sketch:
        sketch = killed()
        sketch.hold(15_000, 20_000)
        return sketch

    assert times(late(), "consumers_resumed") == (True, 5.001)
    reached, after_s = times(late(), "backlog_drained")
    assert reached and after_s == pytest.approx(5.0, abs=0.01)


def test_time_in_which_nothing_is_due_is_no_silence() -> None:
    sketch = calm(60_000)
    for key, one in [*sketch.sent.items()]:
        if 10_000 <= one.at_ms < 28_000:
            del sketch.sent[key]
            sketch.lose(key[1])
    assert silence(sketch) == (0.005, False)


def test_a_publisher_in_a_closed_loop_that_waits_for_its_confirm_meets_silence() -> None:
    sketch = calm(60_000, paced=False)
    for key, one in [*sketch.sent.items()]:
        if 10_000 <= one.at_ms < 28_000:
            del sketch.sent[key]
            sketch.lose(key[1])
    sketch.answer(99, Outcome.CONFIRMED, settled_ms=27_900)
    assert silence(sketch) == (18.045, False)


def test_the_longest_time_without_a_confirm_ends_with_a_confirm() -> None:
    assert silence(out(killed(), (15, 17)), 1) == (2.005, False)


def test_without_a_later_confirm_it_is_a_lower_bound() -> None:
    sketch = out(killed(), (15, 17))
    sketch.facts["load_ended_ns"] = ns(16_000)
    assert silence(sketch, 1) == (0.95, True)
