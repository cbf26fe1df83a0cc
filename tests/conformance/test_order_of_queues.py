"""Order in queues: each broken history beside a healthy one that nearly looks like it. What must
be said follows from docs/verdicts.md 6, by the argument of each story."""

import pytest

from spark_analysis.schema.words import Outcome, Redelivered, Via
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    CONSUMED,
    COPY,
    DELIVERED,
    FIFO,
    HELD,
    MISROUTED,
    OF_MIRRORS,
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
    short,
)

UNKNOWN, REFUSED = Outcome.UNKNOWN, Outcome.REFUSED
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_of_order_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def late(at_ms: float, sketch: Sketch | None = None) -> Sketch:
    """Message 60 comes then."""
    sketch = sketch or short()
    sketch.first(60).move(at_ms)
    return sketch


# --- overtaken, and nearly -----------------------------------------------------------------------


@case(passes=FIFO, reordered=0, in_order=120)
def late_and_not_overtaken() -> Sketch:
    return late(6_159.999)


@case(FIFO, reordered=1)
def overtaken_by_a_microsecond() -> Sketch:
    return late(6_160.001)


@case(passes=f"{FIFO} {ONE_COPY}", in_order=120)
def overtaken_by_a_redelivery_alone() -> Sketch:
    """Message 59 comes again after 60: only its first delivery has a place."""
    sketch = relinked(short(), 6_063, 6_064)
    sketch.forget_to_acknowledge(59)
    sketch.deliver(59, 6_159, again=True, connection=2)
    return sketch


@case(f"{FIFO} {ONE_COPY}", reordered=1, duplicated__stored_twice=1)
def its_first_copy_comes_late_and_a_second_one_later() -> Sketch:
    sketch = late(6_161)
    sketch.deliver(60, 6_262)
    return sketch


@case(ONE_COPY, passes=FIFO, reordered=0)
def a_second_copy_comes_after_later_messages() -> Sketch:
    sketch = short()
    sketch.deliver(60, 6_161)
    return sketch


@case(FIFO, reordered=30)
def one_message_jumps_the_queue() -> Sketch:
    """Thirty waited when it came: it overtook them all."""
    sketch = short()
    sketch.hold(3_000, 6_052)
    sketch.first(60).move(6_052.5)
    return sketch


@case(FIFO, reordered=29)
def a_stack_instead_of_a_queue() -> Sketch:
    """Of thirty that waited the last one comes first."""
    sketch = short()
    waiting = sketch.since(3_000, 6_000)
    for place, one in enumerate(reversed(waiting)):
        one.move(6_001 + place * 0.05)
    return sketch


@case(passes=FIFO, in_order=120)
def a_queue_that_waited_comes_in_order_at_one_instant() -> Sketch:
    sketch = short()
    for one in sketch.since(3_000, 6_000):
        one.move(6_001)
    return sketch


# --- lost messages, and the drain ----------------------------------------------------------------


@case(DELIVERED, passes=FIFO, lost=1, reordered=0)
def a_lost_message_leaves_a_gap() -> Sketch:
    sketch = short()
    sketch.lose(60)
    return sketch


@case(DELIVERED, passes=FIFO, stranded=1, reordered=0)
def a_stranded_message_leaves_a_gap() -> Sketch:
    sketch = short()
    sketch.lose(60)
    sketch.deliver(60, 15_000, via=Via.AUDIT)
    return sketch


def drained(*sequences: int, again: bool = False) -> Sketch:
    sketch = short()
    sketch.lose(*sequences)
    for sequence in sequences:
        sketch.deliver(sequence, 14_000 + sequence / 1_000, again=again, via=Via.DRAIN)
    return sketch


@case(FIFO, passes=f"{DELIVERED} {CONSUMED}", reordered=1)
def an_overtaken_message_comes_in_the_drain() -> Sketch:
    return drained(115)


@case(unknown=FIFO, reordered=0, reorder_unknown=1)
def an_overtaken_message_comes_flagged_in_the_drain() -> Sketch:
    """It may have lain unread in the consumer's connection."""
    return drained(115, again=True)


@case(passes=FIFO, in_order=120)
def the_last_messages_come_in_the_drain() -> Sketch:
    return drained(118, 119)


@case(passes=FIFO, in_order=120)
def the_last_messages_come_flagged_in_the_drain() -> Sketch:
    return drained(118, 119, again=True)


