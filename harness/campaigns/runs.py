"""A run of a finished experiment as it was judged, kept as a row of CSV so that sessions add up.

1. A run is compared with the expectations of today, not with those of its day.
2. A run's seed depends on its cell and repeat: the experiment's seed replays any cell of it alone.
"""

import csv
import io
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from harness.claims.claims import Claim
from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.expectations import CellResult, shipped
from harness.plan.problems import Problem
from spark_analysis.schema import old_names

COLUMNS = {
    ClaimOutcome.PASS: "passed",
    ClaimOutcome.FAIL: "failed",
    ClaimOutcome.INCONCLUSIVE: "inconclusive",
    ClaimOutcome.NOT_APPLICABLE: "not_applicable",
}


@dataclass(frozen=True, slots=True)
class CampaignRun:
    """One run as it was judged. Claims' names with blanks between; `reasons`: why each failed."""

    experiment: str
    seed: int  # the experiment's
    run: str
    repeat: int
    scenario: str
    system: str
    layout: str  # with its profile
    client: str
    deployment: str
    broker: str  # its version
    passed: str
    failed: str
    inconclusive: str
    not_applicable: str
    reasons: str  # JSON: claim -> sentence
    confirmed_per_s: float | None

    @property
    def cell(self) -> tuple[str, str, str, str]:
        return (self.scenario, self.system, self.layout, self.client)

    @property
    def outcomes(self) -> dict[str, ClaimOutcome]:
        return {
            claim: outcome
            for outcome, column in COLUMNS.items()
            for claim in getattr(self, column).split()
        }

    @property
    def replay(self) -> str:
        """The command that plays this run again; in an experiment of its own."""
        words = ["mqproof", "run", self.scenario, "--system", self.system]
        words += ["--layout", self.layout, "--client", self.client]
        words += ["--deployment", self.deployment] if self.deployment else []
        words += ["--repeats", str(self.repeat)] if self.repeat > 1 else []
        return shlex.join([*words, "--seed", str(self.seed)])

    def why(self, claim: str) -> str:
        return _sentences(self.reasons).get(claim, "")


NAMES = tuple(field.name for field in fields(CampaignRun))


def columns(outcomes: Iterable[tuple[str, ClaimOutcome]]) -> dict[str, str]:
    """The columns of a run's claims, by what came of each."""
    listed = list(outcomes)
    return {
        column: " ".join(claim for claim, one in listed if one is outcome)
        for outcome, column in COLUMNS.items()
    }


def as_csv(runs: Iterable[CampaignRun]) -> str:
    """A head, and a row a run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(NAMES)
    for run in runs:
        values = [getattr(run, name) for name in NAMES]
        writer.writerow("" if value is None else value for value in values)
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
    try:
        numbers = {name: int(row[name]) for name in ("seed", "repeat")}
        rate = float(row["confirmed_per_s"]) if row["confirmed_per_s"] else None
        row = old_names.campaign_row(row)
        _sentences(row["reasons"])
    except ValueError as error:
        return Problem(place, f"is no run: {error}")
    return CampaignRun(**{**row, **numbers, "confirmed_per_s": rate})  # type: ignore[arg-type]


def _sentences(text: str) -> dict[str, str]:
    """Why each claim failed. Raises ValueError."""
    found = json.loads(text or "{}")
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
        assert len({run.cell for run in runs}) == 1, "one cell at a time"
        return self._known.compare(runs[0].cell, [self._verdicts(run) for run in runs])

    def _verdicts(self, run: CampaignRun) -> list[ClaimVerdict]:
        return [
            ClaimVerdict(claim, outcome)
            for claim, outcome in run.outcomes.items()
            if claim in self._claims
        ]
