"""The report over stored experiments: every run, sealed and judged, or with the failure."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.analyse import exactness
from harness.analyse.marts import JudgedRun, Marts, NothingRecorded, Start, judge_all
from harness.claims import claims
from harness.compare import expectations
from harness.judging import brought_claims
from harness.judging.assemble import compare, run_report
from harness.judging.exits import Judge
from harness.judging.result import CellTitle, Piece, Report, RunReport
from harness.plan.misbehave import TRUTH
from harness.report.console.steps import Steps
from harness.report.display import Display
from harness.run import signals
from harness.run_folder import rows
from harness.run_folder.experiments import NoExperiment, Stored, StoredRun, recall
from spark_analysis.schema.failed import Failed, failed

NOT_BEGUN = "it was not begun"


def report_of(
    folder: Path,
    judge: Judge | None,
    steps: Steps,
    show: Display,
    start: Start,
    resealed_at: str = "",
) -> Report:
    """Return the report. Raise NothingRecorded.

    `judge`: what decides the exit code; None takes the judge that the folder recorded.
    `resealed_at`: when damaged runs' tables are made again, if requested.
    """
    try:
        request = recall(folder)
    except NoExperiment as reason:
        raise NothingRecorded(str(reason)) from reason
    held = {one.name: one.folder for one in request.experiments}

    def step(name: str) -> None:
        signals.ending()  # Spark has put a handler of its own in the place of ours by now
        steps.begin(name)

    marts = judge_all(folder, step, held, resealed_at, start)
    steps.end()
    if marts.unwritten:
        show.message(f"the marts were not kept: {marts.unwritten}")
    shipped = brought_claims.every()
    found = {run.folder: run for run in marts.runs}
    runs = tuple(
        _run_report(
            each, found.get(each.folder), marts, shipped, each.experiment if request.pieces else ""
        )
        for each in request.runs
    )
    known = expectations.shipped([claim.name for claim in shipped])
    return Report(
        experiment=request.name,
        seed=request.seed,
        folder=folder,
        judge=judge or _recorded_judge(request),
        replay=request.replay,
        versions=_versions(marts),
        runs=runs,
        skipped=request.skipped,
        cells=compare(runs, known),
        comparison=marts.comparison,
        titles={cell: CellTitle(*words) for cell, words in request.titles.items()},
        pieces=tuple(Piece(one.name, one.seed, one.replay, one.folder) for one in request.pieces),
    )


def _recorded_judge(request: Stored) -> Judge:
    """Return what judged the experiment when it was made. Claims are the default: of folders that
    do not say, and of several that were judged differently."""
    words = [each.value for each in Judge]
    return Judge(request.judge) if request.judge in words else Judge.CLAIMS


def _run_report(
    stored_run: StoredRun,
    run: JudgedRun | None,
    marts: Marts,
    shipped: Sequence[claims.Claim],
    piece: str,
) -> RunReport:
    """Return the report of a requested run: judged, or with the reason why not."""
    if run is None:
        why = marts.failed.get(stored_run.folder, Failed(stored_run.name, NOT_BEGUN, ""))
        return replace(_unread(stored_run, why), piece=piece)
    return replace(judged(stored_run, run, shipped), repeat=stored_run.repeat, piece=piece)


def judged(stored_run: StoredRun, run: JudgedRun, shipped: Sequence[claims.Claim]) -> RunReport:
    """Judge one run; a failure is its report, so that other runs are reported, too."""
    parts = run.manifest, run.facts, run.findings, shipped, run.costs, run.views, run.sends
    try:
        return with_truth(run_report(run.folder, *parts), run)
    except rows.Unreadable as reason:
        return _unread(stored_run, Failed(stored_run.name, f"{run.folder}: {reason}", ""))
    except Exception as error:  # an unexpected error
        return _unread(stored_run, failed(stored_run.name, run.folder, error))


def _unread(stored_run: StoredRun, why: Failed) -> RunReport:
    return RunReport(
        stored_run.name,
        stored_run.cell,
        stored_run.repeat,
        stored_run.seed,
        failure=why.reason,
        trace=why.trace,
    )


def with_truth(report: RunReport, run: JudgedRun) -> RunReport:
    """Says of a misbehaving cluster whether what it admits, and nothing else, was found."""
    if not (run.folder / TRUTH).exists():
        return report
    try:
        classes = exactness.compare(run.folder, run.manifest, run.findings)
    except (rows.Unreadable, ValueError, OSError) as failure:
        return replace(report, notes=(*report.notes, f"truth: cannot be read: {failure}"))
    shown = [each for each in classes if each.must or each.found]
    notes = [f"truth: {'' if each.exact else 'NOT EXACT: '}{each}" for each in shown]
    return replace(report, notes=(*report.notes, *notes))


def _versions(marts: Marts) -> dict[str, str]:
    """Every version that was seen; where runs differ, all of them."""
    found: dict[str, dict[str, None]] = {}
    for run in marts.runs:
        for name, text in run.manifest.versions.items():
            found.setdefault(name, {})[text] = None
    return {name: "; ".join(texts) for name, texts in found.items()}
