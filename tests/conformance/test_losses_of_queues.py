"""Losses, refusals and order in queues: each broken history beside a healthy one that nearly looks
like it. What must be said follows from docs/verdicts.md, by the argument of each story."""

import pytest

from spark_analysis.schema.words import Outcome, Strength, Via
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    COPY,
    DELIVERED,
    FIFO,
    OF_MIRRORS,
    REFUSED,
    REQUEUED,
    UNACKED,
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

UNKNOWN, CONFIRMED, RETURNED = Outcome.UNKNOWN, Outcome.CONFIRMED, Outcome.RETURNED
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_of_losses_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- lost ----------------------------------------------------------------------------------------


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def confirmed_just_before_the_kill_and_lost() -> Sketch:
    sketch = failover()
    sketch.lose(149)
    return sketch


@case(passes=DELIVERED, lost=0, lost_indeterminate=21)
def nacked_just_before_the_kill_and_gone() -> Sketch:
    """A nack is unknown, and breaks no promise."""
    sketch = failover()
    sketch.lose(149)
    sketch.answer(149, UNKNOWN)
    return sketch


@case(DELIVERED, lost=1)
def lost_ten_seconds_before_the_fault() -> Sketch:
    """Later messages came before the fault, so no fault caused it."""
    sketch = failover()
    sketch.lose(50)
    return sketch


@case(OF_MIRRORS, not_applicable=DELIVERED, lost=1)
def lost_from_a_transient_queue_with_mirrors() -> Sketch:
    """A transient queue may lose messages with its nodes; but its mirrors lived on."""
    sketch = failover()
    sketch.lose(149)
    sketch.declared["durable"] = False
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}")
def lost_by_either_of_two_kills() -> Sketch:
    """No consumer read the queue, so either may have lost it; claims about kills fail anyhow."""
    sketch = failover(until_ms=90_000)
    sketch.fault(50_000, 70_000)
    sketch.history.no_consumer()
    sketch.declared |= {"consumers": 0, "acknowledges": False}
    for one in sketch.came:
        one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
        one.move(100_000 + one.sequence / 100)
    sketch.lose(100)
    return sketch


@case(unknown=DELIVERED, stranded=1)
def found_by_the_audit_in_a_queue_that_was_not_drained() -> Sketch:
    sketch = calm()
    sketch.lose(150)
    sketch.history.queue(drained=False)
    sketch.deliver(150, 50_000, via=Via.AUDIT)
    return sketch


@case(DELIVERED, stranded=1)
def found_by_the_audit_in_a_queue_that_was_drained() -> Sketch:
    sketch = calm()
    sketch.lose(150)
    sketch.deliver(150, 50_000, via=Via.AUDIT)
    return sketch


@case(passes=DELIVERED, unknown="one-copy")
def nothing_missing_though_a_place_is_unreadable_and_the_drain_incomplete() -> Sketch:
    sketch = calm()
    sketch.history.queue(drained=False, unreadable=("rmq2",))
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=1)
def missing_while_a_consumer_of_another_queue_died() -> Sketch:
    """The facts do not say which queues it read."""
    sketch = calm()
    sketch.lose(150)
    sketch.history.queue("payments").worker(OTHER, "consumer", log_closed=False)
    return sketch


@case(unknown=DELIVERED, lost=0)
def gone_without_an_answer_when_the_publisher_died() -> Sketch:
    """A confirm may have come that its log does not hold."""
    sketch = calm()
    sketch.lose(299)
    sketch.sent[PUBLISHER, 299, 1].settled_ms = None
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(f"{DELIVERED} {OF_MIRRORS}", lost=1)
def lost_at_the_kill_while_a_publisher_was_frozen() -> Sketch:
    """No frozen client takes a message from a broker, so it was the kill."""
    sketch = confirmed_just_before_the_kill_and_lost()
    sketch.history.worker(4, "publisher").away(4, 15_500, 20_030)
    sketch.fault(15_500, 20_000, kind="client_freeze", role="none")
    return sketch


