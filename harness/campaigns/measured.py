"""What published runs showed and expectations.toml does not know yet, as entries of it.

1. An entry names what was judged and is not known otherwise: of each such claim every outcome that
   the runs of the cell had. A person's entries are left alone, and count as what is known.
2. What is written stands before all others, in the place of what was written before.
3. What could not be judged for a doubt of its run (a worker that stood still) is no knowledge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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


def with_entries(text: str, found: Sequence[Shown]) -> str:
    """expectations.toml with these entries before all others."""
    own = by_hand(text)
    place = own.index("[[cell]]")
    place = own.rfind("\n# ---", 0, place) + 1 or place
    lines = "\n".join(["", *(line for one in found for line in (*entry(one), ""))])
    written = f"{BEGIN}\n{lines}{END}\n\n" if found else ""
    return f"{own[:place]}{written}{own[place:]}"


def entry(one: Shown) -> Iterator[str]:
    yield "[[cell]]"
    yield from (f'{key} = "{word}"' for key, word in zip(KEYS, one.cell, strict=True))
    yield 'why = """'
    yield f'{PAGES}/{one.page}, {plural(one.runs, "run")}"""'
    yield ""
    yield "[cell.claims]"
    for claim, outcomes in one.claims.items():
        words = ", ".join(f'"{outcome}"' for outcome in outcomes)
        yield f"{claim} = {words if len(outcomes) == 1 else f'[{words}]'}"


def known_by_hand(text: str) -> Expectations:
    """What expectations.toml knows without what was written here."""
    return read(by_hand(text))


def read(text: str) -> Expectations:
    return read_expectations(text, FILE.name, [claim.name for claim in shipped()])


def lines(found: Iterable[Shown]) -> Iterator[str]:
    """The entries, as they would be written."""
    for one in found:
        yield from (*entry(one), "")
