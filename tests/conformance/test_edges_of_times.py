"""Times at the very edge of a rule: equal to it, and one nanosecond beside it. Clocks that may be
off, workers that stood still, and records that end early. What must be said follows from
docs/verdicts.md 1, 5.2, 7 and 9, by the argument of each story."""

import pytest

from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    DELIVERED,
    EARLY,
    ELECTION,
    FIFO,
    OF_MIRRORS,
    ONE_COPY,
    OVERDUE,
    SERVED,
    STEADY,
    TAKEN_OVER,
    UNACKED,
    UNEXPECTED,
)
from tests.rigs.histories.several_faults import fault, load
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    handed_over,
    relinked,
)
from tests.rigs.histories.ways import Via

NS = 0.000_001  # ms
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_time_at_an_edge_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- which fault a loss belongs to ---------------------------------------------------------------


def lost_before(origin_ms: float, *, consumer_ms: float = 0) -> Sketch:
    """Message 138 is lost. The next one came at 13,960 ms, and a deadline is 1,000 ms: it should
    have come by 14,960 ms."""
    sketch = fault(load(80), origin_ms / 1_000, 35)
    sketch.lose(138)
    if consumer_ms:
        sketch.history.clock(CONSUMER, consumer_ms)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def the_fault_begins_in_the_last_instant_in_which_the_message_may_come() -> Sketch:
    return lost_before(14_960)


@case(DELIVERED, passes=ELECTION, lost=1)
def the_fault_begins_one_nanosecond_after_the_message_should_have_come() -> Sketch:
    return lost_before(14_960 + NS)


@case(DELIVERED, unknown=OF_MIRRORS, lost=1)
def the_fault_begins_perhaps_when_the_message_should_have_come_by_a_clock() -> Sketch:
    return lost_before(15_000, consumer_ms=200)


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def the_fault_begins_before_the_message_should_have_come_by_any_clock() -> Sketch:
    return lost_before(14_000, consumer_ms=100)


def lost_after(over_ms: float) -> Sketch:
    """Message 360 is sent at 36,050 ms, confirmed at 36,055 ms, and lost."""
    sketch = fault(load(80), 15, 35, gone_s=(over_ms - 950) / 1_000)
    sketch.lose(360)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def the_fault_is_over_in_the_instant_of_the_confirm() -> Sketch:
    return lost_after(36_055)


@case(DELIVERED, unknown=ELECTION, lost=1)
def the_fault_is_over_one_nanosecond_before_the_confirm() -> Sketch:
    """The broker confirmed it before the client read that: perhaps before the fault was over."""
    return lost_after(36_055 - NS)


@case(DELIVERED, unknown=ELECTION, lost=1)
def the_fault_is_over_in_the_instant_of_the_sending() -> Sketch:
    return lost_after(36_050)


@case(DELIVERED, passes=ELECTION, lost=1)
def the_fault_is_over_one_nanosecond_before_the_sending() -> Sketch:
    return lost_after(36_050 - NS)


# --- when an outage began, and what ended it -----------------------------------------------------


def out(from_s: float, until_s: float, origin_ms: float, undo_ms: float = 35_000) -> Sketch:
    return fault(load(90, (from_s, until_s)), origin_ms / 1_000, undo_ms / 1_000)


@case(SERVED, passes=AFTER)
def out_from_a_deadline_before_the_fault_to_its_undo() -> Sketch:
    """The publish of 14,050 ms had until 15,050 ms to be confirmed."""
    return out(14.05, 36, 15_050)


@case(unknown=f"{SERVED} {AFTER}")
def out_from_one_nanosecond_more_than_a_deadline_before_the_fault() -> Sketch:
    return out(14.05, 36, 15_050 + NS)


@case(SERVED, passes=AFTER)
def served_again_from_the_instant_of_the_undo() -> Sketch:
    return out(15.05, 35.05, 15_000, 35_050)


@case(unknown=SERVED, passes=AFTER)
def served_again_from_one_nanosecond_before_the_undo() -> Sketch:
    """Either may have ended it."""
    return out(15.05, 35.05, 15_000, 35_050 + NS)


@case(AFTER, passes=SERVED)
def out_from_the_instant_at_which_clients_had_time_to_reconnect() -> Sketch:
    """Gone at 35,050 ms; a deadline and two seconds later service is due."""
    return out(38.05, 44, 15_000)


@case(passes=f"{AFTER} {SERVED}")
def out_until_the_instant_at_which_clients_had_time_to_reconnect() -> Sketch:
    return out(36, 38.05, 15_000)


# --- acknowledgements ----------------------------------------------------------------------------


