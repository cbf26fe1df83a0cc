"""Deliveries in a queue that their message was not sent to.

1. Only what consumers or the drain were given: the audit and the ways of messages that come again
   have places of their own. A queue without a name says nothing.
"""

from collections.abc import Iterable, Iterator

from tests.oracle.cases import Case, of_delivery
from tests.oracle.events import Delivery
from tests.oracle.messages import Message


def cases(messages: Iterable[Message]) -> Iterator[Case]:
    for message in messages:
        for delivery in message.consumed:
            if is_astray(message, delivery):
                yield of_delivery(delivery, message.queue, "misrouted", "")


def is_astray(message: Message, delivery: Delivery) -> bool:
    """Return whether it came in another queue than the one that its message was sent to."""
    both_named = bool(delivery.queue and message.queue)
    return both_named and delivery.queue != message.queue and delivery.is_direct
