"""Delayed messages: those that came early, those that came late, and those that were not due when
the queue was quiet.

1. A wait begins in the broker, so after the attempt was sent, and before it was confirmed.
2. Doubt speaks for the broker: for clocks of different machines, and for the whole milliseconds in
   which it counts. A message that is early within these bounds is early_unknown, and no fault.
3. A message is overdue if it came over a second later than its wait allowed, counted from its
   confirm, because brokers check waiting messages every second. A message that only the drain
   received is overdue if consumers could have had it within the load.
"""

from collections.abc import Iterable, Iterator

from spark_analysis.schema.facts import Facts
from tests.oracle.cases import Case, Span, of_delivery, of_message, since_sent
from tests.oracle.events import Delivery
from tests.oracle.messages import Message, Try

_GRAIN_NS = 1_000_000  # brokers count milliseconds
_LOOKED_AT_NS = 1_000_000_000  # brokers look at what waits once a second at the least
_APART = 1_000  # clocks of two machines run apart by less than one in so many


def cases(facts: Facts, messages: Iterable[Message]) -> Iterator[Case]:
    waits = Waits(facts)
    for message in messages:
        if not any(terms.delayed for terms in message.terms):
            continue
        yield of_message(message, "delayed", "", message.first_sent_ns)
        for measure in _could_show(message):
            yield of_message(message, "could_show", measure, message.first_sent_ns)
        for delivery in message.consumed:
            measure = waits.haste(message, delivery)
            if measure:
                yield of_delivery(
                    delivery, message.queue, measure, "", since_sent(message, delivery)
                )
        span = waits.overdue(message, message.consumed[0]) if message.delivered else None
        if span is not None:
            yield of_message(message, "overdue", "", message.consumed[0].received_ns, span)


class Waits:
    """The waits of attempts of one run, and the bounds of what is known of them."""

    def __init__(self, facts: Facts) -> None:
        self._bounds = {clock.worker: clock.bound_ns for clock in facts.clocks}
        self._quiet_ns = {end.queue: end.quiet_ns for end in facts.queues}
        self._consumed = any(worker.role == "consumer" for worker in facts.workers)
        self._load_ended_ns = facts.load_ended_ns

    def haste(self, message: Message, delivery: Delivery) -> str:
        """`early`, `early_unknown`, or "" for a delivery in time."""
        attempt, terms = message.sent_attempt(delivery.attempt), message.terms_of(delivery.attempt)
        if attempt is None or terms is None or not terms.delayed:
            return ""
        if delivery.received_ns >= terms.due_ns:
            return ""
        wait_ns = max(0, terms.due_ns - attempt.sent_ns)
        slack_ns = self._slack_ns(wait_ns, message.producer, delivery.consumer)
        return "early" if delivery.received_ns + slack_ns < terms.due_ns else "early_unknown"

    def overdue(self, message: Message, first: Delivery) -> Span | None:
        """From its confirm until it should have come, if its first delivery came later than the
        broker may have taken."""
        one = message.tries.get(first.attempt)
        if one is None or not one.attempt.sent or one.terms is None or not one.terms.delayed:
            return None
        confirmed_ns = one.confirmed_ns
        if confirmed_ns is None:
            return None
        wait_ns = max(0, one.terms.due_ns - one.attempt.sent_ns)
        slack_ns = self._slack_ns(wait_ns, message.producer, first.consumer)
        latest_ns = max(one.terms.due_ns, confirmed_ns + wait_ns) + slack_ns + _LOOKED_AT_NS
        in_load = self._consumed and latest_ns < self._load_ended_ns
        late = first.received_ns > latest_ns and (not first.by_drain or in_load)
        return Span.between(confirmed_ns, latest_ns) if late else None

    def not_due(self, message: Message) -> bool:
        """Return whether each confirmed copy may still have waited when the queue was quiet."""
        over_ns = [self._over_ns(message, one.attempt, one.settled_ns) for one in message.confirms]
        waited = [at_ns for at_ns in over_ns if at_ns is not None]
        if len(waited) < len(over_ns):
            return False
        return self._after_quiet(message.queue, min(waited))

    def attempt_not_due(self, message: Message, one: Try) -> bool:
        """Return whether this confirmed attempt may still have waited when the queue was quiet."""
        assert one.confirmed_ns is not None, one
        over_ns = self._over_ns(message, one.attempt.number, one.confirmed_ns)
        return over_ns is not None and self._after_quiet(message.queue, over_ns)

    def _after_quiet(self, queue: str, at_ns: int) -> bool:
        quiet_ns = self._quiet_ns.get(queue)
        # If it is unknown, the queue was not quiet before the load had ended.
        return at_ns > (self._load_ended_ns if quiet_ns is None else quiet_ns)

    def _over_ns(self, message: Message, attempt: int, settled_ns: int) -> int | None:
        """Return the latest time at which its wait was over; None if it had none."""
        wait_ns = _wait_ns(message, attempt)
        if wait_ns is None:
            return None
        return settled_ns + wait_ns + self._slack_ns(wait_ns, message.producer)

    def _slack_ns(self, wait_ns: int, *workers: int) -> int:
        bounds_ns = sum(self._bounds.get(worker, 0) for worker in workers)
        return wait_ns // _APART + _GRAIN_NS + bounds_ns


def _could_show(message: Message) -> Iterator[str]:
    """Yield the classes that its deliveries could have shown."""
    came = [message.tries.get(delivery.attempt) for delivery in message.consumed]
    waited = [
        one is not None and one.attempt.sent and one.terms is not None and one.terms.delayed
        for one in came
    ]
    if any(waited):
        yield "early"
    if waited and waited[0] and came[0] is not None and came[0].confirmed_ns is not None:
        yield "overdue"


def _wait_ns(message: Message, number: int) -> int | None:
    """Return how long this attempt was to wait; None if it was not delayed."""
    attempt, terms = message.attempt(number), message.terms_of(number)
    if attempt is None or terms is None or not terms.delayed:
        return None
    return max(0, terms.due_ns - attempt.sent_ns)
