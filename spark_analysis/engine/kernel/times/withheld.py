"""The longest time that messages were withheld though their consumers had capacity.

1. Only messages that waited for more than a stretch count. The kernel reads acknowledgements only
   if there are such: there are none if a queue delivers what it has.
2. A consumer's capacity is a sum over time: how long it had been full, up to each instant. One of
   several queues is full of each queue, too: each may have a prefetch count of its own.
3. The rules are STARVATION of schema/service.py.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints
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


@dataclass(frozen=True)
class ConsumerCapacity:
    """The times when the consumers of a run were full, computed on demand."""

    arrived: Arrivals
    given: Given
    facts: Facts
    reader: Reader

    def had(self, queue: int, consumer: Ints, from_ns: Ints, until_ns: Ints) -> Bools:
        """Return for each time whether that consumer had capacity for half of it; -1: any of the
        queue's."""
        found = np.zeros(len(consumer), np.bool_)
        if self.facts.polls:
            return found
        of_queue = np.unique(self.given.consumer[self.given.queue == queue]).tolist()
        for number in {*of_queue, *np.unique(consumer[consumer >= 0]).tolist()}:
            matching = consumer == number
            if number in of_queue:
                matching |= consumer < 0
            places = np.flatnonzero(matching & ~found)
            full_ns = np.maximum(
                self._full_ns((number, ALL), from_ns[places], until_ns[places]),
                self._full_ns((number, queue), from_ns[places], until_ns[places]),
            )
            found[places] = full_ns * 2 <= until_ns[places] - from_ns[places]
        return found

    def _full_ns(self, of: tuple[int, int], from_ns: Ints, until_ns: Ints) -> Ints:
        full = self._full.get(of)
        if full is None:
            return np.zeros(len(from_ns), np.int64)
        sum_ns: Ints = full.until(until_ns) - full.until(from_ns)
        return sum_ns

    @cached_property
    def _full(self) -> dict[tuple[int, int], _Full]:
        """By consumer and queue, or ALL."""
        if not self.facts.acknowledges:
            return {}
        rows = self.arrived.rows.pick(self.given.row)
        end_ns = np.minimum(
            written_ns(rows, self.reader.read(Acknowledgements)),
            ended_ns(rows, self.reader.read(ClientEvents)),
        )
        end_ns = np.maximum(end_ns, rows.received_ns)
        found: dict[tuple[int, int], _Full] = {}
        for consumer in np.unique(rows.consumer).tolist():
            own = np.flatnonzero(rows.consumer == consumer)
            received_ns, ends_ns = rows.received_ns[own], end_ns[own]
            queues = self.given.queue[own]
            found[consumer, ALL] = _full(received_ns, ends_ns)
            for queue in np.unique(queues).tolist():
                of_queue = queues == queue
                found[consumer, queue] = _full(received_ns[of_queue], ends_ns[of_queue])
        return found


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
