"""A suite's file -> its items: each a cell that is to be played, so often.

1. All problems of the file and of its cells are reported at once, with their places.
2. A cell stands in a suite once: two numbers of runs would be ambiguous.
3. A cell that means nothing is left out with the reason that `mqproof run` would give.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from harness.outside.files import TOML_BYTES_MAX, Unreadable, text_of
from harness.plan import bound, misbehave
from harness.plan.experiment import REPEATS_MAX
from harness.plan.files import spans
from harness.plan.files.tables import Table, fixed_length
from harness.plan.files.toml_lines import Path as TomlPath
from harness.plan.files.toml_lines import line, line_numbers
from harness.plan.files.toml_problems import MISSING, validated
from harness.plan.layouts import variants
from harness.plan.model import Cell, Experiment, RunPlan, Skipped
from harness.plan.problems import PlanError, Problem, unreadable
from harness.request import distribution, suites, topology_file
from harness.request.run_request import RunRequest, experiment_of, scenario
from harness.systems.catalogue import is_path, load_layout, split_profile
from harness.view.grouping import by_key

PLACE = "SUITE"
EXPECTED = "a suite of cells, a TOML file"
ADVICE = "examples/nightly/suite.toml is a suite to copy (docs/gate.md 1)"
# What a user types in a suite for what a command line calls otherwise.
_KEYS = {
    "SCENARIO": "scenarios",
    "--system": "systems",
    "--layout": "layouts",
    "--client": "clients",
    variants.VERSION: "versions",
    variants.IMAGE: "images",
    distribution.FLAG: "distribution",
    topology_file.FLAG: "topology",
    misbehave.FLAG: "misbehave",
    bound.FLAG: "bound",
}
_EXAMPLES = {
    "title": 'title = "Every night"',
    "baseline": 'baseline = "good"',
    "hours": "hours = 8",
    "busy": "busy = 0.1",
    "wait": 'wait = "20 min"',
    "keep": "keep.passed = 30",
}
Risk = Literal["low", "usual", "high"]
WEIGHTS: dict[Risk, float] = {"low": 0.5, "usual": 1.0, "high": 2.0}
NIGHTS_MAX = 10_000
_Length = Annotated[float, BeforeValidator(fixed_length(spans.parse_seconds))]
_Word = Annotated[str, Field(min_length=1, max_length=4096)]


class Keep(Table):
    """`passed`: for so many nights the recordings of runs that did no harm."""

    passed: int = Field(ge=1, le=NIGHTS_MAX)


class Cells(Table):
    """Scenarios x systems x layouts x versions x clients. No layout, no client: each system's own.
    `images`, `distribution`, `topology`, `misbehave`: as on the command line of `run`. A topology
    stands for systems and layouts."""

    scenarios: list[_Word] = Field(min_length=1, max_length=200)
    systems: list[_Word] = Field(default=[], max_length=100)
    layouts: list[_Word] = Field(default=[], max_length=100)
    clients: list[_Word] = Field(default=[], max_length=100)
    versions: list[_Word] = Field(default=[], max_length=100)
    images: list[_Word] = Field(default=[], max_length=20)
    distribution: _Word | None = None
    topology: _Word | None = None
    misbehave: _Word | None = None
    repeats: int | None = Field(default=None, ge=1, le=REPEATS_MAX)
    bound: _Word | None = None
    risk: Risk = "usual"


class File(Table):
    """`hours`: of a night; `busy`: the share of all cores that others may use; `wait`: how long a
    run waits for a quiet machine; `baseline`: a folder of experiments, from the file on."""

    title: _Word
    baseline: _Word
    hours: float = Field(gt=0, le=31 * 24)
    busy: float = Field(gt=0, le=1)
    wait: _Length
    keep: Keep
    cells: list[Cells] = Field(min_length=1, max_length=200)


@dataclass(frozen=True, slots=True)
class Item:
    """A cell, as often as the suite wants it: so many plays, each an experiment of one run, or of
    as many as its bound takes. `load_s`: load and settle of one play; `digest`: of its scenario
    and its layout as they are now. `files`: scenario and layout as the suite names them, where
    that is a file. `brokers`: the words that choose them, beside the layout. `topology`: the
    file of a cluster that runs; "": none. `misbehave`: the defect of a rehearsal; "": none."""

    cell: Cell
    plays: int
    bound: str
    load_s: float
    weight: float
    digest: str
    files: tuple[str, str] = ("", "")
    brokers: tuple[str, ...] = ()
    topology: str = ""
    misbehave: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """Of `mqproof run`."""
        _, system, _, client = self.cell
        scenario, layout = self.files[0] or self.cell[0], self.files[1] or self.cell[2]
        often = (bound.FLAG, self.bound) if self.bound else ()
        where = ("--system", system, "--layout", layout, *self.brokers)
        if self.topology:
            where = (topology_file.FLAG, self.topology)
        defect = (misbehave.FLAG, self.misbehave) if self.misbehave else ()
        return (scenario, *where, "--client", client, *often, *defect)


@dataclass(frozen=True, slots=True)
class Suite:
    """A file that can be played. `skipped`: cells that mean nothing, with the reason."""

    title: str
    baseline: Path
    night_s: float
    busy: float
    wait_s: float
    keep_passed: int
    items: tuple[Item, ...]
    skipped: tuple[Skipped, ...]


def read(path: Path) -> Suite:
    """Raises PlanError with everything that is wrong."""
    try:
        source = text_of(path, TOML_BYTES_MAX)
    except Unreadable as reason:
        raise PlanError([unreadable(f"{PLACE}: {path}", reason, EXPECTED, ADVICE)]) from None
    try:
        file = validated(File, source, str(path))
    except PlanError as error:
        raise PlanError(map(_with_example, error.problems)) from None
    return _suite(file, path, source)


def _with_example(problem: Problem) -> Problem:
    """Return the problem; of a key that is missing, with a line to copy."""
    key = problem.place.rpartition(", ")[2]
    if problem.text != MISSING or key not in _EXAMPLES:
        return problem
    return replace(problem, expected=f"a line such as `{_EXAMPLES[key]}`")


def _as_key(place: str) -> str:
    word, space, rest = place.partition(" ")
    return f"{_KEYS.get(word, word)}{space}{rest}"


def _placed(inner: str, number: int, lines: dict[TomlPath, int], file: Path) -> str:
    """Return `suite.toml, line 12, [[cells]] 1, layouts all`: of the key's line, if it has one."""
    words = _as_key(inner)
    at = line(("cells", number - 1, words.partition(" ")[0]), lines)
    where = f"{file}, line {at}" if at else str(file)
    return ", ".join(filter(None, (where, f"[[cells]] {number}", words)))