@case(FIFO, reordered=1)
def the_last_messages_come_in_the_drain_in_the_wrong_order() -> Sketch:
    sketch = drained(118, 119)
    sketch.first(118).move(14_500)
    return sketch


# --- publishers' retries -------------------------------------------------------------------------


def retried(
    first: Outcome = UNKNOWN, *, again_ms: float = 6_560, came: tuple[int, ...] = (2,)
) -> Sketch:
    """Message 60 has this answer at 6.55 s, and is sent again 10 ms later, after 65. `came`: its
    attempts, as they come."""
    sketch = short()
    sketch.send(60, 6_050, first, settled_ms=6_550)
    sketch.send(60, again_ms, attempt=2)
    sketch.lose(60)
    for place, attempt in enumerate(came):
        sketch.deliver(60, again_ms + 10 + place, attempt=attempt)
    return sketch


@case(passes=FIFO, reordered=0, in_order=120)
def a_retry_comes_after_what_was_sent_before_it() -> Sketch:
    return retried()


@case(FIFO, reordered=1)
def a_retry_is_overtaken_by_what_was_sent_after_its_confirm() -> Sketch:
    sketch = retried(REFUSED)
    sketch.first(60).move(6_661)  # 66 comes at 6.66 s
    return sketch


@case(passes=f"{FIFO} {ONE_COPY}", not_judged__not_certain=1)
def the_first_attempt_comes_late_beside_its_retry() -> Sketch:
    return retried(came=(1, 2))


@case(passes=f"{FIFO} {ONE_COPY}", in_order=120)
def the_first_attempt_comes_after_its_retry() -> Sketch:
    """Its retry stands where it was sent; the first attempt is a duplicate by then."""
    return retried(came=(2, 1))


@case(COPY, passes=FIFO, attempt_lost=1, reordered=0)
def a_confirmed_first_attempt_is_gone_and_its_retry_comes_in_its_own_place() -> Sketch:
    return retried(Outcome.CONFIRMED)


@case(passes=f"{FIFO} {COPY}", reordered=0)
def two_confirmed_attempts_come_each_in_its_place() -> Sketch:
    sketch = short()
    sketch.send(60, 6_050, settled_ms=6_250)
    sketch.send(60, 6_255, attempt=2)
    sketch.deliver(60, 6_265, attempt=2)
    return sketch


@case(unknown=FIFO, reordered=0, not_judged__not_certain=70)
def most_messages_were_sent_again_and_both_attempts_came() -> Sketch:
    sketch = short()
    for sequence in range(50, 120):
        at_ms = sequence * 100 + 50
        sketch.send(sequence, at_ms, UNKNOWN, settled_ms=at_ms + 20)
        sketch.send(sequence, at_ms + 30, attempt=2)
        sketch.deliver(sequence, at_ms + 40, attempt=2)
    return sketch


def beside_payments(sketch: Sketch) -> Sketch:
    """A second publisher sends as many messages to a second queue, and its consumer gets them."""
    sketch.history.worker(4, "publisher").worker(OTHER, "consumer").queue("payments")
    for sequence in range(120):
        at_ms = sequence * 100 + 60
        sketch.send(sequence, at_ms, producer=4, queue="payments")
        sketch.deliver(sequence, at_ms + 10, producer=4, consumer=OTHER)
    return sketch


@case(unknown=FIFO, reordered=0, not_judged__not_certain=70)
def most_messages_of_one_queue_were_sent_again_and_none_of_the_other() -> Sketch:
    """What one queue gives out in order says nothing of the other."""
    return beside_payments(most_messages_were_sent_again_and_both_attempts_came())


@case(passes=FIFO, reordered=0)
def both_queues_give_out_in_order() -> Sketch:
    return beside_payments(short())


# --- publishers' connections and confirms --------------------------------------------------------


def reconnected(*, confirmed_ms: float | None) -> Sketch:
    """Message 60 is the last one of connection 1 and comes late; 61 is sent on connection 2."""
    sketch = late(6_165)
    sketch.history.client_event("lost", at_ms=6_057, worker=PUBLISHER)
    for (_, sequence, _), one in sketch.sent.items():
        one.named["connection"] = 2 if sequence > 60 else 1
    outcome = UNKNOWN if confirmed_ms is None else Outcome.CONFIRMED
    sketch.answer(60, outcome, settled_ms=confirmed_ms or 6_057)
    return sketch


