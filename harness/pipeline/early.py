"""A run judged as soon as it is over, where its cell goes on until a bound is reached.

1. The cluster stands idle meanwhile. The last word is the report's, over all runs together.
"""

import asyncio
from pathlib import Path

from harness.analyse.marts import judge_one
from harness.claims.judge import ClaimVerdict
from harness.compare.bounded import Bounded
from harness.judging import brought_claims
from harness.pipeline import stored
from harness.plan.model import Experiment, RunPlan
from harness.report.console.steps import Steps
from harness.report.display import Display
from harness.run_folder.experiments import StoredRun, curtail
from spark_analysis.schema.failed import Failed


async def judged(
    bounded: Bounded,
    experiment: Experiment,
    show: Display,
    steps: Steps,
    plan: RunPlan,
    folder: Path,
) -> None:
    """Runs of a cell that is over by now are no runs of the experiment any more."""
    steps.begin("judge the run")
    verdicts = await asyncio.to_thread(_verdicts, folder)
    steps.end()
    if reason := bounded.ended(plan, verdicts):
        show.message(reason)
        curtail(bounded.carried_out(experiment), folder.parent.parent)


def _verdicts(folder: Path) -> tuple[ClaimVerdict, ...]:
    """None where the run could not be judged: what comes after it is carried out all the same."""
    run = judge_one(folder)
    if isinstance(run, Failed):
        return ()
    stored_run = StoredRun(folder, "", run.manifest.run, ("", "", "", ""), run.manifest.repeat, 0)
    return stored.judged(stored_run, run, brought_claims.every()).verdicts