def _suite(file: File, path: Path, source: str) -> Suite:
    items: list[Item] = []
    skipped: list[Skipped] = []
    problems: list[Problem] = []
    lines = line_numbers(source)
    for number, cells in enumerate(file.cells, start=1):
        try:
            planned = _experiment(cells)
        except PlanError as error:
            problems += [
                replace(one, place=_placed(one.place, number, lines, path))
                for one in error.problems
            ]
            continue
        items += _items(planned, cells)
        skipped += planned.skipped
    problems += _twice(items, str(path))
    if not problems and not items:
        problems += [Problem(str(path), f"NOT APPLICABLE: {one.reason}") for one in skipped]
    if problems:
        raise PlanError(problems)
    return Suite(
        title=file.title,
        baseline=path.parent / file.baseline,
        night_s=file.hours * 3600,
        busy=file.busy,
        wait_s=file.wait,
        keep_passed=file.keep.passed,
        items=tuple(items),
        skipped=tuple(skipped),
    )


def _experiment(cells: Cells) -> Experiment:
    """Raises PlanError."""
    if wrong := [word for word in cells.scenarios if word in suites.names()]:
        text = "is a suite of its own: mqproof run plays it"
        raise PlanError([Problem("scenarios", f"{word} {text}") for word in wrong])
    if not cells.systems and cells.topology is None:
        text = f"{MISSING}, and so is `topology`: one of them says what is tested"
        raise PlanError([Problem("systems", text)])
    request = RunRequest(
        scenarios=tuple(cells.scenarios),
        systems=tuple(cells.systems),
        layouts=tuple(cells.layouts),
        clients=tuple(cells.clients),
        repeats=cells.repeats,
        seed=0,
        bound=cells.bound,
        versions=tuple(cells.versions),
        images=tuple(cells.images),
        distribution=cells.distribution,
        topology=cells.topology,
        misbehave=cells.misbehave,
    )
    planned = experiment_of(request, "nightly")
    misbehave.parse(cells.misbehave, planned)  # raises where a system cannot
    return planned


def _items(experiment: Experiment, cells: Cells) -> Iterator[Item]:
    named = {scenario(word).name: word for word in cells.scenarios if is_path(word)}
    for cell, own in by_key(experiment.runs, lambda run: run.cell).items():
        run, often = own[0], len(own)
        length_s = run.schedule.load_s + run.schedule.settle_s
        files = (named.get(cell[0], ""), _layout_file(run, cells.layouts))
        yield Item(
            cell=cell,
            plays=1 if cells.bound else often,
            bound=cells.bound or "",
            load_s=often * length_s if cells.bound else length_s,
            weight=WEIGHTS[cells.risk],
            digest=_digest(run),
            files=files,
            brokers=tuple(_brokers(run, cells, of_file=bool(files[1]))),
            topology=cells.topology or "",
            misbehave=cells.misbehave or "",
        )


def _layout_file(run: RunPlan, words: Sequence[str]) -> str:
    """The word of a suite that means the run's layout, where that is a file."""
    of_files = (word for word in words if is_path(split_profile(word)[0]))
    system, named = run.system.name, run.layout.unversioned
    return next((one for one in of_files if load_layout(system, one).unversioned == named), "")


def _brokers(run: RunPlan, cells: Cells, of_file: bool) -> Iterator[str]:
    """Yield the words that choose the brokers of a run. The label of a built-in layout has its
    version; a layout file has its own."""
    layout, versions = run.layout, run.system.versions
    if of_file and layout.version:
        yield from (variants.VERSION, layout.version)
    for word in cells.images:
        if versions is not None and word.partition("=")[0] == versions.product:
            yield from (variants.IMAGE, word)
    if cells.distribution is not None and layout.distribution:
        yield from (distribution.FLAG, cells.distribution)


def _digest(run: RunPlan) -> str:
    """Return a digest of all that the cell's verdict depends on, as far as mqproof knows it."""
    content: tuple[Any, ...] = (run.scenario, run.layout, run.client.word, run.deployment)
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


def _twice(items: Sequence[Item], file: str) -> Iterator[Problem]:
    for cell, count in Counter(item.cell for item in items).items():
        if count > 1:
            yield Problem(file, f"{' · '.join(cell)} stands in it {count:,} times")
