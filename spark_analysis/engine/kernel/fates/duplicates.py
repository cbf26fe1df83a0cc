"""The sources of duplicate deliveries, as far as a client can tell.

1. The kernel reads only messages delivered more than once. It reads acknowledgements only if a
   further copy of an attempt, or a place of a log, needs them: both are few.
2. "An earlier delivery such that ..." is answered by the earliest time from which there is one. So
   a message that was redelivered a hundred thousand times costs no square.
3. The windows between two deliveries follow from the earlier one alone: the earliest origin of the
   windows that were not over before it. They are few, and each costs one pass over the copies.
4. A time of a consumer with a clock of its own is known up to `bound_ns`. It is moved by that
   before it is compared, so that only what is certain counts.
"""

from dataclasses import dataclass

import numpy as np

from spark_analysis.engine.kernel.arrays import (
    NANOSECONDS,
    NEVER,
    Bools,
    Ints,
    among,
    group_numbers,
    largest_before,
    marked,
    pair_numbers,
)
from spark_analysis.engine.kernel.cases import Cases, plain
from spark_analysis.engine.kernel.events.acknowledged import (
    acknowledged_ns,
    ended_ns,
    may_end_ns,
    unread,
)
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.windows import earliest_origins, may_have_taken
from spark_analysis.engine.kernel.fates.progress import passed_ns, reported_by_ns, rolled_back
from spark_analysis.engine.kernel.fates.requeues import held_still, next_requeue_ns
from spark_analysis.engine.kernel.records import (
    Acknowledgements,
    ClientEvents,
    Deliveries,
    Reader,
    Text,
)
from spark_analysis.schema import measures
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.words import Redelivered

DETAILS = measures.details("duplicated")
REPORTED_WITHIN_NS = 6 * NANOSECONDS  # clients tell brokers of their progress every 5 s
RETRY = DETAILS.index("publisher_retry")
DIVERGED = DETAILS.index("diverged")
STORED_TWICE = DETAILS.index("stored_twice")
AMBIGUOUS = DETAILS.index("ambiguous")
ROLLBACK = DETAILS.index("offset_rollback")
REDELIVERY = DETAILS.index("redelivery")
WITHOUT_CAUSE = DETAILS.index("redelivered_without_cause")
AFTER_ACK = DETAILS.index("redelivery_after_ack")


@dataclass(frozen=True, slots=True)
class Copies:
    """Deliveries of messages that have several, by (message, attempt), then delivery order."""

    row: Ints  # in arrivals
    rows: Deliveries
    group: Ints  # ascending: one number a (message, attempt)
    surplus: Bools  # not the first of its message
    slot: Ints
    before_ns: Ints  # when the message was delivered last before; of surplus ones
    fault_ns: Ints  # the earliest origin of a window near it, not over before it, or NEVER
    bound_ns: Ints  # by so much the clock of its consumer may be off

    @property
    def new_attempt(self) -> Bools:
        new = np.ones(len(self.group), np.bool_)
        new[1:] = self.group[1:] != self.group[:-1]
        return new


def duplicates(messages: Messages, arrived: Arrivals, facts: Facts, reader: Reader) -> list[Cases]:
    """One case a surplus delivery, with the queue of its message."""
    copies = _copies(arrived, facts)
    if not len(copies.row):
        return []
    queue = messages.queue[copies.slot]
    diverged = _diverged(copies, queue, facts)
    placed = copies.rows.offset >= 0
    old = copies.surplus & ~copies.new_attempt
    by_flag, late = _by_flag(copies, diverged, old & ~placed, arrived.rows, facts, reader)
    by_place = _by_place(copies, diverged, facts)
    again = old & placed & (by_place == REDELIVERY)
    if again.any():
        _past_progress(by_place, again, arrived, copies, facts, reader)
    detail = np.where(copies.new_attempt, RETRY, np.where(placed, by_place, by_flag))
    chosen = np.flatnonzero(copies.surplus)
    words = Text(DETAILS, detail[chosen].astype(np.int32))
    too_late = np.flatnonzero(late)
    return [
        _cases(arrived, copies, queue, "duplicated", chosen, words),
        _cases(arrived, copies, queue, "acknowledged_late", too_late, plain(len(too_late))),
    ]


def _cases(
    arrived: Arrivals, copies: Copies, queue: Text, measure: str, chosen: Ints, detail: Text
) -> Cases:
    return arrived.cases(
        measure,
        copies.row[chosen],
        detail,
        queue[chosen],
        copies.before_ns[chosen],
        copies.rows.received_ns[chosen],
    )


