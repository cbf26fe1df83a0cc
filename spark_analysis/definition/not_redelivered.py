"""Attempts that were given out, never acknowledged, and never came again.

1. Who gives something out must give it out again if the connection ends without an
   acknowledgement. What the audit found is not forgotten, nor is what came to a connection that
   still stands.
2. A consumer without acknowledgements asked the broker to forget.
3. A consumer that died, an incomplete drain and an unreadable place leave it open.
4. Only what a connection held when it ended can be forgotten: census `could_show`. What another
   delivery had settled before is not held.
"""

from collections.abc import Iterable, Iterator
from itertools import takewhile

from spark_analysis.definition.cases import Case, Span, of_message
from spark_analysis.definition.channels import Channels
from spark_analysis.definition.events import Delivery
from spark_analysis.definition.messages import Message, Try
from spark_analysis.definition.open_ends import OpenEnds
from spark_analysis.schema.facts import Facts


def cases(facts: Facts, messages: Iterable[Message], channels: Channels) -> Iterator[Case]:
    if not facts.acknowledges:
        return
    ends = OpenEnds(facts)
    for message in messages:
        if any(_held(one, channels) for one in message.tries.values()):
            yield of_message(message, "could_show", "not_redelivered", message.first_sent_ns)
        for number, one in message.tries.items():
            if not _forgotten(one, channels):
                continue
            why, at_ns = ends.why(message.queue), one.deliveries[-1].received_ns
            measure = "not_redelivered_unknown" if why else "not_redelivered"
            yield of_message(
                message, measure, why, at_ns, Span.between(at_ns, None), attempt=number
            )


def _forgotten(one: Try, channels: Channels) -> bool:
    if not one.deliveries:
        return False
    if not _left_behind(one.deliveries[-1], channels):
        return False
    return all(channels.acknowledged_ns(delivery) is None for delivery in one.deliveries)


def _held(one: Try, channels: Channels) -> bool:
    """Return whether a connection held the attempt when it ended, and none had settled it."""
    unsettled = takewhile(lambda each: channels.acknowledged_ns(each) is None, one.deliveries)
    return any(_left_behind(each, channels) for each in unsettled)


def _left_behind(delivery: Delivery, channels: Channels) -> bool:
    """Return whether the connection of a delivery of the load ended then or later."""
    ended_ns = channels.ended_ns(delivery)
    ended = ended_ns is not None and ended_ns >= delivery.received_ns
    return delivery.while_consuming and ended
