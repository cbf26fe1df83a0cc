"""The time that a worker stood still in each window, however short each stall was.

1. The overlap of two stalls counts once, and time in an absence does not count.
2. Nearly every worker's total is far too small, and those are skipped.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import Ints
from spark_analysis.engine.kernel.records import Lateness
from spark_analysis.engine.kernel.windows import judged_times
from spark_analysis.schema.facts import Facts

TOO_MUCH = 20  # one part in so many of a window


def stalls(lateness: Lateness, facts: Facts) -> Iterator[tuple[int, int, int]]:
    """(window, worker, sum of ns) where that is too much."""
    workers = {
        worker.number for worker in facts.workers if worker.role in ("publisher", "consumer")
    }
    times = judged_times(facts)
    shortest_ns = min((each.until_ns - each.from_ns for each in times), default=0)
    for worker in sorted(workers):
        rows = np.flatnonzero((lateness.worker == worker) & (lateness.late_ns > 0))
        until_ns, late_ns = lateness.at_ns[rows], lateness.late_ns[rows]
        if int(late_ns.sum()) * TOO_MUCH <= shortest_ns:
            continue
        away = _absences(worker, facts)
        late = np.stack([until_ns - late_ns, until_ns], axis=1)
        for judged in times:
            span = (judged.from_ns, judged.until_ns)
            sum_ns = covered_ns(np.concatenate([late, away]), *span) - covered_ns(away, *span)
            if sum_ns > 0 and sum_ns * TOO_MUCH > judged.until_ns - judged.from_ns:
                yield judged.number, worker, sum_ns


def covered_ns(spans: Ints, from_ns: int, until_ns: int) -> int:
    """Return how much of [from_ns, until_ns) these [begin, end) cover together."""
    inside = np.clip(spans, from_ns, max(from_ns, until_ns))
    inside = inside[np.argsort(inside[:, 0], kind="stable")]
    begin, end = inside[:, 0], inside[:, 1]
    reached = np.maximum.accumulate(end)
    begin = begin.copy()
    begin[1:] = np.maximum(begin[1:], reached[:-1])
    return int(np.maximum(end - begin, 0).sum())


def _absences(worker: int, facts: Facts) -> NDArray[np.int64]:
    spans = [
        (absence.from_ns, np.iinfo(np.int64).max if absence.until_ns is None else absence.until_ns)
        for absence in facts.absences
        if absence.worker == worker
    ]
    return np.array(spans, np.int64).reshape(-1, 2)
