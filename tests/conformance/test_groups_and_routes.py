"""Consumer groups and several queues: who had to get a message, and where it went. Tiny histories,
each broken one beside a healthy one that nearly looks like it. What must be said follows from
docs/verdicts.md 4.1, 4.4, 4.5 and 4.10, by the argument of each story."""

from typing import Any

import pytest

from spark_analysis.schema.facts import ConsumerGroup, GroupQueue
from spark_analysis.schema.words import Fate, Outcome, Strength
from tests.rigs.histories.by_hand import PUBLISHER
from tests.rigs.histories.claim_names import (
    ACKED,
    CHECKED,
    COPY,
    CORRUPT,
    DELIVERED,
    EARLY,
    FIFO,
    HELD,
    MISROUTED,
    ONE_COPY,
    OVERDUE,
    REFUSED,
    TORN,
    UNACKED,
    UNEXPECTED,
)
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    SketchedDelivery,
    calm,
    for_groups,
)
from tests.rigs.histories.ways import Via

UNKNOWN, CONFIRMED, RETURNED = Outcome.UNKNOWN, Outcome.CONFIRMED, Outcome.RETURNED
MESSAGES = 20
A, B = 10, 11  # consumers of the groups a and b
SECOND = 4  # the publisher to payments
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_of_groups_and_queues_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def tiny(messages: int = MESSAGES, **options: bool) -> Sketch:
    """Ten messages a second, as many as the scenario plans."""
    sketch = calm(messages * 100, **options)
    sketch.declared["messages"] = messages
    return sketch


# --- two consumer groups -------------------------------------------------------------------------


def fan_out(messages: int = MESSAGES) -> Sketch:
    return for_groups(tiny(messages), (A, B))


def without(sketch: Sketch, queue: str, *sequences: int) -> Sketch:
    """The group of this queue does not get these."""
    sketch.came = [
        one for one in sketch.came if one.sequence not in sequences or one.named["queue"] != queue
    ]
    return sketch


def got(sketch: Sketch, queue: str, sequence: int) -> SketchedDelivery:
    each = (one for one in sketch.came if one.named["queue"] == queue)
    return next(one for one in each if one.sequence == sequence)


@case(
    passes=f"{DELIVERED} {ONE_COPY} {ACKED} {HELD} {FIFO} {UNEXPECTED} {CORRUPT}",
    not_applicable=f"{MISROUTED} {COPY} {UNACKED}",
    lost=0,
    duplicated=0,
)
def each_group_gets_everything() -> Sketch:
    return fan_out()


@case(DELIVERED, lost=1)
def lost_for_one_of_two_groups() -> Sketch:
    return without(fan_out(), "orders-b", 7)


@case(DELIVERED, lost=2)
def lost_for_both_groups() -> Sketch:
    return without(without(fan_out(), "orders-b", 7), "orders-a", 7)


@case(DELIVERED, lost=2)
def each_group_lost_what_the_other_one_got() -> Sketch:
    return without(without(fan_out(), "orders-b", 7), "orders-a", 8)


def undrained(queue: str, *lost_of: str) -> Sketch:
    sketch = fan_out()
    sketch.history.queue(queue, drained=False)
    for each in lost_of:
        without(sketch, each, 7)
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=1)
def missing_for_the_group_whose_queue_was_not_drained() -> Sketch:
    return undrained("orders-b", "orders-b")


@case(DELIVERED, lost=1, loss_unknown=0)
def lost_for_the_group_whose_queue_was_drained() -> Sketch:
    return undrained("orders-b", "orders-a")


@case(passes=DELIVERED, unknown=ONE_COPY)
def all_came_though_one_queue_was_not_drained() -> Sketch:
    """The other messages there may be second copies."""
    return undrained("orders-b")


def unclosed(consumer: int, lost_of: str) -> Sketch:
    sketch = without(fan_out(), lost_of, 7)
    sketch.history.log_open(consumer)
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=1)
def missing_for_the_group_whose_consumer_died() -> Sketch:
    return unclosed(B, "orders-b")


