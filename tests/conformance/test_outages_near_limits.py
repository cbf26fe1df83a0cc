"""Outages near the limits of the rules: one millisecond, or one message, separates neighbours.
What must be said was written down before anything judged it."""

from typing import Any

import pytest

from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import PUBLISHER, QUEUE, History, ns
from tests.rigs.histories.claim_names import (
    AFTER,
    DOWN,
    ELECTED,
    HOSTS,
    SERVED,
    STEADY,
    TAKEN_OVER,
    WORKS_ON,
)
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases, calm

CASES = SketchCases()
case = CASES.case
SECONDS, POLL = "election-takes-seconds", "broken-links-are-noticed-soon"
BLOCKS, SILENT_MIRROR = "memory-alarm-blocks-publishers", "silent-mirror-is-noticed-late"
OTHERS = "other-masters-take-over"
SECOND = 4  # a publisher


@pytest.mark.parametrize("one", CASES, ids=str)
def test_an_outage_near_a_limit_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def out(*spans_s: tuple[float, float], until_s: float = 40, **options: Any) -> Sketch:
    """No fault; nothing of these times is confirmed."""
    sketch = calm(until_s * 1_000, **options)
    for from_s, end_s in spans_s:
        sketch.silence(from_s * 1_000, end_s * 1_000)
    return sketch


def killed(
    *spans_s: tuple[float, float],
    until_s: float = 60,
    undo_s: float = 35,
    kind: str = "kill",
    role: str = "master",
    **options: Any,
) -> Sketch:
    """A fault at 15 s, and outages."""
    sketch = out(*spans_s, until_s=until_s, **options)
    sketch.fault(15_000, undo_s * 1_000, kind=kind, role=role)
    return sketch


def beside(
    sketch: Sketch,
    *late_s: tuple[float, float],
    every_ms: int = 100,
    queue: str = QUEUE,
    from_s: float = 0,
    until_s: float = 60,
) -> Sketch:
    """A second publisher, perhaps of another queue."""
    sketch.history.worker(SECOND, "publisher").queue(queue)
    for number, at_ms in enumerate(
        range(round(from_s * 1_000) + 60, round(until_s * 1_000), every_ms)
    ):
        named = {"producer": SECOND, "queue": queue}
        if any(since_s * 1_000 <= at_ms < end_s * 1_000 for since_s, end_s in late_s):
            sketch.send(number, at_ms, Outcome.UNKNOWN, settled_ms=at_ms + 1_000, **named)
        else:
            sketch.send(number, at_ms, **named)
            sketch.deliver(number, at_ms + 10, producer=SECOND)
    return sketch


def late(sketch: Sketch, *sequences: int) -> Sketch:
    """These alone are never confirmed."""
    for sequence in sequences:
        at_ms = sketch.sent[PUBLISHER, sequence, 1].at_ms
        sketch.silence(at_ms, at_ms + 1)
    return sketch


def unanswered(sketch: Sketch, from_s: float) -> Sketch:
    """The publisher leaves without these answers."""
    for one in sketch.attempts(from_s * 1_000, 10**9):
        one.settled_ms = None
    return sketch


def answered_after(sketch: Sketch, ms: float, *outcomes: Outcome) -> Sketch:
    for one in sketch.sent.values():
        one.settled_ms, one.outcomes = one.at_ms + ms, outcomes or one.outcomes
    return sketch


# --- the deadline --------------------------------------------------------------------------------


@case(passes=STEADY)
def each_is_confirmed_at_its_deadline() -> Sketch:
    return answered_after(calm(), 1_000)


@case(STEADY)
def each_is_confirmed_one_ms_after_its_deadline() -> Sketch:
    return answered_after(calm(), 1_001)


@case(passes=STEADY)
def each_times_out_and_is_confirmed_in_time_all_the_same() -> Sketch:
    return answered_after(calm(), 900, Outcome.UNKNOWN, Outcome.CONFIRMED)


@case(STEADY)
def each_times_out_and_is_confirmed_too_late() -> Sketch:
    return answered_after(calm(), 1_001, Outcome.UNKNOWN, Outcome.CONFIRMED)


