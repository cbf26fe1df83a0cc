"""Where surplus deliveries came from, as far as a client can tell.

1. Only messages delivered more than once are looked at, and acknowledgements are read only if a
   copy of an attempt that we had before, or a place of a log, needs them: both are few.
2. "An earlier delivery such that ..." is answered by the earliest time from which there is one, so
   a message that was redelivered a hundred thousand times costs no square.
3. Which windows lie between two deliveries is asked once of the earlier one: the earliest origin
   of those that were not over before it. They are few, and each costs one pass over the copies.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.acknowledged import ended_ns, written_ns
from spark_analysis.engine.kernel.arrays import (
    NANOSECONDS,
    NEVER,
    Bools,
    Ints,
    group_numbers,
    largest_before,
    marked,
)
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.cases import Cases, plain
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.progress import passed_ns, rolled_back, told_ns
from spark_analysis.engine.kernel.records import (
    Acknowledgements,
    ClientEvents,
    Deliveries,
    Reader,
    Text,
)
from spark_analysis.schema import measures
from spark_analysis.schema.facts import Facts, Unsettled
from spark_analysis.schema.words import Redelivered, Via

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
    before_ns: Ints  # when the message was delivered last before; of surplus ones
    fault_ns: Ints  # the earliest origin of a window that was not over before it, or NEVER

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
    by_flag, late = _by_flag(copies, diverged, old & ~placed, reader)
    by_place = _by_place(copies, diverged)
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
    rows = arrived.rows.pick(row)
    return Copies(
        row,
        rows,
        group[order].astype(np.int64),
        arrived.first[slot] != row,
        slot,
        before_ns[order],
        earliest_origins(rows.received_ns, facts.unsettled),
    )


def earliest_origins(received_ns: Ints, windows: Iterable[Unsettled]) -> NDArray[np.int64]:
    """For each time the earliest origin of the windows that were not over before it, or NEVER."""
    origin_ns = np.full(len(received_ns), NEVER, np.int64)
    for window in windows:
        over_ns = NEVER if window.over_ns is None else window.over_ns
        np.minimum(origin_ns, window.origin_ns, out=origin_ns, where=received_ns <= over_ns)
    return origin_ns


def _diverged(copies: Copies, queue: Text, facts: Facts) -> Bools:
    received_ns = copies.rows.received_ns
    diverged = np.zeros(len(copies.row), np.bool_)
    for rivals in facts.rivals:
        inside = (received_ns >= rivals.from_ns) & (received_ns <= rivals.until_ns)
        diverged |= inside & queue.among(rivals.queue)
    return diverged


def _by_flag(copies: Copies, diverged: Bools, asked: Bools, reader: Reader) -> tuple[Ints, Bools]:
    """Of what has no offset; and which of these were acknowledged too late to be heard."""
    rows = copies.rows
    again = (rows.redelivered == Redelivered.YES) | (rows.via == Via.RETRY_TOPIC)
    unsure = again | (rows.redelivered == Redelivered.NOT_TOLD)
    unsure[1:] |= copies.fault_ns[:-1] < rows.received_ns[1:]
    word = np.select([diverged, unsure], [DIVERGED, AMBIGUOUS], default=STORED_TWICE)
    again &= asked
    unsure &= asked & (word == AMBIGUOUS)
    if not (again.any() or unsure.any()):
        return word, again
    read = reader.read(Acknowledgements), reader.read(ClientEvents)
    in_time, at_all = after_acknowledgement(copies, *read)
    word[unsure & in_time] = AFTER_ACK
    word[again & ~in_time] = AMBIGUOUS
    word[again & ~at_all] = REDELIVERY
    return word, again & ~in_time & at_all


def _by_place(copies: Copies, diverged: Bools) -> Ints:
    """Of what has an offset: what only its place and those of earlier copies tell."""
    rows = copies.rows
    named = ~rows.broker.among("")
    unplaced = ~named | (rows.offset < 0)
    before: Ints = np.cumsum(unplaced) - unplaced  # of all rows above; its group's are asked for
    unclear: Bools = before > before[np.searchsorted(copies.group, copies.group)]
    again = _seen_before(copies) | (rows.via == Via.RETRY_TOPIC)
    return np.select(
        [~named, again, unclear, diverged],
        [AMBIGUOUS, REDELIVERY, AMBIGUOUS, DIVERGED],
        default=STORED_TWICE,
    )


def _seen_before(copies: Copies) -> Bools:
    """Whether an earlier delivery of its attempt has the same broker and offset."""
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
    """Corrects what came again though the group's progress had passed it: at its own place, or,
    by a retry topic, at any."""
    seen = _seen_before(copies)
    named = np.flatnonzero((copies.rows.offset >= 0) & ~copies.rows.broker.among(""))
    known = _known_ns(arrived, copies, named, facts, reader)
    for keys, chosen, word in (
        (_spots(copies), again & seen, ROLLBACK),
        (copies.group, again & ~seen, AFTER_ACK),
    ):
        back = np.zeros(len(by_place), np.bool_)
        back[named] = rolled_back(keys[named], copies.rows.received_ns[named], *known)
        by_place[chosen & back] = word


def _known_ns(
    arrived: Arrivals, copies: Copies, placed: Ints, facts: Facts, reader: Reader
) -> tuple[Ints, Ints, Ints]:
    """Of each of these copies: since when progress had passed it, when the broker must have been
    told, and what came first that may have kept that from it."""
    rows = copies.rows.pick(placed)
    passed = passed_ns(arrived, copies.row[placed], reader.read(Acknowledgements))
    since_ns = np.maximum(passed, rows.received_ns)
    origins_ns = np.sort(
        np.array([*(each.origin_ns for each in facts.unsettled), NEVER], np.int64)
    )
    fault_ns = origins_ns[np.searchsorted(origins_ns[:-1], since_ns, side="right")]
    stood = earliest_origins(since_ns, facts.unsettled) <= since_ns
    told = told_ns(arrived, copies.row[placed], since_ns, stood)
    until_ns = np.minimum(fault_ns, ended_ns(rows, reader.read(ClientEvents)))
    return since_ns, told, until_ns


def after_acknowledgement(
    copies: Copies, acknowledgements: Acknowledgements, events: ClientEvents
) -> tuple[Bools, Bools]:
    """For each copy whether an earlier one of its group was acknowledged by us in time, and
    whether one was at all.

    What was not a second old when a fault came, or when its connection ended, is not in time. Else
    it counts from a second after its acknowledgement was written on.
    """
    rows = copies.rows
    acked_ns = written_ns(rows, acknowledgements)
    until_ns = np.minimum(copies.fault_ns, ended_ns(rows, events))
    known_ns = np.full(len(rows.tag), NEVER, np.int64)
    in_time = acked_ns <= until_ns - NANOSECONDS
    known_ns[in_time] = acked_ns[in_time] + NANOSECONDS
    # The earliest above each row tells of all above it.
    known: Bools = rows.received_ns >= -largest_before(copies.group, -known_ns)
    written: Bools = rows.received_ns > -largest_before(copies.group, -acked_ns)
    return known, written