@case(passes=FIFO, reordered=0)
def unconfirmed_on_a_lost_connection_and_overtaken() -> Sketch:
    """It may have been read after 61 was."""
    return reconnected(confirmed_ms=None)


@case(FIFO, reordered=1)
def confirmed_on_a_lost_connection_and_overtaken() -> Sketch:
    return reconnected(confirmed_ms=6_056)


@case(passes=FIFO, reordered=0)
def confirmed_at_the_very_instant_of_the_next_sending() -> Sketch:
    """Before is earlier: at one instant nothing is proved."""
    return reconnected(confirmed_ms=6_150)


def nacked(at_ms: float) -> Sketch:
    sketch = late(at_ms)
    sketch.answer(60, UNKNOWN)
    return sketch


@case(FIFO, reordered=1, revived=1)
def nacked_and_overtaken_on_its_own_connection() -> Sketch:
    """It came, so the broker had it; a channel keeps its order."""
    return nacked(6_161)


@case(passes=FIFO, reordered=0, revived=1)
def nacked_and_in_its_place() -> Sketch:
    return nacked(6_061)


def unconfirmed(connection: int) -> Sketch:
    """No confirms are requested. Message 61 goes out on this connection, and overtakes 60."""
    sketch = late(6_161, calm(12_000, confirms=False))
    sketch.declared |= {"confirms": False}
    for one in sketch.sent.values():
        one.outcomes = (Outcome.UNCONFIRMED,)
    sketch.sent[PUBLISHER, 61, 1].named["connection"] = connection
    return sketch


@case(FIFO, reordered=1)
def unconfirmed_and_overtaken_on_one_connection() -> Sketch:
    return unconfirmed(1)


@case(passes=FIFO, reordered=0)
def unconfirmed_and_overtaken_on_another_connection() -> Sketch:
    return unconfirmed(2)


@case(FIFO, reordered=1)
def sent_at_one_instant_and_swapped() -> Sketch:
    sketch = late(6_061)
    sketch.send(61, 6_050)
    sketch.first(61).move(6_060)
    return sketch


# --- producers, keys, queues ---------------------------------------------------------------------


def by_keys(*keys: int) -> Sketch:
    """Message n has key number n modulo so many; 60 comes after 62."""
    sketch = late(6_265)
    for (_, sequence, _), one in sketch.sent.items():
        one.named["key"] = keys[sequence % len(keys)]
    return sketch


@case(FIFO, reordered=1)
def overtaken_by_one_of_its_key_beside_another_key() -> Sketch:
    return by_keys(1, 2)


@case(passes=FIFO, reordered=0)
def overtaken_by_two_of_other_keys() -> Sketch:
    return by_keys(1, 2, 3)


def two_producers(late_ms: float) -> Sketch:
    """Both send the same numbers to one queue, the other one 30 ms later; 60 comes late."""
    sketch = late(late_ms)
    sketch.history.worker(4, "publisher")
    sketch.flow(80, 12_000, producer=4)
    return sketch


@case(passes=FIFO, reordered=0)
def overtaken_by_one_of_another_producer() -> Sketch:
    return two_producers(6_095)


@case(FIFO, reordered=1)
def overtaken_by_one_of_its_own_producer_among_two() -> Sketch:
    return two_producers(6_163)


def two_queues(late_ms: float = 6_090) -> Sketch:
    """Even messages go to `orders`, odd ones to `payments`; 60 comes late."""
    sketch = late(late_ms)
    sketch.history.queue("payments").worker(OTHER, "consumer")
    sketch.history.client_event("consuming", at_ms=1, worker=OTHER)
    for (_, sequence, _), one in sketch.sent.items():
        if sequence % 2:
            one.named["queue"] = "payments"
            sketch.first(sequence).named["consumer"] = OTHER
    return sketch


@case(passes=FIFO, reordered=0)
def overtaken_by_one_of_another_queue() -> Sketch:
    return two_queues(6_165)


@case(FIFO, reordered=1)
def overtaken_by_one_of_its_queue_among_two() -> Sketch:
    return two_queues(6_265)


