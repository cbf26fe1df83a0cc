"""Attempts that were given out, never acknowledged, and never came again.

1. Who gives something out must give it out again if the connection ends without an
   acknowledgement. What the audit found is not forgotten, nor is what came to a connection that
   still stands.
2. A consumer without acknowledgements asked the broker to forget.
3. A consumer that died, an incomplete drain and an unreadable place leave it open.
"""

from collections.abc import Iterable, Iterator

from spark_analysis.definition.cases import Case, Span, of_message
from spark_analysis.definition.channels import Channels
from spark_analysis.definition.messages import Message, Try
from spark_analysis.definition.open_ends import OpenEnds
from spark_analysis.schema.facts import Facts


def cases(facts: Facts, messages: Iterable[Message], channels: Channels) -> Iterator[Case]:
    if not facts.acknowledges:
        return
    ends = OpenEnds(facts)
    for message in messages:
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
    last = one.deliveries[-1]
    ended_ns = channels.ended_ns(last)
    left_behind = ended_ns is not None and ended_ns >= last.received_ns
    if not (last.while_consuming and left_behind):
        return False
    return all(channels.acknowledged_ns(delivery) is None for delivery in one.deliveries)
