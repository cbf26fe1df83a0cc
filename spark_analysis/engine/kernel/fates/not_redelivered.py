"""Deliveries that were never acknowledged and not redelivered though their connection ended.

1. The kernel reads acknowledgements only if a connection ended, and only those of its deliveries.
2. Nearly all of them were acknowledged. For the others it reads every delivery of the attempt.
3. Connections of consumers that a fault ended for good ended with them, though no event says so;
   and all before a complete drain. Those that began to consume on record have no end there then.
4. A fault of the cluster may take what was given out before it was confirmed.
5. What was acknowledged after the end of its connection was not acknowledged. Few are, and only
   their times are read.
6. Columns may be read from a file whenever they are named, so each is named once in a function.
"""

import numpy as np

from spark_analysis.engine.kernel.arrays import (
    NANOSECONDS,
    NEVER,
    Bools,
    Ints,
    earliest,
    find,
    marked,
    pair_numbers,
)
from spark_analysis.engine.kernel.cases import Cases, Census, could_show
from spark_analysis.engine.kernel.events.acknowledged import (
    before_the_end,
    covered,
    ended_ns,
    endings,
    written_ns,
)
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.fates import unseen
from spark_analysis.engine.kernel.records import (
    Acknowledgements,
    ClientEvents,
    Reader,
    Text,
)
from spark_analysis.schema.facts import Facts

OPEN = (
    *unseen.REASONS,
    "consumer_killed",
    "end_not_recorded",
    "acknowledged_at_the_end",
    "unconfirmed",
)
KILLED, NO_END, AT_THE_END, UNCONFIRMED = range(len(unseen.REASONS), len(OPEN))


def not_redelivered(
    messages: Messages, arrived: Arrivals, facts: Facts, reader: Reader
) -> tuple[list[Census], list[Cases]]:
    """One case an attempt, with the queue of its message; and the messages that could be one."""
    if not facts.acknowledges:
        return [], []
    events = reader.read(ClientEvents)
    rows = _cut_off(messages, arrived, events, facts)
    if not len(rows):
        return [], []
    acknowledgements = reader.read(Acknowledgements)
    rows = rows[~_acknowledged(arrived, rows, acknowledgements, events)]
    if not len(rows):
        return [], []
    every = _of_their_attempts(messages, arrived, facts, rows)
    few = arrived.rows.pick(every)
    over_ns, late_ns = ended_ns(few, events), written_ns(few, acknowledgements)
    answered = before_the_end(late_ns, few.offset, over_ns) < NEVER
    rows = rows[~answered[np.searchsorted(every, rows)]]
    if not len(rows):
        return [], []
    held, rows = _held_and_last(messages, arrived, rows, every, answered)
    census = could_show("not_redelivered", messages.queue[np.unique(arrived.slot[held])])
    queue = messages.queue[arrived.slot[rows]]
    reason = unseen.reasons(queue, facts)
    place = np.searchsorted(every, rows)
    over_ns, late_ns = over_ns[place], late_ns[place]
    taken = _may_be_taken(messages, arrived, rows, facts)
    killed = np.isin(arrived.rows.consumer[rows], _killed(facts))
    for why, number in (
        ((over_ns == NEVER) & killed, KILLED),
        (over_ns == NEVER, NO_END),
        (late_ns - NANOSECONDS <= over_ns, AT_THE_END),
        (taken, UNCONFIRMED),
    ):
        reason = np.where(why & (reason == unseen.NOWHERE), number, reason)
    gone = reason == unseen.NOWHERE
    detail = Text(OPEN, reason)
    return [census], [
        _cases(arrived, "not_redelivered", rows[gone], detail[gone], queue[gone]),
        _cases(arrived, "not_redelivered_unknown", rows[~gone], detail[~gone], queue[~gone]),
    ]


def _may_be_taken(messages: Messages, arrived: Arrivals, rows: Ints, facts: Facts) -> Bools:
    """Return whether each of these attempts has no confirm, and a fault of the cluster, or a
    change of leader, was not over before that delivery."""
    since_ns, consumer = arrived.received_ns(rows).astype(np.int64), arrived.rows.consumer[rows]
    for worker, bound_ns in facts.clock_bounds_ns.items():
        since_ns[consumer == worker] -= bound_ns
    overs_ns = [NEVER if one.over_ns is None else one.over_ns for one in facts.of_cluster]
    unconfirmed = messages.row_confirmed_ns[arrived.attempt_row[rows]] == NEVER
    taken: Bools = unconfirmed & (since_ns <= max(overs_ns, default=-1))
    return taken


