"""The longest time that messages were withheld though their consumers had capacity.

1. Only messages that waited for more than a stretch count. The kernel reads acknowledgements only
   if there are such: there are none if a queue delivers what it has.
2. A consumer's capacity is a sum over time: how long it had been full, up to each instant. One of
   several queues is full of each queue, too: each may have a prefetch count of its own.
3. The rules are STARVATION of schema/service.py.
4. Each consumer costs a few passes over its own deliveries, however many consumers there are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    NEVER,
    Bools,
    Ints,
    distinct_places,
    split,
)
from spark_analysis.engine.kernel.events.acknowledged import ended_ns, written_ns
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.records import Acknowledgements, ClientEvents, Reader
from spark_analysis.engine.kernel.times.consumption import Given
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import STRETCH_NS

ALL = -1  # the queues of a consumer


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits in one queue or place: NEVER until the drain; the consumer that received it
    first."""

    ready_ns: Ints
    until_ns: Ints
    consumer: Ints
    came_ns: Ints  # when consumers got something from there for the first time, ascending


@dataclass(frozen=True, slots=True)
class _Full:
    """One consumer (of one queue): how long it had been full at each step, and whether it was from
    then on."""

    at_ns: Ints
    before_ns: Ints
    full: Ints

    def until(self, times_ns: Ints) -> NDArray[np.int64]:
        place = np.searchsorted(self.at_ns, times_ns, side="right") - 1
        sum_ns = self.before_ns[place] + (times_ns - self.at_ns[place]) * self.full[place]
        return np.where(place < 0, 0, sum_ns)

    def holds_at(self, times_ns: Ints) -> Bools:
        """Return whether it was full from each of these times on."""
        place = np.searchsorted(self.at_ns, times_ns, side="right") - 1
        return (place >= 0) & (self.full[place] > 0)


@dataclass(frozen=True)
class ConsumerCapacity:
    """The times when the consumers of a run were full, computed on demand."""

    arrived: Arrivals
    given: Given
    facts: Facts
    reader: Reader

    def had(self, queue: int, consumer: Ints, from_ns: Ints, until_ns: Ints) -> Bools:
        """Return for each time whether that consumer had capacity for half of it; -1: any of the
        queue's, and all these times have one end."""
        found = np.zeros(len(consumer), np.bool_)
        if self.facts.polls:
            return found
        known, drained = np.flatnonzero(consumer >= 0), np.flatnonzero(consumer < 0)
        for number, own in _by_number(consumer[known]):
            places = known[own]
            full_ns = np.zeros(len(places), np.int64)
            for full in self._limits(number, queue):
                own_ns = full.until(until_ns[places]) - full.until(from_ns[places])
                full_ns = np.maximum(full_ns, own_ns)
            found[places] = full_ns * 2 <= until_ns[places] - from_ns[places]
        if len(drained):
            end_ns = int(until_ns[drained[0]])
            assert (until_ns[drained] == end_ns).all(), "what only the drain got waits to the end"
            found[drained] = self._any_had(queue, from_ns[drained], end_ns)
        return found

    def _any_had(self, queue: int, from_ns: Ints, end_ns: int) -> Bools:
        """Return whether any consumer of the queue had capacity for half of each time."""
        order = np.argsort(from_ns, kind="stable")
        ascending_ns = from_ns[order]
        steps = np.zeros(len(order) + 1, np.int64)
        for number in self._readers.get(queue, ()):
            limits = self._limits(number, queue)
            first_ns, after_ns = _with_capacity(limits, int(ascending_ns[0]), end_ns)
            some = first_ns < after_ns
            np.add.at(steps, np.searchsorted(ascending_ns, first_ns[some]), 1)
            np.subtract.at(steps, np.searchsorted(ascending_ns, after_ns[some]), 1)
        found = np.zeros(len(order), np.bool_)
        found[order] = np.cumsum(steps[:-1]) > 0
        return found

    def _limits(self, number: int, queue: int) -> list[_Full]:
        """Return when a consumer was full: of all its queues, and of this one if that differs."""
        found = [full for of in (ALL, queue) if (full := self._full.get((number, of)))]
        return found[:1] if len(found) == 2 and found[0] is found[1] else found

    @cached_property
    def _readers(self) -> dict[int, list[int]]:
        """Return the consumers of each queue."""
        return {
            queue: np.unique(self.given.consumer[own]).tolist()
            for queue, own in _by_number(self.given.queue)
        }

    @cached_property
    def _full(self) -> dict[tuple[int, int], _Full]:
        """By consumer and queue, or ALL."""
        if not self.facts.acknowledges:
            return {}
        rows, given = self.arrived.rows.pick(self.given.row), self.given
        end_ns = np.minimum(
            written_ns(rows, self.reader.read(Acknowledgements)),
            ended_ns(rows, self.reader.read(ClientEvents)),
        )
        received_ns = given.received_ns
        end_ns = np.maximum(end_ns, received_ns)
        found: dict[tuple[int, int], _Full] = {}
        for consumer, own in _by_number(given.consumer):
            every = found[consumer, ALL] = _full(received_ns[own], end_ns[own])
            for queue, part in _by_number(given.queue[own]):
                of = own[part]
                only = len(of) == len(own)
                found[consumer, queue] = every if only else _full(received_ns[of], end_ns[of])
        return found


