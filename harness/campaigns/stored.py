"""Every run that a folder tells of: of the experiments in it, and of its CSV files.

1. A run that stands in a CSV and in an experiment's verdict.json counts once.
2. Every run counts: those of an experiment that ended without a verdict were not judged.
3. A report over several experiments holds no run of its own: theirs count where they lie.
4. Every file that cannot be read is a problem with its place, all at once; nothing is left out.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from harness.campaigns.runs import NAMES, CampaignRun, columns, of_csv
from harness.claims.judge import ClaimOutcome
from harness.judging import verdict_file
from harness.judging.verdict_file import RunEntry, VerdictFile
from harness.outside.files import JSON_BYTES_MAX, Unreadable, is_folder, text_of
from harness.plan.problems import PlanError, Problem, and_more, no_folder
from harness.plan.shape_words import PROBLEMS_MAX
from harness.run_folder import experiments
from harness.systems.registry import registry
from harness.view.costs import Cost
from spark_analysis.schema import old_names

PLACE = "FOLDER"
CELL = ("scenario", "system", "layout", "client")


def found(folder: Path) -> list[CampaignRun]:
    """Every run, the oldest first. Raises PlanError with all that cannot be read."""
    if not is_folder(folder):
        raise PlanError(
            [no_folder(PLACE, folder, "a folder of experiments, or of CSV files of runs")]
        )
    results = list(_read_runs(folder))
    if problems := [one for one in results if isinstance(one, Problem)]:
        raise PlanError(problems)
    runs = [one for one in results if isinstance(one, CampaignRun)]
    once = {(run.experiment, run.run): run for run in runs}
    return sorted(once.values(), key=lambda run: (run.experiment, run.run))


def some(folder: Path) -> list[CampaignRun]:
    """The same where there is a run. Raises PlanError."""
    if runs := found(folder):
        return runs
    text = f"there is no run below {folder}: neither an experiment, nor a CSV file of runs"
    raise PlanError([Problem(PLACE, text)])


def is_kept(path: Path) -> bool:
    """Return whether a file is a CSV of runs, which may be overwritten."""
    try:
        head, _, _ = text_of(path, JSON_BYTES_MAX).partition("\n")
    except Unreadable:
        return False
    return tuple(old_names.campaign_columns(head.rstrip("\r").split(","))) == NAMES


def _read_runs(folder: Path) -> Iterator[CampaignRun | Problem]:
    for path in sorted(folder.glob("*.csv")):
        yield from _of_csv(path)
    names = experiments.NAME, verdict_file.NAME
    for experiment in sorted({path.parent for name in names for path in folder.glob(f"*/{name}")}):
        path = experiment / verdict_file.NAME
        yield from _of_verdict(path) if path.exists() else _without_verdict(experiment)


def _of_csv(path: Path) -> Iterator[CampaignRun | Problem]:
    try:
        text = text_of(path, JSON_BYTES_MAX)
    except Unreadable as reason:
        yield Problem(str(path), f"cannot be read: {reason}")
        return
    wrong = 0
    for one in of_csv(text, str(path)):
        wrong += isinstance(one, Problem)
        if isinstance(one, CampaignRun) or wrong <= PROBLEMS_MAX:
            yield one
    if wrong > PROBLEMS_MAX:
        yield and_more(str(path), wrong - PROBLEMS_MAX)


def _of_verdict(path: Path) -> Iterator[CampaignRun | Problem]:
    """The runs of one experiment, from its verdict.json."""
    try:
        document = verdict_file.read(path)
    except PlanError as error:
        yield from error.problems
        return
    if document.seed is not None:
        for run in document.runs:
            yield _run(document, document.seed, run, path.parent.name)


def _run(document: VerdictFile, seed: int, run: RunEntry, experiment: str) -> CampaignRun:
    cost = run.cost or Cost()
    sentences = {
        one.claim: "; ".join(one.judged) for one in run.claims if one.outcome is ClaimOutcome.FAIL
    }
    return CampaignRun(
        experiment=experiment,
        seed=seed,
        run=run.name,
        repeat=run.repeat,
        **asdict(run.cell),
        deployment=cost.deployment,
        broker=run.brokers.rpartition(" ")[2] or _version(run.cell.system, document.versions),
        **columns((one.claim, one.outcome) for one in run.claims),
        reasons=json.dumps(sentences, ensure_ascii=False) if sentences else "",
        confirmed_per_s=cost.confirmed_per_s,
    )


def _version(system: str, recorded: Mapping[str, str]) -> str:
    """Return its brokers' own version; "" if they have none or the system is no longer known."""
    known = registry().systems.get(system)
    name = known.versioned_as if known is not None else None
    return recorded.get(name, "") if name is not None else ""


def _without_verdict(folder: Path) -> Iterator[CampaignRun | Problem]:
    """What an experiment was asked for that has none, and never will if it is over."""
    try:
        stored = experiments.recall(folder)
    except experiments.NoExperiment as reason:
        yield Problem(PLACE, str(reason))
        return
    if stored.seed is None:
        return
    for run in stored.runs:
        yield CampaignRun(
            experiment=folder.name,
            seed=stored.seed,
            run=run.name,
            repeat=run.repeat,
            **dict(zip(CELL, run.cell, strict=True)),
            deployment="",
            broker="",
            **columns(()),
            reasons="",
            confirmed_per_s=None,
        )
