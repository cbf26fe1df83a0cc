"""The order of delivery of messages of one producer and key.

1. A message is judged only if order is promised and the place of its copy is certain.
2. A message is overtaken if a message came before it in its line that was sent after its confirm,
   or sent after it on its connection. The latest such message of a line so far decides for all.
3. Who read the two matters only if any message was overtaken at all.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    MANY,
    NEVER,
    Bools,
    Ints,
    blocks,
    distinct_places,
    find,
    group_numbers,
    in_order,
    largest_before,
)
from spark_analysis.engine.kernel.cases import Cases, Census, plain
from spark_analysis.engine.kernel.events.arrivals import Arrivals, astray, in_own_queues
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.fates.delays import bounds_ns
from spark_analysis.engine.kernel.records import Deliveries, Text
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Redelivered

NOT_JUDGED = ("not_promised", "not_at_once", "not_certain", "not_reported")
JUDGED = len(NOT_JUDGED)


def order(messages: Messages, arrived: Arrivals, facts: Facts) -> tuple[list[Census], list[Cases]]:
    """The messages not judged and in order, and those reordered."""
    arrived = in_own_queues(arrived, messages)
    slots = arrived.slot[arrived.firsts]
    reason = _reasons(messages, arrived, facts, slots)
    judged, left_out = slots[reason == JUDGED], reason < JUDGED
    alike, at_all = _overtaken(messages, arrived, judged, facts)
    kept = judged[~at_all]
    counted = [
        Census("not_judged", Text(NOT_JUDGED, reason[left_out]), messages.queue[slots[left_out]]),
        Census("in_order", plain(len(kept)), messages.queue[kept]),
    ]
    return counted, [
        _cases(messages, arrived, "reordered", judged[alike]),
        _cases(messages, arrived, "reorder_unknown", judged[at_all & ~alike]),
    ]


def _cases(messages: Messages, arrived: Arrivals, measure: str, slots: Ints) -> Cases:
    first = arrived.first[slots]
    at_ns = arrived.received_ns(first)
    since_ns = messages.attempts.sent_ns[arrived.attempt_row[first]]
    return messages.cases(measure, slots, plain(len(slots)), at_ns, since_ns, at_ns)


def _reasons(
    messages: Messages, arrived: Arrivals, facts: Facts, slots: Ints
) -> NDArray[np.int32]:
    """Return why each delivered message is not judged, or JUDGED."""
    first = arrived.first[slots]
    promised = messages.queue[slots].among(*(q.queue for q in facts.queues if q.ordered))
    at_once = messages.terms.at_once[slots]
    flags = arrived.rows.redelivered[first]
    silent = (flags == Redelivered.NOT_REPORTED) & (arrived.rows.offset[first] < 0)
    flagged = ~silent & ~arrived.came_by(arrived.ways.again, first)
    certain = _certain(messages, arrived.attempt_row[first], slots)
    certain &= ~_impossible(messages, arrived, first, facts)
    certain &= ~astray(arrived, messages, first)
    reasons = np.full(len(slots), JUDGED, np.int32)
    for number, held in reversed([*enumerate((promised, at_once, certain, flagged))]):
        reasons[~held] = number
    return reasons


def _certain(messages: Messages, row: Ints, slots: Ints) -> Bools:
    """Return whether the place of the copy of each attempt's row is certain."""
    certain = messages.sent_attempt(row)
    open_places = np.flatnonzero(certain)
    open_places = open_places[messages.row_confirmed_ns[row[open_places]] == NEVER]
    if len(open_places):
        denied = find(messages.denials.row, row[open_places]) >= 0
        several = messages.rows.several(slots[open_places])
        certain[open_places] = ~several & ~denied
    return certain


def _impossible(messages: Messages, arrived: Arrivals, first: Ints, facts: Facts) -> Bools:
    """Return whether an effect of each delivered attempt came before its sending, by more than
    clocks may be off."""
    row, received_ns = arrived.attempt_row[first], arrived.received_ns(first)
    sent_ns = messages.attempts.sent_ns[row]
    early = received_ns < sent_ns
    if early.any():
        producer, consumer = arrived.rows.producer[first], arrived.rows.consumer[first]
        off_ns = bounds_ns(producer, facts) + bounds_ns(consumer, facts)
        early = received_ns + off_ns < sent_ns
    impossible: Bools = early | (messages.row_confirmed_ns[row] < sent_ns)
    return impossible


