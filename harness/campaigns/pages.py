"""Published pages: the tables in them are made from packed runs, or from the marts of these.

A page names its runs, in one place or several, relative to itself, and says where which table of
page_tables.py goes:

    <!-- runs: runs/2026-11-23-side-by-side/*.tar.xz -->
    <!-- table: loss -->
    <!-- end -->

(`table: articles seeds/002` has the sentences of one article alone), and which picture, of runs
that were played together, second by second:

    <!-- picture: freeze.svg incident-freeze colocated@default -->
    <!-- end -->

1. What lies between such marks is made from the runs; the rest of the page is a person's.
2. All problems of a page are reported at once, and no page is made in part.
3. Packs are added where a page's runs lie, in the first of these places; one that is there already
   is left as it is. Marts and an entry in evidence.toml are made with it.
4. A picture's file lies beside the page; of several repeats the first that was judged is drawn.
5. A pattern names packs on the disk and packs of evidence.toml that were removed (evidence.py).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from harness.campaigns import page_tables
from harness.campaigns.beside import beside
from harness.campaigns.evidence import Evidence, matching
from harness.campaigns.packed import Packed, of_page
from harness.compare.rates import spelled_out
from harness.outside.files import TOML_BYTES_MAX, Unreadable, text_of
from harness.plan.problems import PlanError, Problem, each, unknown
from harness.report.charts import svg
from harness.report.markdown import link
from harness.report.page.joint import pictures
from harness.run_folder.experiments import NAME, NoExperiment, recall
from harness.run_folder.packing import SUFFIX

RUNS = re.compile(r"^<!-- runs: (\S+(?: \S+)*) -->$", re.MULTILINE)
TABLE = re.compile(r"^<!-- table: (\S+)(?: (\S+))? -->$")
PICTURE = re.compile(r"^<!-- picture: ([\w.-]+\.svg) (\S+) (\S+) -->$")
END = "<!-- end -->"
TABLES: dict[str, Callable[..., Iterator[str]]] = {
    table.__name__: table
    for table in (
        *(page_tables.made, page_tables.loss, page_tables.out, page_tables.promises),
        *(page_tables.foretold, page_tables.articles, page_tables.price),
        *(page_tables.carried, page_tables.sends, page_tables.dropped, beside),
    )
}
_WILD = re.compile(r"[*?\[]")


class WantedPicture(NamedTuple):
    file: str
    scenario: str
    layout: str  # with its profile

    @property
    def lines(self) -> Iterable[str]:
        """What stands on the page for it."""
        caption = f"{self.scenario} on {self.layout}, second by second from the fault on"
        return "", f"!{link(caption, self.file)}", ""


def wanted(line: str) -> WantedPicture | None:
    """What a line of a page asks for; None where it asks for no picture."""
    found = PICTURE.match(line)
    return None if found is None else WantedPicture(*found.groups())


def drawn(one: WantedPicture, packs: Sequence[Packed]) -> str:
    """An SVG document. Raises PlanError where no runs of that cell were played together."""
    for pack in packs:
        cell = one.scenario, one.layout
        for found in pictures(run for run in pack.runs if (run.cell[0], run.cell[2]) == cell):
            blocks = (
                ("the fault, verified", found.faults),
                ("what each name server showed", found.servers),
                ("what each client's own route had", found.believed),
                ("each publisher's sends (red: some failed in that second)", found.sends),
            )
            return svg.image(found.place, blocks, found.ticks)
    text = f"no runs of {one.scenario} on {one.layout} were played together and judged"
    raise PlanError([Problem(one.file, text)])


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is, whose marks are right."""

    path: Path
    text: str
    patterns: tuple[str, ...]  # of its packs, from the page's folder

    @property
    def evidence(self) -> list[Evidence]:
        """The experiments that it is made from, oldest first, for their names are stamps."""
        folder = self.path.parent
        found = {one.file: one for each in self.patterns for one in matching(folder, each)}
        return sorted(found.values(), key=lambda one: (one.pack.name, one.file))


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
    folder = page.path.parent
    missing = [one for one in page.patterns if next(matching(folder, one), None) is None]
    problems = [Problem(str(page.path), f"there is no {pattern}") for pattern in missing]
    return each(page.evidence, of_page, problems)


@dataclass(frozen=True, slots=True)
class Made:
    """A page as its runs have it, and its pictures by their files."""

    text: str
    pictures: Mapping[Path, str]

    def is_there(self, page: Page) -> bool:
        """Whether all of it is what lies there already."""
        if self.text != page.text or not all(path.exists() for path in self.pictures):
            return False
        return all(path.read_text("utf-8") == text for path, text in self.pictures.items())


def made(page: Page) -> Made:
    """Raises PlanError."""
    found, lines = judged_packs(page), page.text.splitlines()
    found_pictures = [one for one in map(wanted, lines) if one is not None]
    return Made(
        spelled_out("".join(f"{line}\n" for line in _lines(lines, found))),
        {page.path.parent / one.file: drawn(one, found) for one in found_pictures},
    )


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
        text = f"the runs of {page.path} are in several folders ({pattern}): name one"
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
        table, picture = TABLE.match(line), wanted(line)
        begun = f"picture {picture.file}" if picture else ""
        if table:
            begun = f"table {table[1]}"
        if begun and inside:
            yield Problem(place, f"the {inside} has no {END}")
        if table and table[1] not in TABLES:
            yield unknown(place, "table", table[1], list(TABLES))
        elif table and table[2]:
            yield from _wrong_article(place, *table.groups())
        if line == END and not inside:
            yield Problem(place, f"there is no table or picture before this {END}")
        inside = begun or ("" if line == END else inside)
    if inside:
        yield Problem(str(path), f"the {inside} has no {END}")


def _wrong_article(place: str, table: str, article: str) -> Iterator[Problem]:
    if TABLES[table] is not page_tables.articles:
        yield Problem(place, f"the table {table} takes no {article!r}; only `articles` takes one")
    elif article not in page_tables.article_names():
        yield unknown(place, "article", article, list(page_tables.article_names()))


def _lines(lines: Sequence[str], found: Sequence[Packed]) -> Iterator[str]:
    inside = False
    for line in lines:
        table, picture = TABLE.match(line), wanted(line)
        inside = inside and line != END
        if not inside:
            yield line
        if table:
            one_article = [(table[2],)] if table[2] else []
            yield from ("", *TABLES[table[1]](found, *one_article), "")
        if picture:
            yield from picture.lines
        inside = inside or bool(table or picture)
