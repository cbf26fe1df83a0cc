"""Attempts that were given out, never acknowledged, and never came again.

1. Who gives something out must give it out again if the connection ends without an
   acknowledgement. What the audit found is not forgotten, nor is what came to a connection that
   still stands. But a log keeps everything: if brokers keep the progress of groups, what the audit
   found in a log says nothing.
2. A consumer without acknowledgements asked the broker to forget.
3. A consumer that died, an incomplete drain and an unreadable place leave it open.
4. Only what a connection held when it ended can be forgotten: census `could_show`. What another
   delivery had settled before is not held.
5. A consumer that a fault ended for good has no end of its connection on record. What it held
   must come again, too, but it may have acknowledged some of that off the record. So did
   every connection end before a complete drain. If it began to consume on record, and has no end
   there, the records do not show all of it.
6. A broker promises to keep what it confirmed. It may give out what is not confirmed yet, and a
   fault of the cluster may take that.
7. An acknowledgement of after the end did not reach the broker. Within a second of the end it is
   unknown which of the two came first.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from spark_analysis.schema.facts import Facts
from tests.oracle.cases import Case, Span, of_message
from tests.oracle.channels import Channels
from tests.oracle.events import Delivery
from tests.oracle.messages import Message, Try
from tests.oracle.open_ends import OpenEnds

_AT_THE_END_NS = 1_000_000_000


def cases(facts: Facts, messages: Iterable[Message], channels: Channels) -> Iterator[Case]:
    if not facts.acknowledges:
        return
    ends = OpenEnds(facts)
    every = _Ended(facts, channels)
    for message in messages:
        ended = every.before_the_drain(not ends.why(message.queue))
        if any(_held(one, ended) for one in message.tries.values()):
            yield of_message(message, "could_show", "not_redelivered", message.first_sent_ns)
        for number, one in message.tries.items():
            relevant = [each for each in one.deliveries if not _says_nothing(each, facts)]
            if not _forgotten(relevant, ended):
                continue
            last = relevant[-1]
            why, at_ns = ends.why(message.queue) or ended.why(last), last.received_ns
            if not why and one.confirmed_ns is None and _may_be_taken(facts, last):
                why = "unconfirmed"
            measure = "not_redelivered_unknown" if why else "not_redelivered"
            yield of_message(
                message, measure, why, at_ns, Span.between(at_ns, None), attempt=number
            )


class _Ended:
    """The connections that ended, by themselves or with their consumer."""

    def __init__(self, facts: Facts, channels: Channels, drained: bool = False) -> None:
        self._facts = facts
        self._channels = channels
        self._drained = drained
        self._killed = {one.worker for one in facts.absences if one.until_ns is None}

    def before_the_drain(self, drained: bool) -> "_Ended":
        """Return the same for a queue: if its drain is complete, all had ended before it."""
        return _Ended(self._facts, self._channels, drained)

    def acknowledged(self, delivery: Delivery) -> bool:
        return self._channels.acknowledged_ns(delivery) is not None

    def left_behind(self, delivery: Delivery) -> bool:
        """Return whether the connection of a delivery of the load ended then or later."""
        ended_ns = self._channels.ended_ns(delivery)
        before_it = self._drained and self._channels.is_open_ended(delivery)
        gone = ended_ns is None and (before_it or delivery.consumer in self._killed)
        ended = gone or (ended_ns is not None and ended_ns >= delivery.received_ns)
        return delivery.while_consuming and ended

    def why(self, delivery: Delivery) -> str:
        """Return why it is open whether this delivery was acknowledged; "" if it was not."""
        ended_ns = self._channels.ended_ns(delivery)
        if ended_ns is None:
            return "consumer_killed" if delivery.consumer in self._killed else "end_not_recorded"
        written_ns = self._channels.written_ns(delivery)
        soon = written_ns is not None and written_ns <= ended_ns + _AT_THE_END_NS
        return "acknowledged_at_the_end" if soon else ""


def _may_be_taken(facts: Facts, last: Delivery) -> bool:
    """Return whether a fault of the cluster, or a change of leader, was not over before the last
    delivery."""
    since_ns = last.received_ns - facts.clock_bounds_ns.get(last.consumer, 0)
    return any(one.over_ns is None or one.over_ns >= since_ns for one in facts.of_cluster)


def _says_nothing(delivery: Delivery, facts: Facts) -> bool:
    """Return whether it is a find in a log, and brokers know how far each group has come."""
    return facts.brokers_keep_progress and delivery.is_find and delivery.offset >= 0


def _forgotten(deliveries: Sequence[Delivery], ended: _Ended) -> bool:
    if not deliveries or not ended.left_behind(deliveries[-1]):
        return False
    return not any(ended.acknowledged(delivery) for delivery in deliveries)


def _held(one: Try, ended: _Ended) -> bool:
    """Return whether a connection held the attempt when it ended, and none had settled it."""
    unsettled = takewhile(lambda each: not ended.acknowledged(each), one.deliveries)
    return any(ended.left_behind(each) for each in unsettled)