def _copies(arrived: Arrivals, facts: Facts) -> Copies:
    regular = np.flatnonzero(arrived.regular)
    extra = arrived.first[arrived.slot[regular]] != regular
    several = marked(len(arrived.first), arrived.slot[regular[extra]])
    row = regular[several[arrived.slot[regular]]]
    by_message = row[np.argsort(arrived.slot[row], kind="stable")]
    before_ns = np.roll(arrived.received_ns(by_message), 1)
    group = group_numbers(arrived.slot[by_message], arrived.rows.attempt[by_message])
    order = np.argsort(group, kind="stable")
    row = by_message[order]
    slot = arrived.slot[row]
    rows, group = arrived.rows.pick(row), group[order].astype(np.int64)
    bound_ns = _bounds_ns(rows, facts)
    return Copies(
        row,
        rows,
        group,
        arrived.first[slot] != row,
        slot,
        before_ns[order],
        _fault_ns(rows, group, bound_ns, facts),
        bound_ns,
    )


def _fault_ns(rows: Deliveries, group: Ints, bound_ns: Ints, facts: Facts) -> Ints:
    """Return the earliest origin of the windows that were not over before each copy, or NEVER. A
    fault of client processes that took none of its group's consumers is left out."""
    fault_ns = np.full(len(group), NEVER, np.int64)
    for each in facts.unsettled:
        origin_ns = earliest_origins(rows.received_ns - bound_ns, [each])
        taken = may_have_taken(rows.consumer, facts, each)
        np.minimum(fault_ns, origin_ns, out=fault_ns, where=np.isin(group, group[taken]))
    return fault_ns


def _bounds_ns(rows: Deliveries, facts: Facts) -> Ints:
    bound_ns = np.zeros(len(rows.tag), np.int64)
    for worker, worker_ns in facts.clock_bounds_ns.items():
        bound_ns[rows.consumer == worker] = worker_ns
    return bound_ns


def _diverged(copies: Copies, queue: Text, facts: Facts) -> Bools:
    received_ns = copies.rows.received_ns
    diverged = np.zeros(len(copies.row), np.bool_)
    for competing_leaders in facts.competing_leaders:
        inside = received_ns >= competing_leaders.from_ns + copies.bound_ns
        inside &= received_ns <= competing_leaders.until_ns - copies.bound_ns
        diverged |= inside & queue.among(competing_leaders.queue)
    return diverged


def _by_flag(
    copies: Copies,
    diverged: Bools,
    wanted: Bools,
    every: Deliveries,
    facts: Facts,
    reader: Reader,
) -> tuple[Ints, Bools]:
    """Return the sources of copies without an offset, and those that were acknowledged too late to
    arrive. `every`: all deliveries."""
    rows, ways = copies.rows, facts.way_numbers
    again = (rows.redelivered == Redelivered.YES) | among(rows.via, ways.again)
    silent = rows.redelivered == Redelivered.NOT_REPORTED
    unsure = again | silent
    between = np.zeros(len(again), np.bool_)
    between[1:] = copies.fault_ns[:-1] < (rows.received_ns + copies.bound_ns)[1:]
    if not wanted.any():
        return np.full(len(again), STORED_TWICE), wanted
    acknowledgements, events = reader.read(Acknowledgements), reader.read(ClientEvents)
    over_ns = ended_ns(rows, events)
    may_end = may_end_ns(rows, events, acknowledgements, every, unread(rows, copies.group, facts))
    in_time, at_all, long_ago = after_acknowledgement(
        copies, acknowledgements, over_ns, may_end, facts
    )
    ended, perhaps = _ended_before(copies, over_ns, may_end)
    unknown_end, requeued = _end_is_unknown(rows, events), _requeued(copies, events)
    unsure |= between | perhaps | requeued | (~at_all & unknown_end)
    proved = diverged & (in_time | ~silent)
    word = np.select([proved, unsure], [DIVERGED, AMBIGUOUS], default=STORED_TWICE)
    word[unsure & ~diverged & in_time] = AFTER_ACK
    word[~again & ended & ~at_all & ~diverged] = REDELIVERY
    flagged = again
    again = again & wanted
    word[again & ~in_time] = AMBIGUOUS
    word[again & ~at_all] = REDELIVERY
    loaded = among(rows.via, ways.direct_load)
    held = held_still(rows, loaded, acknowledgements, events) & ~ended & ~between & ~requeued
    word[again & ~at_all & held] = WITHOUT_CAUSE
    deleted = _deleted(copies, may_end, facts) & ~unknown_end
    word[deleted] = np.where(diverged, DIVERGED, STORED_TWICE)[deleted]
    again &= ~deleted
    unordered = _may_have_come_later(copies)
    unordered[1:] &= flagged[1:] != flagged[:-1]
    word[unordered] = AMBIGUOUS
    again &= ~unordered
    return word, again & ~in_time & at_all & ~long_ago


