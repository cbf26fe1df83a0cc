"""Deliveries that are not what anybody sent: unexpected ones and corrupt ones.

1. Each delivery is judged by itself, by whatever way it came, in the queue it came from.
2. A header that cannot be believed names nothing, so it is corrupt and never unexpected.
3. A publisher that died may have sent what its log does not show: then a stray is unrecorded. A
   message of another run is a stray all the same.
4. A delivery can be corrupt and unexpected.
"""

from collections.abc import Iterable, Iterator, Mapping

from spark_analysis.schema.facts import Facts
from tests.oracle.cases import Case, of_delivery
from tests.oracle.events import Delivery
from tests.oracle.messages import Message, Name


def cases(
    facts: Facts, messages: Mapping[Name, Message], deliveries: Iterable[Delivery]
) -> Iterator[Case]:
    logs_closed = all(w.log_closed for w in facts.workers if w.role == "publisher")
    for delivery in deliveries:
        corrupt = _corrupt(delivery)
        if corrupt:
            yield of_delivery(delivery, delivery.queue, "corrupt", corrupt)
        unexpected = _unexpected(delivery, messages)
        if unexpected:
            proved = logs_closed or unexpected == "other_run"
            measure = "unexpected" if proved else "unrecorded"
            yield of_delivery(delivery, delivery.queue, measure, unexpected)


def _corrupt(delivery: Delivery) -> str:
    if not delivery.header_ok:
        return "header"
    return "" if delivery.payload_ok else "payload"


def _unexpected(delivery: Delivery, messages: Mapping[Name, Message]) -> str:
    if not delivery.header_ok:
        return ""
    if not delivery.run_ok:
        return "other_run"
    message = messages.get((delivery.producer, delivery.sequence))
    if message is None:
        return "never_sent"
    if not message.sent:
        return "not_sent"
    attempt = message.attempt(delivery.attempt)
    return "" if attempt and attempt.sent else "unknown_attempt"
