"""Cases: single units of a count, and the two marts that consist of them.

1. One case is one unit of one count. Every count and every affected row comes from cases.
2. A correct message, or one that was not judged, is counted but affects no message.
3. A case that may be attributed to faults has the time within which they could have caused it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from spark_analysis.schema.measures import BY_NAME
from spark_analysis.schema.messages import Affected, Count
from tests.oracle.events import Delivery
from tests.oracle.messages import Message


@dataclass(frozen=True, slots=True)
class Span:
    """From when on, and until when, something can have been caused. None: for ever.

    Clocks may leave open which later message shows that it should have come: `by_ns` is the
    earliest such end, `latest_ns` the latest. Its confirm may have been on its way since it was
    sent, at `sent_ns`.
    """

    sent_ns: int
    since_ns: int
    by_ns: int | None
    latest_ns: int | None

    @classmethod
    def between(cls, since_ns: int, by_ns: int | None) -> "Span":
        return cls(since_ns, since_ns, by_ns, by_ns)


@dataclass(frozen=True, slots=True)
class Case:
    queue: str
    measure: str
    detail: str
    producer: int
    sequence: int
    attempt: int  # of the delivery or attempt where the case is one; 0 where it is a message
    at_ns: int
    span: Span | None = None  # None: charged to nothing


def of_message(
    message: Message,
    measure: str,
    detail: str,
    at_ns: int,
    span: Span | None = None,
    *,
    attempt: int = 0,
) -> Case:
    name = message.producer, message.sequence
    return Case(message.queue, measure, detail, *name, attempt, at_ns, span)


def of_delivery(
    delivery: Delivery, queue: str, measure: str, detail: str, span: Span | None = None
) -> Case:
    producer, sequence = delivery.producer, delivery.sequence
    if not delivery.header_ok:
        producer = sequence = -1
    at_ns = delivery.received_ns
    return Case(queue, measure, detail, producer, sequence, delivery.attempt, at_ns, span)


def since_sent(message: Message, delivery: Delivery) -> Span:
    """Return the time from the sending of the delivered attempt until the delivery."""
    attempt = message.sent_attempt(delivery.attempt)
    assert attempt is not None, delivery
    return Span.between(attempt.sent_ns, delivery.received_ns)


def count(run: str, cases: Iterable[Case]) -> tuple[Count, ...]:
    counts = Counter((case.queue, case.measure, case.detail) for case in cases)
    return tuple(Count(run, *what, count) for what, count in sorted(counts.items()))


def affected(run: str, cases: Iterable[Case]) -> tuple[Affected, ...]:
    return tuple(
        Affected(
            run,
            case.queue,
            case.measure,
            case.detail,
            case.producer,
            case.sequence,
            case.attempt,
            case.at_ns,
        )
        for case in cases
        if BY_NAME[case.measure].listed
    )
