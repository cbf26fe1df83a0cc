"""The times in which queues delivered nothing though messages were ready, in steady state and
after recovery.

1. Of the messages that come at a time or later, the one that is ready first counts: a running
   minimum from the last to come.
2. A queue as a whole and each place of a log are groups alike, for waiting messages and for
   deliveries.
3. The rules are STARVATION of schema/service.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    NEVER,
    Ints,
    ascending_places,
    distinct_places,
    find,
    in_order,
    split,
)
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.windows import Overlaps
from spark_analysis.engine.kernel.records import Reader
from spark_analysis.engine.kernel.times.consumption import Given
from spark_analysis.engine.kernel.times.withheld import ConsumerCapacity, Waits, longest
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import STRETCH_NS, Starvation
from spark_analysis.schema.words import Fate, Redelivered

WHOLE = 0  # among the numbers of places


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The messages of one group that waited for their first delivery, in the order of these
    deliveries."""

    ready_ns: Ints
    until_ns: Ints
    first_ready_ns: NDArray[np.int64]  # of this one and all that came after it

    def ready_at(self, times_ns: Ints) -> Ints:
        """Return for each of these ascending times when the first message was ready that came then
        or later."""
        place = ascending_places(self.until_ns, times_ns)
        return np.append(self.first_ready_ns, NEVER)[place]


def starvation(
    messages: Messages,
    arrived: Arrivals,
    given: Given,
    overlaps: Sequence[Overlaps],
    facts: Facts,
    reader: Reader,
) -> Iterator[Starvation]:
    """One row a span, queue and place."""
    if not facts.confirms or all(worker.role != "consumer" for worker in facts.workers):
        return
    # In delivery order: so what waited is nearly in the order in which it came.
    slots = arrived.slot[arrived.firsts]
    held = arrived.rows.redelivered[arrived.firsts] != Redelivered.YES
    held &= messages.confirmed_ns[slots] < NEVER
    held &= np.isin(messages.terms.fates[slots], (Fate.NONE, Fate.COMMIT))
    capacity = ConsumerCapacity(arrived, given, facts, reader)
    slots = slots[held]
    queues, places = messages.queue.words, ("", *arrived.rows.broker.words)
    spans, soon_ns = [*_spans(overlaps, facts)], min(facts.deadline_ns, STRETCH_NS)
    for number, waits, came in _groups(messages, arrived, given, slots, len(places)):
        queue, place = divmod(number, len(places))
        waiting, given_ns = _waiting(messages, arrived, slots[waits]), given.received_ns[came]
        kept = _kept(messages, arrived, given, slots[waits], came, waiting, place)
        for window, times in spans:
            due = [_due(waiting, from_ns, until_ns - soon_ns) for from_ns, until_ns in times]
            if not any(due):
                continue
            for (from_ns, until_ns), number_due in zip(times, due, strict=True):
                row = (queues[queue], places[place], from_ns, until_ns, number_due)
                silent, at_end_ns = _longest(waiting, given_ns, from_ns, until_ns)
                withheld = kept and longest(queue, kept, from_ns, until_ns, capacity)
                worst = withheld if withheld and withheld[0] > silent[0] else silent
                yield Starvation(facts.run, window, *row, *worst, at_end_ns)


def _due(waiting: _Waiting, from_ns: int, until_ns: int) -> int:
    ready_ns = waiting.ready_ns
    return int(np.count_nonzero((ready_ns >= from_ns) & (ready_ns <= until_ns)))


def _groups(
    messages: Messages, arrived: Arrivals, given: Given, slots: Ints, size: int
) -> Iterator[tuple[int, Ints, Ints]]:
    """(queue * size + place, which of the slots, which of what was given): whole queues, and the
    places of logs."""
    queue = messages.queue.numbers[slots]
    for number, waits, came in _parted(queue, given.queue):
        yield number * size + WHOLE, waits, came
    if not any(arrived.rows.broker.words):
        return
    read, of_read = _read_at(arrived, arrived.first[slots]), _read_at(arrived, given.row)
    some, of_some = np.flatnonzero(read > WHOLE), np.flatnonzero(of_read > WHOLE)
    group = queue[some].astype(np.int64) * size + read[some]
    of_group = given.queue[of_some].astype(np.int64) * size + of_read[of_some]
    for number, waits, came in _parted(group, of_group):
        yield number, some[waits], of_some[came]