def retried(again_after_ms: float) -> Sketch:
    """For six seconds the broker nacks each first attempt and confirms the second."""
    sketch = calm(40_000)
    for (_, sequence, _), one in [*sketch.sent.items()]:
        if 15_000 <= one.at_ms < 21_000:
            one.outcomes = (Outcome.UNKNOWN,)
            sketch.send(sequence, one.at_ms + again_after_ms, attempt=2)
            sketch.lose(sequence)
            sketch.deliver(sequence, one.at_ms + again_after_ms + 2, attempt=2)
    return sketch


@case(passes=STEADY)
def nacked_and_confirmed_when_sent_again() -> Sketch:
    return retried(995)


@case(STEADY)
def nacked_and_confirmed_too_late_when_sent_again() -> Sketch:
    return retried(996)


@case(STEADY)
def refused_for_six_seconds() -> Sketch:
    sketch = out((15, 21))
    for one in sketch.attempts(15_000, 21_000):
        one.outcomes, one.settled_ms = (Outcome.REFUSED,), one.at_ms + 1
    return sketch


# --- the steady state ----------------------------------------------------------------------------


@case(passes=STEADY)
def out_until_9950_ms() -> Sketch:
    return out((3, 9.95))


@case(passes=STEADY)
def out_until_10050_ms_and_all_that_is_due_after_ten_seconds_is_served() -> Sketch:
    return out((3, 10))


@case(STEADY)
def out_until_10150_ms() -> Sketch:
    return out((3, 10.1))


@case(passes=STEADY)
def one_late_publish() -> Sketch:
    return late(out(), 200)


@case(STEADY)
def two_late_publishes_in_a_row() -> Sketch:
    return late(out(), 200, 201)


@case(passes=STEADY)
def three_late_publishes_two_seconds_apart() -> Sketch:
    return late(out(), 150, 170, 190)


@case(passes=STEADY)
def one_late_publish_in_a_hundred() -> Sketch:
    return late(out(until_s=60), 110, 210, 310, 410, 510)


@case(STEADY)
def out_every_second_second() -> Sketch:
    return out(*((at_s, at_s + 1) for at_s in range(15, 27, 2)))


@case(unknown=STEADY)
def four_of_ten_are_late() -> Sketch:
    """The rate may be too high for the machine."""
    return out(*((at_s, at_s + 0.4) for at_s in range(15, 27)))


@case(STEADY)
def one_of_two_publishers_is_cut_for_six_seconds() -> Sketch:
    return beside(out(), (15, 21), until_s=40)


@case(STEADY)
def one_of_two_queues_is_out_for_six_seconds() -> Sketch:
    return beside(out(), (15, 21), queue="payments", until_s=40)


@case(STEADY)
def a_queue_of_one_message_a_second_is_out_for_ten() -> Sketch:
    return beside(out(), (15, 25), queue="payments", every_ms=1_000, until_s=40)


@case(passes=STEADY)
def a_publisher_that_starts_late() -> Sketch:
    return beside(out(), from_s=20, until_s=40)


@case(passes=STEADY)
def a_publisher_that_stops_by_itself() -> Sketch:
    return beside(out(), until_s=20)


@case(unknown=STEADY)
def one_late_publish_before_those_that_nobody_waited_for() -> Sketch:
    return unanswered(late(calm(), 289), 29)


@case(unknown=STEADY)
def one_late_publish_half_a_second_before_those_that_nobody_waited_for() -> Sketch:
    """Publishes due from 29.5 s until 30.5 s are undecided, and one was late before."""
    return unanswered(late(out(until_s=30.5), 294), 29.5)


@case(STEADY)
def three_late_publishes_before_those_that_nobody_waited_for() -> Sketch:
    return unanswered(late(out(until_s=30.5), 292, 293, 294), 29.5)


@case(unknown=STEADY)
def late_publishes_of_another_queue_beside_those_that_nobody_waited_for() -> Sketch:
    """Each of both queues had one late publish before."""
    sketch = late(out(until_s=30.5), 294)
    beside(sketch, (29.2, 29.3), queue="payments", until_s=29.5)
    return unanswered(sketch, 29.5)


@case(STEADY)
def out_for_two_seconds_before_those_that_nobody_waited_for() -> Sketch:
    return unanswered(out((15, 17), until_s=30, deadline_ms=5_000), 25)


@case(STEADY)
def out_at_the_end_before_those_that_nobody_waited_for() -> Sketch:
    return unanswered(out((28, 29), until_s=30), 29)


def returned_at_first(sketch: Sketch, from_ms: float, until_ms: float) -> Sketch:
    for one in sketch.attempts(from_ms, until_ms):
        if one.outcomes == (Outcome.UNKNOWN,):
            one.outcomes = (Outcome.RETURNED,)
    return sketch