@case(DELIVERED, lost=1, loss_unknown=0)
def lost_for_a_group_while_a_consumer_of_the_other_died() -> Sketch:
    return unclosed(A, "orders-b")


@case(unknown=DELIVERED, lost=0, loss_unknown=1)
def missing_for_a_group_while_a_consumer_of_no_group_died() -> Sketch:
    sketch = without(fan_out(), "orders-b", 7)
    sketch.history.worker(12, "consumer", log_closed=False)
    return sketch


@case(f"{DELIVERED} {ONE_COPY}", lost=1, duplicated__stored_twice=1)
def twice_for_one_group_and_never_for_the_other() -> Sketch:
    """The copies are as many as the groups, and in the wrong places."""
    sketch = without(fan_out(), "orders-b", 7)
    sketch.deliver(7, 762, consumer=A, queue="orders-a")
    return sketch


def again_for_b(at_ms: float) -> Sketch:
    sketch = fan_out(30)
    sketch.deliver(7, at_ms, again=True, consumer=B, queue="orders-b")
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_by_a_group_and_again_for_it() -> Sketch:
    return again_for_b(2_500)


@case(passes=ACKED, duplicated__redelivery_after_ack=0, acknowledged_late=1)
def acknowledged_by_a_group_and_again_for_it_within_a_second() -> Sketch:
    """An acknowledgement may take a second."""
    return again_for_b(1_500)


@case(passes=f"{ACKED} {ONE_COPY}", duplicated__redelivery=1)
def acknowledged_by_a_group_and_again_for_the_one_that_held_it() -> Sketch:
    """Group a acknowledged it; the connection of group b ended, and it had not."""
    sketch = fan_out(30)
    got(sketch, "orders-b", 7).acked_ms = None
    events = sketch.history.client_event("lost", at_ms=1_500, worker=B)
    events.client_event("consuming", at_ms=1_520, worker=B, connection=2)
    for one in sketch.since(1_520):
        if one.named["queue"] == "orders-b":
            one.named["connection"] = 2
    sketch.deliver(7, 1_540, again=True, consumer=B, queue="orders-b", connection=2)
    return sketch


@case(UNACKED, not_redelivered=1)
def held_by_one_group_at_the_end_of_its_connection_and_gone() -> Sketch:
    """That the other group acknowledged it helps this one nothing."""
    sketch = acknowledged_by_a_group_and_again_for_the_one_that_held_it()
    sketch.came.pop()
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY}", lost=0)
def the_drain_of_a_group_gets_what_its_consumer_left() -> Sketch:
    sketch = fan_out()
    for one in sketch.came:
        if one.named["queue"] == "orders-b" and one.sequence >= 15:
            one.named |= {"via": Via.DRAIN, "consumer": 90, "connection": 9}
            one.move(10_000 + one.sequence)
    return sketch


@case(passes=DELIVERED, not_applicable=REFUSED, revived=1)
def unanswered_and_for_one_group_only() -> Sketch:
    """Without a confirm no group was promised it."""
    sketch = without(fan_out(), "orders-b", 7)
    sketch.answer(7, UNKNOWN)
    sketch.declared["messages"] = MESSAGES - 1
    return sketch


@case(REFUSED, refused_but_delivered=1)
def returned_and_delivered_to_one_group() -> Sketch:
    sketch = without(fan_out(), "orders-b", 7)
    sketch.answer(7, RETURNED)
    return sketch


@case(COPY, attempt_lost=1)
def each_group_got_another_one_of_two_confirmed_attempts() -> Sketch:
    """Group a got both, group b the second alone."""
    sketch = fan_out()
    sketch.send(7, 900, attempt=2)
    sketch.deliver(7, 910, attempt=2, consumer=A, queue="orders-a")
    got(sketch, "orders-b", 7).named["attempt"] = 2
    got(sketch, "orders-b", 7).move(911)
    return sketch


@case(COPY, passes=DELIVERED, attempt_lost=1)
def the_confirmed_one_of_two_attempts_is_gone_for_one_group() -> Sketch:
    sketch = fan_out()
    sketch.answer(7, UNKNOWN)
    sketch.send(7, 900, attempt=2)
    got(sketch, "orders-a", 7).named["attempt"] = 2
    got(sketch, "orders-a", 7).move(910)
    return sketch


