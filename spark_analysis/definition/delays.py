"""Delayed messages: what came before its time, and whose time had not come when all was quiet.

1. A wait begins in the broker, so after the attempt was sent, and before it was confirmed.
2. Doubt speaks for the broker: clocks of different machines, and the whole milliseconds in which
   it counts. What is early within the doubt is early_unknown, and nobody's fault.
"""

from collections.abc import Iterable, Iterator

from spark_analysis.definition.cases import Case, of_delivery, of_message
from spark_analysis.definition.events import Delivery
from spark_analysis.definition.messages import Message
from spark_analysis.schema.facts import Facts

_GRAIN_NS = 1_000_000  # brokers count milliseconds
_APART = 1_000  # clocks of two machines run apart by less than one in so many


def cases(facts: Facts, messages: Iterable[Message]) -> Iterator[Case]:
    waits = Waits(facts)
    for message in messages:
        if not any(terms.delayed for terms in message.terms):
            continue
        yield of_message(message, "delayed", "", message.first_sent_ns)
        for delivery in message.consumed:
            measure = waits.haste(message, delivery)
            if measure:
                yield of_delivery(delivery, message.queue, measure, "")


class Waits:
    """How long attempts of one run were to wait, and how well anybody knows."""

    def __init__(self, facts: Facts) -> None:
        self._bounds = {clock.worker: clock.bound_ns for clock in facts.clocks}
        self._quiet_ns = {end.queue: end.quiet_ns for end in facts.queues}

    def haste(self, message: Message, delivery: Delivery) -> str:
        """`early`, `early_unknown`, or "" for a delivery in time."""
        attempt, wait_ns = message.attempt(delivery.attempt), _wait_ns(message, delivery.attempt)
        terms = message.terms_of(delivery.attempt)
        if attempt is None or not attempt.sent or terms is None or wait_ns is None:
            return ""
        if delivery.received_ns >= terms.due_ns:
            return ""
        slack_ns = self._slack_ns(wait_ns, message.producer, delivery.consumer)
        return "early" if delivery.received_ns + slack_ns < terms.due_ns else "early_unknown"

    def not_due(self, message: Message) -> bool:
        """Whether each copy that was confirmed may have waited still when the queue was quiet."""
        over_ns = [self._over_ns(message, one.attempt, one.settled_ns) for one in message.confirms]
        waited = [at_ns for at_ns in over_ns if at_ns is not None]
        if len(waited) < len(over_ns):
            return False
        quiet_ns = self._quiet_ns.get(message.queue)
        return quiet_ns is None or min(waited) > quiet_ns

    def _over_ns(self, message: Message, attempt: int, settled_ns: int) -> int | None:
        """When its wait was over at the latest; None where it had none."""
        wait_ns = _wait_ns(message, attempt)
        if wait_ns is None:
            return None
        return settled_ns + wait_ns + self._slack_ns(wait_ns, message.producer)

    def _slack_ns(self, wait_ns: int, *workers: int) -> int:
        bounds_ns = sum(self._bounds.get(worker, 0) for worker in workers)
        return wait_ns // _APART + _GRAIN_NS + bounds_ns


def _wait_ns(message: Message, number: int) -> int | None:
    """How long this attempt was to wait; None where it was not delayed."""
    attempt, terms = message.attempt(number), message.terms_of(number)
    if attempt is None or terms is None or not terms.delayed:
        return None
    return max(0, terms.due_ns - attempt.sent_ns)
