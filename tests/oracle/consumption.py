"""Consumption after a fault: whether queues are read again, and whether each consumer works again.

1. Proof are messages that were sent into the fault and delivered while consumers worked, before
   the undo was issued and in the window's own time. One delivery is not enough: a queue has to
   deliver half of its due messages.
2. A queue is judged only if a message was confirmed so early that it should have come.
3. A consumer is judged if it worked before the fault and was there all the time since. Its share
   is the due messages of its queues, divided among their readers. A group reassigns the readers of
   logs.
4. A queue that still gave earlier messages shortly before the end may keep what was sent into the
   fault behind these. Where order is promised one consumer at a time is active, so another one may
   have taken over.
5. Clocks of clients that are not the run's leave both ends of a count open: what came for certain,
   and what may have come. Consumption resumed by the first, and did not by the second.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import (
    CONSUMER,
    FEW_OF,
    HALF_OF,
    PUBLISHER,
    QUEUE,
    STRETCH_NS,
    Consumption,
)
from tests.oracle.absences import Absences
from tests.oracle.events import Delivery
from tests.oracle.forces import Force
from tests.oracle.messages import Message


def rows(
    facts: Facts, messages: Sequence[Message], forces: Sequence[Force]
) -> tuple[Consumption, ...]:
    consumers = sorted({w.number for w in facts.workers if w.role == "consumer"})
    if not consumers:
        return ()
    absences = Absences(facts)
    found: list[Consumption] = []
    for force in forces:
        there = [
            number
            for number in consumers
            if not absences.touch(number, force.origin_ns, force.limit_ns)
        ]
        found += _rows(facts, messages, force, there)
    return tuple(found)


def _rows(
    facts: Facts, messages: Sequence[Message], force: Force, there: Sequence[int]
) -> Iterator[Consumption]:
    until_ns = min(force.limit_ns, force.end_ns)
    bound_ns = facts.clock_bound_ns(CONSUMER)
    due, came, may_have = _due(messages, force, until_ns, facts)
    by_queue, by_consumer = _earliest(messages, force, facts)
    earlier, earlier_of = _earlier(messages, force, until_ns, facts)
    receivers = _receivers(messages, force, until_ns, facts)
    ordered = {end.queue for end in facts.queues if end.ordered}
    readers = _readers(messages, force, bound_ns)
    for queue, many in sorted(due.items()):
        first_ns = by_queue.get(queue)
        row = _row(facts, force, until_ns, QUEUE, queue, many, first_ns)
        if may_have[queue] * FEW_OF < many:
            row = replace(row, resumed=False, at_ns=earlier.get(queue, until_ns))
        yield row if came[queue] * HALF_OF >= many else replace(row, resumed=False)
    for consumer in there:
        queues = [queue for queue, read_by in readers.items() if consumer in read_by]
        if queues:
            share = sum(due[queue] // len(readers[queue]) for queue in queues)
            at_ns = by_consumer.get(consumer)
            row = _row(facts, force, until_ns, CONSUMER, str(consumer), share, at_ns)
            if not row.resumed:
                row = replace(row, at_ns=earlier_of.get(consumer, until_ns))
            certain = at_ns is not None and at_ns + 2 * bound_ns <= until_ns
            taken_over = all(q in ordered and receivers[q] - {consumer} for q in queues)
            if certain or not taken_over:
                yield row if certain else replace(row, resumed=False)


def _row(
    facts: Facts,
    force: Force,
    until_ns: int,
    scope: str,
    name: str,
    due: int,
    first_ns: int | None,
) -> Consumption:
    resumed = first_ns is not None and first_ns <= until_ns
    at_ns = first_ns if first_ns is not None and resumed else until_ns
    return Consumption(facts.run, force.number, scope, name, due, resumed, at_ns)


def _due(
    messages: Sequence[Message], force: Force, until_ns: int, facts: Facts
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return how many messages of each queue were sent into the fault and confirmed in time to
    come; how many of them came; and how many may have come, as far as the clocks show."""
    due, came, may_have = Counter[str](), Counter[str](), Counter[str]()
    sent_from_ns, bound_ns = _sent_from_ns(force, facts), facts.clock_bound_ns(CONSUMER)
    confirmed_until_ns = until_ns - facts.deadline_ns - facts.clock_bound_ns(PUBLISHER)
    for message in messages:
        came_ns = [
            delivery.received_ns
            for delivery in message.consumed
            if _shows(message, delivery, sent_from_ns)
        ]
        for confirm in message.confirms:
            attempt = message.sent_attempt(confirm.attempt)
            early = confirm.settled_ns <= confirmed_until_ns
            if early and attempt is not None and attempt.sent_ns >= sent_from_ns:
                due[message.queue] += 1
                came[message.queue] += any(at_ns + bound_ns <= until_ns for at_ns in came_ns)
                may_have[message.queue] += any(at_ns - bound_ns <= until_ns for at_ns in came_ns)
    return due, came, may_have