# --- a log that two groups read, and its audit ---------------------------------------------------


def common_log(messages: int = MESSAGES) -> Sketch:
    """Both groups read one log; the audit reads it after the drain."""
    sketch = fan_out(messages)
    for one in [*sketch.came]:
        one.named |= {"place": "broker-a", "offset": one.sequence}
        if one.named["queue"] == "orders-a":
            where: dict[str, Any] = {"queue": "orders", "place": "broker-a"}
            where["offset"] = one.sequence
            sketch.deliver(one.sequence, 20_000 + one.sequence, via=Via.AUDIT, **where)
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY}", not_applicable=HELD, stranded=0)
def audited_where_both_groups_had_read_it() -> Sketch:
    return common_log()


@case(DELIVERED, stranded=1, lost=0)
def in_the_log_and_skipped_for_one_group() -> Sketch:
    return without(common_log(), "orders-b", 7)


@case(DELIVERED, stranded=2, lost=0)
def in_the_log_and_skipped_for_both_groups() -> Sketch:
    return without(without(common_log(), "orders-b", 7), "orders-a", 7)


@case(unknown=DELIVERED, lost=0)
def in_the_log_and_not_read_yet_by_an_undrained_group() -> Sketch:
    sketch = without(common_log(), "orders-b", 7)
    sketch.history.queue("orders-b", drained=False)
    return sketch


def in_the_log_while_a_consumer_died(consumer: int) -> Sketch:
    sketch = without(common_log(), "orders-b", 7)
    sketch.history.log_open(consumer)
    return sketch


@case(unknown=DELIVERED, stranded=1)
def in_the_log_and_skipped_for_the_group_whose_consumer_died() -> Sketch:
    """The dead consumer may have received it."""
    return in_the_log_while_a_consumer_died(B)


@case(DELIVERED, stranded=1)
def in_the_log_and_skipped_for_a_group_while_a_consumer_of_the_other_died() -> Sketch:
    """A consumer of group a receives nothing for group b."""
    return in_the_log_while_a_consumer_died(A)


@case(unknown=DELIVERED, stranded=0, unreachable=1)
def missing_for_one_group_while_its_log_could_not_be_read() -> Sketch:
    sketch = without(fan_out(), "orders-b", 7)
    sketch.history.queue("orders-b", unreadable=("broker-b",))
    return sketch


def committed(fate: Fate) -> Sketch:
    sketch = common_log()
    sketch.history.terms(7, fate=fate)
    return sketch


def half(sketch: Sketch) -> Sketch:
    """The audit finds a half of message 7, and nothing else."""
    sketch.lose(7)
    where: dict[str, Any] = {"queue": "orders", "place": "broker-a"}
    where |= {"consumer": 90, "connection": 9}
    sketch.deliver(7, 20_007, acked=False, via=Via.HALF, **where)
    return sketch


@case(f"{TORN} {DELIVERED}", stranded=2)
def committed_and_a_half_for_both_groups() -> Sketch:
    sketch = half(committed(Fate.COMMIT))
    sketch.declared |= {"messages_to_commit": 1, "messages_in_transactions": 1}
    return sketch


@case(DELIVERED, stranded=1, torn_transaction=0)
def committed_and_in_the_log_and_skipped_for_one_group() -> Sketch:
    """The commit is in the log, so nothing is torn."""
    return without(committed(Fate.COMMIT), "orders-b", 7)


def to_be_checked() -> Sketch:
    sketch = half(committed(Fate.COMMIT_WHEN_CHECKED))
    sketch.declared |= {"checks_within_s": 6, "messages_to_check": 1}
    for name in ("orders-a", "orders-b"):
        sketch.history.queue(name, quiet_ms=20_000)
    return sketch


@case(CHECKED, unknown=DELIVERED)
def never_checked_for_either_group() -> Sketch:
    """Whether it was committed is unknown, and that the time for the check is over is not."""
    return to_be_checked()