def _by_number(numbers: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each number and its places, ascending."""
    if not len(numbers):
        return
    distinct, place = distinct_places(numbers)
    yield from zip(distinct.tolist(), split(place, len(distinct)), strict=True)


def _with_capacity(limits: Sequence[_Full], from_ns: int, end_ns: int) -> tuple[Ints, Ints]:
    """Return times [first, after) from `from_ns` on: a consumer had capacity for half of the time
    from any instant of these until `end_ns`."""
    cuts_ns = np.unique(np.concatenate([[from_ns], *(full.at_ns for full in limits)]))
    cuts_ns = cuts_ns[(cuts_ns >= from_ns) & (cuts_ns < end_ns)]
    first_ns, after_ns = cuts_ns, np.append(cuts_ns[1:], end_ns)
    for full in limits:
        left_ns = full.until(np.array([end_ns])) - full.until(cuts_ns)
        # While it is full, the full time until the end shrinks twice as fast as half of the rest.
        is_full = full.holds_at(cuts_ns)
        soonest_ns = np.maximum(first_ns, 2 * (left_ns + cuts_ns) - end_ns)
        latest_ns = np.minimum(after_ns, end_ns - 2 * left_ns + 1)
        first_ns = np.where(is_full, soonest_ns, first_ns)
        after_ns = np.where(is_full, after_ns, latest_ns)
    return first_ns, after_ns


def _full(received_ns: Ints, end_ns: Ints) -> _Full:
    end_ns = end_ns[end_ns < NEVER]
    at_ns = np.concatenate([received_ns, end_ns])
    step = np.repeat(np.array([1, -1]), [len(received_ns), len(end_ns)])
    order = np.lexsort((step, at_ns))
    at_ns, held = at_ns[order], np.cumsum(step[order])
    full = (held == held.max()).astype(np.int64)
    before_ns = np.zeros(len(at_ns), np.int64)
    np.cumsum((at_ns[1:] - at_ns[:-1]) * full[:-1], out=before_ns[1:])
    return _Full(at_ns, before_ns, full)


def longest(
    queue: int, waits: Waits, from_ns: int, until_ns: int, capacity: ConsumerCapacity
) -> tuple[int, int]:
    """The longest time for which a message was withheld, and since when."""
    start = np.maximum(waits.ready_ns, from_ns)
    end = np.minimum(waits.until_ns, until_ns)
    some = np.flatnonzero(end - start > STRETCH_NS)
    if not len(some):
        return 0, from_ns
    start, end, consumer = start[some], end[some], waits.consumer[some]
    order = np.argsort(waits.ready_ns, kind="stable")
    ready_ns, later_ns = waits.ready_ns[order], waits.until_ns[order]
    soonest_ns = np.append(np.minimum.accumulate(later_ns[::-1])[::-1], NEVER)
    given = np.searchsorted(waits.came_ns, end) - np.searchsorted(waits.came_ns, start, "right")
    ready = np.searchsorted(ready_ns, end) - np.searchsorted(ready_ns, start)
    passed_ns = soonest_ns[np.searchsorted(ready_ns, waits.ready_ns[some], side="right")]
    held = np.maximum(given, 0) * 2 < np.maximum(ready, 1)
    start = np.where(held, start, np.maximum(start, np.minimum(end, passed_ns)))
    long_ns = end - start
    known = np.flatnonzero(long_ns > STRETCH_NS)
    long_ns, start, end = long_ns[known], start[known], end[known]
    drained = waits.until_ns[some[known]] == NEVER
    whose = np.where(drained, -1, consumer[known])
    known = np.flatnonzero(capacity.had(queue, whose, start, end)) if len(known) else known
    if not len(known):
        return 0, from_ns
    best = known[np.lexsort((start[known], -long_ns[known]))[0]]
    return int(long_ns[best]), int(start[best])
