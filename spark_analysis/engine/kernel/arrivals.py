"""The deliveries of a run in delivery order, and what each of them identifies.

1. Delivery order is (received_ns, consumer, connection, tag); from here on a row's number is its
   place in that order, so "first" and "earlier" are comparisons of row numbers.
2. A delivery that is not identified belongs to no message, whatever its columns say.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, earliest
from spark_analysis.engine.kernel.cases import Cases, Census
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.records import BadRecords, Deliveries, Text
from spark_analysis.schema.words import Redelivered, Via


@dataclass(frozen=True, slots=True)
class Arrivals:
    """All deliveries, in delivery order."""

    rows: Deliveries
    slot: NDArray[np.int64]  # the message that a readable header of this run names, or -1
    attempt_row: NDArray[np.int64]  # the row of the attempt it names, or -1
    identified: Bools
    regular: Bools  # identified, by LOAD or DRAIN
    first: NDArray[np.int64]  # by slot: the row of the first delivery, NEVER where not delivered
    found: NDArray[np.int64]  # by slot: the first identified row by AUDIT or HALF, or NEVER

    @property
    def delivered(self) -> Bools:
        return self.first < NEVER

    def received_ns(self, rows: Ints) -> Ints:
        return self.rows.received_ns[rows]

    def audited(self, via: Via) -> Bools:
        """The finds of the audit of that sort."""
        found: Bools = self.identified & (self.rows.via == via)
        return found

    def first_identified(self) -> NDArray[np.int64]:
        """By slot: the earliest identified row of any way, or NEVER."""
        rows = np.flatnonzero(self.identified)
        return earliest(len(self.first), self.slot[rows], rows)

    def cases(self, measure: str, rows: Ints, detail: Text, queue: Text) -> Cases:
        """One case a delivery."""
        producer, sequence = self.rows.producer[rows], self.rows.sequence[rows]
        # A broken header names nobody.
        broken = self.rows.header_ok[rows] == 0
        producer, sequence = np.where(broken, -1, producer), np.where(broken, -1, sequence)
        census = Census(measure, detail, queue)
        return Cases(census, producer, sequence, self.rows.attempt[rows], self.received_ns(rows))


def arrivals(deliveries: Deliveries, messages: Messages) -> Arrivals:
    _check(deliveries)
    rows = _in_order(deliveries)
    readable = (rows.header_ok != 0) & (rows.run_ok != 0)
    slot = np.where(readable, messages.slots.find(rows.producer, rows.sequence), -1)
    size = len(messages.slots.taken)
    identified = slot >= 0
    if size:
        identified &= messages.sent[slot]
    regular = identified & ((rows.via == Via.LOAD) | (rows.via == Via.DRAIN))
    audited = identified & ((rows.via == Via.AUDIT) | (rows.via == Via.HALF))
    return Arrivals(
        rows=rows,
        slot=slot,
        attempt_row=messages.rows.find(slot, rows.attempt),
        identified=identified,
        regular=regular,
        first=earliest(size, slot[regular], np.flatnonzero(regular)),
        found=earliest(size, slot[audited], np.flatnonzero(audited)),
    )


def unexpected(arrived: Arrivals, messages: Messages, publisher_logs_closed: bool) -> list[Cases]:
    """Deliveries of what nobody sent, as far as anybody can know."""
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
    if not len(deliveries.via):
        return
    if int(deliveries.via.min()) < 1 or int(deliveries.via.max()) > max(Via):
        raise BadRecords("a delivery came by an unknown way")
    if int(deliveries.redelivered.max()) > max(Redelivered):
        raise BadRecords("a delivery has an unknown redelivered flag")


def _in_order(rows: Deliveries) -> Deliveries:
    """Consumers log in nearly this order, so one pass over the times does almost all of it."""
    order = np.argsort(rows.received_ns, kind="stable")
    times = rows.received_ns[order]
    same = times[1:] == times[:-1]
    if same.any():
        tied = np.zeros(len(order), np.bool_)
        tied[1:] = same
        tied[:-1] |= same
        among = order[tied]
        keys = (rows.tag, rows.connection, rows.consumer, rows.received_ns)
        order[tied] = among[np.lexsort([key[among] for key in keys])]
    if (order == np.arange(len(order))).all():
        return rows
    return rows.pick(order)
