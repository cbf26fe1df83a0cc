"""verdict.json read again: what every run showed, for whoever compares experiments.

1. Every file that cannot be read, and every value that is none of ours, is a problem with its
   place; nothing is compared in part.
2. Runs are counted from what each showed, so that a file of before there were rates serves, too.
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.claims.judge import ClaimVerdict, Outcome
from harness.compare.medians import Time
from harness.compare.rates import Tried, rate, tried
from harness.compare.versus import LOSS, Cell, Counted, Ran, Side
from harness.outside.files import JSON_BYTES_MAX, Unreadable, is_file, is_folder, text_of
from harness.plan.problems import PlanError, Problem, and_more
from harness.run_folder.experiments import NAME as EXPERIMENT

NAME = "verdict.json"
VERSION = 1
MEANT_BY_LOSS = "Something that was confirmed was lost or stranded."
PROBLEMS_MAX = 5  # of one file: the rest is mostly the same again
RUNS_MAX, CLAIMS_MAX, SECONDS_MAX = 100_000, 1000, 1e9
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


class _Told(_Part):
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


class _Run(_Part):
    cell: _Place
    claims: Annotated[tuple[_Told, ...], Field(max_length=CLAIMS_MAX)] = ()
    summary: _Summary | None = None

    @property
    def verdicts(self) -> tuple[ClaimVerdict, ...]:
        return tuple(
            ClaimVerdict(one.claim, Outcome(one.outcome), one.meaning, "", "", warns=one.warns)
            for one in self.claims
        )


class _File(_Part):
    format: Literal["mqproof verdict"]
    version: int
    experiment: _Name
    runs: Annotated[tuple[_Run, ...], Field(min_length=1, max_length=RUNS_MAX)]


def sides(paths: Sequence[Path]) -> tuple[Side, ...]:
    """What each holds: a verdict.json, or the folder that it lies in. Raises PlanError."""
    files = [path / NAME if is_folder(path) else path for path in paths]
    problems: list[Problem] = []
    found = []
    for path in files:
        try:
            found.append(_side(_read(path)))
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


def _read(path: Path) -> _File:
    try:
        text = text_of(path, JSON_BYTES_MAX)
    except Unreadable as error:
        reason = str(error)
        if not is_file(path) and is_file(path.parent / EXPERIMENT):
            reason = (
                f"it is not judged yet: {shlex.join(['mqproof', 'analyse', str(path.parent)])}"
            )
        raise PlanError([Problem(str(path), f"cannot be read: {reason}")]) from None
    try:
        told = _File.model_validate_json(text)
    except ValidationError as error:
        raise PlanError(_problems(path, error)) from None
    if told.version != VERSION:
        problem = Problem(f"{path}, version", f"{told.version} is not known", (str(VERSION),))
        raise PlanError([problem])
    if problems := list(_measure_problems(path, told)):
        more = len(problems) - PROBLEMS_MAX
        rest = [and_more(str(path), more)] if more > 0 else []
        raise PlanError([*problems[:PROBLEMS_MAX], *rest])
    return told


def _problems(path: Path, error: ValidationError) -> Iterator[Problem]:
    for one in error.errors(include_url=False)[:PROBLEMS_MAX]:
        place = ".".join(str(part) for part in one["loc"])
        yield Problem(f"{path}, {place}" if place else str(path), one["msg"])
    more = error.error_count() - PROBLEMS_MAX
    if more > 0:
        yield and_more(str(path), more)


def _measure_problems(path: Path, told: _File) -> Iterator[Problem]:
    """Of measures, whose names are no keys that could be declared."""
    for number, run in enumerate(told.runs):
        for name, value in (run.summary.measures if run.summary else {}).items():
            try:
                _Seconds.model_validate(value)
            except ValidationError as error:
                place = f"{path}, runs.{number}.summary.{name}"
                yield from (
                    Problem(".".join([place, *map(str, one["loc"])]), one["msg"])
                    for one in error.errors()
                )


def _side(told: _File) -> Side:
    cells: dict[Cell, list[_Run]] = {}
    for run in told.runs:
        cells.setdefault(run.cell.cell, []).append(run)
    return Side(told.experiment, {cell: _ran(runs) for cell, runs in cells.items()})


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
    losing = decided = 0
    for told in (run.summary for run in runs if run.summary is not None):
        lost = bool(told.lost or told.stranded)
        losing += lost
        decided += lost or bool(told.confirmed and told.loss_decided_runs)
    return Counted(Tried(rate(losing, decided), len(runs) - decided), MEANT_BY_LOSS)
