"""verdict.json of a report: everything that a terminal shows, and the reasons, for machines."""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from harness.claims.judge import ClaimVerdict
from harness.compare.expectations import CellResult
from harness.compare.rates import Rate, too_many
from harness.judging import verdict_file
from harness.judging.result import Report, RunReport
from harness.outside.text import whole_marks
from harness.report.lines import standing_of, verdict_line
from harness.report.page.totals import loss_rate, totals_of
from harness.report.tried import CellTable, tabulated
from harness.view.grouping import by_key
from spark_analysis.files.writing import write_whole

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

NAME = verdict_file.NAME
_Entry = TypeVar("_Entry", bound="DataclassInstance")


def file_of(report: Report) -> verdict_file.VerdictFile:
    return _entry(
        verdict_file.VerdictFile,
        report,
        format=verdict_file.FORMAT,
        version=verdict_file.VERSION,
        folder=str(report.folder),
        versions=dict(sorted(report.versions.items())),
        runs=tuple(_run(run, report) for run in report.runs),
        skipped=tuple(
            _entry(verdict_file.SkippedEntry, one, cell=verdict_file.CellWords(*one.cell))
            for one in report.skipped
        ),
        cells=tuple(_cell(one, report.result_of(one.cell)) for one in tabulated(report)),
        places=tuple(starmap(_place, by_key(report.runs, lambda run: run.cell[1:]).items())),
    )


def _entry(kind: type[_Entry], source: object, **derived: Any) -> _Entry:
    """Return an entry of the file. A field that is not `derived` is that of `source` with the same
    name, which has to be there: none is left out."""
    names = (one.name for one in fields(kind) if one.name not in derived)
    return kind(**{name: getattr(source, name) for name in names}, **derived)


def text(report: Report) -> str:
    """Return the report as JSON. Lone surrogates, which file names may hold, are written as code
    points: not every JSON reader accepts them."""
    document = asdict(file_of(report))
    document_text = json.dumps(document, indent=1, ensure_ascii=False, default=str)
    return whole_marks(document_text, escape="\\") + "\n"


def write(report: Report, folder: Path) -> Path:
    return write_whole(folder / verdict_file.NAME, text(report))


def _run(run: RunReport, report: Report) -> verdict_file.RunEntry:
    detail = run.detail
    return _entry(
        verdict_file.RunEntry,
        run,
        cell=verdict_file.CellWords(*run.cell),
        judged=bool(run.verdicts),
        summary=totals_of([run]) if run.summary is not None else None,
        claims=tuple(_claim(one, run, report) for one in run.verdicts),
        faults=detail.timeline.faults if detail else (),
        operations=detail.timeline.operations if detail else (),
        process_ends=tuple(detail.manifest.process_ends) if detail else (),
        audit_starts=tuple(detail.manifest.audit_starts) if detail else (),
        failing=detail.failing if detail else (),
    )


def _claim(one: ClaimVerdict, run: RunReport, report: Report) -> verdict_file.ClaimEntry:
    line = verdict_line(one, standing_of(one, run, report))
    return _entry(verdict_file.ClaimEntry, one, verdict=one.word, line=line)


def _cell(table: CellTable, compared: CellResult | None) -> verdict_file.CellEntry:
    """Return a cell's runs together. A cell that was not compared has all but a standing."""
    totals, tried = table.totals, {name: one.tried for name, one in table.claims.items()}
    unknown_loss = totals.runs - totals.loss_judged
    return _entry(
        verdict_file.CellEntry,
        table,
        cell=verdict_file.CellWords(*table.cell),
        standing=compared.standing if compared else verdict_file.NOT_COMPARED,
        lines=compared.lines if compared else (),
        known={name: str(known) for name, known in compared.known.items()} if compared else {},
        runs=totals.runs,
        not_judged=totals.unjudged,
        mostly_not_judged=too_many(totals.unjudged, totals.runs),
        loss=_rate(verdict_file.RateEntry, loss_rate(totals), unknown_loss),
        claims={
            name: _rate(verdict_file.ClaimRateEntry, one.rate, one.not_judged, warns=one.warns)
            for name, one in tried.items()
        },
    )


def _rate(kind: type[_Entry], of: Rate, not_judged: int, **more: Any) -> _Entry:
    return _entry(kind, of, not_judged=not_judged, rate=(of.low, of.high), **more)


def _place(key: tuple[str, str, str], runs: Sequence[RunReport]) -> verdict_file.PlaceEntry:
    place = dict(zip(("system", "layout", "client"), key, strict=True))
    scenarios = tuple(
        _entry(verdict_file.ScenarioEntry, totals_of(own), scenario=name)
        for name, own in by_key(runs, lambda run: run.cell[0]).items()
    )
    return _entry(verdict_file.PlaceEntry, totals_of(runs), **place, scenarios=scenarios)
