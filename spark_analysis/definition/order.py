"""Whether messages arrived in the order they were sent, where that order was promised.

1. Judged are first deliveries, flagged or not, of messages that are neither delayed nor in a
   transaction, where it is certain which attempt's copy came: one that was confirmed, or a single
   one of unknown outcome.
2. They are compared within one producer, key, queue and consumer. One is before another if it was
   confirmed before the other was sent, or was sent earlier on the same connection.
3. A message is reordered if it came after one that it is before. Where one of the two is flagged
   and the other is not nobody knows: a connection that nobody read was given the former. A loss
   leaves a gap, and a gap is no reorder.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spark_analysis.definition.cases import Case, Span, of_message
from spark_analysis.definition.events import Delivery
from spark_analysis.definition.messages import DENIALS, Message, Try
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Redelivered, Via

Line = tuple[int, int, str, int]  # producer, key, queue, consumer


@dataclass(frozen=True, slots=True)
class _Arrival:
    message: Message
    first: Delivery
    one: Try  # of which it came

    @property
    def flagged(self) -> bool:
        return self.first.redelivered is Redelivered.YES


def cases(facts: Facts, messages: Iterable[Message]) -> Iterator[Case]:
    ordered = {end.queue for end in facts.queues if end.ordered}
    lines = defaultdict[Line, list[_Arrival]](list)
    for message in messages:
        if not message.delivered:
            continue
        first = message.consumed[0]
        one = message.tries.get(first.attempt)
        doubt = _doubt(message, first, one, ordered)
        if doubt or one is None:
            yield of_message(message, "not_judged", doubt, first.received_ns)
        else:
            line = message.producer, message.key, message.queue, first.consumer
            lines[line].append(_Arrival(message, first, one))
    for arrivals in lines.values():
        yield from _judged(sorted(arrivals, key=lambda arrival: arrival.first.order))


def _doubt(message: Message, first: Delivery, one: Try | None, ordered: set[str]) -> str:
    """Why the place of this message is not certain; "" where it is."""
    if message.queue not in ordered:
        return "not_promised"
    if not message.at_once:
        return "not_at_once"
    if one is None or not one.attempt.sent or _uncertain(message, one):
        return "not_certain"
    unplaced = first.redelivered is Redelivered.NOT_TOLD and first.offset < 0
    return "not_told" if unplaced or first.via is Via.RETRY_TOPIC else ""


def _uncertain(message: Message, one: Try) -> bool:
    """Whether another copy of it may stand elsewhere, or this one may not stand at all."""
    denied = any(said.outcome in DENIALS for said in one.settlements)
    return one.confirmed_ns is None and (len(message.attempts) > 1 or denied)


def _judged(arrivals: Sequence[_Arrival]) -> Iterator[Case]:
    """The arrivals of one line, in delivery order."""
    came = {True: _Came(), False: _Came()}  # by flag
    for arrival in arrivals:
        alike, other = came[arrival.flagged], came[not arrival.flagged]
        measure = "in_order"
        if alike.overtook(arrival):
            measure = "reordered"
        elif other.overtook(arrival):
            measure = "reorder_unknown"
        at_ns = arrival.first.received_ns
        span = Span(arrival.one.attempt.sent_ns, at_ns)
        charged = None if measure == "in_order" else span
        yield of_message(arrival.message, measure, "", at_ns, charged)
        alike.add(arrival)


class _Came:
    """What of a line has come: the latest sent of all, and of each connection."""

    def __init__(self) -> None:
        self._sent_ns = -1
        self._latest: dict[int, tuple[int, int]] = {}  # by connection: (sent_ns, sequence)

    def add(self, arrival: _Arrival) -> None:
        attempt = arrival.one.attempt
        place = attempt.sent_ns, attempt.sequence
        self._sent_ns = max(self._sent_ns, attempt.sent_ns)
        self._latest[attempt.connection] = max(place, self._latest.get(attempt.connection, place))

    def overtook(self, arrival: _Arrival) -> bool:
        """Whether one came that this one is before."""
        attempt, confirmed_ns = arrival.one.attempt, arrival.one.confirmed_ns
        if confirmed_ns is not None and confirmed_ns < self._sent_ns:
            return True
        place = attempt.sent_ns, attempt.sequence
        return place < self._latest.get(attempt.connection, place)
