"""The raw packs of pages judged again, and their marts compared or written.

1. One pack at a time is brought, judged and removed, so disk and memory hold one.
2. A file of what is done makes it possible to go on after an interrupt: a pack on it is skipped.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.campaigns import evidence, run_marts
from harness.campaigns.evidence import Evidence, fetched
from harness.campaigns.packed import marts_of
from harness.campaigns.pages import Page
from harness.outside.files import TOML_BYTES_MAX, Unreadable, is_file, text_of
from harness.plan.problems import PlanError, Problem
from spark_analysis.schema.writing import naming

KEPT = "until removed"
Log = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Again:
    """How to judge packs again: where they are, and what was done before an interrupt."""

    source: str
    writes: bool  # marts that differ
    done: Path | None = None  # a file; a line a pack


def judge_again(pages: Iterable[Page], how: Again, log: Log) -> int:
    """Judge each pack of the pages once; return how many had other marts.

    Raises PlanError at the end, with every pack that could not be judged.
    """
    wanted = {one.pack: one for page in pages for one in page.evidence}
    done, differing = _done(how.done), 0
    problems: list[Problem] = []
    for number, one in enumerate(wanted.values(), start=1):
        if one.file in done:
            continue
        try:
            same = _same(one, how)
        except PlanError as error:
            problems += error.problems
            continue
        differing += not same
        other = "are rewritten, as its pack says" if how.writes else "are NOT what its pack says"
        text = "are what its pack says" if same else other
        log(f"{one.file}: marts {text} ({number} of {len(wanted)})")
        if same or how.writes:
            _note(how.done, one.file)
    if problems:
        raise PlanError(problems)
    return differing


def _same(one: Evidence, how: Again) -> bool:
    with fetched(one, how.source) as pack:
        found = marts_of(pack)
    there = _readable(one.marts) if is_file(one.marts) else None
    if there is not None and run_marts.same(there, found):
        return True
    if how.writes:
        one.marts.parent.mkdir(parents=True, exist_ok=True)
        run_marts.write(found, one.marts)
    return False


def _readable(path: Path) -> run_marts.PackMarts | None:
    """Marts of another version differ from those of today."""
    try:
        return run_marts.read(path)
    except PlanError:
        return None


def list_packs(folder: Path, packs: Iterable[Path]) -> None:
    """Write marts and an entry of evidence.toml for packs that were added. Raises PlanError."""
    known = evidence.listed(folder)
    for pack in packs:
        file = pack.relative_to(folder).as_posix()
        one = Evidence(folder, file, evidence.measured(pack, file, KEPT))
        run_marts.write(marts_of(pack), one.marts)
        known[file] = one.listed or known[file]
    evidence.write(folder, known.values())


def _done(path: Path | None) -> frozenset[str]:
    if path is None or not is_file(path):
        return frozenset()
    try:
        return frozenset(text_of(path, TOML_BYTES_MAX).splitlines())
    except Unreadable as failure:
        raise PlanError([Problem("--resume", f"{path} cannot be read: {failure}")]) from None


def _note(path: Path | None, file: str) -> None:
    if path is not None:
        with naming(path), path.open("a", encoding="utf-8") as stream:
            stream.write(f"{file}\n")