def _cases(arrived: Arrivals, measure: str, rows: Ints, detail: Text, queue: Text) -> Cases:
    never = np.full(len(rows), NEVER, np.int64)
    return arrived.cases(measure, rows, detail, queue, arrived.received_ns(rows), never)


def _killed(facts: Facts) -> list[int]:
    """Return the consumers that a fault ended for good."""
    return [absence.worker for absence in facts.absences if absence.until_ns is None]


def _cut_off(messages: Messages, arrived: Arrivals, events: ClientEvents, facts: Facts) -> Ints:
    """The deliveries of attempts in the load whose connection ended then or later."""
    connections, _, ends_ns = endings(events)
    rows = np.flatnonzero(arrived.regular & (arrived.attempt_row >= 0))
    rows = rows[arrived.came_by(arrived.ways.load, rows)]
    consumer, connection = arrived.rows.consumer[rows], arrived.rows.connection[rows]
    place = _place(connections, consumer, connection)
    # -1, a connection that did not end, reads the last place.
    ended = np.append(ends_ns, -1)[place] >= arrived.received_ns(rows)
    ended &= place >= 0
    ended |= np.isin(consumer, _killed(facts))
    rest = np.flatnonzero(~ended)
    began = _place(_open_ended(connections, events), consumer[rest], connection[rest])
    queue = messages.queue[arrived.slot[rows[rest]]]
    ended[rest] = (began >= 0) & (unseen.reasons(queue, facts) == unseen.NOWHERE)
    return rows[ended]


def _open_ended(ended: Ints, events: ClientEvents) -> Ints:
    """Return the connections that began to consume on record, and are not among those that
    ended."""
    began = events.kind.among("consuming")
    return np.setdiff1d(pair_numbers(events.worker[began], events.connection[began]), ended)


def _acknowledged(
    arrived: Arrivals, rows: Ints, acknowledgements: Acknowledgements, events: ClientEvents
) -> Bools:
    """Return whether each of these deliveries was acknowledged before any end of its
    connection."""
    consumer, connection = arrived.rows.consumer[rows], arrived.rows.connection[rows]
    connections = _distinct(consumer, connection)
    ended, first_ns, _ = endings(events)
    of, on = acknowledgements.consumer, acknowledgements.connection
    by = _place(connections, of, on)
    late = acknowledgements.written_ns > np.append(first_ns, NEVER)[_place(ended, of, on)]
    has_tag = (by >= 0) & ~late
    tags = acknowledgements.first_tag, acknowledgements.last_tag
    if not has_tag.all():
        by, tags = by[has_tag], (tags[0][has_tag], tags[1][has_tag])
    return covered(_place(connections, consumer, connection), arrived.rows.tag[rows], by, *tags)


def _of_their_attempts(messages: Messages, arrived: Arrivals, facts: Facts, rows: Ints) -> Ints:
    """Return all deliveries of the attempts of these, ascending."""
    chosen = marked(len(messages.row_confirmed_ns), arrived.attempt_row[rows])
    every = np.flatnonzero(arrived.identified & (arrived.attempt_row >= 0))
    every = every[chosen[arrived.attempt_row[every]]]
    if facts.brokers_keep_progress:  # what lies in a log lies there however far a group has come
        in_log = arrived.came_by(arrived.ways.audit, every) & (arrived.rows.offset[every] >= 0)
        every = every[~in_log]
    return every


def _held_and_last(
    messages: Messages, arrived: Arrivals, rows: Ints, every: Ints, answered: Bools
) -> tuple[Ints, Ints]:
    """Return those of the rows before which no delivery of their attempt was acknowledged; and the
    last deliveries of attempts without any acknowledged delivery. `every`: all deliveries of
    these; `answered`: which of them were acknowledged before the end of their connection."""
    attempt, size = arrived.attempt_row[every], len(messages.row_confirmed_ns)
    last = np.full(size, -1, np.int64)
    last[attempt] = every  # they ascend, and of several values numpy keeps the last
    of_rows = arrived.attempt_row[rows]
    settled = earliest(size, attempt[answered], every[answered])[of_rows]
    held: Ints = rows[rows < settled]
    unanswered: Ints = rows[(last[of_rows] == rows) & (settled == NEVER)]
    return held, unanswered


def _distinct(consumer: Ints, connection: Ints) -> Ints:
    """The connections of these deliveries, ascending; neighbours mostly have the same one."""
    numbers = pair_numbers(consumer, connection)
    return np.unique(numbers[np.diff(numbers, prepend=~numbers[:1]) != 0])


def _place(connections: Ints, consumer: Ints, connection: Ints) -> Ints:
    """The number of each one's connection among these; -1 for others."""
    return find(connections, pair_numbers(consumer, connection))
