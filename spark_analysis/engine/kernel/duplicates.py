"""Where surplus deliveries came from, as far as a client can tell.

1. Only messages delivered more than once are looked at, and acknowledgements are read only if a
   flagged copy of an attempt that we had before needs them: both are few.
2. "An earlier delivery such that ..." is answered by counting intervals of rows, so a message that
   was redelivered a hundred thousand times costs no square.
3. Where a log was read again, one time a (message, attempt, place) tells it all: when the first
   acknowledgement of that place must have been known to the broker.
4. Which windows lie between two deliveries is asked once of the earlier one: the earliest origin
   of those that were not over before it. They are few, and each costs one pass over the copies.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    NANOSECONDS,
    NEVER,
    Bools,
    Ints,
    earliest,
    expand,
    find,
    group_numbers,
    marked,
    pair_numbers,
)
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.cases import Cases
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.records import (
    Acknowledgements,
    ClientEvents,
    Deliveries,
    Reader,
    Text,
)
from spark_analysis.schema import measures
from spark_analysis.schema.facts import Facts, Unsettled
from spark_analysis.schema.words import Redelivered

DETAILS = measures.details("duplicated")
TOLD_WITHIN_NS = 6 * NANOSECONDS  # clients tell brokers of their progress every 5 s
RETRY = DETAILS.index("publisher_retry")
DIVERGED = DETAILS.index("diverged")
STORED_TWICE = DETAILS.index("stored_twice")
AMBIGUOUS = DETAILS.index("ambiguous")
ROLLBACK = DETAILS.index("offset_rollback")
REDELIVERY = DETAILS.index("redelivery")
AFTER_ACK = DETAILS.index("redelivery_after_ack")


@dataclass(frozen=True, slots=True)
class Copies:
    """Deliveries of messages that have several, by (message, attempt), then delivery order."""

    row: Ints  # in arrivals
    rows: Deliveries
    group: Ints  # ascending: one number a (message, attempt)
    surplus: Bools  # not the first of its message
    slot: Ints
    fault_ns: Ints  # the earliest origin of a window that was not over before it, or NEVER


def duplicates(messages: Messages, arrived: Arrivals, facts: Facts, reader: Reader) -> list[Cases]:
    """One case a surplus delivery, with the queue of its message."""
    copies = _copies(arrived, facts)
    if not len(copies.row):
        return []
    queue = messages.queue[copies.slot]
    detail = _by_itself(copies, queue, facts)
    if (copies.surplus & (detail == REDELIVERY)).any():
        acknowledgements, events = reader.read(Acknowledgements), reader.read(ClientEvents)
        again, after = detail == REDELIVERY, copies.rows.offset < 0
        if (again & after).any():
            after &= after_acknowledgement(copies, acknowledgements, events)
            detail = np.where(again & after, AFTER_ACK, detail)
        if (again & (copies.rows.offset >= 0)).any():
            origins_ns = np.array([each.origin_ns for each in facts.unsettled], np.int64)
            back = _rolled_back(copies, acknowledgements, events, origins_ns)
            detail = np.where(again & back, ROLLBACK, detail)
    chosen = np.flatnonzero(copies.surplus)
    words = Text(DETAILS, detail[chosen].astype(np.int32))
    return [arrived.cases("duplicated", copies.row[chosen], words, queue[chosen])]


def _copies(arrived: Arrivals, facts: Facts) -> Copies:
    regular = np.flatnonzero(arrived.regular)
    extra = arrived.first[arrived.slot[regular]] != regular
    several = marked(len(arrived.first), arrived.slot[regular[extra]])
    row = regular[several[arrived.slot[regular]]]
    group = group_numbers(arrived.slot[row], arrived.rows.attempt[row])
    order = np.argsort(group, kind="stable")
    row = row[order]
    slot = arrived.slot[row]
    rows = arrived.rows.pick(row)
    return Copies(
        row,
        rows,
        group[order].astype(np.int64),
        arrived.first[slot] != row,
        slot,
        earliest_origins(rows.received_ns, facts.unsettled),
    )


def earliest_origins(received_ns: Ints, windows: Iterable[Unsettled]) -> NDArray[np.int64]:
    """For each time the earliest origin of the windows that were not over before it, or NEVER."""
    origin_ns = np.full(len(received_ns), NEVER, np.int64)
    for window in windows:
        over_ns = NEVER if window.over_ns is None else window.over_ns
        np.minimum(origin_ns, window.origin_ns, out=origin_ns, where=received_ns <= over_ns)
    return origin_ns


def _by_itself(copies: Copies, queue: Text, facts: Facts) -> Ints:
    """The detail, except that what might be after our acknowledgement is still a redelivery."""
    rows = copies.rows
    new_attempt = np.ones(len(copies.row), np.bool_)
    new_attempt[1:] = copies.group[1:] != copies.group[:-1]
    diverged = np.zeros(len(copies.row), np.bool_)
    for rivals in facts.rivals:
        inside = (rows.received_ns >= rivals.from_ns) & (rows.received_ns <= rivals.until_ns)
        diverged |= inside & queue.among(rivals.queue)
    placed = rows.offset >= 0
    unflagged = rows.redelivered == Redelivered.NO
    ambiguous = rows.redelivered == Redelivered.NOT_TOLD
    ambiguous[1:] |= unflagged[1:] & (copies.fault_ns[:-1] < rows.received_ns[1:])
    by_flag = np.select([ambiguous, unflagged], [AMBIGUOUS, STORED_TWICE], default=REDELIVERY)
    holds = [new_attempt, diverged, placed]
    return np.select(holds, [RETRY, DIVERGED, _by_place(copies)], default=by_flag)


def _by_place(copies: Copies) -> Ints:
    """Of what has an offset: what only its place and those of earlier copies tell."""
    rows, count = copies.rows, len(copies.row)
    named = ~rows.broker.among("")
    seen_before = np.ones(count, np.bool_)
    _, first = np.unique(_spots(copies), return_index=True)  # of each the earliest
    seen_before[first] = False
    unplaced = ~named | (rows.offset < 0)
    before: Ints = np.cumsum(unplaced) - unplaced  # of all rows above; its group's are asked for
    starts = np.searchsorted(copies.group, copies.group)
    unclear: Bools = before > before[starts]
    return np.select(
        [~named, seen_before, unclear], [AMBIGUOUS, REDELIVERY, AMBIGUOUS], default=STORED_TWICE
    )


def _spots(copies: Copies) -> Ints:
    """One number a (message, attempt, place of a log)."""
    rows = copies.rows
    return group_numbers(copies.group, rows.broker.numbers, rows.offset)


def _rolled_back(
    copies: Copies, acknowledgements: Acknowledgements, events: ClientEvents, origins_ns: Ints
) -> Bools:
    """For each copy whether the group's progress had passed an earlier one of the same place."""
    rows = copies.rows
    since_ns = np.maximum(_written_ns(rows, acknowledgements), rows.received_ns)
    origins_ns = np.append(np.sort(origins_ns), NEVER)
    fault_ns = origins_ns[np.searchsorted(origins_ns[:-1], since_ns, side="right")]
    until_ns = np.minimum(fault_ns, _ended_ns(rows, events))
    known = np.flatnonzero(since_ns < until_ns - TOLD_WITHIN_NS)
    _, spot = np.unique(_spots(copies), return_inverse=True)
    first_ns = earliest(len(rows.tag), spot[known], since_ns[known] + TOLD_WITHIN_NS)
    return rows.received_ns > first_ns[spot]