def _earlier(
    messages: Sequence[Message], force: Force, until_ns: int, facts: Facts
) -> tuple[dict[str, int], dict[int, int]]:
    """Return by queue, and by consumer, when a message that was sent before the fault may have
    come for the first time in the last 5 s before `until_ns`."""
    by_queue, by_consumer = dict[str, int](), dict[int, int]()
    sent_from_ns, bound_ns = _sent_from_ns(force, facts), facts.clock_bound_ns(CONSUMER)
    for message in messages:
        first = next((it for it in message.consumed if it.while_consuming), None)
        attempt = None if first is None else message.sent_attempt(first.attempt)
        if first is None or attempt is None or attempt.sent_ns >= sent_from_ns:
            continue
        at_ns = first.received_ns - bound_ns
        if until_ns - STRETCH_NS <= at_ns + 2 * bound_ns and at_ns < until_ns:
            queue, consumer = message.queue, first.consumer
            by_queue[queue] = min(at_ns, by_queue.get(queue, at_ns))
            by_consumer[consumer] = min(at_ns, by_consumer.get(consumer, at_ns))
    return by_queue, by_consumer


def _receivers(
    messages: Sequence[Message], force: Force, until_ns: int, facts: Facts
) -> dict[str, set[int]]:
    """Return by queue who may have received a message that was sent into the fault."""
    found = defaultdict[str, set[int]](set)
    sent_from_ns, bound_ns = _sent_from_ns(force, facts), facts.clock_bound_ns(CONSUMER)
    for message in messages:
        for delivery in message.consumed:
            in_time = delivery.received_ns - bound_ns <= until_ns
            if in_time and _shows(message, delivery, sent_from_ns):
                found[message.queue].add(delivery.consumer)
    return found


def _sent_from_ns(force: Force, facts: Facts) -> int:
    """Return from when on an attempt was certainly sent into the fault."""
    return force.returned_ns + facts.clock_bound_ns(PUBLISHER)


def _earliest(
    messages: Sequence[Message], force: Force, facts: Facts
) -> tuple[dict[str, int], dict[int, int]]:
    """Return when each queue and each consumer first may have had a message that was sent into the
    fault."""
    by_queue, by_consumer = dict[str, int](), dict[int, int]()
    sent_from_ns, bound_ns = _sent_from_ns(force, facts), facts.clock_bound_ns(CONSUMER)
    for message in messages:
        for delivery in message.consumed:
            if not _shows(message, delivery, sent_from_ns):
                continue
            at_ns, queue = delivery.received_ns - bound_ns, message.queue
            consumer = delivery.consumer
            by_queue[queue] = min(at_ns, by_queue.get(queue, at_ns))
            by_consumer[consumer] = min(at_ns, by_consumer.get(consumer, at_ns))
    return by_queue, by_consumer


def _shows(message: Message, delivery: Delivery, sent_from_ns: int) -> bool:
    attempt = message.sent_attempt(delivery.attempt)
    into_it = attempt is not None and attempt.sent_ns >= sent_from_ns
    return delivery.while_consuming and into_it


def _readers(messages: Sequence[Message], force: Force, bound_ns: int) -> dict[str, set[int]]:
    """Return the readers of each queue before the fault."""
    readers = defaultdict[str, set[int]](set)
    for message in messages:
        for delivery in message.consumed:
            before = delivery.received_ns + bound_ns < force.origin_ns
            loaded = delivery.while_consuming and delivery.is_direct
            if before and loaded and delivery.offset < 0:
                readers[message.queue].add(delivery.consumer)
    return readers
