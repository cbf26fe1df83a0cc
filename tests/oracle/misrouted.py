"""Deliveries in a queue that their message was not sent to.

1. Only what consumers or the drain were given: the audit and the ways of messages that come again
   have places of their own. A queue without a name says nothing.
"""

from collections.abc import Iterable, Iterator

from tests.oracle.cases import Case, of_delivery
from tests.oracle.messages import Message


def cases(messages: Iterable[Message]) -> Iterator[Case]:
    for message in messages:
        for delivery in message.consumed:
            both_named = bool(delivery.queue and message.queue)
            elsewhere = both_named and delivery.queue != message.queue
            if elsewhere and delivery.is_direct:
                yield of_delivery(delivery, message.queue, "misrouted", "")
