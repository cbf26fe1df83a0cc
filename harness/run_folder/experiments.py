"""experiment.json: the requested experiment, so that a stored folder can be judged alone or with
others.

1. An experiment's folder holds its runs. A merged one holds none: it names the experiments of its
   runs, by paths from itself, and reads them again every time.
2. All folders that a user names are checked, and every unreadable one is named at once.
3. Over several experiments, repeats of a cell are numbered through, in the order of the folders. A
   cell that was skipped in one and run in another counts as run.
"""

import errno
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.outside.files import (
    JSON_BYTES_MAX,
    Unreadable,
    is_file,
    is_folder,
    real_path,
    text_of,
)
from harness.outside.text import brief, cut
from harness.plan.model import Cell, Experiment, Skipped
from harness.plan.problems import Problem
from harness.run_folder import claims_copy
from harness.run_folder.claims_copy import ClaimsText
from spark_analysis.files.writing import write_whole
from spark_analysis.schema.declared import parsed

NAME = "experiment.json"
WORD_MAX, TEXT_MAX = 4096, 1_000_000  # characters
_SAID_MAX = 300
RUNS = "runs"
PLACE = "DIR"
EXPECTED = "the folder of an experiment"
ADVICE = "check the path; `mqproof run` writes experiments below results/"
Titles = Mapping[Cell, tuple[str, str, str]]  # of the scenario, the system, the layout


class NoExperiment(Exception):
    """A folder that holds no experiment of ours: which, and why."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run that was asked for; whatever became of it, it would lie in `folder`."""

    folder: Path
    experiment: str
    name: str
    cell: Cell
    repeat: int
    seed: int


@dataclass(frozen=True, slots=True)
class Stored:
    """The requested experiments of one folder. `seed` None: its pieces have one each."""

    folder: Path
    name: str
    seed: int | None
    replay: str
    runs: tuple[StoredRun, ...]
    skipped: tuple[Skipped, ...]
    titles: Titles = field(default_factory=dict)  # folders of before there were titles have none
    pieces: tuple["Stored", ...] = ()  # in a merged one
    judge: str = ""  # what decided the exit code; "" if the folder does not say, or pieces differ
    claims: ClaimsText | None = None  # the user's own, beside those of mqproof and of packages

    @property
    def experiments(self) -> tuple["Stored", ...]:
        """Return the experiments that hold the runs: itself, or its pieces."""
        return self.pieces or (self,)

    @property
    def replay_here(self) -> str:
        """Return the command that does the same again, judged by the copy of the user's claims."""
        return claims_copy.with_option(self.replay, self.folder, self.claims)

    @property
    def claims_files(self) -> tuple[ClaimsText, ...]:
        """Return the user's own claims: of the folder itself, or else of its pieces."""
        found = [self.claims] if self.claims else [piece.claims for piece in self.pieces]
        return tuple(one for one in found if one is not None)


def remember(
    experiment: Experiment,
    replay: str,
    titles: Titles,
    folder: Path,
    judge: str = "",
    claims: ClaimsText | None = None,
) -> None:
    """Make the folder of an experiment that is about to begin. `judge`: what will decide its exit
    code; `mqproof analyse` uses the same, and the same `claims`."""
    _make(real_path(folder))
    document = {
        "name": experiment.name,
        "seed": experiment.seed,
        "replay": replay,
        "judge": judge,
        "runs": [
            {"name": plan.name, "cell": plan.cell, "repeat": plan.repeat, "seed": plan.seed}
            for plan in experiment.runs
        ],
        "skipped": [asdict(skipped) for skipped in experiment.skipped],
        "titles": [
            {"cell": cell, "scenario": scenario, "system": system, "layout": layout}
            for cell, (scenario, system, layout) in titles.items()
        ],
    }
    _write(document, folder, claims)


def _make(folder: Path) -> None:
    """Raise OSError, PermissionError for a file system that takes no folders."""
    try:
        folder.mkdir(parents=True)
    except FileNotFoundError as error:  # so /proc answers, although the folder above is there
        raise PermissionError(errno.EPERM, "no folder can be made here", str(folder)) from error