@case(STEADY)
def returned_for_eight_seconds_and_out_for_six_later() -> Sketch:
    """What was returned explains one of both outages."""
    return returned_at_first(out((12, 20), (41, 47), until_s=70), 12_000, 20_000)


@case(STEADY)
def one_queue_returns_for_eight_seconds_and_another_is_out_for_two() -> Sketch:
    sketch = beside(calm(60_000), (12, 20), queue="payments", every_ms=1_000)
    returned_at_first(sketch, 12_000, 20_000)
    for one in sketch.attempts(42_000, 44_000):
        if "producer" not in one.named:
            one.outcomes, one.settled_ms = (Outcome.UNKNOWN,), one.at_ms + 1_000
    return sketch


def out_at_first(until_ms: float) -> Sketch:
    """The load begins at 0.4 s, so its first 10 s end at 10.4 s."""
    sketch = Sketch(History(load_ms=(400, 40_400)))
    sketch.history.client_event("consuming", at_ms=1)
    sketch.flow(450, 40_400)
    sketch.silence(5_000, until_ms)
    return sketch


@case(passes=STEADY)
def out_until_the_first_ten_seconds_end() -> Sketch:
    return out_at_first(10_350)


@case(unknown=STEADY)
def out_until_a_publish_after_the_first_ten_seconds_though_none_was_late_then() -> Sketch:
    """Late messages are counted by the second: one of that second may have been late after it."""
    return out_at_first(10_450)


@case(STEADY)
def out_until_a_second_after_the_first_ten() -> Sketch:
    return out_at_first(11_450)


# --- who stood still -----------------------------------------------------------------------------


def sent_late(sketch: Sketch, from_ms: float = 15_000, until_ms: float = 23_000) -> Sketch:
    """All publishes of that time are sent after it, all at once, and confirmed at once."""
    for place, one in enumerate(sketch.attempts(from_ms, until_ms)):
        one.named["intended_ms"] = one.at_ms
        one.at_ms = until_ms + place * 0.01
        one.settled_ms = one.at_ms + 5
    for place, came in enumerate(sketch.since(from_ms, until_ms)):
        came.move(until_ms + 6 + place * 0.01)
    return sketch


@case(unknown=STEADY)
def the_publisher_sends_eight_seconds_late_though_it_waits_for_nothing() -> Sketch:
    """It, or its machine, stood still; or the broker blocked it. No record says which."""
    return sent_late(calm(40_000))


@case(STEADY)
def the_publisher_sends_in_time_and_gets_its_confirms_after_eight_seconds() -> Sketch:
    sketch = calm(40_000)
    for one in sketch.attempts(15_000, 23_000):
        one.settled_ms = 23_000
    return sketch


@case(STEADY)
def the_publisher_sends_late_because_it_waits_for_a_confirm() -> Sketch:
    sketch = sent_late(calm(40_000), 15_100)
    sketch.answer(150, Outcome.CONFIRMED, settled_ms=22_999)
    return sketch


@case(STEADY)
def a_stall_of_150_ms_beside_an_outage_of_six_seconds() -> Sketch:
    sketch = out((15, 21))
    sketch.history.stall(PUBLISHER, at_ms=12_000, late_ms=150)
    return sketch


@case(unknown=STEADY)
def a_stall_of_five_seconds_beside_an_outage_of_six() -> Sketch:
    sketch = out((15, 21))
    sketch.history.stall(PUBLISHER, at_ms=20_500, late_ms=5_000)
    return sketch


@case(SERVED, passes=AFTER)
def a_stall_long_before_the_undo_that_ended_the_outage() -> Sketch:
    """It had ended long before the time that is judged after the fault."""
    sketch = killed((15, 36))
    sketch.history.stall(PUBLISHER, at_ms=20_000, late_ms=300)
    return sketch


@case(unknown=f"{SERVED}")
def a_stall_beside_the_undo_that_ended_the_outage() -> Sketch:
    sketch = killed((15, 36))
    sketch.history.stall(PUBLISHER, at_ms=35_500, late_ms=300)
    return sketch


