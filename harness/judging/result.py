"""The result of an experiment: every run with its verdicts, every cell, and the exit code.

1. It holds values only; exits.py decides, and nothing here prints.
2. Every planned run is in the report, even if it failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.claims.judge import ClaimVerdict
from harness.compare.expectations import CellResult, Known
from harness.compare.loads import PlayedLoad
from harness.judging import exits
from harness.judging.exits import Exit, Judge
from harness.plan.model import Cell, Skipped
from harness.plan.problems import Problem
from harness.view.costs import Cost
from harness.view.detail import Detail
from harness.view.observations import Observation
from harness.view.summary import Summary
from spark_analysis.schema.comparison import Comparison


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run and what came of it. Without verdicts it was not judged, and `failure` says why."""

    name: str
    cell: Cell
    repeat: int
    seed: int
    verdicts: tuple[ClaimVerdict, ...] = ()
    observations: tuple[Observation, ...] = ()
    doubts: tuple[str, ...] = ()
    failure: str = ""
    notes: tuple[str, ...] = ()  # why a fresh cluster was stood up, which words were ignored
    summary: Summary | None = None  # None where nothing was judged
    detail: Detail | None = None  # what only a page has room for
    cost: Cost | None = None
    together: tuple[str, ...] = ()  # the other runs that were played with it, by name
    piece: str = ""  # the experiment that it is of, in a report over several
    trace: str = ""  # of a fault of ours, for which it was not judged; "" where there was none
    brokers: str = (
        ""  # what its brokers reported: `rabbitmq 4.2.0, metadata in khepri`; "": nothing
    )
    broker_version: str = ""  # of that: `4.2.0`
    origin: str = ""  # the user's own image or build that its brokers ran from; "" if none
    load: PlayedLoad | None = None  # what its scenario asked for; None: unknown


@dataclass(frozen=True, slots=True)
class CellTitle:
    """The titles of a cell, in the sentences of their files."""

    scenario: str
    system: str
    layout: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the experiments that a report is over."""

    experiment: str
    seed: int | None
    replay: str
    folder: Path


@dataclass(frozen=True, slots=True)
class ClaimsFile:
    """A file of the user's own claims, and their names."""

    file: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """An experiment's end: what every run showed, and what that means.

    Over several experiments `seed` is None, and `pieces` tell theirs.
    """

    experiment: str
    seed: int | None
    folder: Path
    judge: Judge
    replay: str
    versions: Mapping[str, str]
    runs: tuple[RunReport, ...]
    skipped: tuple[Skipped, ...]
    cells: tuple[CellResult, ...]
    comparison: tuple[Comparison, ...] = ()
    interrupted: bool = False
    titles: Mapping[Cell, CellTitle] = field(default_factory=dict)
    pieces: tuple[Piece, ...] = ()
    claims_files: tuple[ClaimsFile, ...] = ()
    refused: tuple[Problem, ...] = ()  # the bad input that ended it, after other runs were played

    def result_of(self, cell: Cell) -> CellResult | None:
        """Return how a cell stands to what is known of it; None: it was not compared."""
        return next((one for one in self.cells if one.cell == cell), None)

    def known_of(self, cell: Cell, claim: str) -> Known | None:
        """Return what a cell is known to do about a claim; None: nothing is."""
        result = self.result_of(cell)
        return result.known.get(claim) if result is not None else None

    @property
    def exit_code(self) -> Exit:
        return exits.of_experiment(
            self.judge,
            [run.verdicts for run in self.runs],
            self.cells,
            interrupted=self.interrupted,
            crashed=any(run.trace for run in self.runs),
            refused=bool(self.refused),
        )
