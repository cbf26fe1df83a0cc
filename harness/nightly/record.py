"""night.json: a night as it was planned, played and judged, for the nights to come.

1. Every step replaces it, whole or not at all: after a crash in the middle of a night, the machine
   finds where it was.
2. What the gate and the pages need of a night's runs stands in it, so that they read no experiment
   of older nights again.
3. Of promises that did not apply nothing is kept, of meanings those of promises that were broken.
4. Recordings (an experiment's runs and marts) go once they are so many nights old, where each run
   was judged, did no harm and was no alarm's. What was kept for a reason is kept for good.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from harness.compare.medians import Time
from harness.compare.rates import Tried, rate
from harness.compare.versus import Counted, Ran, Side
from harness.judging.exits import Exit
from harness.judging.tested_versions import SEVERAL
from harness.outside.files import JSON_BYTES_MAX, Unreadable, text_of
from harness.outside.text import brief
from harness.plan.experiment import EXPERIMENT_NAME
from harness.plan.model import Cell
from harness.plan.problems import PlanError, Problem, each
from spark_analysis.files.writing import write_whole
from spark_analysis.schema import old_names

NAME, NIGHTS = "night.json", "nights"
FORMAT: Literal["mqproof night"] = "mqproof night"
VERSION: Literal[2] = 2
Changes = Mapping[Cell, tuple[str, ...]]  # of versions: `rabbitmq: 3.10.8 → 4.0.5`
_NAMED = "YYYYMMDD-HHMMSS-XXXX, the name of a folder"
_TIMED = "a time with its zone, such as 2026-11-25T22:00:00+00:00"
_CODES = (None, Exit.PASSED, Exit.FAILED, Exit.NOT_DECIDED)
_CODED = "0, 1 or 2, or null while the night is not over"
_ADVICE = "mend what was changed by hand, or move this night's folder away"


class PlannedCell(msgspec.Struct, frozen=True):
    """`plays`: how often; `estimate_s`: of all of them. `digest`: suite.py, Item."""

    cell: Cell
    plays: int
    reason: str
    estimate_s: float
    digest: str


class Played(msgspec.Struct, frozen=True):
    """One play. `exit_code` None: it has begun, and its end is unknown; its `experiment` may have
    no folder yet. `experiment` "": it left none, and `why` has the reason. `judged`: whether a
    promise was decided in it. `misbehave`: the defect that its brokers had on purpose."""

    cell: Cell
    began: str
    experiment: str = ""
    seconds: float = 0.0
    exit_code: int | None = None
    judged: bool = False
    why: str = ""
    misbehave: str = ""


class CellResult(msgspec.Struct, frozen=True):
    """A promise, or loss, over a cell's runs of this night."""

    violated: int
    runs: int
    not_judged: int
    warns: bool
    meaning: str = ""


class CellOfNight(msgspec.Struct, frozen=True):
    """`times`: by measure, one a run. `versions`: of its own runs; records of before there was
    this key have none. `judged`: how many runs decided a promise; older records do not say."""

    cell: Cell
    runs: int
    claims: dict[str, CellResult]
    times: dict[str, tuple[Time, ...]]
    versions: dict[str, str] = {}
    judged: int | None = None


class Alarmed(msgspec.Struct, frozen=True):
    cell: Cell
    what: str
    text: str


class Night(msgspec.Struct, frozen=True, kw_only=True):
    """`began`, `ends`: UTC, ISO 8601. `label`: what the user calls what was tested. `new`: how
    many cells have no baseline, if nothing else leaves the night undecided."""

    format: Literal["mqproof night"] = FORMAT
    version: Literal[2] = VERSION
    name: str
    title: str
    label: str
    began: str
    ends: str
    planned: tuple[PlannedCell, ...]
    left_out: tuple[PlannedCell, ...]
    played: tuple[Played, ...] = ()
    cells: tuple[CellOfNight, ...] = ()
    versions: dict[str, str] = {}
    alarms: tuple[Alarmed, ...] = ()
    exit_code: int | None = None  # None: it is not over
    new: int = 0

    @property
    def is_rehearsal(self) -> bool:
        """Return whether brokers had a defect on purpose: the night shows nothing about them."""
        return any(one.misbehave for one in self.played)

    def plays_of(self, cell: Cell) -> tuple[Played, ...]:
        return tuple(one for one in self.played if one.cell == cell)


def nights(folder: Path) -> list[Night]:
    """Every night of a folder, the oldest first. Raises PlanError with all that cannot be read."""
    found = each(sorted((folder / NIGHTS).glob(f"*/{NAME}")), _read)
    return sorted(found, key=lambda night: (night.began, night.name))