@case(ACKED, duplicated__redelivery_after_ack=1)
def again_a_second_after_its_acknowledgement() -> Sketch:
    sketch = calm()
    sketch.deliver(150, 16_062, again=True)
    return sketch


@case(passes=ACKED, acknowledged_late=1)
def again_one_nanosecond_less_than_a_second_after_its_acknowledgement() -> Sketch:
    sketch = calm()
    sketch.deliver(150, 16_062 - NS, again=True)
    return sketch


def at_the_kill(origin_ms: float) -> Sketch:
    """Message 140 is acknowledged at 14,062 ms, and comes again under the fault."""
    sketch = fault(load(80), origin_ms / 1_000, 35)
    sketch.deliver(140, 17_000, again=True)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_a_second_before_the_kill() -> Sketch:
    return at_the_kill(15_062)


@case(passes=ACKED, acknowledged_late=1)
def acknowledged_one_nanosecond_less_than_a_second_before_the_kill() -> Sketch:
    return at_the_kill(15_062 - NS)


def at_the_end(ended_ms: float) -> Sketch:
    """Message 150 is acknowledged at 15,062 ms; then its connection ends."""
    sketch = relinked(calm(), ended_ms, ended_ms + 200)
    sketch.deliver(150, ended_ms + 300, again=True, connection=2)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_a_second_before_its_connection_ended() -> Sketch:
    return at_the_end(16_062)


@case(passes=ACKED, acknowledged_late=1)
def acknowledged_one_nanosecond_less_than_a_second_before_its_connection_ended() -> Sketch:
    return at_the_end(16_062 - NS)


@case(not_applicable=UNACKED, not_redelivered=0)
def acknowledged_in_the_instant_in_which_its_connection_ended() -> Sketch:
    sketch = relinked(calm(), 15_200)
    sketch.first(151).acked_ms = 15_200
    return sketch


@case(unknown=UNACKED, not_redelivered=0, not_redelivered_unknown=1)
def acknowledged_one_nanosecond_after_its_connection_ended_and_gone() -> Sketch:
    sketch = relinked(calm(), 15_200)
    sketch.first(151).acked_ms = 15_200 + NS
    return sketch


@case(UNACKED, not_redelivered=1)
def acknowledged_more_than_a_second_after_its_connection_ended_and_gone() -> Sketch:
    sketch = relinked(calm(), 15_200)
    sketch.first(151).acked_ms = 16_200 + NS
    return sketch


# --- effects and causes --------------------------------------------------------------------------


@case(passes=f"{DELIVERED} {FIFO} {STEADY}")
def delivered_in_the_instant_of_its_sending() -> Sketch:
    sketch = calm()
    sketch.first(150).move(15_050)
    return sketch


@case(unknown=f"{DELIVERED} {FIFO} {STEADY} {ONE_COPY}")
def delivered_one_nanosecond_before_its_sending() -> Sketch:
    sketch = calm()
    sketch.first(150).move(15_050 - NS)
    return sketch


def by_clocks(before_ms: float) -> Sketch:
    """Publisher and consumer may each be off by 20 ms."""
    sketch = calm()
    sketch.history.clock(PUBLISHER, 20).clock(CONSUMER, 20)
    sketch.first(150).move(15_050 - before_ms)
    return sketch


@case(passes=DELIVERED)
def delivered_before_its_sending_by_as_much_as_both_clocks_may_be_off() -> Sketch:
    return by_clocks(40)


@case(unknown=DELIVERED)
def delivered_one_nanosecond_earlier_than_both_clocks_explain() -> Sketch:
    return by_clocks(40 + NS)


@case(passes=f"{DELIVERED} {STEADY}")
def confirmed_in_the_instant_of_its_sending() -> Sketch:
    sketch = calm()
    sketch.answer(150, Outcome.CONFIRMED, settled_ms=15_050)
    return sketch


@case(unknown=f"{DELIVERED} {STEADY}")
def refused_one_nanosecond_before_its_sending() -> Sketch:
    sketch = calm()
    sketch.answer(150, Outcome.REFUSED, settled_ms=15_050 - NS)
    sketch.lose(150)
    return sketch


@case(DELIVERED, unknown=STEADY, lost=1)
def confirmed_before_its_sending_by_a_clock_that_jumped_and_another_lost() -> Sketch:
    """Both times of the lost one are sound."""
    sketch = calm()
    sketch.answer(150, Outcome.CONFIRMED, settled_ms=15_049)
    sketch.lose(100)
    return sketch


# --- delays, and a machine whose clock jumped ----------------------------------------------------


