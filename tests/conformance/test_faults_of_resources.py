"""Brokers that run short: alarms, full disks, slow packets, starved processors, clocks that jump.
What must be said follows from docs/verdicts.md 1, 2, 7.3, 7.4, 10 and 11, by each story's
argument."""

import pytest

from spark_analysis.schema.words import Outcome, Strength
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    CORRUPT,
    DELIVERED,
    ELECTION,
    FIFO,
    MEMORY,
    OF_ONE_NODE,
    ONE_COPY,
    REFUSED,
    SERVED,
    STEADY,
    WORKS_ON,
)
from tests.rigs.histories.client_faults import confirm_late
from tests.rigs.histories.several_faults import fault, load, operated, process_end
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases, calm

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_faults_of_resources_are_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def alarm(
    *out_s: tuple[float, float],
    resource: str = "memory",
    unblocked: int | None = 0,
    until_s: float = 100,
    **named: bool,
) -> Sketch:
    """An alarm on a mirror's host from 15 to 40 s. `unblocked`: publishers without a notice; None:
    no record says."""
    sketch = fault(load(until_s, *out_s), 15, 40, "alarm", role="mirror", **named)
    sketch.recorded[1]["fault_resource"] = resource
    if unblocked is not None:
        sketch.recorded[1]["publishers_not_blocked"] = unblocked
    return sketch


BLOCKED = (15, 41)


# --- alarms --------------------------------------------------------------------------------------


@case(passes=f"{MEMORY} {AFTER} {DELIVERED}", not_applicable=OF_ONE_NODE)
def a_memory_alarm_blocks_publishers_until_it_is_over() -> Sketch:
    return alarm(BLOCKED)


@case(MEMORY, passes=f"{AFTER} {DELIVERED}")
def a_memory_alarm_blocks_one_publisher_less() -> Sketch:
    return alarm(unblocked=1)


@case(unknown=MEMORY, passes=AFTER)
def a_memory_alarm_and_no_record_of_notices() -> Sketch:
    return alarm(BLOCKED, unblocked=None)


@case(f"{MEMORY} {AFTER}")
def publishers_stay_blocked_after_a_memory_alarm() -> Sketch:
    return alarm((15, 100))


@case(f"{MEMORY} {AFTER}")
def publishers_are_out_again_half_a_minute_after_an_alarm() -> Sketch:
    return alarm(BLOCKED, (70, 80))


@case(not_applicable=MEMORY, passes=f"{AFTER} {DELIVERED}")
def a_disk_alarm_blocks_publishers_until_it_is_over() -> Sketch:
    return alarm(BLOCKED, resource="disk")


@case(AFTER, not_applicable=MEMORY)
def publishers_stay_blocked_after_a_disk_alarm() -> Sketch:
    return alarm((15, 100), resource="disk")


@case(DELIVERED, passes=AFTER, lost=1)
def lost_before_a_memory_alarm() -> Sketch:
    sketch = alarm(BLOCKED)
    sketch.lose(149)
    return sketch


@case(DELIVERED, passes=AFTER, lost=1)
def lost_after_a_disk_alarm() -> Sketch:
    sketch = alarm(BLOCKED, resource="disk")
    sketch.lose(600)
    return sketch


@case(passes=f"{DELIVERED} {AFTER}", lost=0, lost_indeterminate=5)
def nacked_at_a_full_disk_and_gone() -> Sketch:
    """Each nack is unknown, and takes nothing on."""
    sketch = alarm(resource="disk", unblocked=1)
    for sequence in range(200, 205):
        sketch.answer(sequence, Outcome.UNKNOWN)
        sketch.lose(sequence)
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY}", not_applicable=REFUSED, revived=1)
def nacked_at_a_full_disk_and_delivered() -> Sketch:
    sketch = alarm(resource="disk", unblocked=1)
    sketch.answer(200, Outcome.UNKNOWN)
    return sketch


@case(REFUSED, refused_but_delivered=1)
def returned_under_an_alarm_and_delivered() -> Sketch:
    sketch = alarm(resource="disk", unblocked=1)
    sketch.answer(200, Outcome.RETURNED)
    return sketch


@case(passes=f"{REFUSED} {DELIVERED}", lost=0)
def returned_and_then_confirmed_under_an_alarm() -> Sketch:
    sketch = alarm(resource="disk", unblocked=1)
    sketch.answer(200, Outcome.RETURNED, Outcome.CONFIRMED)
    sketch.lose(200)
    return sketch


@case(CORRUPT, corrupt=1)
def a_torn_page_after_a_full_disk() -> Sketch:
    sketch = alarm(BLOCKED, resource="disk")
    sketch.first(600).named["payload_ok"] = False
    return sketch


