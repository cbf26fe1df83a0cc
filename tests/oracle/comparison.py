"""The comparison of cells over their runs, by the rules of schema/comparison.py.

1. A run's answer to a measure is a value, which may be only a bound, or None: not judged.
2. A measure that does not exist in a run differs from one that the run could not answer.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

from spark_analysis.schema.comparison import (
    MEASURES,
    ComparedMeasure,
    Comparison,
    interval_rank,
)
from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measures import GONE, OPEN, PLACES, STAGE_OF
from spark_analysis.schema.measures_of_runs import ROUTES, STALLS
from spark_analysis.schema.service import RUN, SYSTEM
from spark_analysis.schema.views import ROUTE, Views
from spark_analysis.schema.words import ENDED_BY_FAULT

_CellName = tuple[str, str, str, str]
_WHOLE_RUN = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One run, judged."""

    facts: Facts
    findings: Findings
    views: Views

    @property
    def cell(self) -> _CellName:
        facts = self.facts
        return facts.scenario, facts.system, facts.layout, facts.client

    def total(self, measure: str, detail: str = "") -> int:
        rows = (row for row in self.findings.counts if row.measure == measure)
        return sum(row.count for row in rows if detail in ("", row.detail))


@dataclass(frozen=True, slots=True)
class _Answer:
    value: float | None  # None: nothing was due in this time
    bound: bool


def compare(runs: Iterable[Run]) -> tuple[Comparison, ...]:
    """One row a cell, measure and detail."""
    cells: dict[_CellName, list[Run]] = {}
    for run in runs:
        cells.setdefault(run.cell, []).append(run)
    return tuple(
        _row(cell, measure, having)
        for cell, members in cells.items()
        for measure in MEASURES
        if (having := [run for run in members if _has(run, measure.of)])
    )


def _has(run: Run, what: str) -> bool:
    """Return whether the run has the messages or routes that a measure needs."""
    if what == ROUTES:
        return bool(_times(run, ROUTES)) and any(row.kind == ROUTE for row in run.views.queries)
    return not what or run.total(what) > 0


def _times(run: Run, what: str) -> list[int]:
    """Return the windows among which a measure takes its worst."""
    windows = run.facts.windows
    if what == ROUTES:
        return [window.number for window in windows if not window.spares_brokers]
    return [window.number for window in windows] or [_WHOLE_RUN]


def _row(cell: _CellName, measure: ComparedMeasure, runs: Sequence[Run]) -> Comparison:
    answers = [answer for run in runs if (answer := _answer(run, measure)) is not None]
    values = sorted(answer.value for answer in answers if answer.value is not None)
    judged, rank = len(values), interval_rank(len(values))
    endless = sorted(
        inf if answer.bound else answer.value for answer in answers if answer.value is not None
    )
    until = endless[judged - rank] if rank else inf
    return Comparison(
        *cell,
        measure.measure,
        measure.detail,
        measure.unit,
        runs=len(runs),
        judged=judged,
        bounds=sum(answer.bound and answer.value is not None for answer in answers),
        minimum=values[0] if values else None,
        median=float(median(values)) if values else None,
        maximum=values[-1] if values else None,
        median_from=values[rank - 1] if rank else None,
        median_until=until if until < inf else None,
    )


def _answer(run: Run, measure: ComparedMeasure) -> _Answer | None:
    if any(_stops(run, doubt, measure) for doubt in run.findings.doubts):
        return None
    if measure.counted:
        return _Answer(float(run.total(measure.measure, measure.detail)), bound=False)
    if measure.of_run:
        return _shortened(run, measure, _of_outages(run, measure.measure), None)
    answers = [
        _shortened(run, measure, _of_time(run, measure.measure, window), window)
        for window in _times(run, measure.of)
    ]
    known = [answer for answer in answers if answer is not None]
    if len(known) < len(answers):
        return None
    worst = max((one.value for one in known if one.value is not None), default=None)
    return _Answer(worst, any(one.bound for one in known))


def _stops(run: Run, doubt: Doubt, measure: ComparedMeasure) -> bool:
    """Return whether the doubt keeps the run from being judged for the measure."""
    if doubt.scope == "run":
        return True
    if not _names(measure, doubt) or (measure.bounded and doubt.reason in STALLS):
        return False
    if measure.of_run:
        return True
    if not measure.counted:
        return doubt.window in _times(run, measure.of)
    missing = any(run.total(name) for name in OPEN)
    return missing or not (measure.measure in GONE and doubt.reason in PLACES)


def _names(measure: ComparedMeasure, doubt: Doubt) -> bool:
    return (doubt.scope, doubt.reason) in {(one.scope, one.reason) for one in measure.stopped_by}


def _shortened(
    run: Run, measure: ComparedMeasure, answer: _Answer | None, window: int | None
) -> _Answer | None:
    """Return the time without the stalls of a window, or of the whole run."""
    late_ns = sum(
        doubt.late_ns
        for doubt in run.findings.doubts
        if doubt.reason in STALLS and _names(measure, doubt) and window in (None, doubt.window)
    )
    if answer is None or not late_ns or not measure.bounded or answer.value is None:
        return answer
    return _Answer(answer.value - late_ns, bound=True) if answer.value > late_ns else None


def _of_outages(run: Run, measure: str) -> _Answer | None:
    """Return the measure of the whole run's outages; None without a history."""
    if not (run.facts.paced and run.facts.confirms):
        return None
    outages = [one for one in run.findings.outages if one.scope == RUN]
    lengths_ns = [one.until_ns - one.from_ns for one in outages]
    value = {
        "total_downtime": sum(lengths_ns),
        "longest_downtime": max(lengths_ns, default=0),
        "outages": len(outages),
    }[measure]
    return _Answer(float(value), any(one.ended != SYSTEM for one in outages))


def _of_time(run: Run, measure: str, window: int) -> _Answer | None:
    """The measure of one window; None where the marts have no row of it."""
    return next(_rows(run.findings, measure, window), None)


def _rows(findings: Findings, measure: str, window: int) -> Iterator[_Answer]:
    if measure == "silence" and window != _WHOLE_RUN:
        rows = [row for row in findings.availability if row.window == window]
        for ns, censored in sorted((row.silence_ns, row.silence_censored) for row in rows)[-1:]:
            yield _Answer(float(ns), censored)
    for row in findings.availability:
        if (row.window, row.queue) != (window, ""):
            continue
        if measure == "missed":
            yield _Answer(row.missed / row.operations if row.operations else None, bound=False)
    for one in findings.stages:
        if (one.window, one.stage) == (window, STAGE_OF.get(measure)):
            yield _Answer(
                float(one.after_ns), not one.reached or one.recovered_by in ENDED_BY_FAULT
            )