def _overtaken(
    messages: Messages, arrived: Arrivals, slots: Ints, facts: Facts
) -> tuple[Bools, Bools]:
    """Return for messages in delivery order whether one with as many flags certainly came before
    it though sent later, and whether any did."""
    first = arrived.first[slots]
    row = arrived.attempt_row[first]
    attempts = messages.attempts
    sendings = Sendings(
        attempts.sent_ns[row],
        messages.row_confirmed_ns[row],
        attempts.connection[row],
        slots,
        attempts.attempt[row] == 1,
    )
    line = group_numbers(
        attempts.producer[row],
        attempts.key[row],
        messages.queue.numbers[slots],
    )
    at_all = sendings.overtaken(line)
    if not at_all.any():
        return at_all, at_all
    rows = arrived.rows.pick(first)
    alike = (rows.redelivered == Redelivered.YES).astype(np.int8)
    # A consumer that keeps its place in a log may go ahead and back, on another connection.
    goes_back = (rows.offset >= 0) & np.bool_(not facts.brokers_keep_progress)
    session = group_numbers(line, rows.consumer, rows.connection)
    split = goes_back | _in_turn(group_numbers(line, rows.consumer), session)
    reader = group_numbers(line, rows.consumer, np.where(split, rows.connection, -1), alike)
    own = sendings.overtaken(reader)
    known = ~np.isin(rows.consumer, [clock.worker for clock in facts.clocks]) & ~goes_back
    own |= sendings.overtaken_before(line, session, alike, known)
    placed = np.flatnonzero(goes_back & ~rows.broker.among(""))
    own[placed] |= at_all[placed] & _wrong_in_log(sendings, line, rows, placed)
    if facts.requeues_behind:
        own[(alike == 1) & (rows.offset < 0)] = False
    return own, at_all


def _in_turn(reader: Ints, session: Ints) -> Bools:
    """Return whether the connections of each one's reader, a consumer of a line, received in turn:
    one between two deliveries of another."""
    readers, place = np.unique(reader, return_inverse=True)
    _, begins = np.unique(session, return_index=True)
    by_reader = np.argsort(place, kind="stable")
    changed = np.ones(len(place), np.bool_)
    changed[1:] = session[by_reader][1:] != session[by_reader][:-1]
    spells = np.bincount(place[by_reader[changed]], minlength=len(readers))
    in_turn: Bools = spells > np.bincount(place[begins], minlength=len(readers))
    return in_turn[place]


def _wrong_in_log(sendings: "Sendings", line: Ints, rows: Deliveries, placed: Ints) -> Bools:
    """Return whether each of the placed rows lies in its log behind one that it is before."""
    order = placed[np.argsort(rows.offset[placed], kind="stable")]
    in_log = np.zeros(len(line), np.bool_)
    by_place = group_numbers(line[order], rows.broker.numbers[order])
    in_log[order] = sendings.pick(order).overtaken(by_place)
    return in_log[placed]


@dataclass(frozen=True, slots=True)
class Sendings:
    """The send and confirm times of messages, in delivery order, and their connections."""

    sent_ns: Ints
    confirmed_ns: Ints
    connection: Ints
    slot: Ints  # of one producer they ascend by sequence
    is_first: Bools  # the first attempt of its message

    def pick(self, rows: Ints) -> "Sendings":
        """Return these, in this order."""
        return Sendings(*(getattr(self, field.name)[rows] for field in fields(self)))

    def overtaken(self, line: Ints) -> Bools:
        """Return whether a message before it in its line was sent after its confirm, or after it
        on its connection."""
        found = np.zeros(len(line), np.bool_)
        several = len(line) > 0 and (self.connection != self.connection[0]).any()
        of_connection = group_numbers(line, self.connection) if several else line
        at_once = False
        for some, latest_ns in _latest_before(of_connection, self.sent_ns):
            found[some] = latest_ns > self.sent_ns[some]
            if not several:
                found[some] |= latest_ns > self.confirmed_ns[some]
            at_once |= bool((latest_ns == self.sent_ns[some]).any())
        if several:
            for some, latest_ns in _latest_before(line, self.sent_ns):
                found[some] |= latest_ns > self.confirmed_ns[some]
        if at_once:
            rank = np.empty(len(line), np.int64)  # by time, and of one time by sequence
            rank[in_order(self.sent_ns, self.slot)] = np.arange(len(line))
            # When a retry was sent among those of one time is unknown.
            for some, latest in _latest_before(of_connection, np.where(self.is_first, rank, -1)):
                found[some] |= self.is_first[some] & (latest > rank[some])
        return found

    def overtaken_before(self, line: Ints, session: Ints, alike: Ints, known: Bools) -> Bools:
        """Return whether a message with as many flags, sent after its confirm, came before all of
        its session. `known`: received on the run's own clock."""
        _, starts, place = np.unique(session, return_index=True, return_inverse=True)
        found = np.zeros(len(line), np.bool_)
        for flag in (0, 1):
            sent_ns = np.where((alike == flag) & known, self.sent_ns, -1)
            latest_ns = np.empty(len(line), np.int64)
            for some, before_ns in _latest_before(line, sent_ns):
                latest_ns[some] = before_ns
            late = latest_ns[starts][place] > self.confirmed_ns
            found |= (alike == flag) & known & late
        return found


def _latest_before(line: Ints, times: Ints) -> Iterator[tuple[slice, Ints]]:
    """The largest time of those before each in its line, a block of rows at a time; below all
    where it is the first."""
    _, line = distinct_places(line)
    latest = np.full(int(line.max(initial=0)) + 1, -NEVER, np.int64)  # of each line, so far
    for some in blocks(len(line), MANY):
        of_some, at = line[some], times[some]
        by_line = np.argsort(of_some, kind="stable")
        before = np.empty(len(at), np.int64)
        before[by_line] = largest_before(of_some[by_line], at[by_line])
        yield some, np.maximum(before, latest[of_some])
        np.maximum.at(latest, of_some, at)
