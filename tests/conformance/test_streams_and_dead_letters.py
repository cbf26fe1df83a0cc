"""Streams and topics that are read by offset, retry topics, and messages that queues drop by
declaration. What must be said follows from docs/verdicts.md 4.3, 4.10, 5.1, 6 and 14, by each
story's argument."""

from typing import Any

import pytest

from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import CONSUMER, History
from tests.rigs.histories.claim_names import (
    ACKED,
    AT_OFFSET,
    CONSUMED,
    DELIVERED,
    FIFO,
    HELD,
    MISROUTED,
    OF_MIRRORS,
    ONE_COPY,
    UNACKED,
    UNEXPECTED,
)
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    for_groups,
)
from tests.rigs.histories.ways import Via

MESSAGES = 60
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_stream_or_a_dead_letter_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def log(*, kept_by: str = "brokers", until_ms: float = 30_000) -> Sketch:
    """Message n is sent at n * 100 ms and lies at offset n of one log."""
    sketch = Sketch(History(load_ms=(0, until_ms)))
    sketch.declared |= {"messages": MESSAGES, "progress_kept_by": kept_by}
    sketch.history.client_event("consuming", at_ms=1)
    sketch.flow(50, MESSAGES * 100)
    for one in sketch.came:
        one.named |= at(one.sequence)
    return sketch


def at(offset: int, place: str = "broker-a") -> dict[str, Any]:
    return {"place": place, "offset": offset}


def stream() -> Sketch:
    return log(kept_by="clients")


def reopened(
    sketch: Sketch, at_ms: float = 10_000, how: str = "closed", *, connection: int = 1
) -> Sketch:
    """The consumer goes on by its next connection."""
    events = sketch.history.client_event(how, at_ms=at_ms, connection=connection)
    events.client_event("consuming", at_ms=at_ms + 20, connection=connection + 1)
    return sketch


# --- streams, whose consumers name an offset -----------------------------------------------------


@case(unknown=AT_OFFSET, passes=f"{ONE_COPY} {DELIVERED} {UNEXPECTED}", duplicated=MESSAGES)
def a_second_reader_begins_at_the_first_offset() -> Sketch:
    """It named that offset: what it gets was never its own before."""
    sketch = stream()
    sketch.history.worker(OTHER, "consumer")
    sketch.history.client_event("consuming", at_ms=12_000, worker=OTHER)
    for sequence in range(MESSAGES):
        sketch.deliver(sequence, 12_100 + sequence, consumer=OTHER, **at(sequence))
    return sketch


@case(unknown=AT_OFFSET, passes=f"{ONE_COPY} {DELIVERED}", duplicated__redelivery=20)
def a_reader_connects_again_and_names_an_earlier_offset() -> Sketch:
    sketch = reopened(stream())
    for sequence in range(40, 60):
        sketch.deliver(sequence, 10_200 + sequence, connection=2, **at(sequence))
    return sketch


@case(AT_OFFSET, passes=ONE_COPY, duplicated__redelivery=1)
def a_reader_gets_an_offset_twice_on_one_connection() -> Sketch:
    sketch = stream()
    sketch.deliver(40, 8_000, **at(40))
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1, passes=DELIVERED)
def a_publish_is_in_a_stream_at_two_offsets() -> Sketch:
    sketch = stream()
    sketch.deliver(40, 8_000, **at(MESSAGES))
    return sketch


@case(passes=f"{ONE_COPY} {DELIVERED}", duplicated__publisher_retry=1)
def a_message_without_an_answer_is_in_a_stream_twice_as_it_was_sent_twice() -> Sketch:
    sketch = stream()
    sketch.answer(40, Outcome.UNKNOWN, settled_ms=5_050)
    sketch.send(40, 5_060, attempt=2)
    sketch.deliver(40, 8_000, attempt=2, **at(MESSAGES))
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def all_replicas_of_a_stream_have_the_same_offsets() -> Sketch:
    """Another replica gave it at another offset."""
    sketch = stream()
    sketch.deliver(40, 8_000, **at(41))
    return sketch


@case(DELIVERED, lost=5)
def a_stream_lost_its_end_at_the_kill_of_its_leader() -> Sketch:
    sketch = stream()
    sketch.declared |= {"promote_on_failure": None, "confirm_waits_for_mirrors": None}
    sketch.declared |= {"elects": None, "masters": None}
    sketch.fault(6_000, 9_000)
    sketch.recorded[1].clear()
    sketch.lose(*range(55, 60))
    return sketch


