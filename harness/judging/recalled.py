"""The results of every run, read again from verdict.json, for comparisons of experiments.

1. Every file that cannot be read, and every unknown value, is a problem with its place. Nothing is
   compared in part.
2. Runs are counted from the result of each, so files from before there were rates work, too.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.medians import Time
from harness.compare.rates import Tried, rate, tried, violates
from harness.compare.versus import LOSS, Cell, Counted, Ran, Side
from harness.judging import exits
from harness.outside.files import JSON_BYTES_MAX, Unreadable, is_file, is_folder, text_of
from harness.plan.problems import PlanError, Problem, and_more, unreadable
from harness.plan.shape_words import PROBLEMS_MAX, problem_of, problems_of
from harness.run_folder.experiments import NAME as EXPERIMENT
from spark_analysis.schema import old_names

NAME = "verdict.json"
EXPECTED = f"the {NAME} of an experiment, or the experiment's folder"
ADVICE = "`mqproof run` writes experiments below results/"
VERSION = 2
MEANT_BY_LOSS = "Something that was confirmed was lost or stranded."
RUNS_MAX, CLAIMS_MAX, HOSTS_MAX, SECONDS_MAX = 100_000, 1000, 1000, 1e9
BROKERS = "brokers"  # what hosts of brokers are a part of
OUT = "total_downtime"
_DECIDED = (ClaimOutcome.PASS, ClaimOutcome.FAIL)
_Name = Annotated[str, Field(max_length=300)]
_Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Part(BaseModel):
    """Keys that are not read here may stand beside those that are."""

    model_config = ConfigDict(strict=True, frozen=True)


class _Place(_Part):
    scenario: _Name
    system: _Name
    layout: _Name
    client: _Name

    @property
    def cell(self) -> Cell:
        return self.scenario, self.system, self.layout, self.client


class _ClaimOutcome(_Part):
    claim: _Name
    outcome: Literal["PASS", "FAIL", "INCONCLUSIVE", "NOT APPLICABLE"]
    meaning: Annotated[str, Field(max_length=10_000)] = ""
    warns: bool = False


class _Seconds(_Part):
    """`bound`: it lasted at least so long."""

    maximum_s: Annotated[float, Field(ge=0, le=SECONDS_MAX)]
    bound: bool


class _Summary(BaseModel):
    """Measures are whatever has seconds: a measure that is new is compared like the others."""

    model_config = ConfigDict(strict=True, extra="allow")

    lost: _Count
    stranded: _Count
    confirmed: _Count
    loss_decided_runs: _Count
    faults: _Count = 0

    @property
    def lost_some(self) -> bool | None:
        """Return whether messages were lost; None: unknown."""
        lost = bool(self.lost or self.stranded)
        return lost if lost or (self.confirmed and self.loss_decided_runs) else None

    @property
    def measures(self) -> dict[str, Any]:
        extra = self.model_extra or {}
        return {
            name: value
            for name, value in extra.items()
            if isinstance(value, dict) and "maximum_s" in value
        }

    @property
    def times(self) -> Iterator[tuple[str, Time]]:
        for name, value in self.measures.items():
            known = _Seconds.model_validate(value)
            yield name, Time(known.maximum_s, known.bound)


class _Host(_Part):
    part: _Name
    cores: float | None = None
    memory_median_bytes: float | None = None


class _Cost(_Part):
    confirmed_per_s: float | None = None
    p50_ms: float | None = None
    hosts: Annotated[tuple[_Host, ...], Field(max_length=HOSTS_MAX)] = ()

    def of_brokers(self, name: str) -> float | None:
        """Over all hosts of brokers; None where one of them is not known."""
        found = [getattr(host, name) for host in self.hosts if host.part == BROKERS]
        return None if not found or None in found else float(sum(found))


class _Run(_Part):
    cell: _Place
    claims: Annotated[tuple[_ClaimOutcome, ...], Field(max_length=CLAIMS_MAX)] = ()
    summary: _Summary | None = None
    cost: _Cost | None = None
    brokers: Annotated[str, Field(max_length=200)] = ""

    @property
    def verdicts(self) -> tuple[ClaimVerdict, ...]:
        return tuple(
            ClaimVerdict(
                one.claim, ClaimOutcome(one.outcome), one.meaning, "", "", warns=one.warns
            )
            for one in self.claims
        )


class _File(_Part):
    format: Literal["mqproof verdict"]
    version: int
    experiment: _Name
    exit_code: int | None = None
    versions: Annotated[dict[_Name, _Name], Field(max_length=RUNS_MAX)] = {}
    runs: Annotated[tuple[_Run, ...], Field(min_length=1, max_length=RUNS_MAX)]


@dataclass(frozen=True, slots=True)
class RecalledRun:
    """A run as its file tells it. `hosts`, `cores`, `memory_bytes`: of brokers, while nothing is
    wrong. None is not known; of `broken` and `lost`, not decided."""

    cell: Cell
    faults: int
    broken: bool | None
    lost: bool | None
    out: Time | None
    hosts: int | None
    cores: float | None
    memory_bytes: float | None
    per_s: float | None
    p50_ms: float | None


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
    document = _read(path)
    verdicts = [run.verdicts for run in document.runs]
    broken, undecided = (
        dict.fromkeys(
            one.claim for run in verdicts for one in run if one.is_promise and one.outcome is word
        )
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


def ended(paths: Sequence[Path]) -> list[RecalledRun]:
    """Every run of these files. Raises PlanError with what is wrong with each."""
    return [_ended(run) for document in _each(paths) for run in document.runs]


def sides(paths: Sequence[Path]) -> tuple[Side, ...]:
    """Return the content of each path: a verdict.json, or the folder that holds one. Raise
    PlanError."""
    files = [path / NAME if is_folder(path) else path for path in paths]
    problems: list[Problem] = []
    found = []
    for path in files:
        try:
            document = _read(path)
            found.append(_side(document.experiment, document.runs))
        except PlanError as error:
            problems += error.problems
    places = [path.resolve() for path in files]
    problems += [
        Problem(str(path), "is named twice: nothing differs from itself")
        for path in dict.fromkeys(places)
        if places.count(path) > 1
    ]
    if problems:
        raise PlanError(problems)
    return tuple(found)


def joined(name: str, paths: Sequence[Path]) -> Side:
    """The runs of all of these files together. Raises PlanError with what is wrong with each."""
    return _side(name, [run for document in _each(paths) for run in document.runs])


def _each(paths: Sequence[Path]) -> list[_File]:
    problems: list[Problem] = []
    found: list[_File] = []
    for path in paths:
        try:
            found.append(_read(path))
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(problems)
    return found


def _ended(run: _Run) -> RecalledRun:
    summary, cost = run.summary, run.cost
    decided = [one for one in run.verdicts if one.is_promise and one.outcome in _DECIDED]
    hosts = 0 if cost is None else sum(host.part == BROKERS for host in cost.hosts)
    return RecalledRun(
        cell=run.cell.cell,
        faults=0 if summary is None else summary.faults,
        broken=any(map(violates, decided)) if decided else None,
        lost=None if summary is None else summary.lost_some,
        out=None if summary is None else dict(summary.times).get(OUT),
        hosts=hosts or None,
        cores=None if cost is None else cost.of_brokers("cores"),
        memory_bytes=None if cost is None else cost.of_brokers("memory_median_bytes"),
        per_s=None if cost is None else cost.confirmed_per_s,
        p50_ms=None if cost is None else cost.p50_ms,
    )


def versions(paths: Sequence[Path]) -> dict[str, str]:
    """Return the versions under test, all of them if there were several. Raise PlanError."""
    found: dict[str, dict[str, None]] = {}
    for path in paths:
        for name, version in sorted(_read(path).versions.items()):
            found.setdefault(name, {})[version] = None
    return {name: ", ".join(versions_found) for name, versions_found in found.items()}


def _read(path: Path) -> _File:
    try:
        text = text_of(path, JSON_BYTES_MAX)
    except Unreadable as error:
        reason = str(error)
        if not is_file(path) and is_file(path.parent / EXPERIMENT):
            reason = (
                f"it is not judged yet: {shlex.join(['mqproof', 'analyse', str(path.parent)])}"
            )
        raise PlanError([unreadable(str(path), reason, EXPECTED, ADVICE)]) from None
    try:
        document = _File.model_validate_json(old_names.verdict(text))
    except ValidationError as error:
        raise PlanError(problems_of(error, str(path))) from None
    if document.version != VERSION:
        problem = Problem(f"{path}, version", f"{document.version} is not known", (str(VERSION),))
        raise PlanError([problem])
    if problems := list(_measure_problems(path, document)):
        more = len(problems) - PROBLEMS_MAX
        rest = [and_more(str(path), more)] if more > 0 else []
        raise PlanError([*problems[:PROBLEMS_MAX], *rest])
    return document


def _measure_problems(path: Path, document: _File) -> Iterator[Problem]:
    """Yield the problems of measures, whose names are no declared keys."""
    for number, run in enumerate(document.runs):
        for name, value in (run.summary.measures if run.summary else {}).items():
            try:
                _Seconds.model_validate(value)
            except ValidationError as error:
                place = f"{path}, runs.{number}.summary.{name}"
                yield from (
                    Problem(".".join([place, *map(str, one["loc"])]), problem_of(one))
                    for one in error.errors()
                )


def _side(name: str, runs: Sequence[_Run]) -> Side:
    cells: dict[Cell, list[_Run]] = {}
    for run in runs:
        cells.setdefault(run.cell.cell, []).append(run)
    brokers = {
        cell: tuple(dict.fromkeys(run.brokers for run in of_cell if run.brokers))
        for cell, of_cell in cells.items()
    }
    return Side(name, {cell: _ran(of_cell) for cell, of_cell in cells.items()}, brokers)


def _ran(runs: Sequence[_Run]) -> Ran:
    counted = tried([run.verdicts for run in runs])
    meanings = {one.claim: one.meaning for run in runs for one in run.claims}
    claims = {name: Counted(one, meanings[name]) for name, one in counted.items()}
    times: dict[str, list[Time]] = {}
    for name, time in (each for run in runs if run.summary for each in run.summary.times):
        times.setdefault(name, []).append(time)
    return Ran(
        runs=len(runs),
        claims={LOSS: _loss(runs), **claims},
        times={name: tuple(values) for name, values in times.items()},
    )


def _loss(runs: Sequence[_Run]) -> Counted:
    losses = [run.summary.lost_some for run in runs if run.summary is not None]
    known = [lost for lost in losses if lost is not None]
    return Counted(Tried(rate(sum(known), len(known)), len(runs) - len(known)), MEANT_BY_LOSS)