@case(passes=f"{AFTER} {CONSUMED_AFTER} {DELIVERED} {FIFO}")
def consumers_wait_while_an_alarm_is_active_and_get_all_after_it() -> Sketch:
    """No source says that consumers go on: a limit of what is judged, not of the broker."""
    sketch = alarm(unblocked=0)
    sketch.hold(16_000, 40_500)
    return sketch


@case(CONSUMED_AFTER, passes=AFTER)
def consumers_get_nothing_any_more_after_an_alarm() -> Sketch:
    sketch = alarm(unblocked=0)
    sketch.hold(16_000, 95_000)
    return sketch


@case(unknown=f"{MEMORY} {AFTER} {DELIVERED}")
def an_alarm_that_was_never_raised() -> Sketch:
    return alarm(verified=False)


@case(DELIVERED, unknown=f"{AFTER}", lost=1)
def lost_beside_an_alarm_that_was_never_raised() -> Sketch:
    """A proven violation stays one."""
    sketch = alarm(verified=False)
    sketch.lose(600)
    return sketch


@case(unknown=f"{AFTER} {DELIVERED}")
def an_alarm_that_was_not_seen_to_end() -> Sketch:
    return alarm(BLOCKED, gone=False)


@case(passes=f"{AFTER} {DELIVERED}", not_applicable=OF_ONE_NODE)
def an_alarm_while_the_master_is_dead() -> Sketch:
    sketch = fault(load(120, (15, 51)), 15, 40, "alarm", role="mirror")
    return fault(sketch, 25, 50)


@case(AFTER, not_applicable=OF_ONE_NODE)
def blocked_for_good_after_an_alarm_while_the_master_was_dead() -> Sketch:
    sketch = fault(load(120, (15, 120)), 15, 40, "alarm", role="mirror")
    return fault(sketch, 25, 50)


@case(not_applicable=AFTER, passes=DELIVERED)
def an_alarm_at_the_highest_rate() -> Sketch:
    return fault(load(100, (15, 41), paced=False), 15, 40, "alarm", role="mirror")


# --- brokers whose process ends ------------------------------------------------------------------


@case(AFTER, passes=DELIVERED)
def a_broker_ends_by_itself_after_a_full_disk() -> Sketch:
    sketch = alarm(BLOCKED, (60, 72), resource="disk")
    return process_end(sketch, 60, 70, "itself")


@case(unknown=AFTER, passes=DELIVERED)
def the_kernel_ends_a_broker_after_an_alarm() -> Sketch:
    return process_end(alarm(BLOCKED, (60, 72)), 60, 70, "outside")


@case(DELIVERED, lost=1)
def lost_where_the_kernel_ended_a_broker() -> Sketch:
    """It is durable and was confirmed: that holds whatever ended the process."""
    sketch = process_end(alarm(BLOCKED, (60, 72)), 60, 70, "outside")
    sketch.lose(599)
    return sketch


@case(unknown=STEADY)
def the_kernel_ends_a_broker_in_the_steady_state() -> Sketch:
    sketch = load(60, (20, 32))
    return process_end(sketch, 20, 30, "outside")


@case(STEADY)
def a_broker_ends_by_itself_in_the_steady_state() -> Sketch:
    return process_end(load(60, (20, 32)), 20, 30, "itself")


@case(unknown=f"{AFTER}", passes=DELIVERED)
def the_watch_of_processes_was_lost_and_it_was_out() -> Sketch:
    sketch = alarm(BLOCKED, (60, 72))
    sketch.facts["process_watch_lost"] = "the container engine did not answer"
    return sketch


# --- slow disks and packets ----------------------------------------------------------------------


@case(STEADY, passes=f"{DELIVERED} {CONSUMED}")
def a_slow_disk_makes_every_confirm_late_for_a_minute() -> Sketch:
    """Without a fault most were late, so it is no matter of the rate."""
    return confirm_late(calm(90_000), 20, 90, 1_500)


@case(unknown=STEADY, passes=DELIVERED)
def every_third_confirm_is_late_for_twenty_seconds() -> Sketch:
    """The machine may be too slow for the rate."""
    sketch = calm(90_000)
    for sequence in range(200, 400, 3):
        sketch.answer(sequence, Outcome.CONFIRMED, settled_ms=sequence * 100 + 1_600)
    return sketch


def slowed(by_ms: float, kind: str = "packet_delay", **named: bool) -> Sketch:
    return fault(confirm_late(load(100), 15, 40, by_ms), 15, 40, kind, **named)


@case(passes=f"{AFTER} {DELIVERED} {FIFO}", not_applicable=OF_ONE_NODE)
def packets_are_late_and_confirms_in_time() -> Sketch:
    return slowed(800)


