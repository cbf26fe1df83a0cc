"""Duplicate deliveries of queues: each broken history beside a healthy one that nearly looks like
it. What must be said follows from docs/verdicts.md 5.2, by the argument of each story."""

import pytest

from spark_analysis.schema.facts import ProcessEnd
from spark_analysis.schema.words import Outcome, Via
from tests.rigs.histories.by_hand import CONSUMER, ns
from tests.rigs.histories.claim_names import (
    ACKED,
    HELD,
    ONE_COPY,
)
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    failover,
    handed_over,
    relinked,
)

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_of_copies_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- a consumer that died without closing its log ------------------------------------------------


def died() -> Sketch:
    """The log of the first consumer ends at 14.98 s, and another goes on. When the connection
    ended is on no record."""
    sketch = handed_over(calm(), how=None)
    sketch.history.log_open(CONSUMER)
    return sketch


@case(unknown=ONE_COPY, duplicated__stored_twice=0, duplicated__ambiguous=1)
def what_a_dead_consumer_held_comes_unflagged() -> Sketch:
    """The flag is a hint, and the connection had ended with the consumer."""
    sketch = died()
    sketch.forget_to_acknowledge(149)
    sketch.deliver(149, 15_402, consumer=OTHER)
    return sketch


@case(duplicated__redelivery=1)
def what_a_dead_consumer_held_comes_flagged() -> Sketch:
    sketch = died()
    sketch.forget_to_acknowledge(149)
    sketch.deliver(149, 15_402, again=True, consumer=OTHER)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def a_second_copy_comes_while_the_first_consumer_lives() -> Sketch:
    """Its log is not closed, but goes on for fifteen seconds after the second copy."""
    sketch = calm()
    sketch.history.worker(OTHER, "consumer").log_open(CONSUMER)
    sketch.history.client_event("consuming", at_ms=1, worker=OTHER)
    sketch.forget_to_acknowledge(100)
    sketch.deliver(100, 15_000, consumer=OTHER)
    return sketch


@case(unknown=ACKED, duplicated__redelivery_after_ack=0, duplicated__ambiguous=3)
def the_last_acknowledgements_of_a_dead_consumer_were_lost() -> Sketch:
    """It wrote them less than a second before its last record, and may have died then."""
    sketch = died()
    for sequence in (147, 148, 149):
        sketch.deliver(sequence, 17_402 + sequence / 1_000, again=True, consumer=OTHER)
    return sketch


@case(unknown=ACKED, duplicated__redelivery_after_ack=0)
def the_last_acknowledgement_of_a_dead_consumer_was_lost_before_the_drain() -> Sketch:
    sketch = calm()
    sketch.history.log_open(CONSUMER)
    sketch.deliver(299, 45_000, again=True, via=Via.DRAIN)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=3)
def early_acknowledgements_of_a_dead_consumer_were_forgotten() -> Sketch:
    """It lived on for four seconds after them."""
    sketch = died()
    for sequence in (100, 101, 102):
        sketch.deliver(sequence, 17_402 + sequence / 1_000, again=True, consumer=OTHER)
    return sketch


# --- the end of a connection ---------------------------------------------------------------------


@case(passes=ONE_COPY, duplicated__redelivery=1)
def what_a_closed_connection_held_comes_unflagged() -> Sketch:
    sketch = handed_over(calm())
    sketch.forget_to_acknowledge(149)
    sketch.deliver(149, 15_402, consumer=OTHER)
    return sketch


@case(ONE_COPY, duplicated__redelivery=1, duplicated__stored_twice=1)
def what_a_closed_connection_held_comes_unflagged_twice() -> Sketch:
    """One end of a connection explains one redelivery."""
    sketch = what_a_closed_connection_held_comes_unflagged()
    sketch.deliver(149, 15_404, consumer=OTHER)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_1500_ms_before_the_connection_was_lost() -> Sketch:
    sketch = relinked(calm())
    sketch.first(136).acked_ms = 13_700
    sketch.deliver(136, 15_402, again=True, connection=2)
    return sketch


@case(passes=f"{ACKED} {ONE_COPY}", acknowledged_late=1)
def acknowledged_500_ms_before_the_connection_was_lost() -> Sketch:
    sketch = relinked(calm())
    sketch.first(146).acked_ms = 14_700
    sketch.deliver(146, 15_402, again=True, connection=2)
    return sketch


