"""Stalls of the instrument: ticks of publishers and consumers that ran late.

1. A tick that is late by over 100 ms puts the windows in doubt that its lateness touches. What a
   fault kept the worker from is no stall.
2. Short ones count by their sum, too: over 5 % of a window stalled makes its times unknown.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Facts
from tests.oracle.absences import Absences
from tests.oracle.events import Stall
from tests.oracle.windows import Judged, judged

_LATE_NS_MAX = 100_000_000
_SHARE_MAX = 20  # one in so many: 5 %

Time = tuple[int, int]  # from, until


def doubts(facts: Facts, stalls: Iterable[Stall]) -> Iterator[Doubt]:
    load = {worker.number for worker in facts.workers if worker.role in ("publisher", "consumer")}
    of_load = [stall for stall in stalls if stall.worker in load]
    absences = Absences(facts)
    consumers = {worker.number for worker in facts.workers if worker.role == "consumer"}
    for doubt in (*_long(facts, of_load, absences), *_sums(facts, of_load, absences)):
        of_consumer = doubt.worker in consumers
        yield replace(doubt, reason=f"consumer_{doubt.reason}") if of_consumer else doubt


def _long(facts: Facts, stalls: Iterable[Stall], absences: Absences) -> Iterator[Doubt]:
    windows = judged(facts)
    for stall in stalls:
        due_ns = stall.at_ns - stall.late_ns
        stalled = without([(due_ns, stall.at_ns)], merged(absences.times(stall.worker)))
        if sum(until_ns - from_ns for from_ns, until_ns in stalled) <= _LATE_NS_MAX:
            continue
        for window in windows:
            if due_ns < window.until_ns and stall.at_ns > window.from_ns:
                yield _doubt(facts, window, "stalled", stall.worker, stall.at_ns, stall.late_ns)


def _sums(facts: Facts, stalls: Iterable[Stall], absences: Absences) -> Iterator[Doubt]:
    times = defaultdict[int, list[Time]](list)
    for stall in stalls:
        times[stall.worker].append((stall.at_ns - stall.late_ns, stall.at_ns))
    windows = judged(facts)
    for worker, late in times.items():
        stalled = without(merged(late), merged(absences.times(worker)))
        for window in windows:
            sum_ns = _within(stalled, window)
            if sum_ns * _SHARE_MAX > max(0, window.until_ns - window.from_ns):
                yield _doubt(facts, window, "stalls", worker, 0, sum_ns)


def merged(times: Iterable[Time]) -> list[Time]:
    """Return the same time without overlap and in order."""
    found: list[Time] = []
    for from_ns, until_ns in sorted(time for time in times if time[0] < time[1]):
        if found and from_ns <= found[-1][1]:
            found[-1] = found[-1][0], max(until_ns, found[-1][1])
        else:
            found.append((from_ns, until_ns))
    return found


def without(times: Iterable[Time], others: Sequence[Time]) -> list[Time]:
    """Return the times without those that the others cover; both without overlap and in order."""
    ends = [until_ns for _, until_ns in others]
    found: list[Time] = []
    for from_ns, until_ns in times:
        at = bisect_left(ends, from_ns)
        while at < len(others) and others[at][0] < until_ns:
            found.append((from_ns, others[at][0]))
            from_ns = others[at][1]
            at += 1
        found.append((from_ns, until_ns))
    return [(from_ns, until_ns) for from_ns, until_ns in found if from_ns < until_ns]


def _within(times: Iterable[Time], window: Judged) -> int:
    return sum(
        max(0, min(until_ns, window.until_ns) - max(from_ns, window.from_ns))
        for from_ns, until_ns in times
    )


def _doubt(
    facts: Facts, window: Judged, reason: str, worker: int, at_ns: int, late_ns: int
) -> Doubt:
    return Doubt(facts.run, "availability", window.number, reason, "", worker, at_ns, late_ns)