@case(DELIVERED, lost=1)
def confirmed_when_the_publishers_connection_had_ended_and_lost() -> Sketch:
    """The client read the confirm late; the broker had sent it."""
    sketch = calm()
    sketch.history.client_event("lost", at_ms=15_056, worker=PUBLISHER)
    sketch.answer(150, UNKNOWN, CONFIRMED, settled_ms=15_060)
    sketch.lose(150)
    return sketch


# --- attempts ------------------------------------------------------------------------------------


def sent_again(first: Outcome) -> Sketch:
    """Message 150 is sent a second time, and only that attempt comes."""
    sketch = calm()
    sketch.send(150, 15_055, first, settled_ms=16_500)
    sketch.send(150, 16_060, attempt=2)
    sketch.lose(150)
    sketch.deliver(150, 16_070, attempt=2)
    return sketch


@case(COPY, attempt_lost=1)
def the_first_of_two_confirmed_attempts_is_gone() -> Sketch:
    return sent_again(CONFIRMED)


@case(unknown=COPY, attempt_lost=1)
def a_first_attempt_is_gone_that_perhaps_no_queue_received() -> Sketch:
    """Its publisher did not ask for unroutable messages to be returned."""
    sketch = sent_again(CONFIRMED)
    sketch.sent[PUBLISHER, 150, 1].level = Strength.UNROUTED_POSSIBLE
    return sketch


@case(f"{COPY} {REFUSED}", attempt_lost=1, refused_but_delivered=1)
def the_refused_first_attempt_comes_and_the_confirmed_second_is_gone() -> Sketch:
    sketch = sent_again(Outcome.REFUSED)
    sketch.first(150).named["attempt"] = 1
    return sketch


@case(passes=f"{DELIVERED} {COPY}", attempt_lost=0)
def an_unconfirmed_first_attempt_is_gone() -> Sketch:
    return sent_again(UNKNOWN)


@case(passes=f"{DELIVERED} {COPY}", attempt_lost=0, stranded=0)
def the_audit_alone_finds_the_first_of_two_confirmed_attempts() -> Sketch:
    sketch = sent_again(CONFIRMED)
    sketch.deliver(150, 50_000, via=Via.AUDIT)
    return sketch


@case("nothing-unexpected", unexpected=1)
def an_attempt_comes_that_was_never_sent() -> Sketch:
    sketch = calm()
    sketch.history.not_sent(150, attempt=2)
    sketch.deliver(150, 16_300, attempt=2)
    return sketch


@case(passes=DELIVERED, lost=0, state__returned=1)
def returned_then_confirmed_and_nowhere() -> Sketch:
    sketch = calm()
    sketch.lose(150)
    sketch.answer(150, RETURNED, CONFIRMED)
    return sketch


@case(REFUSED, refused_but_delivered=1)
def confirmed_then_returned_and_delivered() -> Sketch:
    sketch = calm()
    sketch.answer(150, CONFIRMED, RETURNED)
    return sketch


@case(passes=f"{DELIVERED} {REFUSED}", refused_but_delivered=0)
def returned_then_sent_again_and_delivered() -> Sketch:
    sketch = calm()
    sketch.answer(150, RETURNED)
    sketch.send(150, 15_200, attempt=2)
    sketch.lose(150)
    sketch.deliver(150, 15_210, attempt=2)
    return sketch


# --- given out, and not acknowledged -------------------------------------------------------------


def unacknowledged_at_the_kill() -> Sketch:
    """Two deliveries are not acknowledged. Message 148 is redelivered, 149 is gone."""
    sketch = failover()
    sketch.forget_to_acknowledge(148, 149)
    sketch.deliver(148, 16_000, again=True, connection=2)
    return sketch


@case(f"{UNACKED} {REQUEUED}", not_redelivered=1)
def confirmed_given_out_and_gone_with_the_master() -> Sketch:
    return unacknowledged_at_the_kill()


@case(unknown=f"{UNACKED} {REQUEUED}", not_redelivered_unknown__unconfirmed=1)
def unconfirmed_given_out_and_gone_with_the_master() -> Sketch:
    """A master may deliver a message before its mirrors have it: only a confirm promises that."""
    sketch = unacknowledged_at_the_kill()
    sketch.answer(149, UNKNOWN, settled_ms=15_200)
    return sketch