@case(passes=f"{ACKED} {ONE_COPY}", duplicated__redelivery=1, acknowledged_late=0)
def acknowledged_into_a_dead_connection() -> Sketch:
    sketch = relinked(calm())
    sketch.first(140).acked_ms = 15_300
    sketch.deliver(140, 15_402, again=True, connection=2)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_and_in_the_drain_again() -> Sketch:
    sketch = calm()
    sketch.deliver(200, 50_000, again=True, via=Via.DRAIN)
    return sketch


# --- living connections --------------------------------------------------------------------------


def held(sketch: Sketch, *, again: bool, consumer: int) -> Sketch:
    """A consumer holds message 100, and another one, or the same, gets it seven seconds later."""
    sketch.history.worker(OTHER, "consumer").client_event("consuming", at_ms=1, worker=OTHER)
    sketch.forget_to_acknowledge(100)
    sketch.deliver(100, 17_000, again=again, consumer=consumer)
    return sketch


@case(HELD, duplicated__redelivered_without_cause=1)
def the_holder_gets_it_again_flagged() -> Sketch:
    return held(calm(), again=True, consumer=CONSUMER)


@case(ONE_COPY, duplicated__stored_twice=1)
def another_consumer_gets_it_unflagged() -> Sketch:
    return held(calm(), again=False, consumer=OTHER)


@case(passes=f"{HELD} {ONE_COPY}", duplicated__redelivery=1)
def another_consumer_gets_it_flagged() -> Sketch:
    """No promise says that it is not given to another consumer."""
    return held(calm(), again=True, consumer=OTHER)


@case(ONE_COPY, duplicated__stored_twice=300)
def without_acknowledgements_all_come_twice_unflagged() -> Sketch:
    sketch = calm(acknowledges=False)
    sketch.declared |= {"acknowledges": False, "no_ack": True}
    for one in [*sketch.came]:
        one.acked_ms = None
        sketch.deliver(one.sequence, one.at_ms + 1, acked=False)
    return sketch


def requeued(sequence: int) -> Sketch:
    """At 15.1 s its consumer gives back what it holds. Then it gets that message again."""
    sketch = calm()
    sketch.history.client_event("requeued", at_ms=15_100)
    sketch.forget_to_acknowledge(sequence)
    sketch.deliver(sequence, 17_000, again=True)
    return sketch


@case(passes=f"{HELD} {ONE_COPY} {ACKED}", duplicated__redelivery=1)
def requeued_by_its_consumer_and_again() -> Sketch:
    return requeued(150)


@case(HELD, duplicated__redelivered_without_cause=1)
def received_after_its_consumer_requeued_others_and_again() -> Sketch:
    return requeued(160)


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_before_its_consumer_requeued_others_and_again() -> Sketch:
    sketch = requeued(150)
    sketch.first(150).acked_ms = 15_062
    return sketch


def two_held(tag: str | None) -> Sketch:
    """It holds messages 149 and 150 (tags 150 and 151), gives back the one of that tag, and gets
    150 again. None: no row says which it gave back."""
    sketch = calm()
    sketch.history.client_event("requeued", at_ms=15_100, detail=tag)
    sketch.forget_to_acknowledge(149, 150)
    sketch.deliver(150, 17_000, again=True)
    return sketch


@case(passes=f"{HELD} {ONE_COPY} {ACKED}", duplicated__redelivery=1)
def requeued_by_its_consumer_that_held_another_and_again() -> Sketch:
    return two_held("151")


@case(HELD, duplicated__redelivered_without_cause=1)
def held_while_its_consumer_requeued_another_and_again() -> Sketch:
    return two_held("150")


@case(unknown=HELD, passes=f"{ONE_COPY} {ACKED}", duplicated__redelivery=1)
def held_with_another_while_its_consumer_requeued_one_of_them() -> Sketch:
    """It may have requeued the other one; then the broker had no cause."""
    return two_held(None)


@case(unknown=HELD, duplicated__redelivery=1)
def received_again_by_a_consumer_without_any_client_event() -> Sketch:
    """Who records no client event records no requeue either."""
    sketch = held(calm(), again=True, consumer=CONSUMER)
    events = sketch.history.rows["client_events"]
    events[:] = [row for row in events if row["worker"] != CONSUMER]
    return sketch