def stalled_beside_a_slow_undo(from_ms: float, until_ms: float) -> Sketch:
    """The undo is issued at 35 s and returns at 45 s; a deadline is 1 s. What is sent from 15 s to
    36 s is never confirmed."""
    sketch = killed((15, 36), undo_s=45)
    undo_issued, _ = sketch.history.rows["faults"]
    undo_issued["at_ns"] = ns(35_000)
    sketch.history.stall(PUBLISHER, at_ms=until_ms, late_ms=until_ms - from_ms)
    return sketch


@case(SERVED)
def a_stall_until_just_before_two_deadlines_before_the_undo() -> Sketch:
    return stalled_beside_a_slow_undo(28_000, 32_999)


@case(unknown=SERVED)
def a_stall_until_two_deadlines_before_the_undo() -> Sketch:
    return stalled_beside_a_slow_undo(28_000, 33_000)


@case(unknown=SERVED)
def a_stall_from_before_the_undo_until_long_after_it() -> Sketch:
    """What was sent at 34 s may have been confirmed in time: no record shows it."""
    return stalled_beside_a_slow_undo(33_000, 48_000)


@case(unknown=SERVED)
def a_stall_from_two_deadlines_after_the_undo_on() -> Sketch:
    return stalled_beside_a_slow_undo(47_020, 47_220)


@case(SERVED)
def a_stall_from_just_after_two_deadlines_after_the_undo_on() -> Sketch:
    return stalled_beside_a_slow_undo(47_021, 47_221)


@case(passes=f"{SERVED} {AFTER}")
def a_short_stall_while_all_is_served() -> Sketch:
    sketch = killed((15, 17))
    sketch.history.stall(PUBLISHER, at_ms=25_000, late_ms=150)
    return sketch


@case(unknown=SERVED, passes=AFTER)
def short_stalls_longer_than_a_deadline_together() -> Sketch:
    sketch = killed((15, 17))
    for at_ms in range(25_000, 29_200, 300):
        sketch.history.stall(PUBLISHER, at_ms=at_ms, late_ms=150)
    return sketch


# --- before the fault, and at its beginning ------------------------------------------------------


@case(passes=f"{TAKEN_OVER} {AFTER}")
def out_from_950_ms_before_the_kill_on() -> Sketch:
    return killed((14, 17))


@case(unknown=f"{TAKEN_OVER} {AFTER}")
def out_from_1050_ms_before_the_kill_on() -> Sketch:
    return killed((13.95, 17))


@case(passes=f"{TAKEN_OVER} {AFTER}", unknown=STEADY)
def out_before_the_kill_and_back_before_it() -> Sketch:
    return killed((11, 12.5))


@case(SERVED)
def served_while_the_kill_is_made_and_out_until_the_undo() -> Sketch:
    sketch = out((18, 36), until_s=60)
    sketch.history.window(
        15_000,
        returned_ms=18_000,
        undo_ms=35_000,
        ended_ms=35_020,
        gone_ms=35_050,
        over_ms=36_000,
    )
    sketch.recorded[1] = killed().recorded[1]
    return sketch


# --- under the fault, and at its undo ------------------------------------------------------------


@case(passes=TAKEN_OVER)
def out_under_the_fault_and_back_a_hundred_publishes_before_the_undo_decides() -> Sketch:
    return killed((22, 24))


@case(unknown=TAKEN_OVER)
def out_under_the_fault_and_back_99_publishes_before_the_undo_decides() -> Sketch:
    return killed((22, 24.1))


@case(unknown=TAKEN_OVER)
def back_50_ms_before_the_undo() -> Sketch:
    return killed((15, 34.9))


@case(SERVED)
def back_with_the_undo() -> Sketch:
    return killed((15, 35))


def first_confirm_after_the_undo() -> Sketch:
    """It comes 1.5 s after the undo. Clients wait for 4 s: so what was due in the last 2.4 s
    before the undo is in time."""
    sketch = killed((15, 32.6), until_s=80, deadline_ms=4_000)
    for one in sketch.attempts(32_600, 36_500):
        one.settled_ms = 36_500
    return sketch


@case(SERVED, passes=AFTER)
def nothing_is_confirmed_until_after_the_undo() -> Sketch:
    return first_confirm_after_the_undo()


@case(unknown=TAKEN_OVER, passes=AFTER)
def one_is_confirmed_just_before_the_undo_and_the_next_after_it() -> Sketch:
    sketch = first_confirm_after_the_undo()
    one = sketch.attempts(32_600, 34_800)[-1]
    one.settled_ms = 34_990
    return sketch