@case(passes=f"{AFTER} {DELIVERED}", not_applicable=OF_ONE_NODE)
def packets_are_late_and_confirms_too() -> Sketch:
    return slowed(1_500)


@case(unknown=f"{AFTER} {DELIVERED} {OF_ONE_NODE}")
def packets_were_not_seen_to_be_late() -> Sketch:
    """What the fault was is unknown, too."""
    return slowed(800, verified=False)


@case(passes=f"{AFTER} {DELIVERED}", not_applicable=OF_ONE_NODE)
def a_tenth_of_the_packets_is_lost() -> Sketch:
    sketch = fault(load(100), 15, 40, "packet_loss")
    for sequence in range(160, 390, 10):
        one = sketch.attempts(sequence * 100, sequence * 100 + 100)[0]
        one.settled_ms = one.at_ms + 600
    return sketch


@case(f"{DELIVERED}", passes=AFTER, lost=1, not_applicable=ELECTION)
def lost_with_the_packets() -> Sketch:
    """TCP sends again what the network loses: a confirmed message is none of that."""
    sketch = fault(load(100), 15, 40, "packet_loss")
    sketch.lose(250)
    return sketch


@case(AFTER, passes=DELIVERED)
def confirms_stay_late_after_slow_packets() -> Sketch:
    return fault(confirm_late(load(100), 15, 95, 1_500), 15, 40, "packet_delay")


@case(f"{WORKS_ON} {SERVED}", passes=AFTER)
def a_kill_after_slow_packets_and_no_takeover() -> Sketch:
    return fault(fault(load(150, (80, 106)), 15, 40, "packet_delay"), 80, 105)


@case(DELIVERED, passes=AFTER, lost=1)
def lost_though_the_master_alone_had_flushed_it() -> Sketch:
    """The weaker level is a confirm, too."""
    sketch = alarm(BLOCKED, resource="disk")
    sketch.attempts(14_900, 15_000)[0].level = Strength.FLUSH_DISK_TIMEOUT
    sketch.lose(149)
    return sketch


# --- starved processors --------------------------------------------------------------------------


def starved(*out_s: tuple[float, float], late_ms: float = 110, until_s: float = 100) -> Sketch:
    """The publisher's ticks are late again and again from 16 to 90 s."""
    sketch = fault(load(until_s, *out_s), 15, 40, "packet_delay")
    for at_s in range(16, 90, 2):
        sketch.history.stall(PUBLISHER, at_ms=at_s * 1_000, late_ms=late_ms)
    return sketch


@case(unknown=AFTER, passes=DELIVERED)
def a_starved_publisher_and_all_served() -> Sketch:
    return starved()


@case(AFTER, passes=DELIVERED)
def a_starved_publisher_and_out_for_good() -> Sketch:
    """Half a minute is longer than all stalls together."""
    return starved((15, 100))


@case(unknown=AFTER, passes=DELIVERED)
def a_starved_publisher_and_out_for_less_than_its_stalls() -> Sketch:
    return starved((70, 73))


@case(DELIVERED, lost=1)
def a_starved_consumer_and_one_lost() -> Sketch:
    """Who stands still gets it later."""
    sketch = fault(load(100), 15, 40, "packet_delay")
    for at_s in range(16, 90, 2):
        sketch.history.stall(CONSUMER, at_ms=at_s * 1_000, late_ms=500)
    sketch.lose(600)
    return sketch


# --- clocks that jump ----------------------------------------------------------------------------


def jumped(sketch: Sketch) -> Sketch:
    sketch.facts["clock_problem"] = "clocks ran apart by 2.0 s"
    return sketch


@case(unknown=f"{AFTER} {DELIVERED} {CONSUMED_AFTER}")
def a_clock_jumps_and_all_is_served() -> Sketch:
    return jumped(alarm(BLOCKED))


@case(DELIVERED, lost=1, unknown=AFTER)
def a_clock_jumps_and_one_is_lost() -> Sketch:
    """No clock is needed to see that it never came."""
    sketch = jumped(alarm(BLOCKED))
    sketch.lose(600)
    return sketch


@case(unknown=f"{AFTER} {DELIVERED}")
def something_comes_before_it_was_sent() -> Sketch:
    sketch = alarm(BLOCKED)
    sketch.first(600).move(60_000)
    return sketch


@case(unknown=AFTER, passes=DELIVERED)
def an_operator_frees_the_disk_by_a_restart() -> Sketch:
    """What he stopped is out as long as a node may boot."""
    return operated(alarm(BLOCKED, (62, 80), resource="disk"), 60, 66)
