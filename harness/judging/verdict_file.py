"""verdict.json as values: a report writes them for machines, and later commands read them again.

1. The format has a version; a key that is there means the same in every version that has it.
2. What no command reads is not read back: an older file may lack it.
3. A file that cannot be read gives problems with their places; nothing is compared in part.
4. Comparisons count runs by their results, so files from before there were rates work, too.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from harness.claims.judge import ClaimOutcome, ClaimResult
from harness.compare.loads import PlayedLoad, each_once
from harness.compare.medians import Time
from harness.compare.rates import Tried, decided, rate_known, tried, violates
from harness.compare.versus import LOSS, Counted, Ran, Side
from harness.judging.result import ClaimsFile, Piece
from harness.outside.files import (
    JSON_BYTES_MAX,
    Unreadable,
    is_file,
    is_folder,
    real_path,
    text_of,
)
from harness.plan.files.shape_words import problems_of
from harness.plan.model import cell_of
from harness.plan.problems import PlanError, Problem, each, unreadable
from harness.run_folder.experiments import NAME as EXPERIMENT
from harness.run_folder.manifest import AuditStart
from harness.view.costs import Cost
from harness.view.failing import Failing
from harness.view.grouping import by_key
from harness.view.observations import Observation
from harness.view.summary import Promised
from harness.view.timeline import FaultSpan, OperationSpan
from spark_analysis.schema import old_names
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.facts import ProcessEnd

NAME = "verdict.json"
EXPECTED = f"the {NAME} of an experiment, or the experiment's folder"
ADVICE = "`mqproof run` writes experiments below results/"
FORMAT: Literal["mqproof verdict"] = "mqproof verdict"
VERSION = 2
RUNS_MAX, CLAIMS_MAX, SECONDS_MAX = 100_000, 1000, 1e9
NOT_COMPARED = "not compared"  # the standing of a cell that no expectation names
OUT = "total_downtime"
TIMES = ("silence", "degraded", OUT)  # of a run: what two experiments are compared by
_DECIDED = (ClaimOutcome.PASS, ClaimOutcome.FAIL)

_Row = TypeVar("_Row")
_Unread = Annotated[tuple[_Row, ...], BeforeValidator(lambda _: ())]
_Name = Annotated[str, Field(max_length=300)]
_Version = Annotated[str, Field(max_length=10_000)]  # several of one product: 100 characters each
_Count = Annotated[int, Field(ge=0, lt=2**63)]


@dataclass(frozen=True, slots=True)
class CellWords:
    scenario: _Name
    system: _Name
    layout: _Name
    client: _Name


@dataclass(frozen=True, slots=True)
class ClaimEntry(ClaimResult):
    """A claim in one run: with its verdict as people read it, and its line."""

    claim: _Name
    meaning: Annotated[str, Field(max_length=10_000)] = ""
    not_judged: tuple[str, ...] = ()  # the fact, and why
    inapplicable: tuple[str, ...] = ()  # those of `not_judged` that make no sense in the run
    verdict: str = ""
    line: str = ""


@dataclass(frozen=True, kw_only=True)
class SpreadEntry:
    """Seconds over the runs in which they are known. `bound`: the largest is only a lower bound.
    The median is Kaplan and Meier's where a run is; an end of its interval that is null is open.
    """

    median_s: float = 0.0
    median_reached: bool = True
    median_interval_s: tuple[float, float | None] = (0.0, None)
    maximum_s: Annotated[float, Field(ge=0, le=SECONDS_MAX, allow_inf_nan=False)]
    bound: bool
    runs: int = 1


@dataclass(frozen=True, slots=True)
class ScopeEntry:
    """The queue or publisher that was unavailable for longest in any run, of so many (`of`).
    `bound`: the system did not end each outage by itself."""

    scope: str
    name: str
    of: int
    seconds: float
    back: bool  # it served when the load ended
    bound: bool
    outages: int


@dataclass(frozen=True, slots=True)
class LateEntry:
    """Messages that were due from a fault on and not confirmed in time, of so many `operations`,
    in the runs in which that is known."""

    missed: int
    operations: int
    runs: int

    @property
    def share(self) -> float:
        return self.missed / self.operations


@dataclass(frozen=True, kw_only=True)
class TotalsEntry:
    """One run, or several together. Sums hold what was seen: if fewer runs were decided than
    judged, there may be more."""

    runs: int = 1
    judged: int = 1
    confirmed: _Count
    lost: _Count
    stranded: _Count
    undecided_messages: int = 0  # they may or may not be lost
    by_strength: _Unread[Promised] = ()
    duplicates: Mapping[str, int] = field(default_factory=dict)  # by source, most frequent first
    loss_decided_runs: _Count
    outage_decided_runs: int = 0
    faults: _Count = 0
    faults_seen: int = 0
    silence: SpreadEntry | None = None  # None: it is known of no run
    degraded: SpreadEntry | None = None
    total_downtime: SpreadEntry | None = None  # all outages of a run together
    downtime_runs: int = 0
    worst_downtime_scope: ScopeEntry | None = None
    late: LateEntry = LateEntry(0, 0, 0)

    @property
    def lost_some(self) -> bool | None:
        """Return whether messages were lost; None: unknown."""
        lost = bool(self.lost or self.stranded)
        return lost if lost or (self.confirmed and self.loss_decided_runs) else None

    @property
    def times(self) -> Iterator[tuple[str, Time]]:
        """Yield each measure that is known, with its longest time."""
        for name in TIMES:
            spread: SpreadEntry | None = getattr(self, name)
            if spread is not None:
                yield name, Time(spread.maximum_s, spread.bound)


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """A cell that does not apply."""

    cell: CellWords
    reason: str


@dataclass(frozen=True, slots=True)
class RateEntry:
    """In how many runs something was violated. `rate`: the exact interval of that."""

    runs: int
    violated: int
    not_judged: int
    rate: tuple[float, float]


@dataclass(frozen=True, slots=True)
class ClaimRateEntry(RateEntry):
    warns: bool


@dataclass(frozen=True, kw_only=True)
class CellEntry:
    """The runs of one cell together. `known`: what is expected of each claim, in words.
    Without expectations of the cell `standing` is NOT_COMPARED, and nothing is known."""

    cell: CellWords
    standing: str
    lines: tuple[str, ...]
    known: Mapping[str, str]
    runs: int
    not_judged: int
    mostly_not_judged: bool
    loss: RateEntry
    claims: Mapping[str, ClaimRateEntry]


# Fields of a dataclass come in the order of its last base first.
@dataclass(frozen=True, kw_only=True)
class _ScenarioName:
    scenario: str


@dataclass(frozen=True, kw_only=True)
class ScenarioEntry(TotalsEntry, _ScenarioName):
    """The runs of one scenario in a place."""


@dataclass(frozen=True, kw_only=True)
class _PlaceName:
    system: str
    layout: str
    client: str


@dataclass(frozen=True, kw_only=True)
class PlaceEntry(TotalsEntry, _PlaceName):
    """The runs of a system in one layout, by one client: together, and by scenario."""

    scenarios: tuple[ScenarioEntry, ...]


@dataclass(frozen=True, kw_only=True)
class RunEntry:
    """One run. `summary` None: it was not judged, and `failure` says why."""

    name: str
    cell: CellWords
    repeat: Annotated[int, Field(ge=1)]
    seed: int = 0
    judged: bool = False
    failure: str = ""
    brokers: Annotated[str, Field(max_length=200)] = ""
    broker_version: Annotated[str, Field(max_length=200)] = ""
    origin: Annotated[str, Field(max_length=10_000)] = ""
    notes: _Unread[str] = ()
    doubts: _Unread[str] = ()
    summary: TotalsEntry | None = None
    claims: Annotated[tuple[ClaimEntry, ...], Field(max_length=CLAIMS_MAX)] = ()
    observations: _Unread[Observation] = ()
    faults: _Unread[FaultSpan] = ()
    operations: _Unread[OperationSpan] = ()
    process_ends: _Unread[ProcessEnd] = ()
    audit_starts: _Unread[AuditStart] = ()
    failing: _Unread[Failing] = ()
    cost: Cost | None = None
    piece: str = ""
    load: PlayedLoad | None = None

    @property
    def lost(self) -> bool | None:
        """Return whether messages were lost; None: unknown."""
        return None if self.summary is None else self.summary.lost_some

    @property
    def broken(self) -> bool | None:
        """Return whether a promise was broken; None: none was decided."""
        decided = [one for one in self.claims if one.is_promise and one.outcome in _DECIDED]
        return any(map(violates, decided)) if decided else None

    @property
    def out(self) -> Time | None:
        """Return the downtime; None: unknown."""
        return None if self.summary is None else dict(self.summary.times).get(OUT)


@dataclass(frozen=True, kw_only=True)
class VerdictFile:
    """The whole file. `seed` None: it is over several experiments, its `pieces`."""

    format: Literal["mqproof verdict"]
    version: int
    experiment: _Name
    seed: int | None
    judge: str = ""
    exit_code: int | None = None
    interrupted: bool = False
    folder: str = ""
    replay: str = ""
    versions: Annotated[dict[_Name, _Version], Field(max_length=RUNS_MAX)]
    runs: Annotated[tuple[RunEntry, ...], Field(max_length=RUNS_MAX)]
    skipped: _Unread[SkippedEntry] = ()
    cells: _Unread[CellEntry] = ()
    places: _Unread[PlaceEntry] = ()
    comparison: _Unread[Comparison] = ()
    claims_files: _Unread[ClaimsFile] = ()
    pieces: Annotated[tuple[Piece, ...], Field(max_length=RUNS_MAX)] = ()


def read(path: Path) -> VerdictFile:
    """Return the file at `path`. Raise PlanError with all that is wrong in it."""
    try:
        text = text_of(path, JSON_BYTES_MAX)
    except Unreadable as error:
        reason = str(error)
        if not is_file(path) and is_file(path.parent / EXPERIMENT):
            advice = shlex.join(["mqproof", "analyse", str(path.parent)])
            reason = f"it is not judged yet: {advice}"
        raise PlanError([unreadable(str(path), reason, EXPECTED, ADVICE)]) from None
    try:
        found = _reader().validate_json(old_names.verdict(text), strict=True)
    except ValidationError as error:
        raise PlanError(problems_of(error, str(path))) from None
    if found.version != VERSION:
        text = f"{found.version} is not known"
        raise PlanError([Problem(f"{path}, version", text, (str(VERSION),))])
    if not found.runs:
        raise PlanError([Problem(f"{path}, runs", "must have 1 entries at least, not 0")])
    return found


@cache
def _reader() -> TypeAdapter[VerdictFile]:
    return TypeAdapter(VerdictFile)


MEANT_BY_LOSS = "Something that was confirmed was lost or stranded."


def runs(paths: Sequence[Path]) -> list[RunEntry]:
    """Return every run of these files. Raise PlanError with what is wrong with each."""
    return [run for document in each(paths, read) for run in document.runs]


def sides(paths: Sequence[Path]) -> tuple[Side, ...]:
    """Return the content of each path: a verdict.json, or the folder that holds one. Raise
    PlanError."""
    files = [path / NAME if is_folder(path) else path for path in paths]
    places = [real_path(path) for path in files]
    problems = [
        Problem(str(path), "is named twice: nothing differs from itself")
        for path in dict.fromkeys(places)
        if places.count(path) > 1
    ]
    return tuple(_side(one.experiment, one.runs) for one in each(files, read, problems))


def joined(name: str, paths: Sequence[Path]) -> Side:
    """Return the runs of all these files together. Raise PlanError."""
    return _side(name, runs(paths))


def _side(name: str, runs: Sequence[RunEntry]) -> Side:
    cells = by_key(runs, lambda run: cell_of(run.cell))
    return Side(
        name,
        {cell: _ran(of_cell) for cell, of_cell in cells.items()},
        brokers={cell: _once(run.brokers for run in own) for cell, own in cells.items()},
        origins={cell: _once(run.origin for run in own) for cell, own in cells.items()},
        loads={cell: each_once(run.load for run in own) for cell, own in cells.items()},
    )


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, words)))


def _ran(runs: Sequence[RunEntry]) -> Ran:
    counted = tried([run.claims for run in runs])
    meanings = {one.claim: one.meaning for run in runs for one in run.claims}
    claims = {name: Counted(one, meanings[name]) for name, one in counted.items()}
    lost = rate_known(run.lost for run in runs)
    times = (each for run in runs if run.summary is not None for each in run.summary.times)
    return Ran(
        runs=len(runs),
        claims={LOSS: Counted(Tried(lost, len(runs) - lost.runs), MEANT_BY_LOSS), **claims},
        times={
            name: tuple(time for _, time in own)
            for name, own in by_key(times, lambda one: one[0]).items()
        },
        judged=sum(decided(run.claims) for run in runs),
    )
