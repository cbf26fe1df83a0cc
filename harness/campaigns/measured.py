"""What published runs showed and expectations.toml does not know yet, as entries of it.

1. An entry names what was judged and is not known otherwise: of each such claim every outcome that
   the runs of the cell had. A person's entries are left alone, and count as what is known.
2. What is written stands before all others, in the place of what was written before of the same
   pages. What two pages tell of a cell and a claim stands once, with all outcomes, in the entry of
   the one that was named now.
3. What could not be judged for a doubt of its run (a worker that stood still) is no knowledge.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.campaigns.pages import Page, judged_packs
from harness.claims.claims import shipped
from harness.claims.judge import Outcome
from harness.compare import expectations
from harness.compare.expectations import Expectations, read_expectations
from harness.judging.result import RunReport
from harness.report.page.formats import plural

FILE = Path(expectations.__file__).with_name("expectations.toml")
BEGIN = "# --- measured by published runs: written by `mqproof campaign expectations` ---"
END = "# --- end of what was written ---"
PAGES = "results/published"
KEYS = ("scenario", "system", "layout", "client")
_WHY = re.compile(rf"{PAGES}/(?P<page>\S+), (?P<runs>\d+) runs?")
_WIDTH = 99
Cell = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Shown:
    """What the runs of a cell showed that is not known of it."""

    cell: Cell
    page: str
    runs: int
    claims: Mapping[str, Sequence[Outcome]]


def shown(page: Page, known: Expectations) -> Iterator[Shown]:
    """By the packed runs of a page. Raises PlanError."""
    cells: dict[Cell, list[RunReport]] = {}
    for run in (run for pack in judged_packs(page) for run in pack.runs):
        cells.setdefault(run.cell, []).append(run)
    for cell, runs in cells.items():
        new = {
            claim: [one for one in Outcome if one in outcomes]
            for claim, outcomes in _outcomes(runs).items()
            if any(not _is_known(known, cell, claim, one) for one in outcomes)
        }
        if new:
            yield Shown(cell, page.path.name, len(runs), new)


def _outcomes(runs: Iterable[RunReport]) -> dict[str, set[Outcome]]:
    found: dict[str, set[Outcome]] = {}
    for run in runs:
        for one in run.verdicts:
            if one.outcome is not Outcome.INCONCLUSIVE or one.some or not run.doubts:
                found.setdefault(one.claim, set()).add(one.outcome)
    return found


def _is_known(known: Expectations, cell: Cell, claim: str, outcome: Outcome) -> bool:
    """What does not apply needs no entry, unless one says something else."""
    expected = known.expected(cell, claim)
    return outcome is Outcome.NOT_APPLICABLE if expected is None else expected.allows(outcome)


def by_hand(text: str) -> str:
    """expectations.toml without what was written by `--write`."""
    before, begin, rest = text.partition(f"{BEGIN}\n")
    if not begin:
        return text
    return before + rest.partition(f"{END}\n")[2].removeprefix("\n")


def with_entries(text: str, found: Sequence[Shown], pages: Iterable[str]) -> str:
    """expectations.toml with these entries before all others. `pages`: the names of those that
    they were found in."""
    others = [one for one in _written(text) if one.page not in {*pages}]
    own, all_ = by_hand(text), _together(found, others)
    place = own.index("[[cell]]")
    place = own.rfind("\n# ---", 0, place) + 1 or place
    written = "\n".join([BEGIN, "", *lines(all_), END, "", ""]) if all_ else ""
    return f"{own[:place]}{written}{own[place:]}"


def _written(text: str) -> Iterator[Shown]:
    """What stands there."""
    section = text.partition(f"{BEGIN}\n")[2].partition(f"{END}\n")[0]
    for one in read(section).entries if section else ():
        why = _WHY.fullmatch(one.why)
        assert why is not None, f"this was not written here: {one.why}"
        told = {claim: known.outcomes for claim, known in one.claims.items()}
        yield Shown(one.cell, why["page"], int(why["runs"]), told)


def _together(found: Sequence[Shown], others: Sequence[Shown]) -> list[Shown]:
    before = {(one.cell, claim): told for one in others for claim, told in one.claims.items()}
    now = {(one.cell, claim) for one in found for claim in one.claims}
    return [
        *(replace(one, claims=_all_outcomes(one, before)) for one in found),
        *(left for one in others if (left := _without(one, now)).claims),
    ]


def _all_outcomes(
    one: Shown, before: Mapping[tuple[Cell, str], Sequence[Outcome]]
) -> dict[str, Sequence[Outcome]]:
    return {
        claim: [it for it in Outcome if it in {*told, *before.get((one.cell, claim), ())}]
        for claim, told in one.claims.items()
    }


def _without(one: Shown, now: set[tuple[Cell, str]]) -> Shown:
    left = {claim: told for claim, told in one.claims.items() if (one.cell, claim) not in now}
    return replace(one, claims=left)


def entry(one: Shown) -> Iterator[str]:
    passes = [claim for claim, told in one.claims.items() if list(told) == [Outcome.PASS]]
    yield "[[cell]]"
    yield from (f'{key} = "{word}"' for key, word in zip(KEYS, one.cell, strict=True))
    yield f'why = "{PAGES}/{one.page}, {plural(one.runs, "run")}"'
    yield from _listed("passes", passes)
    if others := {claim: told for claim, told in one.claims.items() if claim not in passes}:
        yield ""
        yield "[cell.claims]"
        yield from (f"{claim} = {_words(told)}" for claim, told in others.items())


def _listed(key: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        quoted = " ".join(f'"{name}",' for name in names)
        folded = textwrap.fill(quoted, _WIDTH - 2, break_on_hyphens=False)
        yield from (f"{key} = [", textwrap.indent(folded, "  "), "]")


def _words(outcomes: Sequence[Outcome]) -> str:
    words = ", ".join(f'"{outcome}"' for outcome in outcomes)
    return words if len(outcomes) == 1 else f"[{words}]"


def known_by_hand(text: str) -> Expectations:
    """What expectations.toml knows without what was written here."""
    return read(by_hand(text))


def read(text: str) -> Expectations:
    return read_expectations(text, FILE.name, [claim.name for claim in shipped()])


def lines(found: Iterable[Shown]) -> Iterator[str]:
    """The entries, as they would be written."""
    for one in found:
        yield from (*entry(one), "")