def curtail(experiment: Experiment, folder: Path) -> None:
    """Remove the runs that `experiment` no longer has, so that they are not searched for."""
    document = _document(folder)
    names = {plan.name for plan in experiment.runs}
    document["runs"] = [run for run in document["runs"] if run["name"] in names]
    write_whole(folder / NAME, json.dumps(document, indent=1))


def remember_merged(
    folders: Sequence[Path],
    replay: str,
    into: Path,
    judge: str | None = None,
    claims: ClaimsText | None = None,
) -> None:
    """Make the folder `into` of one report over all these experiments; `problems` found none.
    Without `judge`, the experiments' own judge counts, if they have the same; without `claims`,
    those of all of them."""
    real_path(into).mkdir(parents=True)
    held = [piece.folder for folder in folders for piece in recall(folder).experiments]
    pieces = [os.path.relpath(folder.resolve(), into.resolve()) for folder in held]
    document = {"name": into.name, "replay": replay, "pieces": pieces}
    if judge is not None:
        document["judge"] = judge
    _write(document, into, claims)


def judge_by(claims: ClaimsText, folder: Path) -> None:
    """Replace an experiment's own claims: from now on these judge it."""
    document = _document(folder)
    claims_copy.keep(claims, folder)
    write_whole(folder / NAME, json.dumps({**document, "claims": claims.entry}, indent=1))


def _write(document: Mapping[str, Any], folder: Path, claims: ClaimsText | None) -> None:
    """Write the list of runs of a new folder; if that fails, no folder is left."""
    if claims is not None:
        document = {**document, "claims": claims.entry}
    try:
        if claims is not None:
            claims_copy.keep(claims, folder)
        write_whole(folder / NAME, json.dumps(document, indent=1))
    except OSError:
        with suppress(OSError):
            (folder / claims_copy.NAME).unlink(missing_ok=True)
            folder.rmdir()
        raise


def recall(folder: Path) -> Stored:
    """Raises NoExperiment."""
    document = _document(folder)
    try:
        if "pieces" not in document:
            return _stored(folder, document)
        pieces = tuple(_piece(folder / _word(path)) for path in document["pieces"])
        return _merged(folder, document, pieces)
    except claims_copy.LostCopy as reason:
        raise NoExperiment(str(reason)) from None
    except (KeyError, TypeError, ValueError, AttributeError) as failure:
        said = cut(repr(failure), _SAID_MAX)
        raise NoExperiment(f"{folder / NAME} is none of ours: {said}") from failure


def document_of(folder: Path, runs: Sequence[str]) -> str:
    """experiment.json of these runs of an experiment alone; `problems` found none."""
    document = _document(folder)
    runs_left = [run for run in document["runs"] if run["name"] in runs]
    return json.dumps({**document, "runs": runs_left}, indent=1)


def places(folders: Iterable[Path]) -> tuple[Path, ...]:
    """The folders that hold the runs of these; `problems` found none."""
    return tuple(one.folder for folder in folders for one in recall(folder).experiments)


def problems(folders: Iterable[Path]) -> Iterator[Problem]:
    """Everything that is wrong with the folders that somebody wants judged, together."""
    found: list[Stored] = []
    for folder in folders:
        try:
            found += recall(folder).experiments
        except NoExperiment as reason:
            yield Problem(PLACE, str(reason), expected=EXPECTED, advice=ADVICE)
    places = Counter(one.folder.resolve() for one in found)
    yield from (
        Problem(PLACE, f"{place} is named {number} times")
        for place, number in places.items()
        if number > 1
    )
    names: dict[str, list[Path]] = {}
    for one in {one.folder.resolve(): one for one in found}.values():
        names.setdefault(one.name, []).append(one.folder)
    for name, copies in names.items():
        if len(copies) > 1:
            where = " and ".join(str(folder) for folder in copies)
            yield Problem(
                PLACE, f"{where} are copies of one experiment, {name}: leave one of them"
            )


