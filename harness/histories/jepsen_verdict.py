"""Jepsen's verdict on a history: its checkers total-queue, queue, stats and perf, by its rules.

1. Multisets: a difference floors at 0, an intersection is the smaller of both.
2. total-queue uses counts alone, queue the order of the file alone. A drain is for total-queue
   only, and a crashed drain makes its answer unknown.
3. Duplicates and recovered messages break nothing; only lost or unexpected messages do.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

from harness.histories.rows import DEQUEUE, DRAIN, ENQUEUE, FAIL, FAULT, INFO, INVOKE, OK, Row

Multiset = Counter[str]
_QUANTILES = (0.5, 0.95, 0.99, 1)


@dataclass(frozen=True, slots=True)
class TotalQueue:
    """The checker total-queue."""

    valid: bool | None  # None: unknown
    attempt: Multiset
    acknowledged: Multiset
    ok: Multiset
    lost: Multiset
    unexpected: Multiset
    duplicated: Multiset
    recovered: Multiset


def total_queue(rows: Sequence[Row]) -> TotalQueue:
    attempt = Counter(_values(rows, ENQUEUE, INVOKE))
    acknowledged = Counter(_values(rows, ENQUEUE, OK))
    came = Counter([*_values(rows, DEQUEUE, OK), *_drained(rows)])
    ok = came & attempt
    unexpected = Counter({value: n for value, n in came.items() if value not in attempt})
    lost = acknowledged - came
    crashed = any((row.f, row.ev) == (DRAIN, INFO) for row in rows)
    return TotalQueue(
        valid=None if crashed else not (lost or unexpected),
        attempt=attempt,
        acknowledged=acknowledged,
        ok=ok,
        lost=lost,
        unexpected=unexpected,
        duplicated=came - attempt - unexpected,
        recovered=ok - acknowledged,
    )


def unordered_queue(rows: Iterable[Row]) -> str | None:
    """The checker queue with an unordered model: the value that first broke it, or None."""
    pending: Multiset = Counter()
    for row in rows:
        value = str(row.value)
        if (row.f, row.ev) == (ENQUEUE, INVOKE):
            pending[value] += 1
        elif (row.f, row.ev) == (DEQUEUE, OK):
            if not pending[value]:
                return value
            pending[value] -= 1
    return None


def fifo_queue(rows: Iterable[Row]) -> str | None:
    """The same with a queue that gives out what came first."""
    pending: list[str] = []
    head = 0
    for row in rows:
        if (row.f, row.ev) == (ENQUEUE, INVOKE):
            pending.append(str(row.value))
        elif (row.f, row.ev) == (DEQUEUE, OK):
            if head == len(pending) or pending[head] != str(row.value):
                return str(row.value)
            head += 1
    return None


def stats(rows: Iterable[Row]) -> dict[str, Any]:
    """Return how many of each operation ended how; each needs one that ended ok."""
    ends: dict[str, Counter[str]] = {}
    for row in rows:
        if row.f != FAULT and row.ev != INVOKE:
            ends.setdefault(row.f, Counter())[row.ev] += 1
    by_f = {f: _ended(counts) for f, counts in sorted(ends.items())}
    together = _ended(sum(ends.values(), Counter[str]()))
    return {**together, "valid?": all(each["valid?"] for each in by_f.values()), "by-f": by_f}


def quantile(q: float, values: Iterable[float]) -> float | None:
    """perf's: an element of those that there are, never between two."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, floor(len(ordered) * q))] if ordered else None


def latencies_ns(rows: Iterable[Row]) -> Iterator[int]:
    """Yield the latencies of each operation that was invoked and ended in any way."""
    begun: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.f == FAULT:
            continue
        if row.ev == INVOKE:
            begun[row.client, row.f] = row.at_ns
        elif (row.client, row.f) in begun:
            yield row.at_ns - begun.pop((row.client, row.f))


def verdict(rows: Sequence[Row]) -> dict[str, Any]:
    """All of it, by Jepsen's keys."""
    total = total_queue(rows)
    unordered, fifo = unordered_queue(rows), fifo_queue(rows)
    taken_ms = [taken / 1e6 for taken in latencies_ns(rows)]
    return {
        "total-queue": {
            "valid?": "unknown" if total.valid is None else total.valid,
            "attempt-count": total.attempt.total(),
            "acknowledged-count": total.acknowledged.total(),
            "ok-count": total.ok.total(),
            "unexpected-count": total.unexpected.total(),
            "duplicated-count": total.duplicated.total(),
            "lost-count": total.lost.total(),
            "recovered-count": total.recovered.total(),
            "lost": dict(total.lost),
            "unexpected": dict(total.unexpected),
            "duplicated": dict(total.duplicated),
            "recovered": dict(total.recovered),
        },
        "queue": {"valid?": unordered is None, "error": unordered},
        "fifo-queue": {"valid?": fifo is None, "error": fifo},
        "stats": stats(rows),
        "perf": {f"latency-ms-{q}": quantile(q, taken_ms) for q in _QUANTILES},
    }


def _values(rows: Iterable[Row], f: str, ev: str) -> Iterator[str]:
    return (str(row.value) for row in rows if (row.f, row.ev) == (f, ev))


def _drained(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        if (row.f, row.ev) == (DRAIN, OK):
            yield from row.value or ()


def _ended(counts: Counter[str]) -> dict[str, Any]:
    return {
        "valid?": counts[OK] > 0,
        "count": counts.total(),
        "ok-count": counts[OK],
        "fail-count": counts[FAIL],
        "info-count": counts[INFO],
    }
