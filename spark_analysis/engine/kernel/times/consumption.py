"""Consumption of new messages after each fault, by queue and by consumer.

1. Deliveries are in delivery order, so those up to a time are the first so many of them.
2. Clients' clocks may be off by their bounds: some came for certain, and others may have come.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spark_analysis.engine.kernel.arrays import (
    NEVER,
    Bools,
    Ints,
    find,
    first_places,
    group_numbers,
    index,
    marked,
)
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.windows import Force, Judged, judged_times
from spark_analysis.schema.facts import Absence, Facts, Window
from spark_analysis.schema.service import (
    CONSUMER,
    FEW_OF,
    HALF_OF,
    PUBLISHER,
    QUEUE,
    STRETCH_NS,
    Consumption,
)


@dataclass(frozen=True, slots=True)
class Given:
    """The identified deliveries of the load, in delivery order."""

    row: Ints  # of the deliveries
    received_ns: Ints
    sent_ns: Ints  # the named attempt's; below every time where it was not sent
    consumer: Ints
    queue: Ints  # the number of the message's queue
    slot: Ints  # the message's
    to_all: Bools  # from the queue itself, not from a log, where a group reassigns its readers

    def up_to(self, time_ns: int) -> int:
        return int(np.searchsorted(self.received_ns, time_ns, side="right"))

    def sent_from(self, sent_ns: int, until_ns: int) -> Ints:
        """The rows of what was sent then or later and came up to `until_ns`."""
        return np.flatnonzero(self.sent_ns[: self.up_to(until_ns)] >= sent_ns)

    def earlier(
        self, sent_ns: int, until_ns: int, bound_ns: int
    ) -> tuple[Mapping[int, int], Mapping[int, int]]:
        """Return by queue, and by consumer, when a message that was sent before then may have come
        for the first time in the last 5 s before `until_ns`."""
        _, firsts = np.unique(self.slot, return_index=True)
        rows = np.sort(firsts)
        at_ns, sent = self.received_ns[rows] - bound_ns, self.sent_ns[rows]
        late = (at_ns + 2 * bound_ns >= until_ns - STRETCH_NS) & (at_ns < until_ns)
        late &= (sent < sent_ns) & (sent > -NEVER)
        of = self.queue[rows[late]], self.consumer[rows[late]]
        by_queue, by_consumer = (_first_ns(each, at_ns[late]) for each in of)
        return by_queue, by_consumer

    def resumed_ns(self, window: Window, limit_ns: int) -> int | None:
        """Return when the first message sent under the fault came, up to that limit."""
        rows = self.sent_from(window.returned_ns, limit_ns)[:1]
        return int(self.received_ns[rows[0]]) if len(rows) else None


def _first_ns(names: Ints, times_ns: Ints) -> Mapping[int, int]:
    """Return the first of these times, in order, by name."""
    found, places = np.unique(names, return_index=True)
    return dict(zip(found.tolist(), times_ns[places].tolist(), strict=True))


def given(messages: Messages, arrived: Arrivals) -> Given:
    loaded = arrived.regular & arrived.came_by(arrived.ways.load)
    rows = np.flatnonzero(loaded)
    attempt = arrived.attempt_row[rows]
    sent_ns = np.full(len(rows), -NEVER, np.int64)
    if len(rows):
        sent = messages.sent_attempt(attempt)
        sent_ns = np.where(sent, messages.attempts.sent_ns[attempt], -NEVER)
    return Given(
        rows.astype(index(len(arrived.slot))),
        arrived.received_ns(rows),
        sent_ns,
        arrived.rows.consumer[rows],
        messages.queue.numbers[arrived.slot[rows]],
        arrived.slot[rows],
        arrived.came_by(arrived.ways.direct_load, rows) & (arrived.rows.offset[rows] < 0),
    )


def consumption(
    messages: Messages, found: Given, forces: Sequence[Force], facts: Facts
) -> Iterator[Consumption]:
    """One row a window, scope and name; none without consumers."""
    consumers = [worker.number for worker in facts.workers if worker.role == "consumer"]
    if not consumers or not facts.windows:
        return
    queues = messages.queue.numbers[messages.confirms_slot]
    bound_ns = facts.clock_bound_ns(CONSUMER)
    readers = _readers(found, facts.windows, bound_ns)
    queue_names = messages.queue.words
    promised = {end.queue for end in facts.queues if end.ordered}
    ordered = {number for number, name in enumerate(queue_names) if name in promised}
    started = np.unique(np.array(consumers, np.int64))
    # The place behind the last is that of everybody else.
    of_started = find(started, found.consumer) % (len(started) + 1)
    for force, times in zip(forces, judged_times(facts)[1:], strict=True):
        window = force.window
        judged = replace(times, until_ns=min(times.until_ns, force.until_ns))
        due = _due(messages, window, judged, facts)
        sent_ns = window.returned_ns + facts.clock_bound_ns(PUBLISHER)
        rows = found.sent_from(sent_ns, judged.until_ns + bound_ns)
        certain = rows[: np.searchsorted(rows, found.up_to(judged.until_ns - bound_ns))]
        earlier, earlier_of = found.earlier(sent_ns, judged.until_ns, bound_ns)
        by_queue = first_places(len(messages.queue.words), found.queue[rows])
        wanted = np.bincount(queues[due], minlength=len(messages.queue.words))
        got, may_have = (_of_due(messages, queues, found, each, due) for each in (certain, rows))
        for number, many in zip(
            np.flatnonzero(wanted).tolist(), wanted[wanted > 0].tolist(), strict=True
        ):
            at_ns = _at_ns(found, rows, int(by_queue[number]), bound_ns)
            if may_have[number] * FEW_OF < many:
                at_ns = earlier.get(number)
            name = messages.queue.words[number]
            row = _row(facts.run, judged, QUEUE, name, many, at_ns)
            yield row if got[number] * HALF_OF >= many else replace(row, resumed=False)
        by_started = first_places(len(started) + 1, of_started[rows])
        shares = _shares(readers, wanted, window.origin_ns)
        theirs = _taken_over(readers, found, rows, window.origin_ns, ordered)
        for place, consumer in enumerate(started.tolist()):
            away = _absent(consumer, window.origin_ns, times.until_ns, facts.absences)
            if consumer in shares and not away:
                at_ns = _at_ns(found, rows, int(by_started[place]), bound_ns)
                row = _row(facts.run, judged, CONSUMER, str(consumer), shares[consumer], at_ns)
                if at_ns is None:
                    row = replace(row, at_ns=earlier_of.get(consumer, row.at_ns))
                resumed = at_ns is not None and at_ns + 2 * bound_ns <= judged.until_ns
                if resumed or consumer not in theirs:
                    yield replace(row, resumed=resumed)


def _row(
    run: str, judged: Judged, scope: str, name: str, due: int, at_ns: int | None
) -> Consumption:
    resumed = at_ns is not None
    when_ns = judged.until_ns if at_ns is None else at_ns
    return Consumption(run, judged.number, scope, name, due, resumed, when_ns)


def _at_ns(found: Given, rows: Ints, place: int, bound_ns: int) -> int | None:
    return None if place == NEVER else int(found.received_ns[rows[place]]) - bound_ns


def _due(messages: Messages, window: Window, judged: Judged, facts: Facts) -> Bools:
    """Return the confirms of messages sent under the fault, a deadline before its end."""
    bound_ns = facts.clock_bound_ns(PUBLISHER)
    due = messages.confirms_settled_ns <= judged.until_ns - facts.deadline_ns - bound_ns
    due &= messages.confirms_sent_ns >= window.returned_ns + bound_ns
    held: Bools = due
    return held


def _of_due(messages: Messages, queues: Ints, found: Given, rows: Ints, due: Bools) -> Ints:
    """Return how many due confirms of each queue are of messages that came in these rows."""
    came = marked(len(messages.first_sent_ns), found.slot[rows])[messages.confirms_slot] & due
    return np.bincount(queues[came], minlength=len(messages.queue.words))


def _readers(
    found: Given, windows: Sequence[Window], bound_ns: int
) -> Sequence[tuple[int, int, int]]:
    """Return the receivers of each queue before any window, and when each first received, at the
    latest."""
    before = found.up_to(max(window.origin_ns for window in windows))
    rows = np.flatnonzero(found.to_all[:before])
    pairs = group_numbers(found.consumer[rows], found.queue[rows])
    _, firsts = np.unique(pairs, return_index=True)
    first = rows[firsts]
    columns = (found.consumer[first], found.queue[first], found.received_ns[first] + bound_ns)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _shares(
    readers: Sequence[tuple[int, int, int]], due: Ints, origin_ns: int
) -> Mapping[int, int]:
    """Return for each earlier receiver the messages due in its queues, shared with their other
    readers."""
    read = [(consumer, queue) for consumer, queue, first_ns in readers if first_ns < origin_ns]
    of_queue = Counter(queue for _, queue in read)
    shares: Counter[int] = Counter()
    for consumer, queue in read:
        shares[consumer] += int(due[queue]) // of_queue[queue]
    return shares


def _taken_over(
    readers: Sequence[tuple[int, int, int]],
    found: Given,
    rows: Ints,
    origin_ns: int,
    ordered: Collection[int],
) -> set[int]:
    """Return the earlier receivers of ordered queues alone that others have taken over. `rows`:
    what was sent under the fault and may have come."""
    came = {*zip(found.consumer[rows].tolist(), found.queue[rows].tolist(), strict=True)}
    read = [(consumer, queue) for consumer, queue, first_ns in readers if first_ns < origin_ns]
    kept = {
        consumer
        for consumer, queue in read
        if queue not in ordered or not any(q == queue and c != consumer for c, q in came)
    }
    return {consumer for consumer, _ in read} - kept


def _absent(worker: int, from_ns: int, until_ns: int, absences: Sequence[Absence]) -> bool:
    """Return whether it was absent at some instant of [from_ns, until_ns]."""
    for absence in absences:
        end_ns = NEVER if absence.until_ns is None else absence.until_ns
        if absence.worker == worker and max(absence.from_ns, from_ns) <= min(until_ns, end_ns - 1):
            return True
    return False
