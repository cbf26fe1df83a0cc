"""Published pages: the tables in them are made from the packed runs beside them.

usage: python -m tests.benchmarks.published PAGE.md ... [--add FOLDER ...] [--check]
A page names its runs, relative to itself, and says where which table of published_tables.py goes:

    <!-- runs: runs/2026-11-23-side-by-side/*.tar.xz -->
    <!-- table: loss -->
    <!-- end -->

1. What lies between such marks is made from the runs; the rest of the page is a person's.
2. `--add` packs experiments' folders first, into the folder of the first page's runs; one that
   lies there is left as it is.
3. `--check` writes nothing, and exits with 1 where a page is not what its runs say. What cannot be
   read is an error, exit 2: no page is written in part.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.campaigns.packed import Packed, Unreadable, judged
from harness.campaigns.page_tables import TABLES
from harness.run_folder.packing import SUFFIX

RUNS = re.compile(r"^<!-- runs: (\S+) -->$", re.MULTILINE)
TABLE = re.compile(r"^<!-- table: (\S+) -->$")
END = "<!-- end -->"
Pack = Callable[[Path, Path], int]  # an experiment into a file; its exit code


class Wrong(Exception):
    """A page that cannot be made: what is wrong with it."""


def packed(experiment: Path, into: Path) -> int:
    """By the user's own command."""
    command = [sys.executable, "-m", "harness", "pack", str(experiment), "-o", str(into)]
    return subprocess.run(command, check=False).returncode


def pages(folder: Path) -> Iterator[Path]:
    """Those that are made from runs; the others are all by hand."""
    for path in sorted(folder.glob("*.md")):
        if RUNS.search(path.read_text(encoding="utf-8")):
            yield path


def packs(page: Path) -> list[Path]:
    """The files that a page is made from, oldest first, for their names are stamps."""
    return sorted(page.parent.glob(_pattern(page)))


def made(page: Path) -> str:
    """The page as its runs have it. Raises Wrong, Unreadable."""
    files = packs(page)
    if not files:
        raise Wrong(f"{page}: there is no {_pattern(page)}")
    found = [judged(file) for file in files]
    text = page.read_text(encoding="utf-8")
    return "".join(f"{line}\n" for line in _lines(page, text.splitlines(), found))


def add(page: Path, experiments: Sequence[Path], pack: Pack) -> None:
    """Packs them into the folder of the page's runs. Raises Wrong."""
    folder = (page.parent / _pattern(page)).parent
    folder.mkdir(parents=True, exist_ok=True)
    for experiment in experiments:
        into = folder / f"{experiment.resolve().name}{SUFFIX}"
        if not into.exists() and pack(experiment, into):
            raise Wrong(f"{experiment} was not packed")


def _pattern(page: Path) -> str:
    found = RUNS.search(page.read_text(encoding="utf-8"))
    if found is None:
        raise Wrong(f"{page}: it does not say which runs it is made from: <!-- runs: ... -->")
    return found[1]


def _lines(page: Path, lines: Sequence[str], found: Sequence[Packed]) -> Iterator[str]:
    inside = ""
    for number, line in enumerate(lines, start=1):
        mark = TABLE.match(line)
        if inside and mark:
            raise Wrong(f"{page}, line {number}: the table {inside} has no {END}")
        if line == END:
            inside = ""
        if not inside:
            yield line
        if mark:
            inside = mark[1]
            if inside not in TABLES:
                known = ", ".join(TABLES)
                raise Wrong(f"{page}, line {number}: there is no table {inside}, but {known}")
            yield from ("", *TABLES[inside](found), "")
    if inside:
        raise Wrong(f"{page}: the table {inside} has no {END}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pages", metavar="PAGE.md", type=Path, nargs="+")
    parser.add_argument("--add", metavar="FOLDER", type=Path, nargs="+", default=[])
    parser.add_argument("--check", action="store_true")
    said = parser.parse_args()
    try:
        if said.add:
            add(said.pages[0], said.add, packed)
        texts = {page: made(page) for page in said.pages}
    except (Wrong, Unreadable, OSError) as failure:
        print(failure, file=sys.stderr)
        return 2
    other = [page for page in said.pages if page.read_text(encoding="utf-8") != texts[page]]
    for page in other:
        print(f"{page}: {'not what its runs say' if said.check else 'written'}")
        if not said.check:
            page.write_text(texts[page], encoding="utf-8")
    return int(said.check and bool(other))


if __name__ == "__main__":
    sys.exit(main())