def delayed(came_ms: float, *, jumped: bool = False, wait_ms: float = 5_000) -> Sketch:
    """All messages of the first ten seconds wait for so long; number 50 comes at its own time."""
    sketch = calm(40_000)
    for (_, sequence, _), one in sketch.sent.items():
        if one.at_ms < 20_000:
            due_ms = one.at_ms + wait_ms
            sketch.history.rows.setdefault("terms", []).append(
                {
                    "producer": PUBLISHER,
                    "sequence": sequence,
                    "attempt": 1,
                    "due_ns": round(due_ms * 1_000_000),
                    "fate": 0,
                }
            )
            sketch.first(sequence).move(due_ms + 10)
    sketch.first(50).move(came_ms)
    if jumped:
        sketch.facts["clock_problem"] = "the machine was suspended for 3.0 s"
    return sketch


@case(passes=f"{EARLY} {OVERDUE} {DELIVERED}")
def a_delayed_message_comes_in_the_instant_at_which_it_is_due() -> Sketch:
    return delayed(10_050)


@case(unknown=EARLY, passes=OVERDUE)
def a_delayed_message_comes_earlier_by_its_slack() -> Sketch:
    """A thousandth of its wait, and 1 ms."""
    return delayed(10_050 - 6)


@case(EARLY, passes=OVERDUE)
def a_delayed_message_comes_one_nanosecond_earlier_than_its_slack() -> Sketch:
    return delayed(10_050 - 6 - NS)


@case(unknown=f"{EARLY} {OVERDUE} {DELIVERED}")
def a_delayed_message_comes_three_seconds_early_and_the_machine_was_suspended() -> Sketch:
    """Its wait was measured by a clock that stood still meanwhile."""
    return delayed(7_050, jumped=True)


@case(unknown=f"{EARLY} {OVERDUE}")
def a_delayed_message_comes_three_seconds_late_and_the_machine_was_suspended() -> Sketch:
    return delayed(13_050, jumped=True)


@case(OVERDUE, passes=EARLY)
def a_delayed_message_comes_three_seconds_late() -> Sketch:
    return delayed(13_100)


@case(DELIVERED, unknown=f"{STEADY} {ONE_COPY}", lost=1)
def lost_and_the_machine_was_suspended() -> Sketch:
    sketch = calm()
    sketch.facts["clock_problem"] = "the machine was suspended for 3.0 s"
    sketch.lose(150)
    return sketch


@case(unknown=STEADY)
def out_for_six_seconds_and_the_machine_was_suspended() -> Sketch:
    sketch = load(40, (15, 21))
    sketch.facts["clock_problem"] = "the machine was suspended for 6.0 s"
    return sketch


@case(unknown=CONSUMED)
def nothing_given_for_six_seconds_and_the_machine_was_suspended() -> Sketch:
    sketch = load(40)
    sketch.hold(15_000, 21_500)
    sketch.facts["clock_problem"] = "the machine was suspended for 6.0 s"
    return sketch


# --- workers that stood still --------------------------------------------------------------------


def stalled(*late_ms: float, worker: int = PUBLISHER) -> Sketch:
    """All is served under the kill and for 45 s after it, and these ticks are late."""
    sketch = fault(load(80), 15, 35)
    for place, each_ms in enumerate(late_ms):
        sketch.history.stall(worker, at_ms=16_000 + place * 1_500, late_ms=each_ms)
    return sketch


@case(passes=f"{SERVED} {AFTER}")
def a_tick_is_late_by_100_ms() -> Sketch:
    return stalled(100)


@case(passes=f"{SERVED} {AFTER}")
def a_stall_is_a_nanosecond_shorter_than_a_deadline() -> Sketch:
    """What was sent so late was in time nevertheless, so the brokers served."""
    return stalled(1_000 - NS)


@case(unknown=SERVED, passes=AFTER)
def a_stall_is_as_long_as_a_deadline() -> Sketch:
    return stalled(1_000)


@case(passes=f"{SERVED} {AFTER}")
def late_ticks_add_up_to_less_than_five_percent_of_the_time() -> Sketch:
    """Of 65 s."""
    return stalled(*[100] * 32)


@case(unknown=f"{SERVED} {AFTER}")
def late_ticks_add_up_to_more_than_five_percent_of_the_time() -> Sketch:
    return stalled(*[100] * 33)


@case(passes=STEADY)
def a_tick_is_late_by_a_second_and_nothing_was_out() -> Sketch:
    """A stall only lengthens what it measures."""
    sketch = calm()
    sketch.history.stall(PUBLISHER, at_ms=15_000, late_ms=1_000)
    return sketch


