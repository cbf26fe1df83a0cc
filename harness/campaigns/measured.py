"""What published runs showed and no expectation knows yet, as entries of expectations.toml.

Entries that are written go into the file beside the pages, which holds nothing else; a person's
stand in harness/compare/expectations.toml.

1. An entry names what was judged and is not known otherwise: of each such claim every outcome that
   the runs of the cell had. A person's entries are left alone, and count as what is known.
2. What is written replaces what was written before of the same pages. What several pages tell of a
   cell and a claim stands once, with all outcomes, in the entry of the first of them; those that
   are named now come before the others.
3. What could not be judged for a doubt of its run (a worker that stood still) is no knowledge.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.campaigns.pages import Page, judged_packs
from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome
from harness.compare import expectations
from harness.compare.expectations import Expectations, read_expectations
from harness.judging.result import RunReport
from harness.plan.model import Cell
from harness.plan.problems import PlanError, Problem
from harness.report.page.formats import plural
from harness.view.grouping import by_key

FILE = expectations.MEASURED
HEAD = """\
# Measured by the runs of published pages: what a person's expectations, which come after these
# (harness/compare/expectations.toml), do not know. `mqproof campaign expectations PAGES --write`
# writes this file; entries by hand have no place in it.
"""
PAGES = "results/published"
KEYS = ("scenario", "system", "layout", "client")
_WHY = re.compile(rf"{PAGES}/(?P<page>\S+), (?P<runs>\d+) runs?")
_WIDTH = 99


@dataclass(frozen=True, slots=True)
class Shown:
    """What the runs of a cell showed that is not known of it."""

    cell: Cell
    page: str
    runs: int
    claims: Mapping[str, Sequence[ClaimOutcome]]


def shown(page: Page, already: Expectations) -> Iterator[Shown]:
    """By the packed runs of a page. Raises PlanError."""
    every = (run for pack in judged_packs(page) for run in pack.runs)
    for cell, runs in by_key(every, lambda run: run.cell).items():
        new = {
            claim: _sorted(outcomes)
            for claim, outcomes in _outcomes(runs).items()
            if not all(_is_known(already, cell, claim, one) for one in outcomes)
        }
        if new:
            yield Shown(cell, page.path.name, len(runs), new)


def _sorted(outcomes: Iterable[ClaimOutcome]) -> list[ClaimOutcome]:
    found = {*outcomes}
    return [one for one in ClaimOutcome if one in found]


def _outcomes(runs: Iterable[RunReport]) -> dict[str, set[ClaimOutcome]]:
    found: dict[str, set[ClaimOutcome]] = {}
    for run in runs:
        for one in run.verdicts:
            if one.outcome is not ClaimOutcome.INCONCLUSIVE or one.some or not run.doubts:
                found.setdefault(one.claim, set()).add(one.outcome)
    return found


def _is_known(known: Expectations, cell: Cell, claim: str, outcome: ClaimOutcome) -> bool:
    """What does not apply needs no entry, unless one says something else."""
    expected = known.expected(cell, claim)
    return outcome is ClaimOutcome.NOT_APPLICABLE if expected is None else expected.allows(outcome)


def with_entries(text: str, found: Sequence[Shown], pages: Iterable[str]) -> str:
    """Return the file of measured entries with these before all others. `pages`: the names of
    those that they were found in. Raises PlanError if a person's entry stands in `text`."""
    others = [one for one in _written(text) if one.page not in {*pages}]
    return "\n".join([HEAD, *lines(_merged_by_cell([*found, *others]))])


def _written(text: str) -> Iterator[Shown]:
    for one in read(text).entries if "[[cell]]" in text else ():
        why = _WHY.fullmatch(one.why)
        if why is None:
            message = f"no page stands there for {', '.join(one.cell)}: {one.why!r}"
            place = f"a person's entries stand in {expectations.BY_HAND.name} of harness/compare"
            raise PlanError([Problem(str(FILE), f"{message}; {place}")])
        claims = {claim: known.outcomes for claim, known in one.claims.items()}
        yield Shown(one.cell, why["page"], int(why["runs"]), claims)


def _merged_by_cell(entries: Sequence[Shown]) -> Iterator[Shown]:
    """Each claim of a cell in the first that tells of it, with what all tell of it."""
    outcomes: dict[tuple[Cell, str], set[ClaimOutcome]] = {}
    for one in entries:
        for claim, known in one.claims.items():
            outcomes.setdefault((one.cell, claim), set()).update(known)
    for one in entries:
        first = [claim for claim in one.claims if (one.cell, claim) in outcomes]
        merged = {claim: outcomes.pop((one.cell, claim)) for claim in first}
        if merged:
            in_order = {claim: _sorted(known) for claim, known in merged.items()}
            yield replace(one, claims=in_order)


def entry(one: Shown) -> Iterator[str]:
    passes = [claim for claim, known in one.claims.items() if list(known) == [ClaimOutcome.PASS]]
    yield "[[cell]]"
    yield from (f'{key} = "{word}"' for key, word in zip(KEYS, one.cell, strict=True))
    yield f'why = "{PAGES}/{one.page}, {plural(one.runs, "run")}"'
    if passes:
        quoted = " ".join(f'"{name}",' for name in passes)
        folded = textwrap.fill(quoted, _WIDTH - 2, break_on_hyphens=False)
        yield from ("passes = [", textwrap.indent(folded, "  "), "]")
    if others := {claim: known for claim, known in one.claims.items() if claim not in passes}:
        yield ""
        yield "[cell.claims]"
        yield from (f"{claim} = {_words(known)}" for claim, known in others.items())


def _words(outcomes: Sequence[ClaimOutcome]) -> str:
    words = ", ".join(f'"{outcome}"' for outcome in outcomes)
    return words if len(outcomes) == 1 else f"[{words}]"


def known_by_hand() -> Expectations:
    return read(expectations.BY_HAND.read_text(encoding="utf-8"))


def known() -> Expectations:
    """Return what is known by measurements and by a person."""
    return expectations.shipped([claim.name for claim in shipped()])


def read(text: str) -> Expectations:
    return read_expectations(text, FILE.name, [claim.name for claim in shipped()])


def lines(found: Iterable[Shown]) -> Iterator[str]:
    for one in found:
        yield from (*entry(one), "")