# --- publishers' retries -------------------------------------------------------------------------


def tried_again() -> Sketch:
    """The first attempt has no answer; both attempts come."""
    sketch = calm()
    sketch.send(150, 15_055, Outcome.UNKNOWN, settled_ms=16_050)
    sketch.send(150, 16_060, attempt=2)
    sketch.deliver(150, 16_070, attempt=2)
    return sketch


@case(passes=ONE_COPY, duplicated__publisher_retry=1)
def both_attempts_come_once() -> Sketch:
    return tried_again()


@case(ONE_COPY, duplicated__publisher_retry=1, duplicated__stored_twice=1)
def the_second_attempt_comes_twice() -> Sketch:
    sketch = tried_again()
    sketch.deliver(150, 16_080, attempt=2)
    return sketch


@case(passes=ONE_COPY, duplicated=0)
def two_publishers_use_the_same_sequence_numbers() -> Sketch:
    sketch = calm()
    sketch.history.worker(4, "publisher")
    sketch.flow(60, 30_000, producer=4)
    return sketch


@case(ACKED, duplicated__publisher_retry=1, duplicated__redelivery_after_ack=1)
def the_acknowledged_first_attempt_comes_again_after_the_second() -> Sketch:
    sketch = tried_again()
    sketch.deliver(150, 20_000, again=True)
    return sketch


# --- across a fault ------------------------------------------------------------------------------


def acknowledged_before_the_kill(before_ms: float) -> Sketch:
    sketch = failover()
    sketch.first(130).acked_ms = 15_000 - before_ms
    sketch.deliver(130, 16_000, again=True, connection=2)
    return sketch


@case(passes=ACKED, acknowledged_late=1)
def acknowledged_900_ms_before_the_kill() -> Sketch:
    return acknowledged_before_the_kill(900)


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_1100_ms_before_the_kill() -> Sketch:
    return acknowledged_before_the_kill(1_100)


@case(unknown=ACKED, duplicated__ambiguous=1)
def acknowledged_ten_seconds_after_the_kill() -> Sketch:
    sketch = failover()
    sketch.deliver(250, 30_000, again=True, connection=2)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_after_the_fault_was_over() -> Sketch:
    sketch = failover()
    sketch.deliver(400, 45_000, again=True, connection=2)
    return sketch


def two_masters(from_ms: float) -> Sketch:
    sketch = failover()
    sketch.history.competing_leaders(from_ms, 40_000)
    sketch.deliver(200, 21_500, connection=2)
    return sketch


@case(ONE_COPY, duplicated__diverged=1)
def a_copy_comes_while_two_masters_live() -> Sketch:
    return two_masters(15_000)


@case(duplicated__diverged=0, duplicated__ambiguous=1)
def a_copy_comes_before_two_masters_lived() -> Sketch:
    return two_masters(25_000)


def a_process_ended(sequence: int) -> Sketch:
    """Something from outside killed a broker's process at 15.1 s."""
    sketch = relinked(calm())
    end = ProcessEnd("rmq2", ns(15_100), "outside", "signal 9", ns(20_000))
    sketch.facts["process_ends"] = (end,)
    sketch.deliver(sequence, 15_402, again=True, connection=2)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_long_before_a_process_ended() -> Sketch:
    return a_process_ended(100)


@case(passes=ACKED, acknowledged_late=1)
def acknowledged_just_before_a_process_ended() -> Sketch:
    return a_process_ended(147)


# --- clocks --------------------------------------------------------------------------------------


def by_other_clocks(sequence: int) -> Sketch:
    """Both consumers' clocks may be off by three seconds."""
    sketch = handed_over(calm())
    sketch.history.clock(CONSUMER, 3_000).clock(OTHER, 3_000)
    sketch.deliver(sequence, 15_402, again=True, consumer=OTHER)
    return sketch


@case(unknown=ACKED, duplicated__redelivery_after_ack=0)
def acknowledged_two_seconds_before_by_clocks_that_are_off_by_three() -> Sketch:
    return by_other_clocks(128)


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_ten_seconds_before_by_clocks_that_are_off_by_three() -> Sketch:
    return by_other_clocks(50)