@case(f"{DELIVERED} {TORN}", unchecked=0)
def checked_as_one_group_shows_and_a_half_for_the_other() -> Sketch:
    """That one group got it proves the commit, and the audit did not find it."""
    sketch = to_be_checked()
    where: dict[str, Any] = {"queue": "orders-a", "place": "broker-a", "offset": 7}
    sketch.deliver(7, 1_900, consumer=A, **where)
    return sketch


@case(unknown=CHECKED, unchecked=0)
def perhaps_checked_as_another_group_may_have_got_it() -> Sketch:
    """The log of group a's consumer is open: it may have got message 7 off the record."""
    sketch = to_be_checked()
    sketch.history.log_open(A)
    return sketch


def delayed_until(due_ms: float, came_ms: float) -> Sketch:
    """Message 7 is delayed; group a gets it when it is due, and group b at another time."""
    sketch = fan_out(120)
    sketch.declared["delayed_messages"] = 1
    sketch.history.terms(7, due_ms=due_ms)
    got(sketch, "orders-a", 7).move(due_ms + 5)
    got(sketch, "orders-b", 7).move(came_ms)
    return sketch


@case(EARLY, early=1)
def early_for_one_of_two_groups() -> Sketch:
    return delayed_until(1_700, 1_500)


@case(passes=EARLY, early=0)
def in_time_for_both_groups() -> Sketch:
    return delayed_until(1_700, 1_710)


@case(OVERDUE, passes=EARLY, overdue=1)
def overdue_for_one_of_two_groups() -> Sketch:
    return delayed_until(1_000, 2_900)


# --- groups that do not read the same queues -----------------------------------------------------


