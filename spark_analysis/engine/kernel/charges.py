"""Which fault windows may have caused what was found.

1. A case is charged to the windows whose influence reaches into the time in which it was caused;
   cases that are charged to the same windows are one row.
2. When a message should have come is asked of the others of its queue: those that were confirmed
   no earlier, and came.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Ints, group_numbers, running_max
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.cases import Cases
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.records import Text
from spark_analysis.engine.kernel.windows import in_order, listed
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Charge
from spark_analysis.schema.words import Via


def charges(
    messages: Messages, arrived: Arrivals, found: Iterable[Cases], facts: Facts
) -> Iterator[Charge]:
    """One row a measure, detail and set of windows. `facts`: as they were settled."""
    charged = [cases for cases in found if cases.since_ns is not None and len(cases.at_ns)]
    should = None
    for cases in charged:
        since_ns, by_ns = cases.since_ns, cases.by_ns
        assert since_ns is not None, cases
        if by_ns is None:
            should = should or Should(messages, arrived, facts.deadline_ns)
            by_ns = should.have_come_ns(cases.census.queue, since_ns)
        yield from _rows(cases, since_ns, by_ns, facts)


def _rows(cases: Cases, since_ns: Ints, by_ns: Ints, facts: Facts) -> Iterator[Charge]:
    windows = in_order(facts)
    may = [
        (window.origin_ns <= by_ns)
        & (since_ns <= (NEVER if window.over_ns is None else window.over_ns))
        for window in windows
    ]
    details = cases.census.detail
    same = group_numbers(details.numbers, *(each.astype(np.int8) for each in may))
    _, firsts, counts = np.unique(same, return_index=True, return_counts=True)
    for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
        yield Charge(
            facts.run,
            cases.census.measure,
            details.words[details.numbers[first]],
            listed(tuple(w for w, each in zip(windows, may, strict=True) if each[first])),
            count,
        )


class Should:
    """When messages of a queue should have come that were confirmed at some time."""

    def __init__(self, messages: Messages, arrived: Arrivals, deadline_ns: int) -> None:
        slots = np.flatnonzero(arrived.delivered & (messages.confirmed_ns < NEVER))
        slots = slots[arrived.rows.via[arrived.first[slots]] != Via.DRAIN]
        queue, times_ns = messages.queue.numbers[slots], messages.confirmed_ns[slots]
        self._times_ns, rank = np.unique(times_ns, return_inverse=True)
        key = self._key(queue, rank)
        # From the last to the first, so that what was confirmed later stands above.
        order = np.argsort(key)[::-1]
        self._keys = key[order][::-1]
        first = arrived.first[slots[order]]
        earliest = len(arrived.slot) - running_max(-queue[order], len(arrived.slot) - first)
        # Behind the last there is nobody.
        self._come_ns = np.append(arrived.received_ns(earliest[::-1]) + deadline_ns, NEVER)
        self._queue = np.append(queue[order][::-1], -1)

    def have_come_ns(self, queue: Text, since_ns: Ints) -> Ints:
        """NEVER where no message tells. Queues are numbered as those of messages."""
        rank = np.searchsorted(self._times_ns, since_ns)
        place = np.searchsorted(self._keys, self._key(queue.numbers, rank))
        told = self._queue[place] == queue.numbers
        return np.where(told, self._come_ns[place], NEVER)

    def _key(self, queue: Ints, rank: Ints) -> Ints:
        return queue.astype(np.int64) * (len(self._times_ns) + 1) + rank
