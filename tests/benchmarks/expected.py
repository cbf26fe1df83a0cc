"""What published runs showed and expectations.toml does not know yet, as entries of it.

usage: python -m tests.benchmarks.expected PAGE.md ... [--write]
Prints the entries; `--write` puts them into expectations.toml, before all others, in the place of
those that it wrote before.

1. An entry names what was judged and is not known otherwise: of each such claim every outcome that
   the runs of the cell had. A person's entries are left alone, and count as what is known.
2. What could not be judged for a doubt of its run (a worker that stood still) is no knowledge.
"""

import argparse
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.claims.claims import shipped
from harness.claims.judge import Outcome
from harness.compare import expectations
from harness.compare.expectations import Expectations, read_expectations
from harness.judging.result import RunReport
from harness.report.page.words import plural
from tests.benchmarks.packed import judged
from tests.benchmarks.published import packs

FILE = Path(expectations.__file__).with_name("expectations.toml")
BEGIN = "# --- measured by published runs: written by tests/benchmarks/expected.py ---"
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


def shown(page: Path, known: Expectations) -> Iterator[Shown]:
    """By the packed runs of a page. Raises Wrong, Unreadable."""
    cells: dict[Cell, list[RunReport]] = {}
    for run in (run for pack in packs(page) for run in judged(pack).runs):
        cells.setdefault(run.cell, []).append(run)
    for cell, runs in cells.items():
        new = {
            claim: [one for one in Outcome if one in outcomes]
            for claim, outcomes in _outcomes(runs).items()
            if any(not _is_known(known, cell, claim, one) for one in outcomes)
        }
        if new:
            yield Shown(cell, page.name, len(runs), new)


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pages", metavar="PAGE.md", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    said = parser.parse_args()
    text = FILE.read_text(encoding="utf-8")
    known = read_expectations(by_hand(text), FILE.name, [claim.name for claim in shipped()])
    found = [one for page in said.pages for one in shown(page, known)]
    if not said.write:
        print("\n".join(line for one in found for line in (*entry(one), "")))
        return
    text = with_entries(text, found)
    tomllib.loads(text)
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name}: {len(found)} entries written")


if __name__ == "__main__":
    main()