def frozen_until(until_ms: float) -> Sketch:
    """The publisher stands still from 15 s on, and what it meant to send then was never sent. Two
    publishes at 17,050 and 17,150 ms are late."""
    sketch = fault(load(80, (17.05, 17.25)), 15, until_ms / 1_000, "client_freeze", role="none")
    sketch.history.away(PUBLISHER, 15_000, until_ms)
    for key, one in [*sketch.sent.items()]:
        if 15_000 <= one.at_ms < 17_000:
            del sketch.sent[key]
            sketch.lose(key[1])
            sketch.history.not_sent(key[1], intended_ms=one.at_ms)
    return sketch


@case(excused=30)
def due_in_the_instant_at_which_its_publisher_went_on() -> Sketch:
    """Those of the last second before it stood still waited for their confirms."""
    return frozen_until(17_050)


@case(excused=31)
def due_one_nanosecond_before_its_publisher_went_on() -> Sketch:
    return frozen_until(17_050 + NS)


# --- records that end early ----------------------------------------------------------------------


def cut(sketch: Sketch, worker: int, at_ms: float) -> Sketch:
    """The log of this worker ends there, in the middle of its work."""
    if worker == PUBLISHER:
        sketch.sent = {key: one for key, one in sketch.sent.items() if one.at_ms < at_ms}
        for one in sketch.sent.values():
            if one.settled_ms is not None and one.settled_ms >= at_ms:
                one.settled_ms = None
    else:
        sketch.came = [one for one in sketch.came if one.at_ms < at_ms]
        for came in sketch.came:
            if came.acked_ms is not None and came.acked_ms >= at_ms:
                came.acked_ms = None
    sketch.history.log_open(worker)
    return sketch


@case(unknown=f"{STEADY} {UNEXPECTED}", unrecorded=99)
def the_publishers_log_ends_ten_seconds_before_the_load() -> Sketch:
    """Consumers go on receiving what it sent off the record."""
    sketch = cut(calm(), PUBLISHER, 20_053)
    sketch.sent[PUBLISHER, 200, 1].settled_ms = None
    return sketch


@case(DELIVERED, unknown=STEADY, lost=1)
def the_publishers_log_ends_early_and_one_that_it_holds_is_lost() -> Sketch:
    sketch = cut(calm(), PUBLISHER, 20_053)
    sketch.came = [one for one in sketch.came if one.sequence < 200]
    sketch.lose(100)
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=100)
def the_consumers_log_ends_ten_seconds_before_the_load() -> Sketch:
    return cut(calm(), CONSUMER, 20_000)


@case(unknown=DELIVERED, lost=0, loss_unknown=51)
def the_consumers_log_ends_early_and_the_drain_gets_half_of_the_rest() -> Sketch:
    """What it received off the record, and acknowledged, is on no record."""
    sketch = cut(calm(), CONSUMER, 20_000)
    for sequence in range(251, 300):
        sketch.deliver(sequence, 40_000 + sequence, via=Via.DRAIN)
    return sketch


@case(passes=DELIVERED, unknown=CONSUMED, lost=0)
def the_consumers_log_ends_early_and_the_drain_gets_all_the_rest() -> Sketch:
    sketch = cut(calm(), CONSUMER, 20_000)
    for sequence in range(200, 300):
        sketch.deliver(sequence, 40_000 + sequence, via=Via.DRAIN)
    return sketch


@case(unknown=f"{DELIVERED} {AFTER} {TAKEN_OVER}", lost=0)
def both_logs_end_under_the_kill() -> Sketch:
    return cut(cut(fault(load(80), 15, 35), PUBLISHER, 25_000), CONSUMER, 24_000)


@case(passes=f"{TAKEN_OVER} {AFTER}", unknown=f"{DELIVERED} {CONSUMED_AFTER}", lost=0)
def the_consumers_log_ends_under_the_kill() -> Sketch:
    return cut(fault(load(80), 15, 35), CONSUMER, 24_000)


@case(ONE_COPY, duplicated__stored_twice=1)
def a_second_copy_before_the_consumers_log_ends() -> Sketch:
    sketch = cut(calm(), CONSUMER, 20_000)
    sketch.deliver(100, 15_003)
    return sketch


@case(unknown=ACKED, duplicated__redelivery_after_ack=0)
def the_last_record_of_a_dead_consumer_is_an_acknowledgement_and_it_comes_again() -> Sketch:
    sketch = handed_over(calm(), how=None)
    sketch.history.log_open(CONSUMER)
    sketch.deliver(149, 15_402, again=True, consumer=OTHER)
    return sketch