def after_acknowledgement(
    copies: Copies, acknowledgements: Acknowledgements, events: ClientEvents
) -> Bools:
    """For each copy whether an earlier one of its group was acknowledged by us in time.

    An earlier copy counts for the rows from `opens` (one second after its acknowledgement was
    written) up to `closes` (its connection had ended). A row is inside one of these intervals if
    more of them opened than closed. A copy whose acknowledgement was not a second old when a fault
    came counts for none: rows before that fault are within the second.
    """
    rows = copies.rows
    written_ns = _written_ns(rows, acknowledgements)
    acknowledged = np.flatnonzero(written_ns < copies.fault_ns - NANOSECONDS)
    group = copies.group[acknowledged]
    times = _GroupTimes(copies.group, rows.received_ns)
    opens = times.first_after(group, written_ns[acknowledged] + NANOSECONDS)
    opens = np.maximum(opens, acknowledged + 1)
    closes = times.first_from(group, _ended_ns(rows, events)[acknowledged])
    held = opens < closes
    steps = np.zeros(len(rows.tag) + 1, np.int64)
    np.add.at(steps, opens[held], 1)
    np.add.at(steps, closes[held], -1)
    return np.cumsum(steps)[:-1] > 0


class _GroupTimes:
    """Searches times that ascend within each of ascending groups."""

    def __init__(self, group: Ints, times: Ints) -> None:
        self._times = np.unique(times)
        self._keys = self._key(group, np.searchsorted(self._times, times))

    def first_after(self, group: Ints, times: Ints) -> NDArray[np.intp]:
        """The first place of each group with a later time, or the group's end."""
        return self._search(group, np.searchsorted(self._times, times, side="right"))

    def first_from(self, group: Ints, times: Ints) -> NDArray[np.intp]:
        """The first place of each group with this time or a later one, or the group's end."""
        return self._search(group, np.searchsorted(self._times, times))

    def _search(self, group: Ints, rank: Ints) -> NDArray[np.intp]:
        return np.searchsorted(self._keys, self._key(group, rank))

    def _key(self, group: Ints, rank: Ints) -> NDArray[np.int64]:
        return group.astype(np.int64) * (len(self._times) + 1) + rank


def _written_ns(rows: Deliveries, acknowledgements: Acknowledgements) -> NDArray[np.int64]:
    """When an acknowledgement that covers each delivery was first written, or NEVER."""
    connections, connection = np.unique(
        pair_numbers(rows.consumer, rows.connection), return_inverse=True
    )
    acknowledging = find(
        connections, pair_numbers(acknowledgements.consumer, acknowledgements.connection)
    )
    covering = acknowledgements.pick(acknowledging >= 0)
    acknowledging = acknowledging[acknowledging >= 0]
    tags = np.unique(rows.tag)
    keys, key = np.unique(
        connection * (len(tags) + 1) + np.searchsorted(tags, rows.tag), return_inverse=True
    )
    base = acknowledging * (len(tags) + 1)
    starts = np.searchsorted(keys, base + np.searchsorted(tags, covering.first_tag))
    ends = np.searchsorted(keys, base + np.searchsorted(tags, covering.last_tag, side="right"))
    acknowledgement, place = expand(starts, ends)
    return earliest(len(keys), place, covering.written_ns[acknowledgement])[key]


def _ended_ns(rows: Deliveries, events: ClientEvents) -> NDArray[np.int64]:
    """When the connection of each delivery was first lost or closed, or NEVER."""
    connections, connection = np.unique(
        pair_numbers(rows.consumer, rows.connection), return_inverse=True
    )
    ending = find(connections, pair_numbers(events.worker, events.connection))
    ends = (ending >= 0) & events.kind.among("lost", "closed")
    return earliest(len(connections), ending[ends], events.at_ns[ends])[connection]