def partly(both: bool = False) -> Sketch:
    """Group a reads orders and payments, group b orders alone; ten messages go to each. `both`:
    group b reads payments, too."""
    sketch = tiny()
    sketch.declared["messages"] = 10
    history = sketch.history.no_consumer()
    history.rows["client_events"].clear()
    history.worker(SECOND, "publisher")
    groups = [("a", A, ("orders", "payments")), ("b", B, ("orders", "payments")[: 1 + both])]
    history.group("a", A).group("b", B)
    for _, consumer, _ in groups:
        history.client_event("consuming", at_ms=1, worker=consumer)
    for name, _, queues in groups:
        for queue in queues:
            history.queue(f"{queue}-{name}")
    sketch.facts["consumer_groups"] = tuple(
        ConsumerGroup(name, tuple(GroupQueue(f"{it}-{name}", it) for it in queues), (consumer,))
        for name, consumer, queues in groups
    )
    sketch.came.clear()
    sketch.sent.clear()
    for number in range(20):
        queue, producer = [("orders", PUBLISHER), ("payments", SECOND)][number % 2]
        at_ms = 50 + number * 100
        sketch.send(number // 2, at_ms, producer=producer, queue=queue)
        for name, consumer, queues in groups:
            if queue in queues:
                own: dict[str, Any] = {"consumer": consumer, "queue": f"{queue}-{name}"}
                sketch.deliver(number // 2, at_ms + 10, producer=producer, **own)
    return sketch


@case(passes=f"{DELIVERED} {MISROUTED} {ACKED} {ONE_COPY} {HELD}", loss_unknown=0, lost=0)
def a_group_that_does_not_read_a_queue_misses_nothing_of_it() -> Sketch:
    return partly()


@case(DELIVERED, lost=1, loss_unknown=0)
def a_group_lost_one_of_the_only_queue_that_it_reads() -> Sketch:
    return without(partly(), "orders-b", 7)


@case(DELIVERED, lost=1, loss_unknown=0)
def lost_for_the_only_group_of_a_queue() -> Sketch:
    return without(partly(), "payments-a", 7)


@case(MISROUTED, misrouted=1, unexpected=0)
def a_group_gets_a_message_of_a_queue_that_it_does_not_read() -> Sketch:
    sketch = partly()
    sketch.deliver(7, 1_600, producer=SECOND, consumer=B, queue="orders-b")
    return sketch


@case(f"{MISROUTED} {ONE_COPY}", misrouted=1)
def in_both_queues_of_one_group() -> Sketch:
    sketch = partly(both=True)
    sketch.deliver(7, 1_600, producer=SECOND, consumer=A, queue="orders-a")
    return sketch


@case(MISROUTED, misrouted=1, lost=0)
def in_the_wrong_queue_of_one_group() -> Sketch:
    """Its consumers got it all the same, so it is not lost."""
    sketch = partly(both=True)
    next(
        one for one in sketch.came if one.sequence == 7 and one.named["queue"] == "payments-b"
    ).named["queue"] = "orders-b"
    return sketch


# --- several queues, and no groups ---------------------------------------------------------------


def two_queues(messages: int = MESSAGES) -> Sketch:
    """As many messages go to payments as to orders; another consumer reads these."""
    sketch = tiny(messages)
    history = sketch.history.worker(SECOND, "publisher").worker(OTHER, "consumer")
    history.queue("payments").client_event("consuming", at_ms=1, worker=OTHER)
    sketch.flow(50, messages * 100, producer=SECOND, queue="payments", consumer=OTHER)
    return sketch


def of_payments(sketch: Sketch, sequence: int) -> SketchedDelivery:
    each = (one for one in sketch.came if one.named.get("producer") == SECOND)
    return next(one for one in each if one.sequence == sequence)


def lose_of_payments(sketch: Sketch, sequence: int) -> Sketch:
    sketch.came.remove(of_payments(sketch, sequence))
    return sketch


@case(passes=f"{DELIVERED} {MISROUTED} {ONE_COPY} {FIFO}", misrouted=0)
def each_queue_gets_its_own() -> Sketch:
    return two_queues()


@case(f"{MISROUTED} {ONE_COPY}", misrouted=1, duplicated__stored_twice=1)
def also_in_a_queue_that_it_was_not_sent_to() -> Sketch:
    sketch = two_queues()
    sketch.deliver(7, 770, consumer=OTHER, queue="payments")
    return sketch


@case(MISROUTED, misrouted=1, lost=0)
def only_in_a_queue_that_it_was_not_sent_to() -> Sketch:
    sketch = two_queues()
    sketch.first(7).named |= {"consumer": OTHER, "queue": "payments"}
    return sketch


@case(MISROUTED, misrouted=1)
def the_drain_of_another_queue_gets_it() -> Sketch:
    sketch = two_queues()
    sketch.lose(19)
    sketch.deliver(19, 10_000, via=Via.DRAIN, queue="payments")
    sketch.deliver(19, 10_001, via=Via.DRAIN, queue="payments", producer=SECOND)
    return sketch


@case(passes=f"{MISROUTED} {DELIVERED}", misrouted=0)
def the_audit_finds_a_copy_in_another_place() -> Sketch:
    """An audit reads places of its own."""
    sketch = two_queues()
    sketch.deliver(7, 20_000, via=Via.AUDIT, queue="payments")
    return sketch


@case(unknown=MISROUTED, misrouted=0)
def no_delivery_names_its_queue() -> Sketch:
    """So none could show that it came in a wrong one."""
    sketch = two_queues()
    for one in sketch.came:
        one.named["queue"] = ""
    return sketch


@case(MISROUTED, misrouted=1)
def one_delivery_names_a_wrong_queue_and_the_others_none() -> Sketch:
    sketch = no_delivery_names_its_queue()
    sketch.first(7).named["queue"] = "payments"
    return sketch


@case(not_applicable=MISROUTED, passes=DELIVERED)
def with_one_queue_nothing_is_misrouted() -> Sketch:
    return tiny()


@case(passes=f"{MISROUTED} {DELIVERED}", misrouted=0)
def nothing_is_sent_to_the_second_queue_and_nothing_comes_there() -> Sketch:
    sketch = tiny()
    sketch.history.queue("payments").worker(OTHER, "consumer")
    return sketch


@case(MISROUTED, misrouted=1)
def nothing_is_sent_to_the_second_queue_and_one_comes_there() -> Sketch:
    sketch = nothing_is_sent_to_the_second_queue_and_nothing_comes_there()
    sketch.first(7).named |= {"consumer": OTHER, "queue": "payments"}
    return sketch


@case(DELIVERED, lost=1)
def lost_of_one_queue_while_the_other_was_not_drained() -> Sketch:
    sketch = two_queues()
    sketch.lose(7)
    sketch.flow(750, 760, producer=SECOND, queue="payments", consumer=OTHER)
    sketch.history.queue("payments", drained=False)
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=1)
def missing_of_the_queue_that_was_not_drained() -> Sketch:
    sketch = lose_of_payments(two_queues(), 7)
    sketch.history.queue("payments", drained=False)
    return sketch


@case(passes=DELIVERED, unknown=f"{MISROUTED} {ONE_COPY}")
def all_came_of_a_queue_that_was_not_drained() -> Sketch:
    """The other messages there may be those that were sent to the other queue."""
    sketch = two_queues()
    sketch.history.queue("payments", drained=False)
    return sketch


@case(DELIVERED, lost=1, unreachable=0)
def lost_of_a_queue_while_a_place_of_another_could_not_be_read() -> Sketch:
    sketch = lose_of_payments(two_queues(), 7)
    sketch.history.queue(unreadable=("rmq2",))
    return sketch


@case(unknown=DELIVERED, lost=0, unreachable=1)
def missing_of_a_queue_with_a_place_that_could_not_be_read() -> Sketch:
    sketch = lose_of_payments(two_queues(), 7)
    sketch.history.queue("payments", unreadable=("rmq2",))
    return sketch


@case(unknown=DELIVERED, lost=0, loss_unknown=1)
def missing_of_a_queue_whose_end_is_on_no_record() -> Sketch:
    sketch = lose_of_payments(two_queues(), 7)
    sketch.history.no_queue_end("payments")
    return sketch


@case(passes=DELIVERED, lost=0)
def all_came_of_a_queue_whose_end_is_on_no_record() -> Sketch:
    sketch = two_queues()
    sketch.history.no_queue_end("payments")
    return sketch


# --- unroutable ----------------------------------------------------------------------------------


@case(passes=f"{DELIVERED} {REFUSED}", state__returned=1, lost=0)
def returned_and_not_delivered() -> Sketch:
    sketch = tiny()
    sketch.answer(7, RETURNED, CONFIRMED)
    sketch.lose(7)
    sketch.declared["messages"] = MESSAGES - 1
    return sketch


@case(REFUSED, refused_but_delivered=1)
def returned_and_delivered() -> Sketch:
    sketch = tiny()
    sketch.answer(7, RETURNED, CONFIRMED)
    return sketch


@case(passes=REFUSED, refused_but_delivered=0)
def returned_and_found_by_the_audit_alone() -> Sketch:
    sketch = returned_and_not_delivered()
    sketch.deliver(7, 20_000, via=Via.AUDIT)
    return sketch


def perhaps_unrouted(*sequences: int) -> Sketch:
    """Their publisher did not ask for unroutable messages to be returned."""
    sketch = tiny()
    for sequence in sequences:
        sketch.sent[PUBLISHER, sequence, 1].level = Strength.UNROUTED_POSSIBLE
    return sketch


@case(unknown=DELIVERED, lost=1)
def perhaps_unrouted_and_gone() -> Sketch:
    sketch = perhaps_unrouted(*range(MESSAGES))
    sketch.lose(7)
    return sketch


@case(DELIVERED, lost=2)
def one_perhaps_unrouted_and_one_stored_are_gone() -> Sketch:
    sketch = perhaps_unrouted(7)
    sketch.lose(7, 8)
    return sketch


@case(passes=DELIVERED, lost=0)
def perhaps_unrouted_and_all_came() -> Sketch:
    return perhaps_unrouted(*range(MESSAGES))


@case(DELIVERED, stranded=1, lost=0)
def perhaps_unrouted_and_found_by_the_audit() -> Sketch:
    """The audit found it, so a queue had received it."""
    sketch = perhaps_unrouted_and_gone()
    sketch.deliver(7, 20_000, via=Via.AUDIT)
    return sketch
