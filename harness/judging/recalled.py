"""The results of every run, read again from verdict.json, for comparisons of experiments.

Runs are counted from the result of each, so files from before there were rates work, too. Nothing
is compared in part: every file that cannot be read is a problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.claims.judge import ClaimOutcome
from harness.compare.rates import Tried, rate, tried
from harness.compare.versus import LOSS, Cell, Counted, Ran, Side
from harness.judging import exits
from harness.judging.verdict_file import NAME, RunEntry, read
from harness.outside.files import is_folder
from harness.plan.problems import Problem, each
from harness.view.grouping import by_key

MEANT_BY_LOSS = "Something that was confirmed was lost or stranded."


@dataclass(frozen=True, slots=True)
class ExperimentOutcome:
    """The outcome of one experiment. `broken`: promises that some run broke; `undecided`: others
    that could not be judged in some run."""

    exit_code: int
    cells: tuple[Cell, ...]
    runs: int
    broken: tuple[str, ...]
    undecided: tuple[str, ...]


def outcome(path: Path) -> ExperimentOutcome:
    """Return what this file says in short. Raise PlanError."""
    document = read(path)
    verdicts = [run.claims for run in document.runs]
    promises = [one for run in verdicts for one in run if one.is_promise]
    broken, undecided = (
        dict.fromkeys(one.claim for one in promises if one.outcome is word)
        for word in (ClaimOutcome.FAIL, ClaimOutcome.INCONCLUSIVE)
    )
    code = exits.of_claims(verdicts) if document.exit_code is None else document.exit_code
    cells = dict.fromkeys(run.cell.cell for run in document.runs)
    return ExperimentOutcome(
        exit_code=code,
        cells=tuple(cells),
        runs=len(document.runs),
        broken=tuple(broken),
        undecided=tuple(claim for claim in undecided if claim not in broken),
    )


def runs(paths: Sequence[Path]) -> list[RunEntry]:
    """Return every run of these files. Raise PlanError with what is wrong with each."""
    return [run for document in each(paths, read) for run in document.runs]


def sides(paths: Sequence[Path]) -> tuple[Side, ...]:
    """Return the content of each path: a verdict.json, or the folder that holds one. Raise
    PlanError."""
    files = [path / NAME if is_folder(path) else path for path in paths]
    places = [path.resolve() for path in files]
    problems = [
        Problem(str(path), "is named twice: nothing differs from itself")
        for path in dict.fromkeys(places)
        if places.count(path) > 1
    ]
    documents = each(files, read, problems)
    return tuple(_side(one.experiment, one.runs) for one in documents)


def joined(name: str, paths: Sequence[Path]) -> Side:
    """Return the runs of all these files together. Raise PlanError."""
    return _side(name, runs(paths))


def versions(paths: Sequence[Path]) -> dict[str, str]:
    """Return the versions under test, all of them if there were several. Raise PlanError."""
    found: dict[str, dict[str, None]] = {}
    for document in each(paths, read):
        for name, version in sorted(document.versions.items()):
            found.setdefault(name, {})[version] = None
    return {name: ", ".join(versions_found) for name, versions_found in found.items()}


def _side(name: str, runs: Sequence[RunEntry]) -> Side:
    cells = by_key(runs, lambda run: run.cell.cell)
    brokers = {
        cell: tuple(dict.fromkeys(run.brokers for run in of_cell if run.brokers))
        for cell, of_cell in cells.items()
    }
    return Side(name, {cell: _ran(of_cell) for cell, of_cell in cells.items()}, brokers)


def _ran(runs: Sequence[RunEntry]) -> Ran:
    counted = tried([run.claims for run in runs])
    meanings = {one.claim: one.meaning for run in runs for one in run.claims}
    claims = {name: Counted(one, meanings[name]) for name, one in counted.items()}
    known = [run.lost for run in runs if run.lost is not None]
    lost = Tried(rate(sum(known), len(known)), len(runs) - len(known))
    times = (each for run in runs if run.summary is not None for each in run.summary.times)
    return Ran(
        runs=len(runs),
        claims={LOSS: Counted(lost, MEANT_BY_LOSS), **claims},
        times={
            name: tuple(time for _, time in own)
            for name, own in by_key(times, lambda one: one[0]).items()
        },
    )
