"""Effects before their causes: then the instrument is wrong, and nothing of its run holds.

1. A delivery before its attempt was sent, by more than the clocks of both sides may be off.
2. Any settlement before its attempt was sent: the times of both are from one clock. A confirm of
   an attempt that was never sent contradicts the records, too.
3. An acknowledgement from before its delivery: both times are one consumer's.
"""

from collections.abc import Iterable

from spark_analysis.schema.facts import Facts
from tests.oracle.channels import Channels
from tests.oracle.messages import Message


def broken(facts: Facts, messages: Iterable[Message], channels: Channels) -> bool:
    bounds = {clock.worker: clock.bound_ns for clock in facts.clocks}
    return any(
        _broken(message, bounds) or any(map(channels.acknowledged_early, message.deliveries))
        for message in messages
    )


def _broken(message: Message, bounds: dict[int, int]) -> bool:
    if message.contradicted:
        return True
    of_producer_ns = bounds.get(message.producer, 0)
    for one in message.tries.values():
        sent_ns = one.attempt.sent_ns
        if not one.attempt.sent:
            continue
        for delivery in one.deliveries:
            bound_ns = of_producer_ns + bounds.get(delivery.consumer, 0)
            if delivery.received_ns + bound_ns < sent_ns:
                return True
    return False
