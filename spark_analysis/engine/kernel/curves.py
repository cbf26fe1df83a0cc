"""The curves of a run's page: latencies by slice, sends by producer and second.

1. Messages are ordered by producer and sequence, so their slices nearly ascend: a stable sort of
   them is cheap. Within a slice nothing is sorted.
2. Producers and seconds are small numbers, so a small table counts the sends.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from spark_analysis.engine.kernel.arrays import MANY, NANOSECONDS, NEVER, Bools, Ints, blocks
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.schema.availability import Second
from spark_analysis.schema.curves import Latency, Sending, slice_length_s
from spark_analysis.schema.facts import Facts

_CELLS = 1 << 14  # of a table that is added up block by block


def latencies(known: Messages, seconds: Iterable[Second], facts: Facts) -> list[Latency]:
    if not facts.confirms:
        return []
    slice_s = slice_length_s(row.second for row in seconds)
    slices, took_ns = _measured(known, facts)
    slices //= slice_s * NANOSECONDS
    order = np.argsort(slices, kind="stable")
    numbers, starts = np.unique(slices[order], return_index=True)
    pieces = np.split(took_ns[order], starts[1:]) if len(numbers) else []
    return [
        Latency(facts.run, number * slice_s, *_quantiles(piece), len(piece))
        for number, piece in zip(numbers.tolist(), pieces, strict=True)
    ]


def _measured(known: Messages, facts: Facts) -> tuple[Ints, Ints]:
    """Return when each confirmed message was due, and its latency."""
    due_ns = _due_ns(known, facts)
    there = (due_ns >= 0) & (due_ns < NEVER) & (known.confirmed_ns < NEVER)
    due_ns, took_ns = due_ns[there], known.confirmed_ns[there]
    took_ns -= due_ns
    return due_ns, took_ns


def _due_ns(known: Messages, facts: Facts) -> Ints:
    """Return by slot when it was due; below 0 or NEVER if it has no due time."""
    if not facts.paced:
        return known.first_sent_ns
    first = known.rows.first
    intended_ns = known.attempts.intended_ns
    due_ns = np.full(len(first), -1, np.int64)
    for some in blocks(len(first) if len(intended_ns) else 0, MANY):
        due_ns[some] = np.where(first[some] >= 0, intended_ns[first[some]], -1)
    return due_ns


def _quantiles(piece: Ints) -> tuple[int, int]:
    places = [-(-percent * len(piece) // 100) - 1 for percent in (50, 99)]
    parted = np.partition(piece, places)
    return int(parted[places[0]]), int(parted[places[1]])


def sending(known: Messages, failed: Bools, facts: Facts) -> list[Sending]:
    """`failed`: by attempt's row."""
    if not facts.confirms:
        return []
    producer, sent_ns = known.attempts.producer, known.attempts.sent_ns
    most = max(int(sent_ns.max(initial=0)), 0) // NANOSECONDS + 1
    found = []
    for key, sent, wrong in _tallied(producer, sent_ns, failed, most):
        found.append(Sending(facts.run, *divmod(key, most), sent, wrong))
    return found


def _tallied(
    producer: Ints, sent_ns: Ints, failed: Bools, most: int
) -> Iterator[tuple[int, int, int]]:
    """Producer and second as one number; how many were sent, how many of these failed."""
    cells = (int(producer.max(initial=0)) + 1) * most
    if cells > _CELLS:
        sent = sent_ns >= 0
        keys = producer[sent].astype(np.int64) * most + sent_ns[sent] // NANOSECONDS
        numbers, which = np.unique(keys, return_inverse=True)
        every = np.bincount(which, minlength=len(numbers))
        wrong = np.bincount(which[failed[sent]], minlength=len(numbers))
        yield from zip(numbers.tolist(), every.tolist(), wrong.tolist(), strict=True)
        return
    table = np.zeros((2, cells), np.int64)
    for some in blocks(len(sent_ns)):
        sent = sent_ns[some] >= 0
        keys = producer[some][sent].astype(np.int64) * most + sent_ns[some][sent] // NANOSECONDS
        table[0] += np.bincount(keys, minlength=cells)
        table[1] += np.bincount(keys[failed[some][sent]], minlength=cells)
    for key in np.flatnonzero(table[0]).tolist():
        yield key, int(table[0, key]), int(table[1, key])
