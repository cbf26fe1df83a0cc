"""What runs of finished experiments were judged to be, kept as CSV so that sessions add up.

1. A run is a row; a row that stands in a CSV and in an experiment's verdict.json counts once.
2. Whether a run is as expected is asked of what is known now, not of what was known then.
3. A run's seed hangs on its cell and repeat: the experiment's seed replays any cell of it alone.
4. Every run counts: those of an experiment that ended without a verdict were not judged.
"""

import csv
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TextIO

from harness.claims.claims import Claim
from harness.claims.judge import ClaimVerdict, Outcome
from harness.compare.expectations import CellResult, shipped
from harness.report import verdict as verdict_json
from harness.run_folder import experiments

COLUMNS = {
    Outcome.PASS: "passed",
    Outcome.FAIL: "failed",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.NOT_APPLICABLE: "not_applicable",
}


@dataclass(frozen=True, slots=True)
class Run:
    """One run as it was judged. Claims' names with blanks between; `told`: why each failed."""

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
    told: str  # JSON: claim -> sentence
    confirmed_per_s: float | None

    @property
    def cell(self) -> tuple[str, str, str, str]:
        return (self.scenario, self.system, self.layout, self.client)

    @property
    def outcomes(self) -> dict[str, Outcome]:
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
        told: dict[str, str] = json.loads(self.told or "{}")
        return told.get(claim, "")


def found(folder: Path) -> list[Run]:
    """Every run of the CSV files and the experiments below `folder`; oldest first."""
    runs = [run for path in sorted(folder.glob("*.csv")) for run in read(path)]
    names = experiments.NAME, verdict_json.NAME
    for experiment in sorted({path.parent for name in names for path in folder.glob(f"*/{name}")}):
        verdict = experiment / verdict_json.NAME
        runs += of_verdict(verdict) if verdict.exists() else without_verdict(experiment)
    once = {(run.experiment, run.run): run for run in runs}
    return sorted(once.values(), key=lambda run: (run.experiment, run.run))


def read(path: Path) -> Iterator[Run]:
    """The runs of a CSV file that `write` wrote; none of a file of another kind."""
    with path.open(newline="", encoding="utf-8") as lines:
        rows = csv.DictReader(lines)
        if rows.fieldnames != [field.name for field in fields(Run)]:
            return
        for row in rows:
            numbers: dict[str, Any] = {name: int(row[name]) for name in ("seed", "repeat")}
            rate = row["confirmed_per_s"]
            numbers["confirmed_per_s"] = float(rate) if rate else None
            yield Run(**{**row, **numbers})


def write(runs: Iterable[Run], out: TextIO) -> None:
    names = [field.name for field in fields(Run)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for run in runs:
        values = [getattr(run, name) for name in names]
        writer.writerow("" if value is None else value for value in values)


def of_verdict(path: Path) -> Iterator[Run]:
    """The runs of one experiment, from its verdict.json."""
    document = json.loads(path.read_text(encoding="utf-8"))
    for run in document["runs"]:
        yield _run(document, run, path.parent.name)


def without_verdict(folder: Path) -> Iterator[Run]:
    """What an experiment was asked for that has none, and never will if it is over."""
    stored = experiments.recall(folder)
    for run in stored.runs if stored.seed is not None else ():
        names = dict(zip(("scenario", "system", "layout", "client"), run.cell, strict=True))
        unknown = dict.fromkeys(("deployment", "broker", *COLUMNS.values(), "told"), "")
        yield Run(
            experiment=folder.name,
            seed=stored.seed,
            run=run.name,
            repeat=run.repeat,
            **names,
            **unknown,
            confirmed_per_s=None,
        )


def _run(document: Mapping[str, Any], run: Mapping[str, Any], experiment: str) -> Run:
    cost = run.get("cost") or {}
    claims = {
        column: " ".join(
            claim["claim"] for claim in run["claims"] if claim["outcome"] == outcome.value
        )
        for outcome, column in COLUMNS.items()
    }
    told = {
        claim["claim"]: "; ".join(claim["judged"])
        for claim in run["claims"]
        if claim["outcome"] == Outcome.FAIL.value
    }
    return Run(
        experiment=experiment,
        seed=document["seed"],
        run=run["name"],
        repeat=run["repeat"],
        **run["cell"],
        deployment=cost.get("deployment", ""),
        broker=document["versions"].get("rabbitmq", ""),
        **claims,
        told=json.dumps(told, ensure_ascii=False) if told else "",
        confirmed_per_s=cost.get("confirmed_per_s"),
    )


class Knowledge:
    """What cells are known to do (expectations.toml), asked of stored runs."""

    def __init__(self, claims: Iterable[Claim]) -> None:
        """Claims of another day are in stored runs, too, and nobody speaks of them."""
        told = list(claims)
        self._claims = frozenset(one.name for one in told)
        self._foretold = frozenset(one.name for one in told if one.warns or one.some)
        self._known = shipped(self._claims)

    def promised(self, claim: str) -> bool:
        """Whether it is a promise, that a FAIL breaks."""
        return claim not in self._foretold

    def of(self, runs: Sequence[Run]) -> CellResult:
        """How the runs of one cell stand against what is known of it."""
        assert len({run.cell for run in runs}) == 1, "one cell at a time"
        return self._known.compare(runs[0].cell, [self._verdicts(run) for run in runs])

    def _verdicts(self, run: Run) -> list[ClaimVerdict]:
        return [
            ClaimVerdict(claim, outcome, "", "", "")
            for claim, outcome in run.outcomes.items()
            if claim in self._claims
        ]


def play(folder: Path, words: Sequence[str]) -> int:
    """One experiment into `folder`; its exit code. What it said stands on our own error output
    where it ended in none of the ways in which an experiment ends."""
    command = [sys.executable, "-m", "harness", "run", *words, "--judge", "expectations"]
    began = time.monotonic()
    ended = subprocess.run(
        [*command, "--results", str(folder)], check=False, capture_output=True, text=True
    )
    seconds = time.monotonic() - began
    print(f"{shlex.join(words)}: {seconds:.0f} s, exit {ended.returncode}", flush=True)
    if ended.returncode not in (0, 1, 2):
        print(ended.stderr[-4000:], file=sys.stderr, flush=True)
    return ended.returncode