def _parted(group: Ints, of_group: Ints) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield for each number in `group` its places there, and in `of_group`."""
    numbers, place = distinct_places(group)
    # The place behind the last is that of what came from where nothing waited.
    of_place = find(numbers, of_group) % (len(numbers) + 1)
    waits, came = split(place, len(numbers)), split(of_place, len(numbers) + 1)
    for at, number in enumerate(numbers.tolist()):
        yield number, waits[at], came[at]


def _read_at(arrived: Arrivals, rows: Ints) -> NDArray[np.int64]:
    """The number of the place that each was read from, WHOLE where it has none."""
    broker = arrived.rows.broker[rows]
    placed = (arrived.rows.offset[rows] >= 0) & ~broker.among("")
    return np.where(placed, broker.numbers.astype(np.int64) + 1, WHOLE)


def _spans(
    overlaps: Sequence[Overlaps], facts: Facts
) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield each window with its spans (from, until): the steady state, and the time after each
    fault from when it and clients were back; two if it is unknown when it was gone."""
    origins_ns = [window.origin_ns for window in facts.windows]
    steady = facts.load_started_ns, min([*origins_ns, facts.load_ended_ns])
    after_ns = facts.deadline_ns + facts.reconnect_ns
    spans = [(0, [steady])]
    for number in overlaps[0]:
        found = (each[number] for each in overlaps)
        times = dict.fromkeys((one.over_ns + after_ns, one.next_ns) for one in found)
        spans.append((number, [*times]))
    return (one for one in spans if any(from_ns < until_ns for from_ns, until_ns in one[1]))


def _kept(
    messages: Messages,
    arrived: Arrivals,
    given: Given,
    slots: Ints,
    came: Ints,
    waiting: _Waiting,
    place: int,
) -> Waits | None:
    """Return the messages of a group that may have been withheld; None if none waited long enough.
    Of a log only its places count."""
    if not (waiting.until_ns - waiting.ready_ns > STRETCH_NS).any():
        return None
    rows = given.row[came]
    first = arrived.first[given.slot[came]] == rows
    if place == WHOLE:
        slots = slots[_read_at(arrived, arrived.first[slots]) == WHOLE]
        first &= _read_at(arrived, rows) == WHOLE
    ready_ns, until_ns = _ready_until(messages, arrived, slots)
    consumer = arrived.rows.consumer[arrived.first[slots]]
    return Waits(ready_ns, until_ns, consumer, given.received_ns[came][first])


def _waiting(messages: Messages, arrived: Arrivals, slots: Ints) -> _Waiting:
    ready_ns, until_ns = _ready_until(messages, arrived, slots)
    order = in_order(until_ns)
    ready_ns, until_ns = ready_ns[order], until_ns[order]
    return _Waiting(ready_ns, until_ns, np.minimum.accumulate(ready_ns[::-1])[::-1])


def _ready_until(messages: Messages, arrived: Arrivals, slots: Ints) -> tuple[Ints, Ints]:
    ready_ns = messages.confirmed_ns[slots]
    if messages.terms.delayed.any():
        ready_ns = np.maximum(ready_ns, messages.terms.latest_due_ns(slots))
    first = arrived.first[slots]
    drained = arrived.came_by(arrived.ways.drain, first)
    return ready_ns, np.where(drained, NEVER, arrived.received_ns(first))


def _longest(
    waiting: _Waiting, given_ns: Ints, from_ns: int, until_ns: int
) -> tuple[tuple[int, int], int]:
    """The longest piece of silence, and since when; and how long the one at the end was."""
    first, end = np.searchsorted(given_ns, from_ns, "right"), np.searchsorted(given_ns, until_ns)
    cuts = np.concatenate([[from_ns], given_ns[first:end], [until_ns]])
    since_ns = np.maximum(cuts[:-1], waiting.ready_at(cuts[1:]))
    silent_ns = cuts[1:] - since_ns
    longest = int(silent_ns.argmax())
    if silent_ns[longest] <= 0:
        return (0, from_ns), 0
    return (int(silent_ns[longest]), int(since_ns[longest])), max(0, int(silent_ns[-1]))