@case(unknown=TAKEN_OVER, passes=AFTER)
def one_late_publish_just_before_the_undo_and_out_with_it() -> Sketch:
    """The undo may have kept the others from their confirms."""
    return killed((15, 17), (33.9, 36), until_s=80)


@case(SERVED, passes=AFTER)
def out_from_two_seconds_before_the_undo_on() -> Sketch:
    return killed((15, 17), (33, 36), until_s=80)


def relapses(*at_s: float) -> Sketch:
    """Two seconds each, under a fault of 60 s."""
    return killed((15, 17), *((one, one + 2) for one in at_s), until_s=110, undo_s=75)


@case(passes=f"{TAKEN_OVER} {AFTER}")
def out_again_once_under_the_fault() -> Sketch:
    return relapses(45)


@case(unknown=TAKEN_OVER, passes=AFTER)
def out_again_twice_under_the_fault() -> Sketch:
    return relapses(40, 58)


@case(SERVED, passes=AFTER)
def out_again_three_times_under_the_fault() -> Sketch:
    return relapses(30, 45, 60)


@case(unknown=TAKEN_OVER, passes=AFTER)
def every_twentieth_is_late_until_the_undo() -> Sketch:
    """Few are late after 31 s: what ended that is unknown."""
    return late(killed(until_s=80), *range(150, 351, 20))


@case(passes=f"{TAKEN_OVER} {AFTER}")
def every_hundredth_is_late() -> Sketch:
    return late(killed(until_s=80), *range(150, 800, 100))


@case(f"{SERVED} {AFTER}")
def out_for_good() -> Sketch:
    return killed((15, 60))


def held(number: int) -> Sketch:
    """Clients wait for 30 s. So many of the 50 publishes due 10 to 5 s before the undo are
    confirmed only after it."""
    sketch = killed(until_s=100, deadline_ms=30_000)
    for one in sketch.attempts(25_000, 25_000 + number * 100):
        one.settled_ms = 35_500
    return sketch


@case(SERVED)
def most_confirms_of_patient_clients_wait_for_the_undo() -> Sketch:
    return held(26)


@case(passes=TAKEN_OVER)
def half_of_the_confirms_of_patient_clients_wait_for_the_undo() -> Sketch:
    return held(25)


def first_confirm(at_ms: float, bound_ms: float = 0) -> Sketch:
    """Clients wait for 60 s, and three messages are sent each second: 15 of them are due from 10 s
    to 5 s before the undo at 55 s. Nothing that is sent under the fault is confirmed before."""
    sketch = killed(until_s=120, undo_s=55, deadline_ms=60_000)
    for _, sequence, _ in [*sketch.sent]:
        if sequence % 3:
            del sketch.sent[PUBLISHER, sequence, 1]
            sketch.lose(sequence)
    for place, one in enumerate(sketch.attempts(15_000, 55_000)):
        one.settled_ms = at_ms + place
    if bound_ms:
        sketch.history.clock(PUBLISHER, bound_ms)
    return sketch


@case(SERVED)
def patient_clients_get_their_first_confirm_when_the_undo_is_issued() -> Sketch:
    return first_confirm(55_000)


@case(passes=TAKEN_OVER)
def patient_clients_get_their_first_confirm_one_millisecond_before_the_undo() -> Sketch:
    return first_confirm(54_999)


@case(SERVED)
def patient_clients_get_their_first_confirm_after_the_undo_by_any_clock() -> Sketch:
    return first_confirm(55_100, 100)


@case(unknown=SERVED)
def patient_clients_get_their_first_confirm_perhaps_before_the_undo() -> Sketch:
    return first_confirm(55_099, 100)


@case(unknown=SERVED)
def patient_clients_get_their_first_confirm_perhaps_after_the_undo() -> Sketch:
    return first_confirm(54_900, 100)


@case(passes=TAKEN_OVER)
def patient_clients_get_their_first_confirm_before_the_undo_by_any_clock() -> Sketch:
    return first_confirm(54_899, 100)


# --- after the fault -----------------------------------------------------------------------------


@case(passes=f"{TAKEN_OVER} {AFTER}")
def out_until_clients_had_time_to_reconnect() -> Sketch:
    return killed((35.1, 38.05))


@case(passes=f"{TAKEN_OVER} {AFTER}")
def one_late_publish_after_clients_had_time_to_reconnect() -> Sketch:
    return killed((35.1, 38.1))


