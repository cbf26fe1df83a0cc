"""The order of messages where it was promised: whether they arrived as they were sent.

1. First deliveries are judged, flagged or not. Their messages are neither delayed nor in a
   transaction, and it is certain which attempt's copy came: one that was confirmed, or a single
   one of unknown outcome. A message with impossible times has no place: it was confirmed before
   it was sent, or delivered before that by more than the clocks may be off. Nor has one that came
   in other queues only than the one that it was sent to; what came there is left out.
2. They are compared within one producer, key and queue, across consumers and the drain, because
   one consumer at a time is active. A message is before another if it was confirmed before the
   other was sent, or was sent earlier on the same connection. First attempts of one instant were
   sent by sequence; when a retry of that instant was sent is unknown.
3. A message is reordered if it came after a message that it is before, to the same consumer; or if
   that message had come before anything came by its connection. If two consumers read in parallel,
   or two connections of one, it is unknown which got its message first.
4. If one of the two is flagged and the other is not, the order is unknown: the flagged one may
   have been delivered to a connection that no client read. Of two flagged ones of a queue, not of
   a log, it is unknown, too, if the queue may redeliver in another order (`requeues_behind`). A
   loss leaves a gap, and a gap is no reorder.
5. A consumer that keeps its place in a log may go ahead and back. Then what came by two
   connections shows a reorder only if the log itself has the two messages in the wrong order.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Redelivered
from tests.oracle.cases import Case, Span, of_message
from tests.oracle.events import Delivery
from tests.oracle.messages import DENIALS, Message, Try
from tests.oracle.misrouted import is_astray

Line = tuple[int, int, str]  # producer, key, queue


@dataclass(frozen=True, slots=True)
class _Arrival:
    message: Message
    first: Delivery
    one: Try  # the attempt that came

    @property
    def flagged(self) -> bool:
        return self.first.redelivered is Redelivered.YES


def cases(facts: Facts, messages: Iterable[Message]) -> Iterator[Case]:
    ordered = {end.queue for end in facts.queues if end.ordered}
    bounds = {clock.worker: clock.bound_ns for clock in facts.clocks}
    lines = defaultdict[Line, list[_Arrival]](list)
    for message in messages:
        if not message.delivered:
            continue
        own = (each for each in message.consumed if not is_astray(message, each))
        first = next(own, message.consumed[0])
        one = message.tries.get(first.attempt)
        doubt = _doubt(message, first, one, ordered, bounds)
        if doubt or one is None:
            yield of_message(message, "not_judged", doubt, first.received_ns)
        else:
            line = message.producer, message.key, message.queue
            lines[line].append(_Arrival(message, first, one))
    apart = frozenset(one.worker for one in facts.clocks)
    for arrivals in lines.values():
        ordered_arrivals = sorted(arrivals, key=lambda arrival: arrival.first.order)
        yield from _judged(ordered_arrivals, apart, facts)


def _doubt(
    message: Message,
    first: Delivery,
    one: Try | None,
    ordered: set[str],
    bounds: Mapping[int, int],
) -> str:
    """Return why the place of this message is not certain; "" if it is."""
    if message.queue not in ordered:
        return "not_promised"
    if not message.at_once:
        return "not_at_once"
    if one is None or not one.attempt.sent or _uncertain(message, one):
        return "not_certain"
    if _is_impossible(first, one, bounds) or is_astray(message, first):
        return "not_certain"
    unplaced = first.redelivered is Redelivered.NOT_REPORTED and first.offset < 0
    return "not_reported" if unplaced or first.via.again else ""


def _uncertain(message: Message, one: Try) -> bool:
    """Return whether another copy of it may stand elsewhere, or this one may not stand at all."""
    denied = any(said.outcome in DENIALS for said in one.settlements)
    return one.confirmed_ns is None and (len(message.attempts) > 1 or denied)


def _is_impossible(first: Delivery, one: Try, bounds: Mapping[int, int]) -> bool:
    """Return whether an effect of the attempt came before its sending: its times prove nothing."""
    sent_ns = one.attempt.sent_ns
    bound_ns = bounds.get(one.attempt.producer, 0) + bounds.get(first.consumer, 0)
    confirmed = one.confirmed_ns is not None and one.confirmed_ns < sent_ns
    return confirmed or first.received_ns + bound_ns < sent_ns


def _judged(arrivals: Sequence[_Arrival], apart: frozenset[int], facts: Facts) -> Iterator[Case]:
    """The arrivals of one line, in delivery order. `apart`: consumers with an own clock."""
    own = defaultdict[tuple[int, int | None, bool], _Came](_Came)  # by reader and flag
    latest = {True: -1, False: -1}  # by flag: when the latest was sent, on the run's own clock
    before = dict[tuple[int, int], dict[bool, int]]()  # the same, when that connection began
    every, in_turn = _Came(), _in_turn(arrivals)
    wrong_in_log = set[Delivery]() if facts.brokers_keep_progress else _wrong_in_log(arrivals)
    for arrival in arrivals:
        first, flagged = arrival.first, arrival.flagged
        began = before.setdefault((first.consumer, first.connection), dict(latest))
        goes_back = first.offset >= 0 and not facts.brokers_keep_progress
        on_clock = first.consumer not in apart and not goes_back
        confirmed_ns = arrival.one.confirmed_ns
        overtaken = on_clock and confirmed_ns is not None and confirmed_ns < began[flagged]
        split = goes_back or first.consumer in in_turn
        reader = first.consumer, first.connection if split else None, flagged
        measure = "in_order"
        sure = own[reader].overtook(arrival) or overtaken
        if sure and not (flagged and first.offset < 0 and facts.requeues_behind):
            measure = "reordered"
        elif sure or every.overtook(arrival):
            measure = "reordered" if first in wrong_in_log else "reorder_unknown"
        at_ns = arrival.first.received_ns
        span = Span.between(arrival.one.attempt.sent_ns, at_ns)
        attributed = None if measure == "in_order" else span
        yield of_message(arrival.message, measure, "", at_ns, attributed)
        own[reader].add(arrival)
        every.add(arrival)
        if on_clock:
            latest[flagged] = max(latest[flagged], arrival.one.attempt.sent_ns)


def _in_turn(arrivals: Sequence[_Arrival]) -> set[int]:
    """Return the consumers of whose connections one received between two deliveries of another."""
    seen, latest, found = set[tuple[int, int]](), dict[int, int](), set[int]()
    for arrival in arrivals:
        consumer, connection = arrival.first.consumer, arrival.first.connection
        if latest.get(consumer, connection) != connection and (consumer, connection) in seen:
            found.add(consumer)
        seen.add((consumer, connection))
        latest[consumer] = connection
    return found


def _wrong_in_log(arrivals: Sequence[_Arrival]) -> set[Delivery]:
    """Return the deliveries of messages that lie in the log behind one that they are before."""
    came, found = defaultdict[str, _Came](_Came), set[Delivery]()
    placed = (one for one in arrivals if one.first.place and one.first.offset >= 0)
    for arrival in sorted(placed, key=lambda one: (one.first.offset, one.first.order)):
        if came[arrival.first.place].overtook(arrival):
            found.add(arrival.first)
        came[arrival.first.place].add(arrival)
    return found


class _Came:
    """The messages of a line that have come: the latest sent of all, and of each connection."""

    def __init__(self) -> None:
        self._sent_ns = -1
        self._latest: dict[int, tuple[int, float]] = {}  # by connection: (sent_ns, sequence)

    def add(self, arrival: _Arrival) -> None:
        attempt = arrival.one.attempt
        place = attempt.sent_ns, attempt.sequence if attempt.number == 1 else -1
        self._sent_ns = max(self._sent_ns, attempt.sent_ns)
        self._latest[attempt.connection] = max(place, self._latest.get(attempt.connection, place))

    def overtook(self, arrival: _Arrival) -> bool:
        """Return whether a message came that this one is before."""
        attempt, confirmed_ns = arrival.one.attempt, arrival.one.confirmed_ns
        if confirmed_ns is not None and confirmed_ns < self._sent_ns:
            return True
        place = attempt.sent_ns, attempt.sequence if attempt.number == 1 else inf
        return place < self._latest.get(attempt.connection, place)
