"""What passes between the command line, the pipeline and the display: options in, a report out.

1. Values only; nothing here prints, and nothing here decides a verdict.
2. The pipeline tells a Display what it does; it never asks it anything.
3. A run that was planned is in the report, whatever became of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from harness.claims import judge
from harness.claims.judge import ClaimVerdict
from harness.compare import expectations
from harness.compare.expectations import CellResult
from harness.plan.bound import Bound
from harness.plan.misbehave import Misbehave
from harness.plan.model import Experiment, Skipped
from harness.plan.topology import Topology
from harness.run.heal import EVERYBODY, Chosen
from harness.run.progress import Part
from harness.run.strip import Strip
from harness.view.costs import Cost
from harness.view.detail import Detail
from harness.view.observations import Observation
from harness.view.summary import Summary
from spark_analysis.schema.comparison import Comparison

INTERRUPTED = 130
CRASH = 255  # a fault of ours, and nothing else


class Judge(StrEnum):
    """What decides the exit code."""

    CLAIMS = "claims"
    EXPECTATIONS = "expectations"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to carry an experiment out, beside what it is."""

    results: Path  # the experiment's folder is made inside, under its name
    judge: Judge = Judge.CLAIMS
    keep: bool = False
    replay: str = ""  # the command that does the same experiment again
    misbehave: Misbehave | None = None  # what every node is told to do wrong
    bound: Bound | None = None  # each cell is repeated until this is excluded, or happened


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run and what came of it. Without verdicts it was not judged, and `failure` says why."""

    name: str
    cell: tuple[str, str, str, str]
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
    piece: str = ""  # the experiment that it is of, in a report over several
    trace: str = ""  # of a fault of ours, for which it was not judged; "" where there was none


@dataclass(frozen=True, slots=True)
class CellTitle:
    """What a cell's words mean, in the sentences of their files."""

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
    titles: Mapping[tuple[str, str, str, str], CellTitle] = field(default_factory=dict)
    pieces: tuple[Piece, ...] = ()

    @property
    def exit_code(self) -> int:
        if self.interrupted:
            return INTERRUPTED
        if any(run.trace for run in self.runs):
            return CRASH
        if self.judge is Judge.EXPECTATIONS:
            return expectations.exit_code(self.cells)
        return judge.exit_code(run.verdicts for run in self.runs)


@dataclass(frozen=True, slots=True)
class LiveView:
    """A run while it goes on. Rates are of the last second or so."""

    run: str
    phase: str
    sent_per_s: float
    confirmed_per_s: float
    delivered_per_s: float
    success_ratio: float | None  # confirmed of sent, lately; None where nothing was sent
    outstanding: int
    armed: tuple[str, ...]
    left_s: float
    place: str = ""  # "2 of 3": which of the experiment's runs
    parts: tuple[Part, ...] = ()
    strip: Strip | None = None  # None where nothing is due at a time, or nothing is confirmed


class Display(Protocol):
    """Where the pipeline says what it is doing."""

    def step_began(self, name: str, expected_s: float | None) -> None:
        """A step that takes a while; the one before has ended."""

    def step_ended(self, seconds: float) -> None: ...

    def live(self, view: LiveView) -> None: ...

    def message(self, text: str) -> None: ...


class Pipeline(Protocol):
    """What the command line calls; harness.pipeline is one."""

    def run(self, experiment: Experiment, options: RunOptions, show: Display) -> Report: ...

    def analyse(
        self,
        folders: Sequence[Path],
        into: Path,
        judge: Judge,
        show: Display,
        reseal: bool = False,
    ) -> Report:
        """`into`: the folder itself where there is one, a new one for several."""

    def heal(self, show: Display, chosen: Chosen = EVERYBODY, dry: bool = False) -> bool:
        """Whether nothing stands in the way any more; tells what it did by messages, or would do
        where it is dry."""

    def build(self, systems: tuple[str, ...], show: Display) -> None: ...

    def doctor(self, show: Display) -> bool:
        """Whether nothing is missing here; tells what is, and how to get it, by messages."""

    def doctor_of(self, topology: Topology, show: Display) -> bool:
        """Whether a cluster that is there could be put under test; it is not touched."""
