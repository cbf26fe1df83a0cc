"""Published pages: the tables in them are made from packed runs, or from the marts of these.

A page names its runs, in one place or several, relative to itself, and says where which table of
page_tables.py goes:

    <!-- runs: runs/2026-11-23-side-by-side/*.tar.xz -->
    <!-- table: loss -->
    <!-- end -->

and which picture (pictures.py).

1. What lies between such marks is made from the runs; the rest of the page is a person's.
2. All problems of a page are reported at once, and no page is made in part.
3. Packs are added where a page's runs lie, in the first of these places; one that is there already
   is left as it is. Marts and an entry in evidence.toml are made with it.
4. A pattern names packs on the disk and packs of evidence.toml that were removed (evidence.py).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from harness.campaigns import pictures
from harness.campaigns.evidence import Evidence, matching
from harness.campaigns.packed import Packed, of_page
from harness.campaigns.page_tables import TABLES
from harness.outside.files import TOML_BYTES_MAX, Unreadable, text_of
from harness.plan.problems import PlanError, Problem, unknown
from harness.run_folder.experiments import NAME, NoExperiment, recall
from harness.run_folder.packing import SUFFIX

RUNS = re.compile(r"^<!-- runs: (\S+(?: \S+)*) -->$", re.MULTILINE)
TABLE = re.compile(r"^<!-- table: (\S+) -->$")
END = "<!-- end -->"
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is, whose marks are right."""

    path: Path
    text: str
    patterns: tuple[str, ...]  # of its packs, from the page's folder

    @property
    def evidence(self) -> list[Evidence]:
        """The experiments that it is made from, oldest first, for their names are stamps."""
        found = {one.file: one for each in self.patterns for one in self.named(each)}
        return sorted(found.values(), key=lambda one: (one.pack.name, one.file))

    def named(self, pattern: str) -> list[Evidence]:
        """Raises PlanError."""
        return list(matching(self.path.parent, pattern))


def read(path: Path) -> Page:
    """Raises PlanError."""
    try:
        text = text_of(path, TOML_BYTES_MAX).replace("\r\n", "\n")
    except Unreadable as reason:
        raise PlanError([Problem(str(path), f"cannot be read: {reason}")]) from None
    if problems := [*_wrong_runs(path, text), *_wrong_tables(path, text.splitlines())]:
        raise PlanError(problems)
    return Page(path, text, tuple(RUNS.findall(text)[0].split()))


def judged_packs(page: Page) -> list[Packed]:
    """What a page is made from. Raises PlanError with every pack that cannot be read."""
    found: list[Packed] = []
    problems: list[Problem] = []
    for one in page.evidence:
        try:
            found.append(of_page(one))
        except PlanError as error:
            problems += error.problems
    for pattern in page.patterns:
        if not page.named(pattern):
            problems.append(Problem(str(page.path), f"there is no {pattern}"))
    if problems:
        raise PlanError(problems)
    return found


@dataclass(frozen=True, slots=True)
class Made:
    """A page as its runs have it, and its pictures by their files."""

    text: str
    pictures: Mapping[Path, str]

    def is_there(self, page: Page) -> bool:
        """Whether all of it is what lies there already."""
        drawn = all(_text(path) == text for path, text in self.pictures.items())
        return drawn and self.text == page.text


def made(page: Page) -> Made:
    """Raises PlanError."""
    found, lines = judged_packs(page), page.text.splitlines()
    wanted = [one for one in map(pictures.wanted, lines) if one is not None]
    return Made(
        "".join(f"{line}\n" for line in _lines(lines, found)),
        {page.path.parent / one.file: pictures.drawn(one, found) for one in wanted},
    )


def _text(path: Path) -> str:
    """Of a picture; "" where there is none yet."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def experiments_in(folder: Path) -> list[Path]:
    """Itself, or those that lie in it; but none that is a report over several."""
    held = sorted(path.parent for path in folder.glob(f"*/{NAME}"))
    if (folder / NAME).exists() or not held:
        return [folder]
    return [one for one in held if not _is_merged(one)]


def places(page: Page, experiments: Sequence[Path]) -> dict[Path, Path]:
    """Where each experiment's pack belongs. Raises PlanError."""
    pattern = page.patterns[0]
    folder, _, name = pattern.rpartition("/")
    if _WILD.search(folder):
        text = f"the runs of {page.path} lie in several folders ({pattern}): which is meant?"
        raise PlanError([Problem("--add", text)])
    found = {one: f"{one.resolve().name}{SUFFIX}" for one in experiments}
    problems = [
        Problem("--add", f"{file} is none of the runs of {page.path}: {pattern}")
        for file in found.values()
        if not fnmatch(file, name)
    ]
    if problems:
        raise PlanError(problems)
    return {one: page.path.parent / folder / file for one, file in found.items()}


def _is_merged(folder: Path) -> bool:
    try:
        return bool(recall(folder).pieces)
    except NoExperiment:
        return False  # packing reports what it is


def _wrong_runs(path: Path, text: str) -> Iterator[Problem]:
    patterns = RUNS.findall(text)
    if not patterns:
        said = "does not say which runs it is made from: <!-- runs: ... -->"
        yield Problem(str(path), said)
    if len(patterns) > 1:
        yield Problem(str(path), f"says {len(patterns)} times which runs it is made from")
    for pattern in " ".join(patterns).split():
        try:
            next(path.parent.glob(pattern), None)
        except (ValueError, NotImplementedError, OSError) as reason:
            yield Problem(str(path), f"{pattern} names no files below its folder: {reason}")


def _wrong_tables(path: Path, lines: Sequence[str]) -> Iterator[Problem]:
    inside = ""
    for number, line in enumerate(lines, start=1):
        place = f"{path}, line {number}"
        table, picture = TABLE.match(line), pictures.wanted(line)
        begun = f"table {table[1]}" if table else f"picture {picture.file}" if picture else ""
        if begun and inside:
            yield Problem(place, f"the {inside} has no {END}")
        if table and table[1] not in TABLES:
            yield unknown(place, "table", table[1], list(TABLES))
        if line == END and not inside:
            yield Problem(place, f"there is no table or picture before this {END}")
        inside = begun or ("" if line == END else inside)
    if inside:
        yield Problem(str(path), f"the {inside} has no {END}")


def _lines(lines: Sequence[str], found: Sequence[Packed]) -> Iterator[str]:
    inside = False
    for line in lines:
        table, picture = TABLE.match(line), pictures.wanted(line)
        inside = inside and line != END
        if not inside:
            yield line
        if table:
            yield from ("", *TABLES[table[1]](found), "")
        if picture:
            yield from picture.lines
        inside = inside or bool(table or picture)
