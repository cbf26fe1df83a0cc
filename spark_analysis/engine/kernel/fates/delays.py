"""Delayed messages: those that came early, those that came late, and those that may still wait.

1. If the clocks' bounds leave it undecided, the case is early_unknown, or not due. It never counts
   against a broker.
"""

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import NANOSECONDS, NEVER, Bools, Ints, earliest, marked
from spark_analysis.engine.kernel.cases import Cases, Census, could_show, plain
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts

GRAIN_NS = 1_000_000
APART = 1_000
LOOKED_AT_NS = NANOSECONDS  # brokers look at what waits once a second at the least


def delays(
    messages: Messages, arrived: Arrivals, facts: Facts
) -> tuple[list[Census], list[Cases]]:
    """The messages that were delayed, and the deliveries before or long after their time."""
    terms = messages.terms
    size = len(messages.slots.taken)
    slots = np.flatnonzero(marked(size, terms.slot[terms.delayed]))
    if not len(slots):
        return [], []
    rows = np.flatnonzero(arrived.regular)
    place = terms.find(arrived.attempt_row[rows])
    judged = (place >= 0) & terms.sent[place] & terms.delayed[place]
    rows, place = rows[judged], place[judged]
    before_ns = terms.due_ns[place] - arrived.received_ns(rows)
    slack_ns = _slack_ns(terms.wait_ns[place], arrived.rows.producer[rows], facts)
    slack_ns += bounds_ns(arrived.rows.consumer[rows], facts)
    early, unknown = before_ns > slack_ns, (before_ns > 0) & (before_ns <= slack_ns)
    came = np.unique(arrived.slot[rows])
    first = arrived.first[arrived.slot[rows]] == rows
    confirmed = messages.row_confirmed_ns[terms.row[place]] < NEVER
    in_time = np.unique(arrived.slot[rows[first & confirmed]])
    census = [
        Census("delayed", plain(len(slots)), messages.queue[slots]),
        could_show("early", messages.queue[came]),
        could_show("overdue", messages.queue[in_time]),
    ]
    return census, [
        _early(messages, arrived, "early", rows[early]),
        _early(messages, arrived, "early_unknown", rows[unknown]),
        _overdue(messages, arrived, rows, place, slack_ns, facts),
    ]


def _overdue(
    messages: Messages, arrived: Arrivals, rows: Ints, place: Ints, slack_ns: Ints, facts: Facts
) -> Cases:
    """Return the first deliveries of delayed attempts that came too late, by the places of their
    terms."""
    terms = messages.terms
    confirmed_ns = messages.row_confirmed_ns[terms.row[place]]
    judged = (confirmed_ns < NEVER) & (arrived.first[arrived.slot[rows]] == rows)
    rows, place, slack_ns = rows[judged], place[judged], slack_ns[judged]
    over_ns = confirmed_ns[judged] + terms.wait_ns[place]
    latest_ns = np.maximum(terms.due_ns[place], over_ns) + slack_ns + LOOKED_AT_NS
    late = arrived.received_ns(rows) > latest_ns
    drained = arrived.came_by(arrived.ways.drain, rows)
    has_consumers = any(worker.role == "consumer" for worker in facts.workers)
    late &= ~drained | (has_consumers & (latest_ns < facts.load_ended_ns))
    slots, at_ns = arrived.slot[rows[late]], arrived.received_ns(rows[late])
    since_ns, by_ns = confirmed_ns[judged][late], latest_ns[late]
    return messages.cases("overdue", slots, plain(len(slots)), at_ns, since_ns, by_ns)


def not_due(messages: Messages, slots: Ints, facts: Facts) -> Bools:
    """Return whether all confirmed attempts of each message may still have waited when its queue
    was quiet."""
    if not messages.terms.delayed.any():
        return np.zeros(len(slots), np.bool_)
    row = messages.confirms_row
    delayed, over_ns = _over_ns(messages, row, messages.confirms_settled_ns, facts)
    size = len(messages.slots.taken)
    # One copy that did not wait is enough: it was to come at once.
    first_ns = earliest(size, messages.confirms_slot, np.where(delayed, over_ns, -1))[slots]
    waited = (first_ns >= 0) & (first_ns < NEVER)
    return waited & _after_quiet(first_ns, messages.queue[slots], facts)


def attempts_not_due(messages: Messages, rows: Ints, facts: Facts) -> Bools:
    """Return whether each of these confirmed attempts may still have waited when its queue was
    quiet."""
    if not messages.terms.delayed.any():
        return np.zeros(len(rows), np.bool_)
    delayed, over_ns = _over_ns(messages, rows, messages.row_confirmed_ns[rows], facts)
    return delayed & _after_quiet(over_ns, messages.queue[messages.slots_of(rows)], facts)


def _over_ns(
    messages: Messages, row: Ints, confirmed_ns: Ints, facts: Facts
) -> tuple[Bools, Ints]:
    """Return whether each attempt is delayed, and the latest time at which its wait was over."""
    terms = messages.terms
    place = terms.find(row)
    delayed = (place >= 0) & terms.delayed[place]
    wait_ns = terms.wait_ns[place]
    return delayed, confirmed_ns + wait_ns + _slack_ns(
        wait_ns, messages.attempts.producer[row], facts
    )


def _after_quiet(times_ns: Ints, queue: Text, facts: Facts) -> Bools:
    """Return whether each time lies after its queue was quiet, as far as known."""
    quiet_ns = np.full(len(times_ns), facts.load_ended_ns, np.int64)
    for end in facts.queues:
        if end.quiet_ns is not None:
            quiet_ns[queue.among(end.queue)] = end.quiet_ns
    after: Bools = times_ns > quiet_ns
    return after


def _early(messages: Messages, arrived: Arrivals, measure: str, rows: Ints) -> Cases:
    queue, sent_ns = messages.queue[arrived.slot[rows]], arrived.sent_ns(messages, rows)
    by_ns = arrived.received_ns(rows)
    return arrived.cases(measure, rows, plain(len(rows)), queue, sent_ns, by_ns)


def _slack_ns(wait_ns: Ints, producer: Ints, facts: Facts) -> Ints:
    return wait_ns // APART + GRAIN_NS + bounds_ns(producer, facts)


def bounds_ns(worker: Ints, facts: Facts) -> NDArray[np.int64]:
    """Return the clock bound of each worker."""
    found_ns = np.zeros(len(worker), np.int64)
    for clock in facts.clocks:
        found_ns[worker == clock.worker] = clock.bound_ns
    return found_ns
