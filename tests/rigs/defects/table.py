"""The table of defects and of the claims that catch them, for docs/verdicts.md 16.

`python -m tests.rigs.defects.table` writes it into the page.
"""

from collections.abc import Mapping
from pathlib import Path

from tests.rigs.defects.measure import DAY, DEFECTS, Answer, CaseCounts, cases, tallies

PAGE = Path(__file__).parents[3] / "docs" / "verdicts.md"
BEGINS = "<!-- Made by `python -m tests.rigs.defects.table`; a test compares. -->\n"
ENDS = "<!-- The table of defects ends. -->\n"
_HEAD = """| defect: the broker … | cases | caught: FAIL | INCONCLUSIVE | missed | FAIL of |
| --- | --- | --- | --- | --- | --- |
"""


def table(found: Mapping[str, CaseCounts]) -> str:
    """Return the table as Markdown: a line a defect, and the sums."""
    lines = [_line(defect.name, defect.does, found[defect.name]) for defect in DEFECTS]
    whole = CaseCounts()
    for counts in found.values():
        whole.answers.update(counts.answers)
    return f"\n{_HEAD}{''.join(lines)}{_line('all', 'all of them', whole)}\n"


def _line(name: str, does: str, counts: CaseCounts) -> str:
    numbers = " | ".join(f"{counts.answers[answer]:,}" for answer in Answer)
    claims = ", ".join(
        f"`{name}`" for name, often in sorted(counts.claims.items()) if often * 4 >= counts.cases
    )
    return f"| **{name}**: {does} | {counts.cases:,} | {numbers} | {claims or '–'} |\n"


def shown(page: str) -> str:
    """Return the table that the page shows."""
    return page.partition(BEGINS)[2].partition(ENDS)[0]


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGINS)
    _, _, tail = rest.partition(ENDS)
    PAGE.write_text(
        f"{head}{BEGINS}{table(tallies(cases(DAY)))}{ENDS}{tail}",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
