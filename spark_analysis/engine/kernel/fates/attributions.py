"""The fault windows that may have caused each case.

1. A case is attributed to the windows whose influence reaches into the time in which it was
   caused. Cases of the same windows share one row.
2. A message should have come by the time at which another message of its queue came that was
   confirmed no earlier; of a log, at every place of it. A delayed one waits until its due time.
3. Where clocks have bounds, every window counts that may reach into that time, and `NO_FAULT`
   does, too, unless one reaches into it for certain. So it does beside an operation, and if the
   windows that reach into it were over when the confirm came, but not when the message was sent;
   and if they had ended by then, and it is unknown when they were over.
4. What is gone no fault of clients took: beside one of the cluster theirs do not count.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, group_numbers, split
from spark_analysis.engine.kernel.cases import Cases
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.windows import in_order, listed
from spark_analysis.engine.kernel.records import Deliveries, Text
from spark_analysis.schema import measures
from spark_analysis.schema.facts import Facts, LeadershipChange, Unsettled, Window
from spark_analysis.schema.messages import NO_FAULT, Attribution
from spark_analysis.schema.service import CONSUMER, PUBLISHER
from spark_analysis.schema.words import NO_DUE


def attributions(
    messages: Messages, arrived: Arrivals, found: Iterable[Cases], facts: Facts
) -> Iterator[Attribution]:
    """One row a measure, detail and set of windows. `facts`: as they were settled."""
    attributed = [cases for cases in found if cases.since_ns is not None and len(cases.at_ns)]
    should, bound_ns = None, facts.clock_bound_ns(PUBLISHER, CONSUMER)
    for cases in attributed:
        since_ns, by_ns = cases.since_ns, cases.by_ns
        assert since_ns is not None, cases
        first_ns, latest_ns = since_ns, by_ns
        if by_ns is None:
            should = should or Should(messages, arrived, facts.deadline_ns)
            waited_ns, queue = _waited_ns(messages, cases, facts), cases.census.queue
            by_ns = np.maximum(should.have_come_ns(queue, since_ns - 2 * bound_ns), waited_ns)
            latest_ns = np.maximum(should.have_come_ns(queue, since_ns + 2 * bound_ns), waited_ns)
            first_ns = np.minimum(since_ns, _sent_ns(messages, should.confirmed_sent_ns, cases))
        assert latest_ns is not None, cases
        may_ns = first_ns - bound_ns, np.minimum(latest_ns, NEVER - bound_ns) + bound_ns
        may = _reaching(in_order(facts), *may_ns)
        known = [_of_known_end(window) for window in in_order(facts)]
        must = _reaching(known, since_ns + bound_ns, by_ns - bound_ns)
        _beside(_reaching(facts.operated, *may_ns), must)
        if measures.BY_NAME[cases.census.measure].of_brokers:
            _leave_out_clients(may, must, facts)
        yield from _rows(cases, may, must, facts)


def _sent_ns(messages: Messages, of_messages: Ints, cases: Cases) -> Ints:
    """Return when each attempt was sent, or the first confirmed attempt of each message; NEVER if
    it has none. `of_messages`: the latter by slot."""
    slots = messages.slots.find(cases.producer, cases.sequence)
    rows = messages.rows.find(slots, cases.attempt)
    return np.where(cases.attempt > 0, messages.attempts.sent_ns[rows], of_messages[slots])


def _waited_ns(messages: Messages, cases: Cases, facts: Facts) -> Ints:
    """Return the latest due time of each delayed message, and a deadline; 0 if it is not
    delayed."""
    if not messages.terms.delayed.any():
        return np.zeros(len(cases.at_ns), np.int64)
    due_ns = messages.terms.latest_due_ns(messages.slots.find(cases.producer, cases.sequence))
    return np.where(due_ns == NO_DUE, 0, due_ns + facts.deadline_ns)


def _reaching(windows: Iterable[Unsettled], since_ns: Ints, by_ns: Ints) -> list[Bools]:
    """Return for each window which of these times it reaches into."""
    return [
        (window.origin_ns <= by_ns)
        & (since_ns <= (NEVER if window.over_ns is None else window.over_ns))
        for window in windows
    ]


def _of_known_end(window: Window) -> LeadershipChange:
    """Return the time in which a window caused things for certain: until it was over, or if that
    is unknown, until it had ended."""
    until_ns = window.ended_ns if window.over_ns is None else window.over_ns
    return LeadershipChange(window.origin_ns, until_ns)


def _leave_out_clients(may: list[Bools], must: list[Bools], facts: Facts) -> None:
    """Take the windows that spare brokers off the cases that another may have caused."""
    spares = [window.spares_brokers for window in in_order(facts)]
    others = [each for each, spared in zip(may, spares, strict=True) if not spared]
    if not others or not any(spares):
        return
    caused = np.logical_or.reduce(others)
    for number, spared in enumerate(spares):
        if spared:
            may[number] = may[number] & ~caused
            must[number] = must[number] & ~caused


def _beside(operated: list[Bools], must: list[Bools]) -> None:
    """Take away the certainty that a fault caused what an operation may have caused."""
    for one in operated:
        for number, each in enumerate(must):
            must[number] = each & ~one


def _rows(
    cases: Cases, may: list[Bools], must: list[Bools], facts: Facts
) -> Iterator[Attribution]:
    windows, none = in_order(facts), np.zeros(len(cases.at_ns), np.bool_)
    unsure = np.logical_or.reduce([none, *may]) & ~np.logical_or.reduce([none, *must])
    details = cases.census.detail
    same = group_numbers(details.numbers, *(each.astype(np.int8) for each in (unsure, *may)))
    _, firsts, counts = np.unique(same, return_index=True, return_counts=True)
    for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
        reaching = tuple(w for w, each in zip(windows, may, strict=True) if each[first])
        yield Attribution(
            facts.run,
            cases.census.measure,
            details.words[details.numbers[first]],
            f"{NO_FAULT},{listed(reaching)}" if unsure[first] else listed(reaching),
            count,
        )


class Should:
    """The times by which messages of a queue should have come, by when they were confirmed."""

    def __init__(self, messages: Messages, arrived: Arrivals, deadline_ns: int) -> None:
        self.confirmed_sent_ns = messages.confirmed_sent_ns
        # A retry topic is no place of the log: it shows nothing of what the log still has.
        rows = arrived.firsts[arrived.came_by(arrived.ways.direct_load, arrived.firsts)]
        slots = arrived.slot[rows]
        confirmed = messages.confirmed_ns[slots] < NEVER
        rows, slots = rows[confirmed], slots[confirmed]
        self._queue = messages.queue.numbers[slots]
        self._place = _places(arrived.rows, rows)
        self._confirmed_ns = messages.confirmed_ns[slots]
        self._come_ns = arrived.received_ns(rows) + deadline_ns

    def have_come_ns(self, queue: Text, since_ns: Ints) -> Ints:
        """NEVER where no message tells. Queues are numbered as those of messages."""
        by_ns = np.full(len(since_ns), NEVER, np.int64)
        for cases in split(queue.numbers, len(queue.words)):
            if len(cases):
                of_queue = np.flatnonzero(self._queue == queue.numbers[cases[0]])
                places = np.unique(self._place[of_queue])
                rows = [of_queue[self._place[of_queue] == place] for place in places]
                times_ns = [self._first_ns(own, since_ns[cases]) for own in rows]
                if times_ns:
                    by_ns[cases] = np.maximum.reduce(times_ns)
        return by_ns

    def _first_ns(self, rows: Ints, since_ns: Ints) -> Ints:
        """Return by when the first of these rows had come that was confirmed no earlier."""
        # In delivery order, so the first that was confirmed so late came first of them.
        latest_ns = np.maximum.accumulate(self._confirmed_ns[rows])
        place = np.searchsorted(latest_ns, since_ns)
        return np.append(self._come_ns[rows], NEVER)[place]


def _places(deliveries: Deliveries, rows: Ints) -> Ints:
    """Return a number for the place of each row; the same for all that have none."""
    numbers = deliveries.broker.numbers[rows]
    none = (deliveries.offset[rows] < 0) | deliveries.broker[rows].among("")
    return np.where(none, -1, numbers)
