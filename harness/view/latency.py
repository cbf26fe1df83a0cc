"""How long confirms took, slice by slice of a run's time: the curve that a person looks at.

1. Latency of a message: from its intended time (at rate `max`: its first sending) to its first
   confirm, in the slice in which it was intended. So a wait before sending counts, too.
2. A message that was never confirmed has no latency; it is among the missed.
3. Percentiles are by nearest rank: a value that was measured, never one between two.
4. Of more than MESSAGES_MAX messages every n-th by sequence is looked at, and n is told.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from harness.run_folder import rows
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Outcome

MESSAGES_MAX = 500_000
NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The latencies of one slice."""

    p50_ms: float
    p99_ms: float
    messages: int


@dataclass(frozen=True, slots=True)
class Latencies:
    """By number of the slice; slices without a confirmed message are left out."""

    slices: dict[int, Quantiles]
    every: int  # 1: all messages; n: every n-th


def latencies(
    folder: Path, facts: Facts, slice_s: int, messages_max: int = MESSAGES_MAX
) -> Latencies:
    """Raises rows.Unreadable."""
    every = max(1, -(-rows.count(folder, "attempts") // messages_max))
    if not facts.confirms:
        return Latencies({}, every)
    sent = _instants(folder, "attempts", "intended_ns" if facts.paced else "sent_ns", every)
    confirmed = _instants(folder, "settlements", "settled_ns", every)
    span = max(
        (int(found.sequence.max()) + 1 for found in (sent, confirmed) if len(found)), default=1
    )
    keys, began_ns = _earliest(sent, span)
    confirmed_keys, confirmed_ns = _earliest(confirmed, span)
    _, here, there = np.intersect1d(keys, confirmed_keys, True, return_indices=True)
    took_ms = (confirmed_ns[there] - began_ns[here]) / 1e6
    return Latencies(_by_slice(began_ns[here] // (slice_s * NS_PER_S), took_ms), every)


@dataclass(frozen=True, slots=True)
class _Instants:
    """Columns of equal length: when something happened to a message."""

    producer: Any
    sequence: Any
    at_ns: Any

    def __len__(self) -> int:
        return len(self.at_ns)


def _instants(folder: Path, table: str, column: str, every: int) -> _Instants:
    pieces = list(_pieces(folder, table, column, every))
    empty = np.empty(0, "<i8")
    return _Instants(*(np.concatenate([empty, *(piece[i] for piece in pieces)]) for i in range(3)))


def _pieces(folder: Path, table: str, column: str, every: int) -> Iterator[tuple[Any, Any, Any]]:
    columns = ["producer", "sequence", column, *(["outcome"] if table == "settlements" else [])]
    for batch in rows.batches(folder, table, columns):
        producer, sequence = _numbers(batch, "producer"), _numbers(batch, "sequence")
        at_ns = _numbers(batch, column)
        # Below 0: never intended (a retry, rate `max`), never sent, or a canary's producer.
        wanted = (producer >= 0) & (at_ns >= 0) & (sequence % every == 0)
        if table == "settlements":
            wanted &= _numbers(batch, "outcome") == Outcome.CONFIRMED
        yield producer[wanted], sequence[wanted], at_ns[wanted]


def _earliest(found: _Instants, span: int) -> tuple[Any, Any]:
    """Each message once, as one number in ascending order, with its earliest instant."""
    keys = found.producer * span + found.sequence
    order = np.lexsort((found.at_ns, keys))
    unique, first = np.unique(keys[order], return_index=True)
    return unique, found.at_ns[order][first]


def _by_slice(numbers: Any, took_ms: Any) -> dict[int, Quantiles]:
    order = np.lexsort((took_ms, numbers))
    numbers, took_ms = numbers[order], took_ms[order]
    found, starts = np.unique(numbers, return_index=True)
    pieces = np.split(took_ms, starts[1:]) if len(found) else []
    return {
        int(number): Quantiles(_rank(piece, 0.50), _rank(piece, 0.99), len(piece))
        for number, piece in zip(found, pieces, strict=True)
    }


def _rank(ascending: Any, share: float) -> float:
    """The smallest value that at least `share` of all do not exceed."""
    return float(ascending[max(0, int(np.ceil(share * len(ascending) - 1e-9)) - 1)])


def _numbers(batch: pa.RecordBatch, column: str) -> Any:
    return batch.column(column).to_numpy(zero_copy_only=False)