def _apart_ns(copies: Copies) -> Ints:
    """Return by how much the clocks of each copy's consumer, and of that of the copy above it, may
    differ."""
    consumer, apart_ns = copies.rows.consumer, np.zeros(len(copies.row), np.int64)
    apart_ns[1:] = (copies.bound_ns[1:] + copies.bound_ns[:-1]) * (consumer[1:] != consumer[:-1])
    return apart_ns


def _ended_before(copies: Copies, over_ns: Ints, may_end: Ints) -> tuple[Bools, Bools]:
    """Return whether the connection of the copy above each one had ended when that came: for
    certain; and perhaps, as far as clocks and logs show. `over_ns`, `may_end`: when each copy's
    ended, and from when on it may have, or NEVER."""
    apart_ns, received_ns = _apart_ns(copies), copies.rows.received_ns
    over_ns, may_end = np.roll(over_ns, 1), np.roll(may_end, 1)
    over_ns[:1] = may_end[:1] = NEVER
    certain: Bools = (over_ns < NEVER) & (over_ns < received_ns - apart_ns)
    perhaps: Bools = (may_end < NEVER) & (may_end < received_ns + apart_ns)
    return certain, perhaps


def _requeued(copies: Copies, events: ClientEvents) -> Bools:
    """Return whether the consumer of the copy above each one may have requeued that before."""
    back_ns = np.roll(next_requeue_ns(copies.rows, events), 1)
    back_ns[:1] = NEVER
    back: Bools = (back_ns < NEVER) & (back_ns < copies.rows.received_ns + _apart_ns(copies))
    return back


def _end_is_unknown(rows: Deliveries, events: ClientEvents) -> Bools:
    """Return whether each copy came by another connection than the one above it, whose consumer
    has no client event on record."""
    unknown = np.zeros(len(rows.tag), np.bool_)
    silent = ~np.isin(rows.consumer, events.worker)
    connection = pair_numbers(rows.consumer, rows.connection)
    unknown[1:] = silent[:-1] & (connection[1:] != connection[:-1])
    return unknown


def _may_have_come_later(copies: Copies) -> Bools:
    """Return whether the clocks leave open which came first, each copy or the one above it."""
    received_ns, later = copies.rows.received_ns, np.zeros(len(copies.row), np.bool_)
    later[1:] = received_ns[:-1] > (received_ns - _apart_ns(copies))[1:]
    return later & ~copies.new_attempt


def _by_place(copies: Copies, diverged: Bools, facts: Facts) -> Ints:
    """Return the sources of copies with an offset, as far as their places alone show."""
    rows = copies.rows
    named = ~rows.broker.among("")
    unplaced = ~named | (rows.offset < 0)
    before: Ints = np.cumsum(unplaced) - unplaced  # of all rows above; its group's are asked for
    unclear: Bools = before > before[np.searchsorted(copies.group, copies.group)]
    again = _seen_before(copies) | among(rows.via, facts.way_numbers.again)
    return np.select(
        [~named, again, unclear, diverged],
        [AMBIGUOUS, REDELIVERY, AMBIGUOUS, DIVERGED],
        default=STORED_TWICE,
    )


def _seen_before(copies: Copies) -> Bools:
    """Return whether an earlier delivery of its attempt has the same broker and offset."""
    seen = np.ones(len(copies.row), np.bool_)
    _, first = np.unique(_spots(copies), return_index=True)  # of each the earliest
    seen[first] = False
    return seen


def _spots(copies: Copies) -> Ints:
    """One number a (message, attempt, place of a log)."""
    rows = copies.rows
    return group_numbers(copies.group, rows.broker.numbers, rows.offset)


def _past_progress(
    by_place: Ints,
    again: Bools,
    arrived: Arrivals,
    copies: Copies,
    facts: Facts,
    reader: Reader,
) -> None:
    """Correct the sources of copies that came again after the group's progress had passed them: at
    their own place, or, by a way of what comes again, at any."""
    seen = _seen_before(copies)
    named = np.flatnonzero((copies.rows.offset >= 0) & ~copies.rows.broker.among(""))
    known = _known_ns(arrived, copies, named, facts, reader)
    for keys, chosen, word in (
        (_spots(copies), again & seen, ROLLBACK),
        (copies.group, again & ~seen, AFTER_ACK),
    ):
        back = np.zeros(len(by_place), np.bool_)
        came_ns = copies.rows.received_ns[named] - 2 * _widest_ns(facts)
        back[named] = rolled_back(keys[named], came_ns, *known)
        by_place[chosen & back] = word


