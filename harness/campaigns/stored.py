"""Every run that a folder holds, as it was judged: of its experiments, and of its CSV files.

1. A run is a row of CSV, so that sessions add up. It is compared with the expectations of today,
   not with those of its day.
2. A run's seed depends on its cell and repeat: the experiment's seed replays any cell of it alone.
3. A run that stands in a CSV and in an experiment's verdict.json counts once.
4. Every run counts: those of an experiment that ended without a verdict were not judged. A report
   over several experiments holds no run of its own: theirs count where they lie.
5. Every file that cannot be read is a problem with its place, all at once; nothing is left out.
"""

import csv
import io
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from harness.claims.claims import Claim
from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.expectations import CellResult, shipped
from harness.judging import verdict_file
from harness.judging.verdict_file import RunEntry, VerdictFile
from harness.outside.files import JSON_BYTES_MAX, Unreadable, is_folder, text_of
from harness.plan.files.shape_words import PROBLEMS_MAX
from harness.plan.model import cell_of
from harness.plan.problems import PlanError, Problem, and_more, each, no_folder
from harness.run_folder import experiments
from harness.systems.registry import registry
from harness.view.costs import Cost
from spark_analysis.schema import old_names
from spark_analysis.schema.declared import parsed

PLACE = "FOLDER"
COLUMNS = {
    ClaimOutcome.PASS: "passed",
    ClaimOutcome.FAIL: "failed",
    ClaimOutcome.INCONCLUSIVE: "inconclusive",
    ClaimOutcome.NOT_APPLICABLE: "not_applicable",
}


@dataclass(frozen=True, slots=True)
class CampaignRun:
    """One run as it was judged. `outcomes`: by claim. `reasons`: why each claim failed."""

    experiment: str
    seed: int  # the experiment's
    run: str
    repeat: int
    scenario: str
    system: str
    layout: str  # with its profile
    client: str
    deployment: str = ""
    broker: str = ""  # its version
    outcomes: Mapping[str, ClaimOutcome] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    confirmed_per_s: float | None = None

    def claims(self, outcome: ClaimOutcome) -> list[str]:
        """Return the claims that had this outcome."""
        return [claim for claim, one in self.outcomes.items() if one is outcome]

    @property
    def replay(self) -> str:
        """The command that plays this run again; in an experiment of its own."""
        words = ["mqproof", "run", self.scenario, "--system", self.system]
        words += ["--layout", self.layout, "--client", self.client]
        words += ["--deployment", self.deployment] if self.deployment else []
        words += ["--repeats", str(self.repeat)] if self.repeat > 1 else []
        return shlex.join([*words, "--seed", str(self.seed)])


_FIELDS = [one.name for one in fields(CampaignRun)]
_AT = _FIELDS.index("outcomes")  # a column for each outcome, with its claims and blanks between
NAMES = (*_FIELDS[:_AT], *COLUMNS.values(), *_FIELDS[_AT + 1 :])