def _read(path: Path) -> Night:
    try:
        text = old_names.night(text_of(path, JSON_BYTES_MAX))
        night = msgspec.json.decode(text, type=Night)
    except (Unreadable, msgspec.MsgspecError) as error:
        raise PlanError([Problem(str(path), f"cannot be read: {error}")]) from None
    if wrong := list(_problems(night, str(path))):
        raise PlanError(wrong)
    return night


def _problems(night: Night, place: str) -> Iterator[Problem]:
    """Yield what no night of ours has in its record. Folders are removed by these names."""
    names = [("name", night.name)]
    names += [("played.experiment", one.experiment) for one in night.played if one.experiment]
    for key, name in names:
        if not EXPERIMENT_NAME.fullmatch(name):
            text = f"`{key}` is {brief(name)}"
            yield Problem(place, text, expected=_NAMED, advice=_ADVICE)
    times = [("began", night.began), ("ends", night.ends)]
    times += [("played.began", one.began) for one in night.played]
    for key, time in times:
        if not _is_time(time):
            text = f"`{key}` is {brief(time)}"
            yield Problem(place, text, expected=_TIMED, advice=_ADVICE)
    if night.exit_code not in _CODES:
        text = f"`exit_code` is {night.exit_code}"
        yield Problem(place, text, expected=_CODED, advice=_ADVICE)


def _is_time(text: str) -> bool:
    """Return whether it is a time with its zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def changes(every: Iterable[Night]) -> Iterator[Changes]:
    """Yield for each night, by its cells, what had another version than in the cell's last night
    that reports it."""
    before: dict[Cell, dict[str, str]] = {}
    for night in every:
        found: dict[Cell, tuple[str, ...]] = {}
        for one in night.cells:
            known, now = before.setdefault(one.cell, {}), _versions(night, one)
            found[one.cell] = tuple(
                f"{name}: {known[name]} → {version}"
                for name, version in now.items()
                if known.get(name, version) != version
            )
            known.update(now)
        yield found


def _versions(night: Night, one: CellOfNight) -> dict[str, str]:
    """Return the cell's versions. An older record has the night's: if those are several, which
    one was the cell's is unknown."""
    whole = {name: text for name, text in night.versions.items() if SEVERAL not in text}
    return one.versions or whole


def every_change(found: Changes) -> tuple[str, ...]:
    """Return the changes of all cells, each once."""
    return tuple(dict.fromkeys(text for texts in found.values() for text in texts))


def save(folder: Path, night: Night) -> None:
    place = folder / NIGHTS / night.name
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / NAME, msgspec.json.format(msgspec.json.encode(night), indent=1))


def side(night: Night) -> Side:
    """What the gate is asked of."""
    return Side(night.name, {one.cell: _ran(one) for one in night.cells})


def cells(of: Side, versions: Mapping[Cell, dict[str, str]]) -> tuple[CellOfNight, ...]:
    """What is kept of a night's runs."""
    return tuple(
        CellOfNight(
            cell,
            ran.runs,
            dict(_claims(ran.claims)),
            dict(ran.times),
            versions.get(cell, {}),
            ran.judged,
        )
        for cell, ran in of.cells.items()
    )


def _ran(one: CellOfNight) -> Ran:
    claims = {
        claim: Counted(Tried(rate(it.violated, it.runs), it.not_judged, it.warns), it.meaning)
        for claim, it in one.claims.items()
    }
    return Ran(one.runs, claims, one.times, one.judged)


def _claims(claims: Mapping[str, Counted]) -> Iterator[tuple[str, CellResult]]:
    for claim, one in claims.items():
        of, not_judged = one.tried.rate, one.tried.not_judged
        if of.runs or not_judged:
            meaning = one.meaning if of.violated else ""
            yield claim, CellResult(of.violated, of.runs, not_judged, one.tried.warns, meaning)


RECORDINGS = "runs", "marts"


def done_with(nights: Sequence[Night], keep_passed: int) -> Iterator[str]:
    """The experiments whose recordings may go. `nights`: the oldest first."""
    for night in nights[: max(0, len(nights) - keep_passed)]:
        for one in night.played:
            if one.experiment and not _is_evidence(night, one):
                yield one.experiment


def tidy(folder: Path, nights: Sequence[Night], keep_passed: int) -> int:
    """Of how many experiments recordings were removed. Raises OSError."""
    removed = 0
    for name in done_with(nights, keep_passed):
        there = [folder / name / part for part in RECORDINGS if (folder / name / part).is_dir()]
        for path in there:
            shutil.rmtree(path)
        removed += bool(there)
    return removed


def _is_evidence(night: Night, one: Played) -> bool:
    if not one.judged or any(alarm.cell == one.cell for alarm in night.alarms):
        return True
    same_cell = [cell for cell in night.cells if cell.cell == one.cell]
    claims = (claim for cell in same_cell for claim in cell.claims.values())
    return not same_cell or any(claim.violated or claim.not_judged for claim in claims)
