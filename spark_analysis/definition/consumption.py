"""Whether queues are read again after a fault, and whether each consumer works again.

1. What shows it was sent into the fault and delivered while consumers worked, in the window's own
   time.
2. A queue is asked for where something was confirmed so early that it should have come.
3. A consumer is asked for if it worked before the fault and was there all the time since; its
   share of what was due is what its queues had, divided among those who read them. Of logs the
   group decides anew who reads.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from spark_analysis.definition.absences import Absences
from spark_analysis.definition.events import Delivery
from spark_analysis.definition.forces import Force
from spark_analysis.definition.messages import Message
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import CONSUMER, QUEUE, Consumption
from spark_analysis.schema.words import Via


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
    due = _due(messages, force, facts.deadline_ns)
    by_queue, by_consumer = _earliest(messages, force)
    readers = _readers(messages, force)
    for queue, many in sorted(due.items()):
        yield _row(facts, force, QUEUE, queue, many, by_queue.get(queue))
    for consumer in there:
        queues = [queue for queue, read_by in readers.items() if consumer in read_by]
        if queues:
            share = sum(due[queue] // len(readers[queue]) for queue in queues)
            at_ns = by_consumer.get(consumer)
            yield _row(facts, force, CONSUMER, str(consumer), share, at_ns)


def _row(
    facts: Facts, force: Force, scope: str, name: str, due: int, first_ns: int | None
) -> Consumption:
    resumed = first_ns is not None and first_ns <= force.limit_ns
    at_ns = first_ns if first_ns is not None and resumed else force.limit_ns
    return Consumption(facts.run, force.number, scope, name, due, resumed, at_ns)


def _due(messages: Sequence[Message], force: Force, deadline_ns: int) -> Counter[str]:
    """How much of each queue was sent into the fault and confirmed in time to come."""
    due = Counter[str]()
    for message in messages:
        for confirm in message.confirms:
            attempt = message.sent_attempt(confirm.attempt)
            early = confirm.settled_ns <= force.limit_ns - deadline_ns
            if early and attempt is not None and attempt.sent_ns >= force.returned_ns:
                due[message.queue] += 1
    return due


def _earliest(messages: Sequence[Message], force: Force) -> tuple[dict[str, int], dict[int, int]]:
    """When each queue and each consumer first gave or got what was sent into the fault."""
    by_queue, by_consumer = dict[str, int](), dict[int, int]()
    for message in messages:
        for delivery in message.consumed:
            if not _shows(message, delivery, force):
                continue
            at_ns, queue, consumer = delivery.received_ns, message.queue, delivery.consumer
            by_queue[queue] = min(at_ns, by_queue.get(queue, at_ns))
            by_consumer[consumer] = min(at_ns, by_consumer.get(consumer, at_ns))
    return by_queue, by_consumer


def _shows(message: Message, delivery: Delivery, force: Force) -> bool:
    attempt = message.sent_attempt(delivery.attempt)
    into_it = attempt is not None and attempt.sent_ns >= force.returned_ns
    return delivery.while_consuming and into_it


def _readers(messages: Sequence[Message], force: Force) -> dict[str, set[int]]:
    """Who read each queue before the fault."""
    readers = defaultdict[str, set[int]](set)
    for message in messages:
        for delivery in message.consumed:
            before = delivery.received_ns < force.origin_ns
            if before and delivery.via is Via.LOAD and delivery.offset < 0:
                readers[message.queue].add(delivery.consumer)
    return readers