def as_csv(runs: Iterable[CampaignRun]) -> str:
    """A head, and a row a run."""
    out = io.StringIO()
    writer = csv.DictWriter(out, NAMES, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for run in runs:
        claims = {column: " ".join(run.claims(one)) for one, column in COLUMNS.items()}
        reasons = json.dumps(run.reasons, ensure_ascii=False) if run.reasons else ""
        writer.writerow({**asdict(run), **claims, "reasons": reasons})
    return out.getvalue()


def of_csv(text: str, place: str) -> Iterator[CampaignRun | Problem]:
    """The rows of what `as_csv` made, each a run or what is wrong with it; none of another CSV."""
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        rows.fieldnames = old_names.campaign_columns([*(rows.fieldnames or ())])
        if tuple(rows.fieldnames) != NAMES:
            return
        for row in rows:
            yield _of_row(row, f"{place}, line {rows.line_num}")
    except csv.Error as error:
        yield Problem(f"{place}, line {rows.line_num}", f"is no row of a CSV file: {error}")


def _of_row(row: Mapping[str, str], place: str) -> CampaignRun | Problem:
    if None in row or None in row.values():
        return Problem(place, f"has not as many fields as the head: {len(NAMES)}")
    row = old_names.campaign_row(row)
    values: dict[str, Any] = {name: row[name] for name in _FIELDS if name in row}
    values["outcomes"] = {
        claim: outcome for outcome, column in COLUMNS.items() for claim in row[column].split()
    }
    try:
        values |= {name: int(row[name]) for name in ("seed", "repeat")}
        rate = row["confirmed_per_s"]
        values["confirmed_per_s"] = float(rate) if rate else None
        values["reasons"] = _sentences(row["reasons"])
    except ValueError as error:
        return Problem(place, f"is no run: {error}")
    return CampaignRun(**values)


def _sentences(text: str) -> dict[str, str]:
    """Why each claim failed. Raises ValueError."""
    found = parsed(text or "{}")
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise ValueError("`reasons` is no JSON object of sentences")
    return found


class Knowledge:
    """What cells are known to do (expectations.toml), asked of stored runs."""

    def __init__(self, claims: Iterable[Claim]) -> None:
        """Keep the claims of today; stored runs also hold former ones, which are ignored."""
        names = list(claims)
        self._claims = frozenset(one.name for one in names)
        self._foretold = frozenset(one.name for one in names if one.warns or one.some)
        self._known = shipped(self._claims)

    def promised(self, claim: str) -> bool:
        """Whether it is a promise, that a FAIL breaks."""
        return claim not in self._foretold

    def of(self, runs: Sequence[CampaignRun]) -> CellResult:
        """How the runs of one cell stand against what is known of it."""
        assert len({cell_of(run) for run in runs}) == 1, "one cell at a time"
        return self._known.compare(cell_of(runs[0]), [self._verdicts(run) for run in runs])

    def _verdicts(self, run: CampaignRun) -> list[ClaimVerdict]:
        return [
            ClaimVerdict(claim, outcome)
            for claim, outcome in run.outcomes.items()
            if claim in self._claims
        ]


def found(folder: Path) -> list[CampaignRun]:
    """Every run, the oldest first. Raises PlanError with all that cannot be read."""
    if not is_folder(folder):
        expected = "a folder of experiments, or of CSV files of runs"
        raise PlanError([no_folder(PLACE, folder, expected)])
    names = experiments.NAME, verdict_file.NAME
    below = {path.parent for name in names for path in folder.glob(f"*/{name}")}
    sources = [partial(_of_csv, path) for path in sorted(folder.glob("*.csv"))]
    sources += [partial(_of_experiment, one) for one in sorted(below)]
    runs = [run for part in each(sources, lambda read: read()) for run in part]
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


def _of_csv(path: Path) -> list[CampaignRun]:
    """Return the runs of a CSV file. Raises PlanError, also for a row that is none."""
    try:
        rows = list(of_csv(text_of(path, JSON_BYTES_MAX), str(path)))
    except Unreadable as reason:
        raise PlanError([Problem(str(path), f"cannot be read: {reason}")]) from None
    problems = [one for one in rows if isinstance(one, Problem)]
    if more := len(problems[PROBLEMS_MAX:]):
        problems[PROBLEMS_MAX:] = [and_more(str(path), more)]
    if problems:
        raise PlanError(problems)
    return [one for one in rows if isinstance(one, CampaignRun)]


def _of_experiment(folder: Path) -> list[CampaignRun]:
    """Return the runs of its verdict.json; where it has none, and never will if it is over, what
    it was asked for. Raises PlanError."""
    path = folder / verdict_file.NAME
    if path.exists():
        document = verdict_file.read(path)
        seed, runs = document.seed, document.runs
        return [] if seed is None else [_run(document, seed, run, folder.name) for run in runs]
    try:
        stored = experiments.recall(folder)
    except experiments.NoExperiment as reason:
        raise PlanError([Problem(PLACE, str(reason))]) from None
    if stored.seed is None:
        return []
    return [
        CampaignRun(folder.name, stored.seed, run.name, run.repeat, *run.cell)
        for run in stored.runs
    ]


def _run(document: VerdictFile, seed: int, run: RunEntry, experiment: str) -> CampaignRun:
    cost = run.cost or Cost()
    # What its brokers reported. Older files have the version in `brokers` alone.
    version = run.broker_version or run.brokers.partition(", ")[0].rpartition(" ")[2]
    failed = (one for one in run.claims if one.outcome is ClaimOutcome.FAIL)
    return CampaignRun(
        experiment=experiment,
        seed=seed,
        run=run.name,
        repeat=run.repeat,
        **asdict(run.cell),
        deployment=cost.deployment,
        broker=version or registry().version_of(run.cell.system, document.versions),
        outcomes={one.claim: one.outcome for one in run.claims},
        reasons={one.claim: "; ".join(one.judged) for one in failed},
        confirmed_per_s=cost.confirmed_per_s,
    )