@case(unknown=FIFO, passes=f"{ONE_COPY} {DELIVERED}")
def a_reader_skips_five_and_gets_them_by_its_next_connection() -> Sketch:
    """It named a later offset at first."""
    sketch = stream()
    reopened(sketch, 1_500, connection=1)
    reopened(sketch, 6_100, connection=2)
    for one in sketch.since(1_600):
        one.named["connection"] = 2
    for sequence in range(15, 20):
        sketch.first(sequence).move(6_200 + sequence)
        sketch.first(sequence).named["connection"] = 3
    return sketch


@case(CONSUMED, unknown=FIFO)
def a_stream_skips_five_on_one_connection_and_gives_them_six_seconds_later() -> Sketch:
    """On one connection no reader skips: the broker did."""
    sketch = reopened(stream(), 8_000)
    for sequence in range(15, 20):
        sketch.first(sequence).move(8_100 + sequence)
        sketch.first(sequence).named["connection"] = 2
    return sketch


@case(FIFO)
def a_reader_gets_five_after_later_ones_on_one_connection() -> Sketch:
    sketch = stream()
    for sequence in range(15, 20):
        sketch.first(sequence).move(4_000 + sequence)
    return sketch


# --- topics, whose brokers keep the progress -----------------------------------------------------


def failed_over(ack_ms: float, *again: int) -> Sketch:
    """The master is killed at 15 s. These come again at 18 s: the new one had an older offset.
    All was acknowledged at `ack_ms`."""
    sketch = log()
    sketch.fault(15_000, 25_000)
    for one in sketch.came:
        one.acked_ms = max(ack_ms, one.at_ms + 2)
    reopened(sketch, 15_200, "lost")
    for sequence in again:
        sketch.deliver(sequence, 18_000 + sequence, connection=2, **at(sequence))
    return sketch


@case(ACKED, passes=ONE_COPY, duplicated__offset_rollback=3)
def the_new_master_forgot_an_offset_of_eight_seconds_ago() -> Sketch:
    return failed_over(7_000, 50, 51, 52)


@case(passes=f"{ACKED} {ONE_COPY}", duplicated__redelivery=3)
def the_new_master_forgot_an_offset_of_five_seconds_ago() -> Sketch:
    """Clients report it every 5 s, so the old one perhaps never had it."""
    return failed_over(10_000, 50, 51, 52)


@case(passes=f"{ACKED} {ONE_COPY} {DELIVERED}", duplicated=0)
def the_new_master_knows_the_offset() -> Sketch:
    return failed_over(7_000)


@case(ACKED, duplicated__offset_rollback=MESSAGES)
def the_new_master_begins_at_the_first_offset() -> Sketch:
    return failed_over(7_000, *range(MESSAGES))


@case(f"{DELIVERED} {OF_MIRRORS}", stranded=3)
def the_new_master_skips_three() -> Sketch:
    """They are in its log, and it knows a later offset than the group ever had."""
    sketch = failed_over(7_000)
    sketch.lose(57, 58, 59)
    for sequence in (57, 58, 59):
        sketch.deliver(sequence, 40_000 + sequence, via=Via.AUDIT, **at(sequence))
    return sketch


# --- messages that consumers cannot work on ------------------------------------------------------


def poisoned(times: int, **declared: Any) -> Sketch:
    """Message 40 is requeued so many times, and comes again after each but the last."""
    sketch = calm(12_000)
    sketch.declared |= declared
    sketch.forget_to_acknowledge(40)
    tags = ("41", "42", "48", "54")  # of its deliveries
    for number in range(times):
        at_ms = 4_100 + number * 500
        sketch.history.client_event("requeued", at_ms=at_ms, detail=tags[number])
        if number < times - 1:
            sketch.deliver(40, at_ms + 10, again=True, acked=False)
    return sketch


@case(passes=f"{HELD} {ACKED} {ONE_COPY}", duplicated__redelivery=4)
def requeued_four_times_and_acknowledged_at_last() -> Sketch:
    sketch = poisoned(4)
    sketch.deliver(40, 6_000, again=True)
    return sketch


