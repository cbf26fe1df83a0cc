"""OpenChaos's verdict on a history: its checkers of queue, order, RTO and recovery.

1. Rows are taken in the order of their file. Times are milliseconds, as there.
2. All that comes beside a confirmed value's one delivery is a duplicate: what was never confirmed,
   and messages that were never sent, too.
3. One success ends an outage, even of a request that began before it. Of a fault interval only the
   first outage counts, and a service that is down at its end is down when the next one begins.
4. Every checker calls its own result valid.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.histories.rows import (
    DEQUEUE,
    ENQUEUE,
    FAIL,
    FAULT,
    INFO,
    INVOKE,
    MS,
    OK,
    START,
    Row,
)

_SOON_MS = 2_000  # a failure so soon after an outage's end begins none


@dataclass(frozen=True, slots=True)
class QueueChecker:
    """The counts of OpenChaos's QueueChecker."""

    invoked: int
    confirmed: int
    delivered: int
    lost: tuple[str, ...]
    duplicates: Counter[str]


@dataclass(frozen=True, slots=True)
class Order:
    """OrderChecker: the first value that is out of order, and its sharding key."""

    ordered: bool
    key: str | None = None
    value: str | None = None


@dataclass(slots=True)
class Rto:
    """RTOChecker, of one fault interval. 0 is never, as there."""

    unavailable: bool = False
    recovered: bool = False
    start_ms: int = 0
    end_ms: int = 0
    rto_ms: int = 0


@dataclass(frozen=True, slots=True)
class Rtos:
    intervals: tuple[Rto, ...]
    unexpected: bool  # a failure outside of every interval


@dataclass(slots=True)
class Recovery:
    """RecoveryChecker, one outage."""

    start_ms: int
    end_ms: int = 0
    took_ms: int = 0


def queue(rows: Iterable[Row]) -> QueueChecker:
    counts: Counter[tuple[str, str]] = Counter()
    waiting: dict[str, None] = {}
    surplus: Counter[str] = Counter()
    for row in rows:
        counts[row.f, row.ev] += 1
        value = str(row.value)
        if (row.f, row.ev) == (ENQUEUE, OK):
            waiting[value] = None
        elif (row.f, row.ev) == (DEQUEUE, OK):
            if value in waiting:
                del waiting[value]
            else:
                surplus[value] += 1
    # A delivery that was written down before its confirm.
    early = Counter(value for value in surplus if value in waiting)
    return QueueChecker(
        counts[ENQUEUE, INVOKE],
        counts[ENQUEUE, OK],
        counts[DEQUEUE, OK],
        tuple(value for value in waiting if value not in early),
        surplus - early,
    )


def order(rows: Sequence[Row]) -> Order:
    """Return the order by key: confirmed messages must come in that order, whatever comes
    between."""
    keys = dict.fromkeys(row.key for row in rows if (row.f, row.ev) == (ENQUEUE, OK))
    for key in keys:
        ended = [row for row in rows if row.key == key and row.ev == OK]
        confirmed = [str(row.value) for row in ended if row.f == ENQUEUE]
        place = 0
        for row in ended:
            if row.f == DEQUEUE and place < len(confirmed) and confirmed[place] == str(row.value):
                place += 1
        if place < len(confirmed):
            return Order(False, key, confirmed[place])
    return Order(True)


def rto(rows: Iterable[Row]) -> Rtos:
    intervals: list[Rto] = []
    in_fault = down = unexpected = False
    for row in rows:
        if row.f == FAULT:
            in_fault = row.ev == START
            if in_fault:
                intervals.append(Rto())
            continue
        if row.f != ENQUEUE or row.ev == INVOKE:
            continue
        if in_fault and not down and row.ev in (FAIL, INFO) and not intervals[-1].start_ms:
            intervals[-1].unavailable, intervals[-1].start_ms, down = True, _began_ms(row), True
        if in_fault and down and row.ev == OK and not intervals[-1].end_ms:
            _end(intervals[-1], row.at_ns // MS)
            down = False
        if not in_fault and row.ev == OK:
            down = False
        if not in_fault and not down and row.ev == FAIL:
            unexpected = True
    return Rtos(tuple(intervals), unexpected)


def _end(interval: Rto, at_ms: int) -> None:
    interval.end_ms, interval.recovered = at_ms, True
    interval.rto_ms = at_ms - interval.start_ms


def recovery(rows: Iterable[Row]) -> tuple[Recovery, ...]:
    outages: list[Recovery] = []
    down = False
    for row in rows:
        if row.f != ENQUEUE or row.ev == INVOKE:
            continue
        at_ms = row.at_ns // MS
        if not down and row.ev in (FAIL, INFO):
            if outages and at_ms - outages[-1].end_ms < _SOON_MS:
                continue
            outages.append(Recovery(_began_ms(row)))
            down = True
        if down and row.ev == OK and not outages[-1].end_ms:
            outages[-1].end_ms, outages[-1].took_ms = at_ms, at_ms - outages[-1].start_ms
            down = False
    return tuple(outages)


def verdict(rows: Sequence[Row]) -> dict[str, Any]:
    """All of it, by OpenChaos's keys."""
    answer, ordered, rtos = queue(rows), order(rows), rto(rows)
    return {
        "queue": {
            "isValid": True,
            "enqueueInvokeCount": answer.invoked,
            "enqueueSuccessCount": answer.confirmed,
            "dequeueSuccessCount": answer.delivered,
            "lostMessageCount": len(answer.lost),
            "lostMessages": list(answer.lost),
            "duplicateMessageCount": answer.duplicates.total(),
            "duplicateMessages": dict(answer.duplicates),
            "atMostOnce": not answer.duplicates,
            "atLeastOnce": not answer.lost,
            "exactlyOnce": not answer.lost and not answer.duplicates,
        },
        "order": {
            "isValid": True,
            "order": ordered.ordered,
            "wrongShardingKey": ordered.key,
            "wrongStartValue": ordered.value,
        },
        "rto": {
            "isValid": True,
            "results": [
                {
                    "isUnavailableInFaultInterval": one.unavailable,
                    "isRecoveryInFaultInterval": one.recovered,
                    "rtoTime": one.rto_ms,
                    "startTimestamp": one.start_ms,
                    "endTimestamp": one.end_ms,
                }
                for one in rtos.intervals
            ],
            "unexpectedUnavailableInNormalInterval": rtos.unexpected,
        },
        "recovery": {
            "isValid": True,
            "results": [
                {
                    "recoveryTime": one.took_ms,
                    "unavailableStartTimestamp": one.start_ms,
                    "unavailableEndTimestamp": one.end_ms,
                }
                for one in recovery(rows)
            ],
        },
    }


def _began_ms(row: Row) -> int:
    return (row.at_ns - (row.latency_ns or 0)) // MS
