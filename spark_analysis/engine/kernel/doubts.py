"""The verdicts that could not be judged, with the reasons.

1. A doubt never withdraws a finding. It states which verdicts must not be drawn from the findings.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import Ints
from spark_analysis.engine.kernel.cases import Census
from spark_analysis.engine.kernel.events.acknowledged import any_too_early
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.windows import judged_times
from spark_analysis.engine.kernel.fates.delays import bounds_ns
from spark_analysis.engine.kernel.records import Acknowledgements, Lateness
from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.measures_of_runs import CONSUMER_STALLED, CONSUMER_STALLS

# --- The time that a worker stood still in each window, however short each stall was -------------
# 1. The overlap of two stalls counts once, and time in an absence does not count.
# 2. Nearly every worker's total is far too small, and those are skipped.


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


# --- Doubts --------------------------------------------------------------------------------------


STALL_NS = 100_000_000
OF_TERMS = ("not_due", "pending")


def doubts(
    messages: Messages,
    arrived: Arrivals,
    acknowledgements: Acknowledgements,
    lateness: Lateness,
    counted: Iterable[Census],
    facts: Facts,
) -> list[Doubt]:
    """`counted`: everything that is counted, for what of it is unknown."""
    return [
        *_run(facts),
        *_causality(messages, arrived, acknowledgements, facts),
        *_stalls(lateness, facts),
        *_stalled_in_sum(lateness, facts),
        *_absent(facts),
        *_logs(facts),
        *_queues(messages, facts),
        *_terms(counted, facts),
    ]


def unjudged(run: str) -> Doubt:
    """The only finding of a run whose records cannot be judged."""
    return _doubt(run, "run", 0, "records")


def _doubt(
    run: str,
    scope: str,
    window: int,
    reason: str,
    *,
    queue: str = "",
    worker: int = 0,
    at_ns: int = 0,
    late_ns: int = 0,
) -> Doubt:
    return Doubt(run, scope, window, reason, queue, worker, at_ns, late_ns)


def _run(facts: Facts) -> Iterator[Doubt]:
    for window in facts.planned_windows:
        if not (window.verified and window.gone):
            yield _doubt(facts.run, "run", window.number, "fault")
    if facts.clock_problem:
        yield _doubt(facts.run, "run", 0, "clock")


def _causality(
    messages: Messages, arrived: Arrivals, acknowledgements: Acknowledgements, facts: Facts
) -> Iterator[Doubt]:
    """Yield a doubt if anything was delivered or settled before it was sent, or acknowledged
    before it was delivered."""
    rows = np.flatnonzero(arrived.identified)
    if len(rows):
        # A row of -1 is no attempt, and is left out again.
        before = arrived.rows.received_ns < messages.attempts.sent_ns[arrived.attempt_row]
        rows = np.flatnonzero(before & arrived.identified)
        rows = rows[messages.sent_attempt(arrived.attempt_row[rows])]
    given = arrived.rows.pick(rows)
    off_ns = bounds_ns(given.producer, facts) + bounds_ns(given.consumer, facts)
    sent_ns = messages.attempts.sent_ns[arrived.attempt_row[rows]]
    broken = messages.contradicted or (given.received_ns + off_ns < sent_ns).any()
    if broken or any_too_early(arrived.rows, arrived.identified, acknowledgements):
        yield _doubt(facts.run, "run", 0, "causality")


def _stalls(lateness: Lateness, facts: Facts) -> Iterator[Doubt]:
    judged_workers = [w.number for w in facts.workers if w.role in ("publisher", "consumer")]
    stalled = lateness.pick(
        (lateness.late_ns > STALL_NS) & np.isin(lateness.worker, judged_workers)
    )
    rows = zip(
        stalled.worker.tolist(), stalled.at_ns.tolist(), stalled.late_ns.tolist(), strict=True
    )
    consumers = _consumers(facts)
    for worker, at_ns, late_ns in rows:
        if late_ns - _kept_away_ns(worker, at_ns - late_ns, at_ns, facts) <= STALL_NS:
            continue
        for judged in judged_times(facts):
            if at_ns - late_ns < judged.until_ns and at_ns > judged.from_ns:
                yield _doubt(
                    facts.run,
                    "availability",
                    judged.number,
                    CONSUMER_STALLED if worker in consumers else "stalled",
                    worker=worker,
                    at_ns=at_ns,
                    late_ns=late_ns,
                )


def _stalled_in_sum(lateness: Lateness, facts: Facts) -> Iterator[Doubt]:
    consumers = _consumers(facts)
    for window, worker, sum_ns in stalls(lateness, facts):
        reason = CONSUMER_STALLS if worker in consumers else "stalls"
        yield _doubt(facts.run, "availability", window, reason, worker=worker, late_ns=sum_ns)


def _consumers(facts: Facts) -> frozenset[int]:
    return frozenset(one.number for one in facts.workers if one.role == "consumer")


def _kept_away_ns(worker: int, from_ns: int, until_ns: int, facts: Facts) -> int:
    """Return how much of that time the absences of the worker cover together."""
    return covered_ns(_absences(worker, facts), from_ns, until_ns)


def _absent(facts: Facts) -> Iterator[Doubt]:
    """Yield a doubt for each window in which every worker of a role was absent at some time."""
    for judged in judged_times(facts):
        touched = {
            absence.worker
            for absence in facts.absences
            if max(absence.from_ns, judged.from_ns)
            < (
                judged.until_ns
                if absence.until_ns is None
                else min(absence.until_ns, judged.until_ns)
            )
        }
        for role in ("publisher", "consumer"):
            workers = {worker.number for worker in facts.workers if worker.role == role}
            if workers and workers <= touched:
                yield _doubt(facts.run, "availability", judged.number, f"{role}s_absent")


def _logs(facts: Facts) -> Iterator[Doubt]:
    for worker in facts.workers:
        if worker.log_closed:
            continue
        if worker.role == "consumer":
            yield _doubt(facts.run, "loss", 0, "consumer_log", worker=worker.number)
        elif worker.role == "publisher":
            yield _doubt(facts.run, "loss", 0, "publisher_log", worker=worker.number)
            for judged in judged_times(facts):
                number = judged.number
                yield _doubt(
                    facts.run, "availability", number, "publisher_log", worker=worker.number
                )


def _queues(messages: Messages, facts: Facts) -> Iterator[Doubt]:
    for end in facts.queues:
        if not end.drained:
            yield _doubt(facts.run, "loss", 0, "drain", queue=end.queue)
        if end.unreadable:
            yield _doubt(facts.run, "loss", 0, "unreadable", queue=end.queue)
    present = np.unique(messages.queue.numbers[messages.slots.taken]).tolist()
    ended = {end.queue for end in facts.queues}
    for queue in sorted({messages.queue.words[number] for number in present} - ended):
        yield _doubt(facts.run, "loss", 0, "drain", queue=queue)


def _terms(counted: Iterable[Census], facts: Facts) -> Iterator[Doubt]:
    """Yield a doubt for each queue with messages that were not due, or whose commit is unknown."""
    for census in counted:
        if census.measure != "loss_unknown":
            continue
        for reason in OF_TERMS:
            queues = census.queue[census.detail.among(reason)]
            for number in np.unique(queues.numbers).tolist():
                yield _doubt(facts.run, "loss", 0, reason, queue=queues.words[number])
