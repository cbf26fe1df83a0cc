"""The run second by second: what was intended, missed, confirmed and delivered in each.

1. A publish belongs to the second it was intended for, a message to those of its confirm and of
   its first delivery.
2. A second in which nothing counts has no row.
"""

from collections import Counter
from collections.abc import Iterable

from spark_analysis.schema.availability import Second
from tests.oracle.messages import Message
from tests.oracle.publishes import Publish

_SECOND_NS = 1_000_000_000


def rows(
    run: str, messages: Iterable[Message], publishes: Iterable[Publish]
) -> tuple[Second, ...]:
    intended, missed = Counter[int](), Counter[int]()
    confirmed, delivered = Counter[int](), Counter[int]()
    for publish in publishes:
        second = publish.intended_ns // _SECOND_NS
        intended[second] += 1
        missed[second] += publish.missed
    for message in messages:
        if message.confirmed_ns is not None:
            confirmed[message.confirmed_ns // _SECOND_NS] += 1
        if message.delivered:
            delivered[message.consumed[0].received_ns // _SECOND_NS] += 1
    return tuple(
        Second(run, second, intended[second], missed[second], confirmed[second], delivered[second])
        for second in sorted({*intended, *confirmed, *delivered})
    )
