"""The report over stored experiments: every run, sealed and judged, or with the failure."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harness.analyse import exactness
from harness.analyse.judged_run import JudgedRun
from harness.analyse.marts import Marts, NothingRecorded, Start, judge_all
from harness.claims.claims import Claim
from harness.claims.judge import judge as judge_claim
from harness.compare import expectations
from harness.judging import own_claims
from harness.judging.assemble import compare, evidence_of, read_raw, run_report
from harness.judging.exits import Judge
from harness.judging.result import CellTitle, Piece, Report, RunReport
from harness.plan.misbehave import TRUTH
from harness.report.display import Display, Steps
from harness.run import signals
from harness.run_folder import rows
from harness.run_folder.experiments import NoExperiment, Stored, StoredRun, recall
from spark_analysis.files.failed import Failed, failed

NOT_BEGUN = "it was not begun"


def report_of(
    folder: Path,
    judge: Judge | None,
    steps: Steps,
    show: Display,
    start: Start,
    resealed_at: str = "",
) -> Report:
    """Return the report. Raise NothingRecorded; PlanError where own claims cannot be read.

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
    own = own_claims.together(request.claims_files)
    shipped = own_claims.every(own)
    found = marts.by_folder
    runs = []
    for each in request.runs:
        run = found.get(each.folder, Failed(each.name, NOT_BEGUN, ""))
        piece = each.experiment if request.pieces else ""
        runs.append(replace(judged(each, run, shipped), piece=piece))
    known = expectations.shipped([claim.name for claim in shipped])
    judge = judge or _recorded_judge(request)
    return Report(
        experiment=request.name,
        seed=request.seed,
        folder=folder,
        judge=judge,
        replay=request.replay_here,
        versions=_versions(marts),
        runs=tuple(runs),
        skipped=request.skipped,
        cells=compare(runs, known, judge),
        comparison=marts.comparison,
        titles={cell: CellTitle(*words) for cell, words in request.titles.items()},
        claims_files=tuple(one.named for one in own),
        pieces=tuple(
            Piece(one.name, one.seed, one.replay_here, one.folder) for one in request.pieces
        ),
    )


def _recorded_judge(request: Stored) -> Judge:
    """Return what judged the experiment when it was made. Claims are the default: of folders that
    do not say, and of several that were judged differently."""
    words = [each.value for each in Judge]
    return Judge(request.judge) if request.judge in words else Judge.CLAIMS


def judged(stored_run: StoredRun, run: JudgedRun | Failed, shipped: Iterable[Claim]) -> RunReport:
    """Judge one run; a failure is its report, so that other runs are reported, too."""
    if isinstance(run, Failed):
        return _unread(stored_run, run)
    try:
        raw = read_raw(run)
        evidence = evidence_of(run, raw)
        verdicts = [judge_claim(claim, evidence) for claim in shipped]
        report = with_truth(run_report(run, raw, evidence, verdicts), run)
    except rows.Unreadable as reason:
        return _unread(stored_run, Failed(stored_run.name, f"{run.folder}: {reason}", ""))
    except Exception as error:  # an unexpected error
        return _unread(stored_run, failed(stored_run.name, run.folder, error))
    return replace(report, repeat=stored_run.repeat)


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
