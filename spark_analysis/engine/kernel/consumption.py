"""Whether consumers went on with what was sent after each fault, by queue and by consumer.

1. Deliveries are in delivery order, so those up to a time are the first so many of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    NEVER,
    Bools,
    Ints,
    find,
    first_places,
    group_numbers,
    index,
)
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.windows import Judged, in_order, judged_times
from spark_analysis.schema.facts import Absence, Facts, Window
from spark_analysis.schema.service import CONSUMER, QUEUE, Consumption
from spark_analysis.schema.words import Via


@dataclass(frozen=True, slots=True)
class Given:
    """What was given out in the load and identified: in delivery order."""

    row: Ints  # of the deliveries
    received_ns: Ints
    sent_ns: Ints  # the named attempt's; below every time where it was not sent
    consumer: Ints
    queue: Ints  # the number of the message's queue
    to_all: Bools  # by LOAD and of no log, where a group decides anew who reads

    def up_to(self, time_ns: int) -> int:
        return int(np.searchsorted(self.received_ns, time_ns, side="right"))

    def sent_from(self, sent_ns: int, until_ns: int) -> Ints:
        """The rows of what was sent then or later and came up to `until_ns`."""
        return np.flatnonzero(self.sent_ns[: self.up_to(until_ns)] >= sent_ns)

    def resumed_ns(self, window: Window, limit_ns: int) -> int | None:
        """When the first of what was sent under the fault came, up to that limit."""
        rows = self.sent_from(window.returned_ns, limit_ns)[:1]
        return int(self.received_ns[rows[0]]) if len(rows) else None


def given(messages: Messages, arrived: Arrivals) -> Given:
    loaded = arrived.regular & arrived.came_by(Via.LOAD, Via.RETRY_TOPIC)
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
        (arrived.rows.via[rows] == Via.LOAD) & (arrived.rows.offset[rows] < 0),
    )


def consumption(messages: Messages, found: Given, facts: Facts) -> Iterator[Consumption]:
    """One row a window, scope and name; none without consumers."""
    consumers = [worker.number for worker in facts.workers if worker.role == "consumer"]
    if not consumers or not facts.windows:
        return
    queues = messages.queue.numbers[messages.confirms_slot]
    readers = _readers(found, facts.windows)
    started = np.unique(np.array(consumers, np.int64))
    # The place behind the last is that of everybody else.
    of_started = find(started, found.consumer) % (len(started) + 1)
    for window, judged in zip(in_order(facts), judged_times(facts)[1:], strict=True):
        due = _due(messages, queues, window, judged, facts)
        rows = found.sent_from(window.returned_ns, judged.until_ns)
        by_queue = first_places(len(due), found.queue[rows])
        for number in np.flatnonzero(due).tolist():
            at_ns = _at_ns(found, rows, int(by_queue[number]))
            name = messages.queue.words[number]
            yield _row(facts.run, judged, QUEUE, name, int(due[number]), at_ns)
        by_started = first_places(len(started) + 1, of_started[rows])
        shares = _shares(readers, due, window.origin_ns)
        for place, consumer in enumerate(started.tolist()):
            away = _absent(consumer, window.origin_ns, judged.until_ns, facts.absences)
            if consumer in shares and not away:
                at_ns = _at_ns(found, rows, int(by_started[place]))
                yield _row(facts.run, judged, CONSUMER, str(consumer), shares[consumer], at_ns)


def _row(
    run: str, judged: Judged, scope: str, name: str, due: int, at_ns: int | None
) -> Consumption:
    resumed = at_ns is not None
    when_ns = judged.until_ns if at_ns is None else at_ns
    return Consumption(run, judged.number, scope, name, due, resumed, when_ns)


def _at_ns(found: Given, rows: Ints, place: int) -> int | None:
    return None if place == NEVER else int(found.received_ns[rows[place]])


def _due(
    messages: Messages, queues: Ints, window: Window, judged: Judged, facts: Facts
) -> NDArray[np.intp]:
    """By queue: what was sent under the fault and confirmed a deadline before the end."""
    due = messages.confirms_settled_ns <= judged.until_ns - facts.deadline_ns
    due &= messages.confirms_sent_ns >= window.returned_ns
    return np.bincount(queues[due], minlength=len(messages.queue.words))


def _readers(found: Given, windows: Sequence[Window]) -> Sequence[tuple[int, int, int]]:
    """Who received of which queue, and when first; before any of the windows."""
    before = found.up_to(max(window.origin_ns for window in windows))
    rows = np.flatnonzero(found.to_all[:before])
    pairs = group_numbers(found.consumer[rows], found.queue[rows])
    _, firsts = np.unique(pairs, return_index=True)
    first = rows[firsts]
    columns = (found.consumer[first], found.queue[first], found.received_ns[first])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _shares(
    readers: Sequence[tuple[int, int, int]], due: Ints, origin_ns: int
) -> Mapping[int, int]:
    """By who received before that: what of its queues is due, shared with their other readers."""
    read = [(consumer, queue) for consumer, queue, first_ns in readers if first_ns < origin_ns]
    of_queue = Counter(queue for _, queue in read)
    shares: Counter[int] = Counter()
    for consumer, queue in read:
        shares[consumer] += int(due[queue]) // of_queue[queue]
    return shares


def _absent(worker: int, from_ns: int, until_ns: int, absences: Sequence[Absence]) -> bool:
    """Whether it was at some instant of [from_ns, until_ns]."""
    for absence in absences:
        end_ns = NEVER if absence.until_ns is None else absence.until_ns
        if absence.worker == worker and max(absence.from_ns, from_ns) <= min(until_ns, end_ns - 1):
            return True
    return False