@case(AFTER, passes=TAKEN_OVER)
def two_late_publishes_after_clients_had_time_to_reconnect() -> Sketch:
    return killed((35.1, 38.2))


def slow_to_reconnect(until_s: float) -> Sketch:
    sketch = killed((35.1, until_s), until_s=80, reconnect_ms=10_000)
    sketch.declared["reconnect_s"] = 10
    return sketch


@case(passes=AFTER)
def out_until_slow_clients_had_time_to_reconnect() -> Sketch:
    return slow_to_reconnect(46.05)


@case(AFTER)
def out_until_150_ms_after_slow_clients_had_time_to_reconnect() -> Sketch:
    return slow_to_reconnect(46.2)


@case(passes=AFTER)
def out_until_a_broker_that_starts_slowly_answers() -> Sketch:
    """It is seen to be gone 15 s after the undo."""
    sketch = out((15, 52.9), until_s=90)
    sketch.history.window(
        15_000, returned_ms=15_020, undo_ms=35_000, ended_ms=35_020, gone_ms=50_000, over_ms=51_000
    )
    sketch.recorded[1] = killed().recorded[1] | {"fault_target_role": "mirror"}
    return sketch


@case(AFTER)
def out_for_two_seconds_at_the_end_of_load() -> Sketch:
    return unanswered(killed((58, 60)), 58)


@case(unknown=AFTER)
def out_in_the_last_deadline_of_the_load() -> Sketch:
    return unanswered(killed(), 59)


@case(unknown=AFTER)
def one_late_publish_before_the_last_deadline_of_the_load() -> Sketch:
    return unanswered(late(killed(), 589), 59)


@case(AFTER)
def three_late_publishes_before_the_last_deadline_of_the_load() -> Sketch:
    return unanswered(late(killed(), 587, 588, 589), 59)


def off_by_500_ms(sketch: Sketch) -> Sketch:
    sketch.history.clock(PUBLISHER, 500)
    return sketch


@case(unknown=AFTER)
def out_until_clients_had_time_to_reconnect_by_a_clock_that_is_off() -> Sketch:
    return off_by_500_ms(killed((35.6, 38.05)))


@case(AFTER)
def out_until_500_ms_later_than_a_clock_may_be_off() -> Sketch:
    return off_by_500_ms(killed((35.6, 39.1)))


# --- one of several ------------------------------------------------------------------------------


@case(SERVED, passes=AFTER)
def one_of_two_publishers_is_cut_until_the_undo() -> Sketch:
    return beside(killed((15, 17)), (15, 36))


@case(SERVED, passes=AFTER)
def one_of_two_queues_has_no_leader_until_the_undo() -> Sketch:
    return beside(killed((15, 17)), (15, 36), queue="payments")


def slow_queue(late_until_s: float, undo_s: float = 45) -> Sketch:
    """It gets a message in 2.5 s: of 50 a second these are too few to matter for the run."""
    sketch = Sketch(History(load_ms=(0, 80_000)))
    sketch.history.client_event("consuming", at_ms=1)
    for sequence in range(4_000):
        sketch.send(sequence, sequence * 20)
        sketch.deliver(sequence, sequence * 20 + 10)
    sketch.fault(undo_ms=undo_s * 1_000)
    spans = (15, late_until_s)
    return beside(sketch, spans, queue="payments", every_ms=2_500, until_s=80)


@case(unknown=SERVED, passes=AFTER)
def all_12_publishes_of_a_queue_are_late_until_the_undo() -> Sketch:
    return slow_queue(45)


@case(unknown=SERVED, passes=AFTER)
def all_but_the_last_of_12_publishes_of_a_queue_are_late() -> Sketch:
    return slow_queue(42)


@case(passes=f"{TAKEN_OVER} {AFTER}")
def half_of_12_publishes_of_a_queue_are_late() -> Sketch:
    return slow_queue(30)


@case(SERVED, passes=AFTER)
def all_20_publishes_of_a_queue_are_late_until_the_undo() -> Sketch:
    return slow_queue(65, 65)


@case(unknown=f"{SERVED} {AFTER}")
def one_of_two_publishers_waits_for_good_for_its_last_confirm() -> Sketch:
    """In a closed loop it sends nothing more, so nothing more is late."""
    return beside(killed((15, 17)), (15, 16), until_s=15.1)


@case(passes=f"{TAKEN_OVER} {AFTER}")
def one_of_two_publishers_has_all_its_confirms_and_stops() -> Sketch:
    return beside(killed((15, 17)), until_s=15)


