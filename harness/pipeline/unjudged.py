"""Reports over experiments without any verdict: each run has the reason."""

from collections.abc import Callable
from pathlib import Path

from harness.judging.assemble import titles
from harness.judging.assemble import unjudged as run_of
from harness.judging.result import Report
from harness.pipeline.port import RunOptions
from harness.plan.model import Experiment, RunPlan
from harness.run import signals
from harness.run.series import RUNS
from harness.run_folder.claims_copy import with_option
from harness.run_folder.manifest import NAME as MANIFEST
from harness.run_folder.manifest import Manifest


def failures(folder: Path) -> dict[str, str] | None:
    """Why each run never had any load; None where one had, so that there is something to judge."""
    try:
        manifests = [Manifest.load(path.parent) for path in folder.glob(f"runs/*/{MANIFEST}")]
    except (OSError, ValueError):
        return None  # the report says of each run what is wrong with it
    if any(manifest.load_started_ns is not None for manifest in manifests):
        return None
    return {manifest.run: manifest.failure for manifest in manifests}


def report_of(
    experiment: Experiment,
    options: RunOptions,
    folder: Path,
    reason: Callable[[RunPlan], str],
    interrupted: bool = False,
) -> Report:
    """Every run that was planned, each with its reason."""
    copy = options.claims.copy if options.claims else None
    return Report(
        experiment=experiment.name,
        seed=experiment.seed,
        folder=folder,
        judge=options.judge,
        replay=with_option(options.replay, folder, copy),
        versions={},
        runs=tuple(run_of(plan, reason(plan)) for plan in experiment.runs),
        skipped=experiment.skipped,
        cells=(),
        interrupted=interrupted,
        titles=titles(experiment),
    )


def ended_early(experiment: Experiment, options: RunOptions, folder: Path, reason: str) -> Report:
    """Return the report. `reason`: mqproof's own; then the exit code is not 130."""
    signals.silence()
    by_user = not reason
    why = "interrupted" if by_user else f"ended early: {reason}"

    def of(plan: RunPlan) -> str:
        if not (folder / RUNS / plan.name / MANIFEST).exists():
            return f"{why} before it began"
        return f"{why}; what was recorded is sealed: mqproof analyse {folder}"

    return report_of(experiment, options, folder, of, interrupted=by_user)
