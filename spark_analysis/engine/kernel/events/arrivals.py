"""The deliveries of a run in delivery order, and what each of them identifies.

1. Delivery order is (received_ns, consumer, connection, tag); from here on a row's number is its
   place in that order, so "first" and "earlier" are comparisons of row numbers.
2. A delivery that is not identified belongs to no message, whatever its columns say.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spark_analysis.engine.kernel.arrays import (
    Bools,
    Ints,
    among,
    find,
    first_rows,
    in_order,
    index,
    marked,
)
from spark_analysis.engine.kernel.cases import Cases, Census, plain
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.records import BadRecords, Deliveries, Text
from spark_analysis.schema.ways import WayNumbers
from spark_analysis.schema.words import Redelivered


@dataclass(frozen=True, slots=True)
class Arrivals:
    """All deliveries, in delivery order."""

    rows: Deliveries
    slot: Ints  # the message that a readable header of this run names, or -1
    attempt_row: Ints  # the row of the attempt it names, or -1
    identified: Bools
    regular: Bools  # identified, and a consumer of the load or the drain got it
    firsts: Ints  # the rows of first deliveries, ascending: messages in delivery order
    first: Ints  # by slot: the row of the first delivery, -1 where not delivered
    finds: Ints  # the first identified find of the audit of each message that has one
    found_slots: Ints  # these messages, ascending
    ways: WayNumbers

    @property
    def delivered(self) -> Bools:
        delivered: Bools = self.first >= 0
        return delivered

    def found(self, slots: Ints) -> Ints:
        """Return the first identified find of each; -1 where the audit did not find it."""
        return np.append(self.finds, -1)[find(self.found_slots, slots)]

    def received_ns(self, rows: Ints) -> Ints:
        return self.rows.received_ns[rows]

    @property
    def whole(self) -> Ints:
        """Return the rows of finds that are whole messages: no transaction holds them."""
        return np.flatnonzero(self.identified & self.came_by(self.ways.whole))

    def came_by(self, ways: Sequence[int], rows: Ints | None = None) -> Bools:
        """Return which of these rows, or of all, came by one of these ways."""
        return among(self.rows.via if rows is None else self.rows.via[rows], ways)

    def sent_ns(self, messages: Messages, rows: Ints) -> Ints:
        """Return when the attempts that these deliveries name were sent; each must be on
        record."""
        return messages.attempts.sent_ns[self.attempt_row[rows]]

    def cases(
        self,
        measure: str,
        rows: Ints,
        detail: Text,
        queue: Text,
        since_ns: Ints | None = None,
        by_ns: Ints | None = None,
    ) -> Cases:
        """One case a delivery."""
        producer, sequence = self.rows.producer[rows], self.rows.sequence[rows]
        # A broken header names no producer.
        broken = self.rows.header_ok[rows] == 0
        producer, sequence = np.where(broken, -1, producer), np.where(broken, -1, sequence)
        census = Census(measure, detail, queue)
        attempt, at_ns = self.rows.attempt[rows], self.received_ns(rows)
        return Cases(census, producer, sequence, attempt, at_ns, since_ns, by_ns)


def arrivals(deliveries: Deliveries, messages: Messages, ways: WayNumbers) -> Arrivals:
    """Return all deliveries. Raise BadRecords if one came by none of these ways."""
    _check(deliveries)
    rows = _in_order(deliveries)
    consumed, audit = among(rows.via, ways.consumed), among(rows.via, ways.audit)
    _check_ways(rows, consumed | audit, ways)
    readable = (rows.header_ok != 0) & (rows.run_ok != 0)
    size = len(messages.slots.taken)
    slot = messages.slots.find(rows.producer, rows.sequence).astype(index(size))
    slot[~readable] = -1
    identified = slot >= 0
    if size:
        identified &= messages.sent[slot]
    regular, audited = identified & consumed, identified & audit
    came, in_audit = np.flatnonzero(regular), np.flatnonzero(audited)
    first = first_rows(size, slot[came], came)
    found_slots, places = np.unique(slot[in_audit], return_index=True)
    return Arrivals(
        rows=rows,
        slot=slot,
        attempt_row=messages.rows.find(slot, rows.attempt).astype(
            index(len(messages.row_confirmed_ns))
        ),
        identified=identified,
        regular=regular,
        firsts=np.flatnonzero(marked(len(slot), first[first >= 0])).astype(index(len(slot))),
        first=first,
        finds=in_audit[places].astype(index(len(slot))),
        found_slots=found_slots,
        ways=ways,
    )


def unexpected(arrived: Arrivals, messages: Messages, publisher_logs_closed: bool) -> list[Cases]:
    """Return deliveries of messages that no publisher sent, as far as the closed logs show."""
    rows, slot = arrived.rows, arrived.slot
    header = rows.header_ok != 0
    readable = header & (rows.run_ok != 0)
    details = ("other_run", "never_sent", "not_sent", "unknown_attempt")
    holds = [header & (rows.run_ok == 0), readable & (slot < 0)]
    if len(messages.state):
        unsent = (slot >= 0) & ~messages.sent[slot]
        unknown = arrived.identified & ~messages.sent_attempt(arrived.attempt_row)
        holds += [unsent, unknown]
    cases = []
    for detail, held in zip(details, holds, strict=False):
        proven = publisher_logs_closed or detail == "other_run"
        measure = "unexpected" if proven else "unrecorded"
        cases.append(_by_row(arrived, measure, detail, np.flatnonzero(held)))
    return cases


def misrouted(arrived: Arrivals, messages: Messages) -> Cases:
    """Deliveries in another queue than the one that they were sent to."""
    rows = np.flatnonzero(arrived.regular)
    rows = rows[astray(arrived, messages, rows)]
    return arrived.cases("misrouted", rows, plain(len(rows)), messages.queue[arrived.slot[rows]])


def astray(arrived: Arrivals, messages: Messages, rows: Ints) -> Bools:
    """Return which of these regular rows came in another queue than their message's, and not by a
    way of what comes again."""
    of_queue, own = arrived.rows.queue, messages.queue
    if not len(rows):
        return np.zeros(0, np.bool_)
    numbers = {word: number for number, word in enumerate(own.words)}
    # By the delivery's words: which queue of messages that is; -1 is none of theirs.
    same = np.array([numbers.get(word, -1) for word in of_queue.words], np.int32)
    elsewhere: Bools = same[of_queue.numbers[rows]] != own.numbers[arrived.slot[rows]]
    few = np.flatnonzero(elsewhere)
    some = rows[few]
    named = ~of_queue[some].among("") & ~own[arrived.slot[some]].among("")
    elsewhere[few] = named & arrived.came_by(arrived.ways.direct, some)
    return elsewhere


def in_own_queues(arrived: Arrivals, messages: Messages) -> Arrivals:
    """Return the arrivals with first deliveries that did not go astray, if a message has any."""
    stray = arrived.firsts[astray(arrived, messages, arrived.firsts)]
    if not len(stray):
        return arrived
    wanted = marked(len(arrived.first), arrived.slot[stray])
    rows = np.flatnonzero(arrived.regular)
    rows = rows[wanted[arrived.slot[rows]]]
    rows = rows[~astray(arrived, messages, rows)][::-1]
    first = arrived.first.copy()
    first[arrived.slot[rows]] = rows  # of several numpy keeps the last, which is the earliest
    return replace(arrived, first=first, firsts=np.sort(first[first >= 0]))


def corrupt(arrived: Arrivals) -> list[Cases]:
    """Deliveries whose header or payload fails its checksum."""
    header = arrived.rows.header_ok != 0
    payload = header & (arrived.rows.payload_ok == 0)
    return [
        _by_row(arrived, "corrupt", "header", np.flatnonzero(~header)),
        _by_row(arrived, "corrupt", "payload", np.flatnonzero(payload)),
    ]


def _by_row(arrived: Arrivals, measure: str, detail: str, rows: Ints) -> Cases:
    same = Text((detail,), np.zeros(len(rows), np.int32))
    return arrived.cases(measure, rows, same, arrived.rows.queue[rows])


def _check(deliveries: Deliveries) -> None:
    if len(deliveries.redelivered) and int(deliveries.redelivered.max()) > max(Redelivered):
        raise BadRecords("a delivery has an unknown redelivered flag")


def _check_ways(rows: Deliveries, known: Bools, ways: WayNumbers) -> None:
    if not known.all():
        number = int(rows.via[np.flatnonzero(~known)[0]])
        every = ", ".join(str(way) for way in sorted(ways.every))
        raise BadRecords(
            f"deliveries.via is {number}, and the ways of this run are {every}: its system has to "
            "declare any other (docs/extending.md)"
        )


def _in_order(rows: Deliveries) -> Deliveries:
    """Consumers log in nearly this order, and one alone in this very order."""
    if (rows.received_ns[1:] > rows.received_ns[:-1]).all():
        return rows
    order = in_order(rows.received_ns, rows.consumer, rows.connection, rows.tag)
    if (order == np.arange(len(order))).all():
        return rows
    return rows.pick(order.astype(index(len(order))))
