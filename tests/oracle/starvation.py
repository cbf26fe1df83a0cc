"""Starvation: the times in which a queue's consumers got nothing though messages were ready.

1. It counts before any fault, and once each fault was gone and clients had had time to reconnect:
   then neither the fault nor its aftermath keeps consumers waiting. If it is unknown when a fault
   was gone, both the earliest and the latest of these times are judged.
2. Any delivery of the queue ends a silence, to any receiver, new or not. A log lies in several
   places, and each of them is judged by itself, too.
3. A delivery ends a silence, and not the wait of each message. withheld.py judges how long one was
   withheld; in a log, at each of its places.
4. A message that was never delivered is a loss, and counts as one. A message that only the drain
   received waited to the end. If a message is new to us and yet flagged, its broker had delivered
   it before, at an unknown time.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import STRETCH_NS, Starvation
from spark_analysis.schema.words import Fate, Redelivered
from tests.oracle import withheld as rules
from tests.oracle.channels import Channels
from tests.oracle.events import Delivery
from tests.oracle.forces import Force
from tests.oracle.messages import Message
from tests.oracle.withheld import ConsumerCapacity, Wait

Where = tuple[str, str]  # a queue and a place of it; "": all of it
AT_ONCE = (Fate.NONE, Fate.COMMIT)  # given out as soon as they are confirmed


@dataclass(frozen=True, slots=True)
class _Span:
    """A time in which nothing may keep consumers waiting."""

    window: int
    from_ns: int
    until_ns: int


def rows(
    facts: Facts, messages: Sequence[Message], forces: Sequence[Force], channels: Channels
) -> tuple[Starvation, ...]:
    if not facts.confirms or not any(worker.role == "consumer" for worker in facts.workers):
        return ()
    waits, given_ns = _waits(messages), _given(messages)
    withheld = _Withheld(facts, messages, channels)
    found: list[Starvation] = []
    for spans in _spans(facts, forces):
        for where, own in sorted(waits.items()):
            rows = [_row(facts, each, where, own, given_ns[where], withheld) for each in spans]
            found += rows if any(row.due for row in rows) else []
    return tuple(found)


def _waits(messages: Iterable[Message]) -> Mapping[Where, list[Wait]]:
    found = defaultdict[Where, list[Wait]](list)
    for message in messages:
        wait = _wait(message)
        if wait is not None:
            for where in _places(message, message.consumed[0]):
                found[where].append(wait)
    return found


def _given(messages: Iterable[Message]) -> Mapping[Where, list[int]]:
    """Return when something came from there while consumers worked."""
    found = defaultdict[Where, list[int]](list)
    for message in messages:
        for delivery in message.consumed:
            if delivery.while_consuming:
                for where in _places(message, delivery):
                    found[where].append(delivery.received_ns)
    return defaultdict(list, {where: sorted(times) for where, times in found.items()})


def _places(message: Message, delivery: Delivery) -> Iterator[Where]:
    """The queue as a whole, and of a log the place that the delivery was read from."""
    yield message.queue, ""
    if delivery.offset >= 0 and delivery.place:
        yield message.queue, delivery.place


def _spans(facts: Facts, forces: Sequence[Force]) -> Iterator[list[_Span]]:
    """Yield the steady state, and the time after each fault: two if it is unknown when that was
    gone."""
    steady_until_ns = min([force.origin_ns for force in forces] + [facts.load_ended_ns])
    every = [[_Span(0, facts.load_started_ns, steady_until_ns)]]
    back_ns = facts.deadline_ns + facts.reconnect_ns
    for force in forces:
        times = (_Span(force.number, one.over_ns + back_ns, one.next_ns) for one in force.overlaps)
        every.append([*dict.fromkeys(times)])
    return (spans for spans in every if any(each.from_ns < each.until_ns for each in spans))


def _row(
    facts: Facts,
    span: _Span,
    where: Where,
    waits: Sequence[Wait],
    given_ns: Sequence[int],
    withheld: "_Withheld",
) -> Starvation:
    latest_ns = span.until_ns - min(facts.deadline_ns, STRETCH_NS)
    due = sum(span.from_ns <= wait.ready_ns <= latest_ns for wait in waits)
    silent, kept = _longest(span, waits, given_ns), withheld.longest(span, where)
    longest = kept if kept[0] > silent[0] else silent
    times = span.from_ns, span.until_ns
    at_end_ns = _silent_at_end_ns(span, waits, given_ns)
    return Starvation(facts.run, span.window, *where, *times, due, *longest, at_end_ns)


def _silent_at_end_ns(span: _Span, waits: Sequence[Wait], given_ns: Sequence[int]) -> int:
    """Return for how long something had waited in vain when the span ended."""
    last_ns = max((at_ns for at_ns in given_ns if at_ns < span.until_ns), default=span.from_ns)
    waiting = (wait.ready_ns for wait in waits if wait.until_ns >= span.until_ns)
    since_ns = max(last_ns, span.from_ns, min(waiting, default=span.until_ns))
    return max(0, span.until_ns - since_ns)


def _wait(message: Message) -> Wait | None:
    """Return its wait; None if no consumer was to receive it at once, if none ever did, or if
    nothing is known of the one that did."""
    confirmed_ns = message.confirmed_ns
    if confirmed_ns is None or not message.delivered or message.fate not in AT_ONCE:
        return None
    first = message.consumed[0]
    if first.redelivered is Redelivered.YES:
        return None
    due_ns = [terms.due_ns for terms in message.terms if terms.delayed]
    until_ns = inf if first.by_drain else first.received_ns
    return Wait(max([confirmed_ns, *due_ns]), until_ns, first.consumer)


class _Withheld:
    """The messages that waited in each queue, or place of a log, and its deliveries."""

    def __init__(self, facts: Facts, messages: Sequence[Message], channels: Channels) -> None:
        self._waits = defaultdict[Where, list[Wait]](list)
        self._came_ns = defaultdict[Where, list[int]](list)
        self._capacity = ConsumerCapacity(facts, messages, channels)
        for message in messages:
            if not message.consumed:
                continue
            first, wait = message.consumed[0], _wait(message)
            where = [*_places(message, first)][-1]
            if wait is not None:
                self._waits[where].append(wait)
            if first.while_consuming:
                self._came_ns[where].append(first.received_ns)
        for times in self._came_ns.values():
            times.sort()

    def longest(self, span: _Span, where: Where) -> tuple[int, int]:
        time = span.from_ns, span.until_ns
        waits, came_ns = self._waits[where], self._came_ns[where]
        return rules.longest(where[0], time, waits, came_ns, self._capacity)


def _longest(span: _Span, waits: Sequence[Wait], given_ns: Sequence[int]) -> tuple[int, int]:
    """The longest silence while something waited, and since when; of equals the earliest."""
    first, end = bisect_right(given_ns, span.from_ns), bisect_left(given_ns, span.until_ns)
    cuts = [span.from_ns, *given_ns[first:end], span.until_ns]
    to_come = sorted(waits, key=lambda wait: wait.until_ns)
    ready_ns: int | float = inf  # the earliest of those that came at the piece's end or later
    longest_ns, since_ns = 0, span.from_ns
    for begins_ns, ends_ns in reversed([*pairwise(cuts)]):
        while to_come and to_come[-1].until_ns >= ends_ns:
            ready_ns = min(ready_ns, to_come.pop().ready_ns)
        if ready_ns < ends_ns:
            silent_ns = max(begins_ns, int(ready_ns))
            if ends_ns - silent_ns >= max(1, longest_ns):
                longest_ns, since_ns = ends_ns - silent_ns, silent_ns
    return longest_ns, since_ns
