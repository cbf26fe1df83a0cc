"""Deliveries that were never acknowledged and not redelivered though their connection ended.

1. The kernel reads acknowledgements only if a connection ended, and only those of its deliveries.
2. Nearly all of them were acknowledged. For the others it reads every delivery of the attempt.
3. Connections of consumers that a fault ended for good ended with them, though no event says so;
   and all before a complete drain. Those that began to consume on record have no end there then.
4. A fault of the cluster may take what was given out before it was confirmed.
5. What was acknowledged after the end of its connection was not acknowledged. Few are, and only
   their times are read.
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
    acknowledged_ns,
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
    rows = rows[~_acknowledged(arrived, rows, _before_the_end(acknowledgements, events))]
    rows = rows[~_answered(arrived, rows, acknowledgements, events)]
    if not len(rows):
        return [], []
    held, rows = _held_and_last(messages, arrived, facts, rows, acknowledgements, events)
    census = could_show("not_redelivered", messages.queue[np.unique(arrived.slot[held])])
    queue = messages.queue[arrived.slot[rows]]
    reason = unseen.reasons(queue, facts)
    over_ns = ended_ns(arrived.rows.pick(rows), events)
    late_ns = written_ns(arrived.rows.pick(rows), acknowledgements)
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
    since_ns = arrived.received_ns(rows).astype(np.int64)
    for worker, bound_ns in facts.clock_bounds_ns.items():
        since_ns[arrived.rows.consumer[rows] == worker] -= bound_ns
    overs_ns = [NEVER if one.over_ns is None else one.over_ns for one in facts.of_cluster]
    unconfirmed = messages.row_confirmed_ns[arrived.attempt_row[rows]] == NEVER
    taken: Bools = unconfirmed & (since_ns <= max(overs_ns, default=-1))
    return taken


def _cases(arrived: Arrivals, measure: str, rows: Ints, detail: Text, queue: Text) -> Cases:
    never = np.full(len(rows), NEVER, np.int64)
    return arrived.cases(measure, rows, detail, queue, arrived.received_ns(rows), never)


def _before_the_end(acknowledgements: Acknowledgements, events: ClientEvents) -> Acknowledgements:
    """Return those that were written before any end of their connection."""
    connections, first_ns, _ = endings(events)
    place = _place(connections, acknowledgements.consumer, acknowledgements.connection)
    late = acknowledgements.written_ns > np.append(first_ns, NEVER)[place]
    return acknowledgements.pick(~late) if late.any() else acknowledgements


def _answered(
    arrived: Arrivals, rows: Ints, acknowledgements: Acknowledgements, events: ClientEvents
) -> Bools:
    """Return whether each of these deliveries was acknowledged before its connection ended."""
    few = arrived.rows.pick(rows)
    answered: Bools = acknowledged_ns(few, acknowledgements, ended_ns(few, events)) < NEVER
    return answered


def _killed(facts: Facts) -> list[int]:
    """Return the consumers that a fault ended for good."""
    return [absence.worker for absence in facts.absences if absence.until_ns is None]


def _cut_off(messages: Messages, arrived: Arrivals, events: ClientEvents, facts: Facts) -> Ints:
    """The deliveries of attempts in the load whose connection ended then or later."""
    connections, _, ends_ns = endings(events)
    rows = np.flatnonzero(arrived.regular & (arrived.attempt_row >= 0))
    rows = rows[arrived.came_by(arrived.ways.load, rows)]
    place = _place(connections, arrived.rows.consumer[rows], arrived.rows.connection[rows])
    # -1, a connection that did not end, reads the last place.
    ended = np.append(ends_ns, -1)[place] >= arrived.received_ns(rows)
    ended &= place >= 0
    ended |= np.isin(arrived.rows.consumer[rows], _killed(facts))
    rest = np.flatnonzero(~ended)
    open_ended = _place(
        _open_ended(connections, events),
        arrived.rows.consumer[rows[rest]],
        arrived.rows.connection[rows[rest]],
    )
    queue = messages.queue[arrived.slot[rows[rest]]]
    ended[rest] = (open_ended >= 0) & (unseen.reasons(queue, facts) == unseen.NOWHERE)
    return rows[ended]


def _open_ended(ended: Ints, events: ClientEvents) -> Ints:
    """Return the connections that began to consume on record, and are not among those that
    ended."""
    began = events.kind.among("consuming")
    return np.setdiff1d(pair_numbers(events.worker[began], events.connection[began]), ended)


def _acknowledged(arrived: Arrivals, rows: Ints, acknowledgements: Acknowledgements) -> Bools:
    """Return whether each of these deliveries was acknowledged, at any time."""
    consumer, connection = arrived.rows.consumer[rows], arrived.rows.connection[rows]
    connections = _distinct(consumer, connection)
    by = _place(connections, acknowledgements.consumer, acknowledgements.connection)
    has_tag = by >= 0
    tags = acknowledgements.first_tag, acknowledgements.last_tag
    if not has_tag.all():
        by, tags = by[has_tag], (tags[0][has_tag], tags[1][has_tag])
    return covered(_place(connections, consumer, connection), arrived.rows.tag[rows], by, *tags)


def _held_and_last(
    messages: Messages,
    arrived: Arrivals,
    facts: Facts,
    rows: Ints,
    acknowledgements: Acknowledgements,
    events: ClientEvents,
) -> tuple[Ints, Ints]:
    """Return those of the rows before which no delivery of their attempt was acknowledged; and the
    last deliveries of attempts without any acknowledged delivery."""
    chosen = marked(len(messages.attempts.attempt), arrived.attempt_row[rows])
    every = np.flatnonzero(arrived.identified & (arrived.attempt_row >= 0))
    every = every[chosen[arrived.attempt_row[every]]]
    if facts.brokers_keep_progress:  # what lies in a log lies there however far a group has come
        in_log = arrived.came_by(arrived.ways.audit, every) & (arrived.rows.offset[every] >= 0)
        every = every[~in_log]
    attempt = arrived.attempt_row[every]
    last = np.full(len(chosen), -1, np.int64)
    last[attempt] = every  # they ascend, and of several values numpy keeps the last
    answered = _answered(arrived, every, acknowledgements, events)
    of_rows = arrived.attempt_row[rows]
    settled = earliest(len(chosen), attempt[answered], every[answered])[of_rows]
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
