"""verdict.json of a report: everything that a terminal shows, and the reasons, for machines."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.compare.rates import Rate, too_many
from harness.judging.result import Report, RunReport
from harness.judging.verdict_file import (
    FORMAT,
    NAME,
    VERSION,
    CellWords,
    ClaimEntry,
    RunEntry,
    TotalsEntry,
    VerdictFile,
)
from harness.outside.text import whole_marks
from harness.report.lines import standing_of, verdict_line
from harness.report.page.totals import loss_rate, totals_of
from harness.report.tried import tabulated
from harness.view.out import Out
from spark_analysis.schema.writing import write_whole


def file_of(report: Report) -> VerdictFile:
    return VerdictFile(
        format=FORMAT,
        version=VERSION,
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
            {"cell": CellWords(*one.cell), "reason": one.reason} for one in report.skipped
        ),
        cells=tuple(_cells(report)),
        places=tuple(
            _place(key, report) for key in dict.fromkeys(run.cell[1:] for run in report.runs)
        ),
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
    """Writes verdict.json into `folder`, whole or not at all."""
    return write_whole(folder / NAME, text(report))


def _run(run: RunReport, report: Report) -> RunEntry:
    detail = run.detail
    return RunEntry(
        name=run.name,
        cell=CellWords(*run.cell),
        repeat=run.repeat,
        seed=run.seed,
        judged=bool(run.verdicts),
        failure=run.failure,
        brokers=run.brokers,
        notes=run.notes,
        doubts=run.doubts,
        summary=_totals([run]) if run.summary is not None else None,
        claims=tuple(
            ClaimEntry(
                **asdict(one),
                verdict=one.word,
                line=verdict_line(one, standing_of(one, run, report)),
            )
            for one in run.verdicts
        ),
        observations=run.observations,
        faults=detail.timeline.faults if detail else (),
        operations=detail.timeline.operations if detail else (),
        process_ends=detail.process_ends if detail else (),
        audit_starts=detail.audit_starts if detail else (),
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
            "cell": CellWords(*result.cell),
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


def _place(key: tuple[str, str, str], report: Report) -> dict[str, Any]:
    """A system in one layout, by one client: its runs together, and by scenario."""
    runs = [run for run in report.runs if run.cell[1:] == key]
    scenarios = dict.fromkeys(run.cell[0] for run in runs)
    return {
        **dict(zip(("system", "layout", "client"), key, strict=True)),
        **vars(_totals(runs)),
        "scenarios": [
            {"scenario": name, **vars(_totals([run for run in runs if run.cell[0] == name]))}
            for name in scenarios
        ],
    }


def _totals(runs: Sequence[RunReport]) -> TotalsEntry:
    totals = totals_of(runs)
    return TotalsEntry(
        runs=totals.runs,
        judged=totals.judged,
        confirmed=totals.confirmed,
        lost=totals.lost,
        stranded=totals.stranded,
        undecided_messages=totals.untold,
        by_strength=totals.promised,
        duplicates=_duplicates(runs),
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


def _duplicates(runs: Sequence[RunReport]) -> dict[str, int]:
    """Return duplicate deliveries by their source, the most frequent first."""
    sums = sum((Counter(run.summary.duplicates) for run in runs if run.summary), Counter[str]())
    return dict(sums.most_common())


def _scope(out: Out | None) -> dict[str, Any] | None:
    """Return the queue or publisher that was unavailable for longest in any of the runs."""
    if out is None:
        return None
    fields = {name: getattr(out, name) for name in ("scope", "name", "of", "seconds", "back")}
    return {**fields, "bound": not out.whole, "outages": out.times}
