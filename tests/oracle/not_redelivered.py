"""Attempts that were given out, never acknowledged, and never came again.

1. Who gives something out must give it out again if the connection ends without an
   acknowledgement. What the audit found is not forgotten, nor is what came to a connection that
   still stands.
2. A consumer without acknowledgements asked the broker to forget.
3. A consumer that died, an incomplete drain and an unreadable place leave it open.
4. Only what a connection held when it ended can be forgotten: census `could_show`. What another
   delivery had settled before is not held.
5. A consumer that a fault ended for good has no end of its connection on record. What it held
   must come again, too, but it may have acknowledged some of that off the record.
6. A broker promises to keep what it confirmed. It may give out what is not confirmed yet, and a
   fault of the cluster may take that.
"""

from collections.abc import Iterable, Iterator
from itertools import takewhile

from spark_analysis.schema.facts import Facts
from tests.oracle.cases import Case, Span, of_message
from tests.oracle.channels import Channels
from tests.oracle.events import Delivery
from tests.oracle.messages import Message, Try
from tests.oracle.open_ends import OpenEnds


def cases(facts: Facts, messages: Iterable[Message], channels: Channels) -> Iterator[Case]:
    if not facts.acknowledges:
        return
    ends = OpenEnds(facts)
    ended = _Ended(facts, channels)
    for message in messages:
        if any(_held(one, ended) for one in message.tries.values()):
            yield of_message(message, "could_show", "not_redelivered", message.first_sent_ns)
        for number, one in message.tries.items():
            if not _forgotten(one, ended):
                continue
            last = one.deliveries[-1]
            why, at_ns = ends.why(message.queue) or ended.why(last), last.received_ns
            if not why and one.confirmed_ns is None and _may_be_taken(facts, last):
                why = "unconfirmed"
            measure = "not_redelivered_unknown" if why else "not_redelivered"
            yield of_message(
                message, measure, why, at_ns, Span.between(at_ns, None), attempt=number
            )


class _Ended:
    """The connections that ended, by themselves or with their consumer."""

    def __init__(self, facts: Facts, channels: Channels) -> None:
        self._channels = channels
        self._killed = {one.worker for one in facts.absences if one.until_ns is None}

    def acknowledged(self, delivery: Delivery) -> bool:
        return self._channels.acknowledged_ns(delivery) is not None

    def left_behind(self, delivery: Delivery) -> bool:
        """Return whether the connection of a delivery of the load ended then or later."""
        ended_ns = self._channels.ended_ns(delivery)
        killed = ended_ns is None and delivery.consumer in self._killed
        ended = killed or (ended_ns is not None and ended_ns >= delivery.received_ns)
        return delivery.while_consuming and ended

    def why(self, delivery: Delivery) -> str:
        """Return why it is open whether this delivery was acknowledged; "" if it was not."""
        return "consumer_killed" if self._channels.ended_ns(delivery) is None else ""


def _may_be_taken(facts: Facts, last: Delivery) -> bool:
    """Return whether a fault of the cluster, or a change of leader, was not over before the last
    delivery."""
    since_ns = last.received_ns - facts.clock_bounds_ns.get(last.consumer, 0)
    return any(one.over_ns is None or one.over_ns >= since_ns for one in facts.of_cluster)


def _forgotten(one: Try, ended: _Ended) -> bool:
    if not one.deliveries or not ended.left_behind(one.deliveries[-1]):
        return False
    return not any(ended.acknowledged(delivery) for delivery in one.deliveries)


def _held(one: Try, ended: _Ended) -> bool:
    """Return whether a connection held the attempt when it ended, and none had settled it."""
    unsettled = takewhile(lambda each: not ended.acknowledged(each), one.deliveries)
    return any(ended.left_behind(each) for each in unsettled)