@case(MISROUTED, passes=FIFO, misrouted=1, reordered=0)
def overtaken_in_a_queue_that_it_was_not_sent_to() -> Sketch:
    """Its own queue never had it: a gap."""
    sketch = two_queues(6_265)
    sketch.first(60).named |= {"queue": "payments", "consumer": OTHER}
    return sketch


@case(f"{FIFO} {MISROUTED} {ONE_COPY}", misrouted=1, reordered=1)
def overtaken_in_its_queue_though_a_stray_copy_came_before() -> Sketch:
    sketch = two_queues(6_265)
    sketch.deliver(60, 6_061, consumer=OTHER, queue="payments")
    return sketch


@case(not_applicable=FIFO, not_judged__not_promised=120)
def overtaken_in_a_queue_without_order() -> Sketch:
    sketch = late(6_165)
    sketch.history.queue(ordered=False)
    return sketch


# --- flags ---------------------------------------------------------------------------------------


def unread(*flagged: int) -> Sketch:
    """The consumer's connection is lost at 6.06 s, with what lay unread in it."""
    sketch = relinked(short(), 6_055, 6_300)
    for sequence in flagged:
        sketch.first(sequence).named["redelivered"] = Redelivered.YES
    return sketch


@case(passes=FIFO, in_order=120)
def what_lay_unread_comes_flagged_first() -> Sketch:
    return unread(60, 61)


@case(unknown=FIFO, reordered=0, reorder_unknown=1)
def what_lay_unread_comes_flagged_after_later_ones() -> Sketch:
    return late(6_361, unread(60))


@case(FIFO, reordered=1)
def what_never_lay_unread_comes_after_later_ones() -> Sketch:
    return late(6_361, unread())


@case(FIFO, reordered=1)
def two_flagged_ones_come_in_the_wrong_order() -> Sketch:
    """A requeued message returns to its place."""
    return late(6_301.062, unread(60, 61))


@case(unknown=FIFO, reordered=0, not_judged__not_reported=120)
def the_client_reports_no_flags() -> Sketch:
    sketch = short()
    for one in sketch.came:
        one.named["redelivered"] = Redelivered.NOT_REPORTED
    return sketch


# --- one consumer after another ------------------------------------------------------------------


def handed_back(connection: int) -> Sketch:
    """At 4 s another consumer goes on, and at 8 s the first one on this connection."""
    sketch = handed_over(short(), 4_000, 4_020, how="closed" if connection > 1 else None)
    sketch.history.client_event("closed", at_ms=8_000, worker=OTHER)
    sketch.history.client_event("consuming", at_ms=8_001, connection=connection)
    for one in sketch.since(8_000):
        one.named |= {"consumer": CONSUMER, "connection": connection}
    return sketch


@case(passes=FIFO, in_order=120)
def handed_over_and_back() -> Sketch:
    return handed_back(2)


def skipped(connection: int) -> Sketch:
    """The second consumer never got message 75; the first one gets it when it is back."""
    sketch = handed_back(connection)
    sketch.first(75).named |= {"consumer": CONSUMER, "connection": connection}
    sketch.first(75).move(8_005)
    return sketch


@case(FIFO, reordered=1)
def skipped_and_given_to_the_first_one_on_a_new_connection() -> Sketch:
    return skipped(2)


@case(unknown=FIFO, reordered=0, reorder_unknown=1)
def skipped_and_given_to_the_first_one_on_its_old_connection() -> Sketch:
    """That connection lived all the time: perhaps both consumers read."""
    return skipped(1)


def both_read(same_consumer: bool) -> Sketch:
    """Two connections receive in turn; 61 is late on the second one."""
    sketch = late(6_060)
    worker = CONSUMER if same_consumer else OTHER
    sketch.history.worker(worker, "consumer")
    sketch.history.client_event("consuming", at_ms=1, worker=worker, connection=2)
    for one in sketch.came:
        if one.sequence % 2:
            one.named |= {"consumer": worker, "connection": 2}
    sketch.first(61).move(6_261)
    return sketch


@case(unknown=FIFO, reordered=0, reorder_unknown=1)
def two_consumers_read_in_turn_and_one_is_late() -> Sketch:
    return both_read(same_consumer=False)


@case(unknown=FIFO, reordered=0, reorder_unknown=1)
def two_connections_of_one_consumer_read_in_turn_and_one_is_late() -> Sketch:
    """Two connections are two readers, even of one consumer."""
    return both_read(same_consumer=True)