def dropped(**declared: Any) -> Sketch:
    """Its queue drops it after the fourth time; the consumer closes at the end."""
    sketch = poisoned(4, **declared)
    sketch.history.client_event("closed", at_ms=12_500)
    return sketch


@case(UNACKED, not_redelivered=1)
def requeued_four_times_and_gone() -> Sketch:
    return dropped()


@case(unknown=UNACKED, not_redelivered=1)
def requeued_four_times_and_gone_by_a_delivery_limit() -> Sketch:
    return dropped(drops=True)


def parked(**declared: Any) -> Sketch:
    """Rejected at last: message 40 comes in the queue of dead letters."""
    sketch = calm(12_000)
    sketch.declared |= declared
    sketch.history.queue("dead")
    sketch.deliver(40, 6_000, queue="dead")
    return sketch


@case(f"{MISROUTED} {ONE_COPY}", misrouted=1, duplicated__stored_twice=1)
def acknowledged_and_in_a_queue_of_dead_letters_that_is_not_declared() -> Sketch:
    return parked()


def retried(*came_ms: float, acked: bool = False) -> Sketch:
    """A group could not work on message 40: the retry topic has it each time."""
    sketch = log()
    sketch.forget_to_acknowledge(40)
    for number, at_ms in enumerate(came_ms):
        again = {"via": Via.RETRY_TOPIC, **at(number, "broker-a/retry")}
        sketch.deliver(40, at_ms, acked=acked and at_ms == came_ms[-1], **again)
    return sketch


@case(passes=f"{ACKED} {ONE_COPY} {DELIVERED}", duplicated__redelivery=3)
def the_retry_topic_has_it_three_times_until_it_is_acknowledged() -> Sketch:
    return retried(5_000, 10_000, 20_000, acked=True)


@case(ACKED, duplicated__redelivery=1, duplicated__redelivery_after_ack=1)
def the_retry_topic_has_it_ten_seconds_after_it_was_acknowledged_there() -> Sketch:
    sketch = retried(5_000, 16_000)
    sketch.came[-2].acked_ms = 5_002
    return sketch


@case(passes=f"{ONE_COPY} {DELIVERED}", not_redelivered=0)
def the_retry_topic_gives_it_up_while_the_consumer_lives() -> Sketch:
    """It went to the dead letters after its last attempt."""
    return retried(5_000, 10_000)


# --- queues that drop, and groups ----------------------------------------------------------------


def groups(drops: bool | None = None, messages: int = 120) -> Sketch:
    sketch = for_groups(calm(messages * 100), (CONSUMER, OTHER))
    if drops is not None:
        sketch.declared["drops"] = drops
    return sketch


def without(sketch: Sketch, queue: str, *sequences: int) -> Sketch:
    sketch.came = [
        one for one in sketch.came if one.sequence not in sequences or one.named["queue"] != queue
    ]
    return sketch


@case(DELIVERED, lost=30)
def a_queue_of_one_group_drops_its_oldest_undeclared() -> Sketch:
    return without(groups(), "orders-b", *range(30))


@case(unknown=DELIVERED, lost=30)
def a_queue_of_one_group_drops_its_oldest() -> Sketch:
    return without(groups(drops=True), "orders-b", *range(30))


@case(DELIVERED, lost=30)
def a_queue_of_one_group_drops_though_none_is_to_drop() -> Sketch:
    return without(groups(drops=False), "orders-b", *range(30))


@case(FIFO, unknown=DELIVERED, lost=30, reordered=1)
def a_queue_that_drops_swaps_two() -> Sketch:
    """What it drops is its right; the order of the rest is not."""
    sketch = without(groups(drops=True), "orders-b", *range(30))
    one = next(it for it in sketch.came if it.sequence == 60 and it.named["queue"] == "orders-b")
    one.move(one.at_ms + 510)
    return sketch


@case(UNEXPECTED, unexpected=1)
def a_group_gets_what_was_never_sent() -> Sketch:
    sketch = groups()
    sketch.deliver(900, 6_000, queue="orders-b", consumer=OTHER)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=120)
def a_group_gets_all_again_from_the_first_message_on() -> Sketch:
    """The other group is not touched."""
    sketch = groups()
    for sequence in range(120):
        at_ms = 14_000 + sequence
        sketch.deliver(sequence, at_ms, again=True, queue="orders-b", consumer=OTHER)
    return sketch