def _document(folder: Path) -> dict[str, Any]:
    if not is_folder(folder):
        raise NoExperiment(f"there is no folder {folder}")
    if not is_file(folder / NAME):
        raise NoExperiment(f"{folder} is no experiment's folder: no {NAME}")
    try:
        document = parsed(text_of(folder / NAME, JSON_BYTES_MAX))
    except (Unreadable, ValueError) as failure:
        raise NoExperiment(f"{folder / NAME} cannot be read: {failure}") from failure
    if not isinstance(document, dict):
        raise NoExperiment(f"{folder / NAME} is none of ours: no object")
    return document


def _piece(folder: Path) -> Stored:
    """One that is merged is read no further: it may be of itself."""
    document = _document(folder)
    if "pieces" in document:
        raise ValueError(f"{folder} is merged itself")
    return _stored(folder, document)


def _stored(folder: Path, document: Mapping[str, Any]) -> Stored:
    name = _name(document["name"], "an experiment")
    often = Counter(_word(each["name"]) for each in document["runs"]).most_common(1)
    if often and often[0][1] > 1:
        raise ValueError(f"run {brief(often[0][0])} is listed {often[0][1]} times")
    claims = claims_copy.kept(folder, document.get("claims"))
    return Stored(
        folder=folder,
        name=name,
        seed=_number(document["seed"]),
        replay=_text(document["replay"]),
        judge=_word(document.get("judge", "")),
        claims=claims,
        runs=tuple(_run(folder, name, each) for each in document["runs"]),
        skipped=tuple(
            Skipped(_cell(each["cell"]), _text(each["reason"])) for each in document["skipped"]
        ),
        titles={
            _cell(each["cell"]): (
                _text(each["scenario"]),
                _text(each["system"]),
                _text(each["layout"]),
            )
            for each in document.get("titles", ())
        },
    )


def _run(folder: Path, experiment: str, entry: Mapping[str, Any]) -> StoredRun:
    name = _name(entry["name"], "a run")
    return StoredRun(
        folder=folder / RUNS / name,
        experiment=experiment,
        name=name,
        cell=_cell(entry["cell"]),
        repeat=_number(entry["repeat"]),
        seed=_number(entry["seed"]),
    )


def _merged(folder: Path, document: Mapping[str, Any], pieces: tuple[Stored, ...]) -> Stored:
    runs = tuple(_counted_through(run for piece in pieces for run in piece.runs))
    run_cells = {run.cell for run in runs}
    reasons = {one.cell: one for piece in pieces for one in piece.skipped}
    judges = {piece.judge for piece in pieces}
    of_pieces = judges.pop() if len(judges) == 1 else ""
    claims = claims_copy.kept(folder, document.get("claims"))
    return Stored(
        folder=folder,
        name=_word(document["name"]),
        seed=None,
        replay=_text(document["replay"]),
        judge=_word(document.get("judge", of_pieces)),
        claims=claims,
        runs=runs,
        skipped=tuple(one for cell, one in reasons.items() if cell not in run_cells),
        titles={cell: title for piece in pieces for cell, title in piece.titles.items()},
        pieces=pieces,
    )


def _counted_through(runs: Iterable[StoredRun]) -> Iterator[StoredRun]:
    repeats: Counter[Cell] = Counter()
    for run in runs:
        repeats[run.cell] += 1
        yield replace(run, repeat=repeats[run.cell])


def _cell(words: Sequence[str]) -> Cell:
    scenario, system, layout, client = map(_word, words)
    return scenario, system, layout, client


def _name(value: object, what: str) -> str:
    """A name of a folder in its folder, in characters that a path can have."""
    name = _word(value)
    if Path(name).name != name or name in ("", ".."):
        raise ValueError(f"{brief(name)} is no name of {what}: it leads elsewhere")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{brief(name)} is no name of {what}: it is no UTF-8 text") from None
    return name


def _word(value: object) -> str:
    """A name, or a path."""
    return _text(value, WORD_MAX)


def _text(value: object, most: int = TEXT_MAX) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"{brief(value)} is no text of {most:,} characters at most")
    return value


def _number(value: object) -> int:
    if type(value) is not int or abs(value) >= 2**64:
        raise ValueError(f"{brief(value)} is no whole number of 64 bits")
    return value
