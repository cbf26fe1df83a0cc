"""verdict.json of a report: everything that a terminal shows, and the reasons, for machines."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import starmap
from pathlib import Path
from typing import Any

from harness.compare.rates import Rate, too_many
from harness.judging import verdict_file
from harness.judging.result import Report, RunReport
from harness.judging.verdict_file import NAME
from harness.outside.text import whole_marks
from harness.report.lines import standing_of, verdict_line
from harness.report.page.totals import RunTotals, loss_rate
from harness.report.tried import tabulated
from harness.view.grouping import by_key
from harness.view.summary import Out
from spark_analysis.schema.writing import write_whole


def file_of(report: Report) -> verdict_file.VerdictFile:
    return verdict_file.VerdictFile(
        format=verdict_file.FORMAT,
        version=verdict_file.VERSION,
        experiment=report.experiment,
        seed=report.seed,
        judge=report.judge,
        exit_code=report.exit_code,
        interrupted=report.interrupted,
        folder=str(report.folder),
        replay=report.replay,
        versions=dict(sorted(report.versions.items())),
        runs=tuple(_run(run, report) for run in report.runs),
        skipped=tuple(
            {"cell": verdict_file.CellWords(*one.cell), "reason": one.reason}
            for one in report.skipped
        ),
        cells=tuple(_cells(report)),
        places=tuple(starmap(_place, by_key(report.runs, lambda run: run.cell[1:]).items())),
        comparison=report.comparison,
        pieces=report.pieces,
    )


def text(report: Report) -> str:
    """Return the report as JSON. Lone surrogates, which file names may hold, are written as code
    points: not every JSON reader accepts them."""
    document = asdict(file_of(report))
    document_text = json.dumps(document, indent=1, ensure_ascii=False, default=str)
    return whole_marks(document_text, escape="\\") + "\n"


def write(report: Report, folder: Path) -> Path:
    return write_whole(folder / NAME, text(report))


def _run(run: RunReport, report: Report) -> verdict_file.RunEntry:
    detail = run.detail
    return verdict_file.RunEntry(
        name=run.name,
        cell=verdict_file.CellWords(*run.cell),
        repeat=run.repeat,
        seed=run.seed,
        judged=bool(run.verdicts),
        failure=run.failure,
        brokers=run.brokers,
        origin=run.origin,
        notes=run.notes,
        doubts=run.doubts,
        summary=_totals([run]) if run.summary is not None else None,
        claims=tuple(
            verdict_file.ClaimEntry(
                **asdict(one),
                verdict=one.word,
                line=verdict_line(one, standing_of(one, run, report)),
            )
            for one in run.verdicts
        ),
        observations=run.observations,
        faults=detail.timeline.faults if detail else (),
        operations=detail.timeline.operations if detail else (),
        process_ends=tuple(detail.manifest.process_ends) if detail else (),
        audit_starts=tuple(detail.manifest.audit_starts) if detail else (),
        failing=detail.failing if detail else (),
        cost=run.cost,
        piece=run.piece,
    )


def _cells(report: Report) -> Iterator[dict[str, Any]]:
    tables = {one.cell: one for one in tabulated(report)}
    for result in report.cells:
        totals = tables[result.cell].totals
        claims = {name: one.tried for name, one in tables[result.cell].claims.items()}
        yield {
            "cell": verdict_file.CellWords(*result.cell),
            "standing": result.standing,
            "lines": result.lines,
            "known": {claim: str(known) for claim, known in result.known.items()},
            "runs": totals.runs,
            "not_judged": totals.unjudged,
            "mostly_not_judged": too_many(totals.unjudged, totals.runs),
            "loss": _rate(loss_rate(totals), totals.runs - totals.loss_judged),
            "claims": {
                name: {**_rate(one.rate, one.not_judged), "warns": one.warns}
                for name, one in claims.items()
            },
        }


def _rate(rate: Rate, not_judged: int) -> dict[str, Any]:
    """In how many runs something was violated, and the exact interval of that."""
    counts = {"runs": rate.runs, "violated": rate.violated, "not_judged": not_judged}
    return {**counts, "rate": (rate.low, rate.high)}


def _place(key: tuple[str, str, str], runs: Sequence[RunReport]) -> dict[str, Any]:
    """A system in one layout, by one client: its runs together, and by scenario."""
    scenarios = by_key(runs, lambda run: run.cell[0])
    return {
        **dict(zip(("system", "layout", "client"), key, strict=True)),
        **vars(_totals(runs)),
        "scenarios": [{"scenario": name, **vars(_totals(own))} for name, own in scenarios.items()],
    }


def _totals(runs: Sequence[RunReport]) -> verdict_file.TotalsEntry:
    totals = RunTotals(runs)
    return verdict_file.TotalsEntry(
        runs=totals.runs,
        judged=totals.judged,
        confirmed=totals.confirmed,
        lost=totals.lost,
        stranded=totals.stranded,
        undecided_messages=totals.untold,
        by_strength=totals.promised,
        duplicates=dict(totals.duplicates.most_common()),  # the most frequent first
        loss_decided_runs=totals.loss_proved,
        outage_decided_runs=totals.outage_proved,
        faults=totals.faults_of,
        faults_seen=totals.faults_seen,
        silence=totals.silence,
        degraded=totals.degraded,
        total_downtime=totals.out,
        downtime_runs=totals.downtime_runs,
        worst_downtime_scope=_scope(totals.worst),
        late=dict(zip(("missed", "operations", "runs"), totals.late, strict=True)),
    )


def _scope(out: Out | None) -> dict[str, Any] | None:
    """Return the queue or publisher that was unavailable for longest in any of the runs."""
    if out is None:
        return None
    fields = {name: getattr(out, name) for name in ("scope", "name", "of", "seconds", "back")}
    return {**fields, "bound": not out.whole, "outages": out.times}
