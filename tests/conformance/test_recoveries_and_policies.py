"""Recoveries in part, too early or too late, policies of queues, and retries. Each broken history
stands beside a healthy one that nearly looks like it. What must be said was written down before
anything judged it, by the argument of each story."""

from typing import Any

import pytest

from spark_analysis.schema.words import Outcome, Redelivered, Via
from tests.rigs.histories.by_hand import CONSUMER
from tests.rigs.histories.claim_names import (
    ACKED,
    AFTER,
    CONSUMED,
    CONSUMED_AFTER,
    COPY,
    DELIVERED,
    FIFO,
    MISROUTED,
    OF_MIRRORS,
    ONE_COPY,
    SERVED,
    STEADY,
    TAKEN_OVER,
    UNACKED,
    UNEXPECTED,
    WORKS_ON,
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

UNKNOWN, CONFIRMED, REFUSED = Outcome.UNKNOWN, Outcome.CONFIRMED, Outcome.REFUSED
SECOND = 4  # a publisher
SILENT_MIRROR = "silent-mirror-is-noticed-late"
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_recovery_or_a_policy_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def beside(
    sketch: Sketch, *late_s: tuple[float, float], until_s: float = 60, queue: str = "payments"
) -> Sketch:
    """A second publisher with a queue of its own; nothing of these times is confirmed."""
    sketch.history.queue(queue).worker(SECOND, "publisher")
    for number in range(round(until_s * 10)):
        at_ms = number * 100 + 60
        named: dict[str, Any] = {"producer": SECOND, "queue": queue}
        if any(since_s * 1_000 <= at_ms < end_s * 1_000 for since_s, end_s in late_s):
            sketch.send(number, at_ms, UNKNOWN, settled_ms=at_ms + 1_000, **named)
        else:
            sketch.send(number, at_ms, **named)
            sketch.deliver(number, at_ms + 10, producer=SECOND)
    return sketch


def out(sketch: Sketch, *spans_s: tuple[float, float]) -> Sketch:
    for from_s, end_s in spans_s:
        sketch.silence(from_s * 1_000, end_s * 1_000)
    return sketch


def of_payments(sketch: Sketch, from_ms: float = 0, until_ms: float = 10**9) -> list[Any]:
    return [one for one in sketch.since(from_ms, until_ms) if one.named.get("producer") == SECOND]


# --- one queue of several ------------------------------------------------------------------------


@case(f"{SERVED} {AFTER}")
def one_of_two_queues_comes_back_15_seconds_after_the_undo() -> Sketch:
    return beside(failover(), (15, 50))


@case(SERVED, passes=AFTER)
def one_of_two_queues_comes_back_with_the_undo() -> Sketch:
    return beside(failover(), (15, 36))


@case(passes=f"{TAKEN_OVER} {AFTER}")
def both_queues_come_back_at_different_times() -> Sketch:
    return beside(failover(), (15, 19))


@case(STEADY)
def one_of_two_queues_dies_without_a_fault() -> Sketch:
    return beside(calm(60_000), (30, 60))


@case(STEADY)
def one_of_two_queues_never_served() -> Sketch:
    return beside(calm(60_000), (0, 60))


@case(passes=STEADY)
def one_of_two_queues_begins_nine_seconds_late() -> Sketch:
    return beside(calm(60_000), (0, 9))


@case(CONSUMED_AFTER, passes=AFTER)
def one_of_two_queues_gives_nothing_any_more_after_the_fault() -> Sketch:
    sketch = beside(failover())
    for one in of_payments(sketch, 36_000):
        one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        one.move(70_000 + one.sequence / 1_000)
    return sketch


@case(passes=f"{CONSUMED_AFTER} {AFTER}")
def one_of_two_queues_gives_again_four_seconds_after_reconnects() -> Sketch:
    sketch = beside(failover())
    for one in of_payments(sketch, 36_000, 42_000):
        one.move(42_000 + one.sequence / 1_000)
    return sketch


@case(AFTER, unknown=f"{TAKEN_OVER} {WORKS_ON}")
def a_queue_dies_one_second_before_the_undo() -> Sketch:
    """It had served on for 19 s; nothing shows whether the fault or the undo ended it."""
    return beside(failover(), (34, 60))


# --- flapping ------------------------------------------------------------------------------------


@case(unknown=SERVED, passes=AFTER)
def a_queue_fails_every_five_seconds_until_the_undo() -> Sketch:
    """It serves for the last three seconds: that the undo ended it is not shown."""
    return out(failover(), (20, 22), (25, 27), (30, 32))


@case(AFTER, passes=TAKEN_OVER)
def a_queue_fails_twice_after_the_undo() -> Sketch:
    return out(failover(), (42, 44), (48, 50))


@case(AFTER)
def every_second_publish_fails_after_the_undo() -> Sketch:
    sketch = failover()
    for sequence in range(400, 600, 2):
        out(sketch, (sequence / 10, sequence / 10 + 0.1))
    return sketch


@case(unknown=AFTER)
def one_of_twenty_publishes_fails_after_the_undo() -> Sketch:
    """Broken, or too much for the machine: the load ends before a stretch is served."""
    sketch = failover()
    for sequence in range(400, 600, 20):
        out(sketch, (sequence / 10, sequence / 10 + 0.1))
    return sketch


@case(passes=AFTER)
def one_of_200_publishes_fails_after_the_undo() -> Sketch:
    return out(failover(), (45, 45.1))


@case(passes=f"{TAKEN_OVER} {AFTER}")
def one_of_150_publishes_fails_from_the_takeover_on() -> Sketch:
    sketch = failover()
    for sequence in (250, 400, 550):
        out(sketch, (sequence / 10, sequence / 10 + 0.1))
    return sketch


# --- undo or election ----------------------------------------------------------------------------


@case(unknown=f"{TAKEN_OVER} {WORKS_ON}", passes=AFTER)
def back_half_a_second_before_the_undo() -> Sketch:
    return failover(back_ms=34_550)


@case(unknown=f"{TAKEN_OVER} {WORKS_ON}", passes=AFTER)
def back_two_seconds_before_the_undo() -> Sketch:
    return failover(back_ms=33_050)


@case(unknown=TAKEN_OVER, passes=AFTER)
def back_nine_seconds_before_the_undo() -> Sketch:
    """At ten messages a second, 80 were due from then to a deadline before the undo."""
    return failover(back_ms=26_050)


@case(passes=f"{TAKEN_OVER} {WORKS_ON} {AFTER}")
def back_twelve_seconds_before_the_undo() -> Sketch:
    return failover(back_ms=23_050)


@case(SERVED, passes=AFTER)
def back_half_a_second_after_the_undo() -> Sketch:
    return failover(back_ms=35_550)


@case(f"{SERVED} {AFTER}")
def back_five_seconds_after_the_undo() -> Sketch:
    return failover(back_ms=40_050)


@case(f"{SERVED} {AFTER}")
def never_back() -> Sketch:
    return failover(back_ms=60_000)


# --- loads that end early, and rates near zero ---------------------------------------------------


@case(unknown=f"{AFTER} {CONSUMED_AFTER}", passes=TAKEN_OVER)
def the_load_ends_before_clients_had_time_to_reconnect() -> Sketch:
    return failover(until_ms=38_000)


@case(unknown=f"{AFTER} {CONSUMED_AFTER}", passes=TAKEN_OVER)
def the_load_ends_two_seconds_after_clients_had_time_to_reconnect() -> Sketch:
    return failover(until_ms=40_000)


@case(unknown=AFTER)
def the_load_ends_with_a_second_outage_after_the_undo() -> Sketch:
    """Its last publishes had no time to be answered, or most of them had."""
    return out(failover(until_ms=60_000), (59.2, 60))


@case(AFTER)
def the_load_ends_in_an_outage_of_three_seconds() -> Sketch:
    return out(failover(until_ms=60_000), (57, 60))


def sparse(sketch: Sketch, every: int) -> Sketch:
    """One message of so many is sent; sequences stay."""
    for key in [key for key in sketch.sent if key[1] % every]:
        del sketch.sent[key]
    sketch.came = [one for one in sketch.came if not one.sequence % every]
    return sketch


@case(unknown=f"{TAKEN_OVER} {WORKS_ON} {AFTER}")
def one_message_every_three_seconds_and_a_takeover() -> Sketch:
    return sparse(failover(), 30)


@case(unknown=f"{TAKEN_OVER} {AFTER}")
def one_message_every_three_seconds_and_none_is_confirmed() -> Sketch:
    """Too few to call it an outage."""
    return sparse(failover(back_ms=60_000), 30)


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def one_message_every_three_seconds_and_one_is_lost() -> Sketch:
    sketch = sparse(failover(), 30)
    sketch.lose(120)
    return sketch


@case(unknown=f"{STEADY} {CONSUMED}")
def no_message_at_all() -> Sketch:
    return sparse(calm(), 10**6)


# --- slow, and alive -----------------------------------------------------------------------------


def confirmed_after(sketch: Sketch, ms: float, from_ms: float, until_ms: float) -> Sketch:
    for one in sketch.attempts(from_ms, until_ms):
        if CONFIRMED in one.outcomes:
            one.settled_ms = one.at_ms + ms
    return sketch


@case(unknown=TAKEN_OVER, passes=AFTER)
def confirms_take_900_ms_all_the_time() -> Sketch:
    """The last ones that were sent under the fault were confirmed after it."""
    return confirmed_after(failover(), 900, 0, 60_000)


@case(AFTER, unknown=TAKEN_OVER)
def confirms_take_1500_ms_after_the_fault() -> Sketch:
    """At ten messages a second the takeover has no 20 s of service."""
    return confirmed_after(failover(), 1_500, 36_000, 60_000)


@case(SERVED, passes=AFTER)
def confirms_take_1500_ms_under_the_fault() -> Sketch:
    return confirmed_after(failover(), 1_500, 17_000, 35_000)


@case(f"{STEADY}")
def confirms_take_1500_ms_from_the_middle_on() -> Sketch:
    return confirmed_after(calm(60_000), 1_500, 30_000, 60_000)


def given_every(ms: float) -> Sketch:
    """After the undo consumers get one message each so many ms."""
    sketch = failover(until_ms=90_000)
    for place, one in enumerate(sketch.since(36_000)):
        one.move(36_100 + place * ms)
    return sketch


@case(passes=f"{CONSUMED_AFTER} {AFTER} {FIFO}")
def a_backlog_grows_after_the_fault() -> Sketch:
    """More than half of what is sent comes, in order."""
    return given_every(150)


@case(CONSUMED_AFTER, passes=f"{AFTER} {FIFO}")
def a_third_of_the_load_comes_after_the_fault() -> Sketch:
    return given_every(300)


# --- the end of what can be judged ---------------------------------------------------------------


def left(sketch: Sketch, from_ms: float) -> Sketch:
    """Consumers get nothing any more from then on; the drain gets the rest."""
    for one in sketch.since(from_ms):
        one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        one.move(sketch.history.facts.load_ended_ns / 1e6 + 10_000 + one.sequence / 1_000)
    return sketch


@case(passes=CONSUMED)
def nothing_comes_in_the_last_two_seconds() -> Sketch:
    return left(calm(), 28_000)


@case(unknown=CONSUMED)
def nothing_comes_in_the_last_three_seconds() -> Sketch:
    """Dead or late: the load ended too soon to tell."""
    return left(calm(), 27_000)


@case(unknown=CONSUMED_AFTER, passes=AFTER)
def nothing_comes_in_the_last_three_seconds_after_a_fault() -> Sketch:
    return left(failover(), 57_000)


@case(passes=CONSUMED)
def nothing_comes_for_three_seconds_in_the_middle() -> Sketch:
    sketch = calm()
    sketch.hold(12_000, 15_000)
    return sketch


@case(unknown=CONSUMED)
def one_queue_gives_nothing_at_last_and_another_for_longer_before() -> Sketch:
    """That the other one gave again after 4.9 s says nothing of the first."""
    sketch = beside(calm(60_000))
    for place, one in enumerate(of_payments(sketch, 20_000, 24_900)):
        one.move(24_901 + place * 0.05)
    for one in sketch.since(55_300):
        if "producer" not in one.named:
            one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
            one.move(70_000 + one.sequence / 1_000)
    return sketch


@case(CONSUMED)
def nothing_comes_in_the_last_seven_seconds() -> Sketch:
    return left(calm(), 23_000)


# --- consumers -----------------------------------------------------------------------------------


def locked_out(back_ms: float) -> Sketch:
    """An exclusive consumer loses its connection at 15.2 s. The broker takes the old one for alive
    and refuses the new one until then."""
    sketch = failover()
    sketch.history.rows["client_events"] = []
    events = sketch.history.client_event("consuming", at_ms=1)
    events.client_event("lost", at_ms=15_200).client_event(
        "consuming", at_ms=back_ms, connection=2
    )
    for one in sketch.since(15_000):
        one.named["connection"] = 2
        one.move(max(one.at_ms, back_ms + 1 + one.sequence / 1_000))
    return sketch


@case(passes=f"{WORKS_ON} {TAKEN_OVER} {CONSUMED_AFTER}")
def an_exclusive_consumer_is_locked_out_for_ten_seconds() -> Sketch:
    return locked_out(25_000)


@case(f"{WORKS_ON} {CONSUMED_AFTER}", passes=TAKEN_OVER)
def an_exclusive_consumer_is_locked_out_beyond_the_fault() -> Sketch:
    return locked_out(46_000)


@case(WORKS_ON, passes=f"{TAKEN_OVER} {CONSUMED_AFTER}")
def an_exclusive_consumer_is_locked_out_until_the_undo() -> Sketch:
    return locked_out(35_500)


def standby(active_ms: float, how: str) -> Sketch:
    """A single active consumer ends at 15 s; the other one was there all the time."""
    sketch = calm(40_000)
    sketch.history.worker(OTHER, "consumer").client_event("consuming", at_ms=2, worker=OTHER)
    sketch.history.client_event(how, at_ms=15_000)
    for one in sketch.since(15_000):
        one.named["consumer"] = OTHER
        one.move(max(one.at_ms, active_ms + one.sequence / 1_000))
    return sketch


@case(passes=f"{CONSUMED} {FIFO}")
def the_standby_consumer_becomes_active_at_once() -> Sketch:
    return standby(15_100, "closed")


@case(passes=f"{CONSUMED} {FIFO}")
def the_standby_consumer_becomes_active_within_five_seconds() -> Sketch:
    return standby(19_900, "lost")


@case(CONSUMED, passes=FIFO)
def the_standby_consumer_becomes_active_after_eight_seconds() -> Sketch:
    return standby(23_000, "closed")


@case(passes=f"{CONSUMED} {FIFO} {DELIVERED} {ONE_COPY}")
def a_rebalance_hands_the_queue_over_and_back() -> Sketch:
    sketch = handed_over(calm(40_000), 12_000, 12_200)
    sketch.history.client_event("consuming", at_ms=20_050, connection=2)
    sketch.history.client_event("closed", at_ms=20_030, worker=OTHER)
    for one in sketch.since(20_040):
        one.named |= {"consumer": CONSUMER, "connection": 2}
        one.move(max(one.at_ms, 20_060 + one.sequence / 1_000))
    return sketch


@case(FIFO)
def a_rebalance_gives_the_next_consumer_what_was_overtaken() -> Sketch:
    """Message 118 waits while the first consumer gets 119; then the second one gets it."""
    sketch = handed_over(calm(40_000), 12_000, 12_200)
    sketch.first(118).named["consumer"] = OTHER
    sketch.first(118).move(12_201)
    return sketch


@case(unknown=WORKS_ON, passes=f"{TAKEN_OVER} {CONSUMED_AFTER}")
def the_only_consumer_closed_just_before_the_fault_and_returns_after_it() -> Sketch:
    sketch = failover()
    sketch.history.rows["client_events"] = []
    events = sketch.history.client_event("consuming", at_ms=1)
    events.client_event("closed", at_ms=14_990).client_event(
        "consuming", at_ms=36_000, connection=2
    )
    for one in sketch.since(14_990):
        one.named["connection"] = 2
        one.move(max(one.at_ms, 36_001 + one.sequence / 1_000))
    return sketch


# --- policies ------------------------------------------------------------------------------------


def dropping(sketch: Sketch, *lost: int) -> Sketch:
    """The queue has a time to live, a maximum length, or a dead-letter exchange."""
    sketch.declared["drops"] = True
    sketch.lose(*lost)
    return sketch


@case(unknown=DELIVERED, lost=5)
def messages_expire() -> Sketch:
    return dropping(calm(), 100, 101, 102, 103, 104)


@case(DELIVERED, lost=5)
def messages_are_gone_from_a_queue_that_drops_none() -> Sketch:
    sketch = dropping(calm(), 100, 101, 102, 103, 104)
    sketch.declared["drops"] = False
    return sketch


@case(passes=f"{DELIVERED} {FIFO} {ONE_COPY}")
def a_queue_that_may_drop_messages_drops_none() -> Sketch:
    return dropping(calm())


@case(unknown=f"{DELIVERED} {OF_MIRRORS}", lost=3)
def messages_expire_under_a_fault() -> Sketch:
    return dropping(failover(), 147, 148, 149)


@case(ONE_COPY, unknown=DELIVERED, lost=1)
def a_message_expires_and_another_is_stored_twice() -> Sketch:
    sketch = dropping(calm(), 100)
    sketch.deliver(120, 15_000)
    return sketch


@case(UNEXPECTED)
def a_queue_that_may_drop_messages_invents_one() -> Sketch:
    sketch = dropping(calm())
    sketch.deliver(5_000, 15_000)
    return sketch


@case(unknown=MISROUTED, misrouted=1)
def an_expired_message_comes_in_the_queue_of_dead_letters() -> Sketch:
    sketch = beside(dropping(calm(60_000)))
    sketch.first(100).named["queue"] = "payments"
    return sketch


@case(MISROUTED, misrouted=1)
def a_message_comes_in_another_queue() -> Sketch:
    sketch = beside(calm(60_000))
    sketch.first(100).named["queue"] = "payments"
    return sketch


@case(unknown=UNACKED, not_redelivered=1)
def an_unacknowledged_message_expires() -> Sketch:
    sketch = relinked(dropping(calm()))
    sketch.forget_to_acknowledge(151)
    return sketch


@case(UNACKED, not_redelivered=1)
def an_unacknowledged_message_is_forgotten() -> Sketch:
    sketch = relinked(calm())
    sketch.forget_to_acknowledge(151)
    return sketch


@case(passes=f"{DELIVERED} {STEADY}", unknown="")
def a_full_queue_rejects_publishes_within_a_stretch() -> Sketch:
    """A nack is no loss: the broker did not promise to keep it."""
    sketch = calm()
    sketch.answer(150, UNKNOWN)
    sketch.lose(150)
    return sketch


# --- retries, and brokers that store once --------------------------------------------------------


def retried(came: tuple[int, ...], first: Outcome = UNKNOWN, **declared: bool) -> Sketch:
    """Message 60 is sent again 10 ms after its answer. `came`: its attempts that come."""
    sketch = calm(12_000)
    sketch.declared |= declared
    sketch.send(60, 6_050, first, settled_ms=6_550)
    sketch.send(60, 6_560, attempt=2)
    sketch.lose(60)
    for attempt in came:
        sketch.deliver(60, 6_060 if attempt == 1 else 6_570, attempt=attempt)
    return sketch


@case(COPY, attempt_lost=1)
def a_confirmed_retry_is_gone() -> Sketch:
    return retried((1,))


@case(unknown=COPY, attempt_lost=1)
def a_broker_that_stores_once_confirms_a_retry() -> Sketch:
    return retried((1,), deduplicates=True)


@case(unknown=COPY, attempt_lost=1)
def a_broker_that_stores_once_confirms_both_attempts() -> Sketch:
    return retried((1,), CONFIRMED, deduplicates=True)


@case(f"{DELIVERED}", lost=1)
def a_broker_that_stores_once_keeps_neither_attempt() -> Sketch:
    return retried((), CONFIRMED, deduplicates=True)


@case(passes=f"{COPY} {ONE_COPY}", duplicated__publisher_retry=1)
def a_broker_that_stores_once_gives_both_attempts() -> Sketch:
    """No claim asks whether it deduplicates."""
    return retried((1, 2), deduplicates=True)


@case(passes=f"{COPY} {FIFO}")
def a_retry_after_a_failover_comes_in_its_place() -> Sketch:
    sketch = failover()
    sketch.send(155, 17_060, attempt=2)
    sketch.deliver(155, 17_070, attempt=2, connection=2)
    return sketch


@case(passes=f"{COPY} {FIFO}")
def a_first_attempt_comes_after_the_failover_beside_its_retry() -> Sketch:
    """It reached the mirror late: which copy stands where is not certain."""
    sketch = failover()
    sketch.deliver(155, 17_500, connection=2)
    sketch.send(155, 17_060, attempt=2)
    sketch.deliver(155, 17_600, attempt=2, connection=2)
    return sketch


@case(FIFO, reordered=1)
def a_confirmed_retry_after_a_failover_is_overtaken() -> Sketch:
    sketch = failover()
    sketch.send(155, 17_060, attempt=2)
    sketch.deliver(155, 17_265, attempt=2, connection=2)
    return sketch


# --- redelivered, in another order ---------------------------------------------------------------


def swapped(*, majority: bool, first: bool = True, second: bool = True) -> Sketch:
    """Messages 151 and 150 come in this order after the consumer's connection ended."""
    sketch = relinked(calm(), 15_040, 15_300)
    sketch.declared |= {"elects_by_majority": majority}
    for sequence, at_ms, again in ((151, 15_302, first), (150, 15_303, second)):
        sketch.first(sequence).move(at_ms)
        if again:
            sketch.first(sequence).named["redelivered"] = Redelivered.YES
    for place, sequence in enumerate(range(152, 156)):
        sketch.first(sequence).move(max(15_304 + place, sequence * 100 + 60))
    return sketch


@case(unknown=FIFO, reorder_unknown=1)
def a_quorum_queue_redelivers_in_another_order() -> Sketch:
    """Both had been given to the connection that ended, and went unread."""
    return swapped(majority=True)


@case(FIFO, reordered=1)
def a_mirrored_queue_redelivers_in_another_order() -> Sketch:
    return swapped(majority=False)


@case(FIFO, reordered=1)
def a_quorum_queue_delivers_in_another_order() -> Sketch:
    return swapped(majority=True, first=False, second=False)


@case(unknown=FIFO, reorder_unknown=1)
def a_quorum_queue_redelivers_one_behind_a_later_one() -> Sketch:
    return swapped(majority=True, first=False)


@case(passes=f"{FIFO} {ACKED}", reordered=0)
def a_quorum_queue_redelivers_in_order() -> Sketch:
    sketch = swapped(majority=True)
    sketch.first(150).move(15_301)
    return sketch


# --- pauses at maximum rate ----------------------------------------------------------------------


def frozen_mirror(*, last_confirmed_ms: float = 15_965) -> Sketch:
    """A mirror stands still from 15 s on. The publisher sends as fast as it may, and nothing from
    16 to 21 s; its last message before that is confirmed then."""
    sketch = calm(60_000, paced=False)
    sketch.fault(kind="freeze", role="mirror")
    for key, one in [*sketch.sent.items()]:
        if 16_000 <= one.at_ms < 21_000:
            del sketch.sent[key]
            sketch.lose(key[1])
    sketch.answer(159, CONFIRMED, settled_ms=last_confirmed_ms)
    return sketch


@case(unknown=SILENT_MIRROR)
def a_publisher_pauses_while_a_mirror_is_frozen() -> Sketch:
    """Nothing waited for its confirm: the pause may be its own."""
    return frozen_mirror()


@case(unknown=SILENT_MIRROR)
def a_publisher_pauses_while_a_mirror_is_frozen_and_once_more_later() -> Sketch:
    """A pause after the silence shows nothing about it."""
    sketch = frozen_mirror()
    for key, one in [*sketch.sent.items()]:
        if 40_000 <= one.at_ms < 43_000:
            del sketch.sent[key]
            sketch.lose(key[1])
    return sketch


@case(passes=SILENT_MIRROR)
def a_publisher_waits_for_a_confirm_while_a_mirror_is_frozen() -> Sketch:
    sketch = frozen_mirror(last_confirmed_ms=20_900)
    sketch.first(159).move(20_910)
    return sketch


@case(passes=SILENT_MIRROR)
def a_publisher_pauses_long_before_it_waits_for_a_confirm() -> Sketch:
    """A pause at the beginning says nothing of a silence at the fault."""
    sketch = a_publisher_waits_for_a_confirm_while_a_mirror_is_frozen()
    for key in [key for key, one in sketch.sent.items() if one.at_ms < 1_500]:
        del sketch.sent[key]
        sketch.lose(key[1])
    return sketch


@case(passes=SILENT_MIRROR)
def a_publisher_pauses_and_then_waits_for_a_confirm() -> Sketch:
    """Silent from 16 s on: two seconds are a possible pause, and then an attempt waits for 3 s."""
    sketch = frozen_mirror()
    sketch.send(180, 18_050, settled_ms=21_040)
    sketch.deliver(180, 21_045)
    return sketch


@case(unknown=SILENT_MIRROR)
def publishers_pause_in_one_queue_while_another_waits_for_confirms() -> Sketch:
    """The silence of `orders` may be a pause, though attempts to `payments` waited meanwhile."""
    sketch = frozen_mirror()
    sketch.history.queue("payments").worker(SECOND, "publisher")
    for number in range(600):
        sketch.send(number, number * 100 + 60, producer=SECOND, queue="payments")
        sketch.deliver(number, number * 100 + 70, producer=SECOND)
    return sketch


@case(passes=SILENT_MIRROR)
def a_publisher_waits_for_an_answer_while_a_mirror_is_frozen() -> Sketch:
    """It never comes; the publisher goes on after five seconds."""
    sketch = frozen_mirror()
    sketch.answer(159, UNKNOWN, settled_ms=20_960)
    sketch.lose(159)
    return sketch