@case(FIFO, reordered=1)
def overtaken_on_one_of_two_connections_that_read_in_turn() -> Sketch:
    """Its own connection had brought a later one before."""
    sketch = both_read(same_consumer=True)
    sketch.first(61).move(6_361)
    return sketch


@case(FIFO, reordered=1)
def swapped_around_the_end_of_a_connection() -> Sketch:
    """Both were unconfirmed when sent. Message 60 comes by the next connection, as its first."""
    sketch = relinked(short(), 6_163, 6_164)
    sketch.answer(60, Outcome.CONFIRMED, settled_ms=6_155)
    sketch.first(60).named["connection"] = 2
    return late(6_165, sketch)


@case(passes=f"{FIFO} {HELD}", reordered=0)
def requeued_by_its_consumer_and_behind_later_ones() -> Sketch:
    sketch = short()
    sketch.history.client_event("requeued", at_ms=6_100)
    sketch.forget_to_acknowledge(60)
    sketch.deliver(60, 6_365, again=True)
    return sketch


# --- a change of masters -------------------------------------------------------------------------


@case(FIFO, passes=DELIVERED, reordered=1)
def overtaken_at_the_failover() -> Sketch:
    sketch = failover()
    sketch.first(149).named["connection"] = 2
    sketch.first(149).move(17_100)
    return sketch


@case(unknown=FIFO, passes=DELIVERED, reordered=0, reorder_unknown=1)
def overtaken_and_flagged_at_the_failover() -> Sketch:
    sketch = overtaken_at_the_failover()
    sketch.first(149).named["redelivered"] = Redelivered.YES
    return sketch


def all_flagged(swapped: bool) -> Sketch:
    """The new master flags all that it held: 140 to 149."""
    sketch = failover()
    for place, one in enumerate(sketch.since(14_000, 15_000)):
        one.named |= {"connection": 2, "redelivered": Redelivered.YES}
        one.move(16_000 + place)
    if swapped:
        sketch.first(145).move(16_006.5)
    return sketch


@case(passes=f"{FIFO} {ONE_COPY}", reordered=0)
def the_new_master_flags_all_and_keeps_their_order() -> Sketch:
    return all_flagged(swapped=False)


@case(FIFO, reordered=1)
def the_new_master_flags_all_and_swaps_two() -> Sketch:
    return all_flagged(swapped=True)


@case(f"{DELIVERED} {OF_MIRRORS}", passes=FIFO, lost=1, reordered=0)
def the_new_master_lacks_one_and_keeps_the_order_of_the_rest() -> Sketch:
    sketch = all_flagged(swapped=False)
    sketch.lose(145)
    return sketch


@case(passes=FIFO, reordered=0)
def unanswered_at_the_failover_and_behind_what_was_sent_after_it() -> Sketch:
    """Its publisher had another connection by then."""
    sketch = failover()
    for (_, _, _), one in sketch.sent.items():
        one.named["connection"] = 2 if one.at_ms > 15_100 else 1
    sketch.deliver(150, 17_100, connection=2)
    return sketch


# --- delays and times ----------------------------------------------------------------------------


@case(passes=FIFO, reordered=0, not_judged__not_at_once=1)
def a_delayed_message_comes_after_later_ones() -> Sketch:
    sketch = late(6_851)
    sketch.history.terms(60, due_ms=6_850)
    return sketch


@case(unknown=f"{FIFO} {DELIVERED} {ONE_COPY}", reordered=0, not_judged__not_certain=1)
def delivered_a_millisecond_before_it_was_sent() -> Sketch:
    return late(6_049)


@case(passes=f"{FIFO} {DELIVERED} {ONE_COPY}", reordered=0)
def delivered_a_millisecond_before_it_was_sent_by_another_clock() -> Sketch:
    sketch = late(6_049)
    sketch.history.clock(CONSUMER, 2)
    return sketch


@case(passes=f"{FIFO} {DELIVERED}", reordered=0)
def delivered_at_the_instant_of_its_sending_and_before_its_confirm() -> Sketch:
    return late(6_050)


@case(FIFO, reordered=1)
def overtaken_by_a_consumers_own_clock() -> Sketch:
    """Both times are of one clock."""
    sketch = late(6_161)
    sketch.history.clock(CONSUMER, 3_000)
    return sketch
