"""verdict.json: a report for machines.

1. The format has a version; a key that is there means the same in every version that has it.
2. Everything that a terminal shows is in it, and the reasons behind it.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.compare.rates import Rate, too_many
from harness.judging import recalled
from harness.judging.result import Report, RunReport
from harness.outside.text import whole_marks
from harness.report.lines import standing_of, verdict_line
from harness.report.page.totals import Spread, loss_rate, totals_of
from harness.report.tried import claims_of
from harness.view.out import Out
from spark_analysis.schema.writing import write_whole

NAME, VERSION = recalled.NAME, recalled.VERSION  # what is written here is read there


def document(report: Report) -> dict[str, Any]:
    """The report as JSON values."""
    return {
        "format": "mqproof verdict",
        "version": VERSION,
        "experiment": report.experiment,
        "seed": report.seed,
        "judge": report.judge.value,
        "exit_code": report.exit_code,
        "interrupted": report.interrupted,
        "folder": str(report.folder),
        "replay": report.replay,
        "versions": dict(sorted(report.versions.items())),
        "runs": [_run(run, report) for run in report.runs],
        "skipped": [{"cell": _cell(one.cell), "reason": one.reason} for one in report.skipped],
        "cells": [
            {
                "cell": _cell(result.cell),
                "standing": result.standing.value,
                "lines": list(result.lines),
                "known": {claim: str(known) for claim, known in result.known.items()},
                **_tried(report, result.cell),
            }
            for result in report.cells
        ],
        "places": [_place(key, report) for key in dict.fromkeys(r.cell[1:] for r in report.runs)],
        "comparison": [asdict(row) for row in report.comparison],
        "pieces": [{**asdict(one), "folder": str(one.folder)} for one in report.pieces],
    }


def text(report: Report) -> str:
    """Return the report as JSON. Lone surrogates, which file names may hold, are written as code
    points: not every JSON reader accepts them."""
    document_text = json.dumps(document(report), indent=1, ensure_ascii=False)
    return whole_marks(document_text, escape="\\") + "\n"


def write(report: Report, folder: Path) -> Path:
    """Writes verdict.json into `folder`, whole or not at all."""
    return write_whole(folder / NAME, text(report))


def _tried(report: Report, cell: tuple[str, str, str, str]) -> dict[str, Any]:
    """In how many runs each claim was violated, and the exact interval of that; and of loss."""
    totals = totals_of([run for run in report.runs if run.cell == cell])
    return {
        "runs": totals.runs,
        "not_judged": totals.unjudged,
        "mostly_not_judged": too_many(totals.unjudged, totals.runs),
        "loss": _rate(loss_rate(totals), totals.runs - totals.loss_judged),
        "claims": {
            claim: {**_rate(one.rate, one.not_judged), "warns": one.warns}
            for claim, one in claims_of(report, cell).items()
        },
    }


def _rate(rate: Rate, not_judged: int) -> dict[str, Any]:
    return {
        "runs": rate.runs,
        "violated": rate.violated,
        "not_judged": not_judged,
        "rate": [rate.low, rate.high],
    }


def _run(run: RunReport, report: Report) -> dict[str, Any]:
    return {
        "name": run.name,
        "cell": _cell(run.cell),
        "repeat": run.repeat,
        "seed": run.seed,
        "judged": bool(run.verdicts),
        "failure": run.failure,
        "brokers": run.brokers,
        "notes": list(run.notes),
        "doubts": list(run.doubts),
        "summary": _totals([run]) if run.summary is not None else None,
        "claims": [
            {
                **asdict(verdict),
                "outcome": verdict.outcome.value,
                "verdict": verdict.word,
                "line": verdict_line(verdict, standing_of(verdict, run, report)),
            }
            for verdict in run.verdicts
        ],
        "observations": [asdict(observation) for observation in run.observations],
        "faults": [asdict(fault) for fault in run.detail.timeline.faults] if run.detail else [],
        "operations": [asdict(one) for one in run.detail.timeline.operations]
        if run.detail
        else [],
        "process_ends": [asdict(one) for one in run.detail.process_ends] if run.detail else [],
        "audit_starts": [asdict(one) for one in run.detail.audit_starts] if run.detail else [],
        "failing": [asdict(one) for one in run.detail.failing] if run.detail else [],
        "cost": asdict(run.cost) if run.cost is not None else None,
        "piece": run.piece,
    }


def _place(key: tuple[str, str, str], report: Report) -> dict[str, Any]:
    """A system in one layout, by one client: what its runs come to together, and by scenario."""
    runs = [run for run in report.runs if run.cell[1:] == key]
    scenarios = dict.fromkeys(run.cell[0] for run in runs)
    return {
        **dict(zip(("system", "layout", "client"), key, strict=True)),
        **_totals(runs),
        "scenarios": [
            {"scenario": name, **_totals([run for run in runs if run.cell[0] == name])}
            for name in scenarios
        ],
    }


def _totals(runs: Sequence[RunReport]) -> dict[str, Any]:
    """Sums hold what was seen: with fewer runs decided than judged, there may be more."""
    totals = totals_of(runs)
    missed, publishes, of = totals.late
    return {
        "runs": totals.runs,
        "judged": totals.judged,
        "confirmed": totals.confirmed,
        "lost": totals.lost,
        "stranded": totals.stranded,
        "undecided_messages": totals.untold,
        "by_strength": [asdict(one) for one in totals.promised],
        "duplicates": _duplicates(runs),
        "loss_decided_runs": totals.loss_proved,
        "outage_decided_runs": totals.outage_proved,
        "faults": totals.faults_of,
        "faults_seen": totals.faults_seen,
        **{
            name: _spread(spread)
            for name, spread in (
                ("silence", totals.silence),
                ("degraded", totals.degraded),
                ("total_downtime", totals.out),
            )
        },
        "downtime_runs": totals.downtime_runs,
        "worst_downtime_scope": _scope(totals.worst),
        "late": {"missed": missed, "operations": publishes, "runs": of},
    }


def _duplicates(runs: Sequence[RunReport]) -> dict[str, int]:
    """Return duplicate deliveries by their source, the most frequent first."""
    sums = sum((Counter(run.summary.duplicates) for run in runs if run.summary), Counter[str]())
    return dict(sums.most_common())


def _spread(spread: Spread | None) -> dict[str, Any] | None:
    """Over the runs in which it is known; `bound`: the largest is only a lower bound.

    The median is Kaplan and Meier's where a run is; an end of its interval that is null is open.
    """
    if spread is None:
        return None
    return {
        "median_s": spread.median_s,
        "median_reached": spread.reached,
        "median_interval_s": [spread.low_s, spread.high_s],
        "maximum_s": spread.most_s,
        "bound": spread.bound,
        "runs": spread.runs,
    }


def _scope(out: Out | None) -> dict[str, Any] | None:
    """Return the queue or publisher that was unavailable for longest in any of the runs."""
    if out is None:
        return None
    fields = {name: getattr(out, name) for name in ("scope", "name", "of", "seconds", "back")}
    return {**fields, "bound": not out.whole, "outages": out.times}


def _cell(cell: tuple[str, str, str, str]) -> dict[str, str]:
    return dict(zip(("scenario", "system", "layout", "client"), cell, strict=True))