def unacknowledged_at_the_end_of_a_connection() -> Sketch:
    sketch = relinked(calm())
    sketch.forget_to_acknowledge(151)
    sketch.answer(151, UNKNOWN)
    return sketch


@case(UNACKED, not_redelivered=1)
def unconfirmed_given_out_and_gone_without_a_fault() -> Sketch:
    """The broker delivered it, so it had it; nothing took it away."""
    return unacknowledged_at_the_end_of_a_connection()


@case(UNACKED, not_redelivered=1)
def unconfirmed_given_out_and_gone_under_a_fault_of_clients() -> Sketch:
    """A frozen client takes nothing from a broker."""
    sketch = unacknowledged_at_the_end_of_a_connection()
    sketch.fault(20_000, 22_000, kind="client_freeze", role="none")
    return sketch


@case(passes=UNACKED, not_redelivered=0)
def unconfirmed_given_out_and_redelivered() -> Sketch:
    sketch = unacknowledged_at_the_end_of_a_connection()
    sketch.deliver(151, 15_402, again=True, connection=2)
    return sketch


# --- order ---------------------------------------------------------------------------------------


def swapped(connection: int = 1) -> Sketch:
    """Messages 100 and 101 are both unconfirmed when sent, and come in the wrong order."""
    sketch = calm()
    sketch.answer(100, CONFIRMED, settled_ms=11_000)
    sketch.answer(101, CONFIRMED, settled_ms=11_000)
    sketch.sent[PUBLISHER, 101, 1].named["connection"] = connection
    sketch.first(100).move(10_161)
    return sketch


@case(FIFO, reordered=1)
def two_messages_of_one_connection_are_swapped() -> Sketch:
    return swapped()


@case(passes=FIFO, reordered=0)
def two_messages_of_two_connections_are_swapped() -> Sketch:
    """Neither was before the other."""
    return swapped(connection=5)


@case(passes=FIFO, reordered=0)
def two_messages_of_two_keys_are_swapped() -> Sketch:
    sketch = swapped()
    for (_, sequence, _), one in sketch.sent.items():
        one.named["key"] = sequence % 2
    return sketch


@case(unknown=FIFO, reordered=0, reorder_unknown=1)
def one_of_two_parallel_consumers_is_late() -> Sketch:
    sketch = calm()
    sketch.history.worker(OTHER, "consumer").client_event("consuming", at_ms=1, worker=OTHER)
    for one in sketch.came:
        one.named["consumer"] = OTHER if one.sequence % 2 else CONSUMER
    sketch.first(101).move(10_320)
    return sketch


@case(passes=FIFO, reordered=0)
def requeued_messages_come_in_another_order() -> Sketch:
    """Only first deliveries have an order."""
    sketch = relinked(calm())
    sketch.forget_to_acknowledge(148, 149)
    sketch.deliver(149, 15_401, again=True, connection=2)
    sketch.deliver(148, 15_404, again=True, connection=2)
    return sketch


@case(passes=FIFO, reordered=0, not_judged__not_certain=1)
def an_attempt_of_unknown_outcome_comes_after_later_messages() -> Sketch:
    sketch = calm()
    sketch.answer(100, UNKNOWN, settled_ms=10_300)
    sketch.send(100, 10_360, attempt=2)
    sketch.first(100).move(10_370)
    sketch.deliver(100, 10_380, attempt=2)
    return sketch


def overtaken_at_a_handover() -> Sketch:
    """The next consumer first gets a message that came before the last one of the first."""
    sketch = handed_over(calm(), 15_100, 15_500)
    sketch.first(149).named["consumer"] = OTHER
    sketch.first(149).move(15_501)
    return sketch


@case(FIFO, reordered=1)
def the_next_consumer_gets_an_overtaken_message() -> Sketch:
    return overtaken_at_a_handover()


@case(unknown=FIFO, reordered=0, reorder_unknown=1)
def the_next_consumer_has_a_clock_of_its_own() -> Sketch:
    """Its time of delivery may be off by three seconds."""
    sketch = overtaken_at_a_handover()
    sketch.history.clock(OTHER, 3_000)
    return sketch