@case(passes=f"{TAKEN_OVER} {AFTER}")
def a_publisher_that_starts_after_the_fault() -> Sketch:
    return beside(killed((15, 17)), from_s=40)


# --- sources that name a time --------------------------------------------------------------------


def by_poll(back_s: float) -> Sketch:
    """Of two masters one fails; clients learn it by their next poll of routes, within 30 s."""
    sketch = killed((15, back_s), until_s=110, undo_s=75)
    sketch.declared |= {"masters": 2, "elects": False, "route_poll_s": 30}
    return sketch


@case(passes=f"{POLL} {OTHERS}")
def out_until_the_poll() -> Sketch:
    return by_poll(45.05)


@case(passes=f"{POLL} {OTHERS}")
def one_late_publish_after_the_poll() -> Sketch:
    return by_poll(45.1)


@case(POLL, passes=OTHERS)
def two_late_publishes_after_the_poll() -> Sketch:
    return by_poll(45.2)


@case(f"{POLL} {OTHERS}", unknown=HOSTS)
def out_from_the_poll_to_the_undo() -> Sketch:
    sketch = by_poll(17)
    sketch.silence(50_000, 76_000)
    return sketch


def elected(back_s: float) -> Sketch:
    sketch = killed((15, back_s), kind="partition")
    sketch.declared |= {"elects_by_majority": True, "confirm_waits_for_majority": True}
    sketch.recorded[1]["publishers_connected_to_target"] = False
    return sketch


@case(passes=f"{SECONDS} {AFTER}")
def elected_within_9905_ms() -> Sketch:
    return elected(24.9)


@case(unknown=SECONDS)
def elected_within_10005_ms() -> Sketch:
    return elected(25)


@case(unknown=SECONDS)
def one_of_two_queues_has_a_leader_after_18_seconds() -> Sketch:
    return beside(elected(33), queue="payments")


def frozen_mirror(*late_s: tuple[float, float]) -> Sketch:
    sketch = killed(*late_s, kind="freeze", role="mirror")
    return beside(sketch, queue="payments")


@case(passes=SILENT_MIRROR)
def one_of_two_queues_confirms_nothing_until_the_mirror_is_given_up() -> Sketch:
    return frozen_mirror((15, 20))


def majority_down(*late_s: tuple[float, float]) -> Sketch:
    """Of three copies one is dead, and the leader dies."""
    sketch = out(*late_s, until_s=110)
    sketch.declared |= {"elects_by_majority": True, "confirm_waits_for_majority": True}
    sketch.history.window(15_000, returned_ms=15_020, never_ended=True)
    sketch.recorded[1] = killed(role="mirror").recorded[1]
    sketch.fault(40_000, 65_000)
    sketch.recorded[2] |= {"mirrors_at_fault": 1, "synchronised_mirrors_at_fault": 1}
    return sketch


@case(passes=DOWN, not_applicable=f"{ELECTED} {TAKEN_OVER}")
def a_minority_refuses_until_the_leader_is_back() -> Sketch:
    return majority_down((40, 66))


@case(not_applicable=f"{ELECTED} {TAKEN_OVER}")
def a_minority_serves_on() -> Sketch:
    return majority_down((40, 42))


# --- blocked publishers --------------------------------------------------------------------------


def blocked(*late_s: tuple[float, float], not_blocked: int = 0) -> Sketch:
    """By an alarm from 15 s to 35 s; nothing can be sent meanwhile."""
    sketch = killed(*late_s, kind="alarm")
    sketch.recorded[1] |= {"fault_resource": "memory", "publishers_not_blocked": not_blocked}
    for key, one in [*sketch.sent.items()]:
        if 15_000 <= one.at_ms < 36_000:
            del sketch.sent[key]
            sketch.lose(key[1])
            sketch.history.not_sent(key[1], intended_ms=one.at_ms)
    return sketch


@case(passes=f"{BLOCKS} {AFTER}", not_applicable=f"{TAKEN_OVER} {WORKS_ON}")
def blocked_until_the_alarm_is_over() -> Sketch:
    return blocked()


@case(BLOCKS, passes=AFTER)
def one_publisher_is_not_blocked() -> Sketch:
    return blocked(not_blocked=1)


@case(f"{BLOCKS} {AFTER}")
def blocked_for_good() -> Sketch:
    return blocked((36, 60))