def _widest_ns(facts: Facts) -> int:
    """Return the largest bound: progress of a group is what all of its consumers acknowledged."""
    return max(facts.clock_bounds_ns.values(), default=0)


def _known_ns(
    arrived: Arrivals, copies: Copies, placed: Ints, facts: Facts, reader: Reader
) -> tuple[Ints, Ints, Ints]:
    """Return for each of these copies when progress had passed it, by when the broker must have
    received that, and the first event after it that may have prevented this."""
    rows = copies.rows.pick(placed)
    acknowledgements, events = reader.read(Acknowledgements), reader.read(ClientEvents)
    passed = passed_ns(arrived, copies.row[placed], acknowledgements)
    since_ns = np.maximum(passed, rows.received_ns)
    origins_ns = np.sort(
        np.array([*(each.origin_ns for each in facts.unsettled), NEVER], np.int64)
    )
    widest_ns = _widest_ns(facts)
    from_ns = since_ns - widest_ns
    fault_ns = origins_ns[np.searchsorted(origins_ns[:-1], from_ns, side="right")]
    stood = earliest_origins(from_ns, facts.unsettled) - widest_ns <= since_ns
    reported_ns = reported_by_ns(arrived, copies.row[placed], since_ns, stood)
    open_ended = unread(rows, copies.group[placed], facts)
    over_ns = may_end_ns(rows, events, acknowledgements, arrived.rows, open_ended)
    until_ns = np.minimum(fault_ns - widest_ns, over_ns - 2 * widest_ns)
    return since_ns, reported_ns, until_ns


def _harmed_ns(copies: Copies, may_end: Ints) -> Ints:
    """Return when a fault, or the end of its connection, may have met each copy's settlement."""
    harmed_ns: Ints = np.minimum(copies.fault_ns - copies.bound_ns, may_end)
    return harmed_ns


def _deleted(copies: Copies, may_end: Ints, facts: Facts) -> Bools:
    """Return whether the broker must have deleted an earlier one of each copy's group, because
    consumers do not acknowledge."""
    rows, bound_ns = copies.rows, copies.bound_ns
    if facts.acknowledges:
        return np.zeros(len(rows.tag), np.bool_)
    at_once = among(rows.via, facts.way_numbers.load) & (rows.offset < 0)
    at_once &= rows.received_ns <= _harmed_ns(copies, may_end) - NANOSECONDS
    deleted_ns = np.where(at_once, rows.received_ns + bound_ns, NEVER)
    deleted: Bools = rows.received_ns - bound_ns >= -largest_before(copies.group, -deleted_ns)
    return deleted


def after_acknowledgement(
    copies: Copies,
    acknowledgements: Acknowledgements,
    over_ns: Ints,
    may_end: Ints,
    facts: Facts,
) -> tuple[Bools, Bools, Bools]:
    """Return three flags for each copy: an earlier one of its group was acknowledged by us in
    time; one was acknowledged at all; one was a second ago and nothing interfered.

    An acknowledgement is not in time if it was less than a second old when a fault came or its
    connection ended (`over_ns`), or may have ended (`may_end`). Else it counts from a second after
    it was written.
    """
    rows, bound_ns = copies.rows, copies.bound_ns
    acked_ns = acknowledged_ns(rows, acknowledgements, over_ns)
    wrong = acked_ns < rows.received_ns
    known_ns = np.full(len(rows.tag), NEVER, np.int64)
    in_time = (acked_ns <= _harmed_ns(copies, may_end) - NANOSECONDS) & ~wrong
    known_ns[in_time] = (acked_ns + bound_ns)[in_time] + NANOSECONDS
    soonest_ns, latest_ns = rows.received_ns - bound_ns, rows.received_ns + bound_ns
    # The earliest above each row tells of all above it.
    known: Bools = soonest_ns >= -largest_before(copies.group, -known_ns)
    written: Bools = latest_ns > -largest_before(copies.group, bound_ns - acked_ns)
    met = (acked_ns > over_ns - NANOSECONDS) | (acked_ns == NEVER)
    for each in facts.unsettled:
        effective_ns = each.returned_ns if isinstance(each, Window) else each.origin_ns
        lasts = latest_ns <= (NEVER if each.over_ns is None else each.over_ns)
        lasts &= may_have_taken(rows.consumer, facts, each)
        near = acked_ns - bound_ns > each.origin_ns - NANOSECONDS
        met |= lasts & near & (acked_ns <= effective_ns + NANOSECONDS - bound_ns)
    old_ns = np.where(met, NEVER, acked_ns - bound_ns + NANOSECONDS * ~met)
    old_ns[wrong] = -NEVER
    long_ago: Bools = latest_ns >= -largest_before(copies.group, -old_ns)
    return known, written, long_ago
