"""What a cell opens into: its claims, its numbers over the repeats, its runs.

1. Everything here stands elsewhere on the page, too, for all cells together; a cell leads there.
2. Claims that failed come first; those that do not apply are counted only.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from harness.judging.result import Report
from harness.report.page import formats, measures
from harness.report.page.applicable import applicable, cell_of
from harness.report.page.cells import CellView
from harness.report.page.claims import Chip, ClaimView
from harness.report.page.runs import RunView
from harness.report.page.totals import Cell
from spark_analysis.schema.comparison import Comparison

_TONES = [tone for tone, _, _ in formats.BADGES.values()]


@dataclass(frozen=True, slots=True)
class Drill:
    cell: CellView
    claims: tuple[tuple[ClaimView, Chip], ...]
    not_applicable: str
    numbers: tuple[tuple[str, str, str], ...]  # name, in short, in a sentence
    runs: tuple[RunView, ...]


def drills(
    report: Report, views: Iterable[CellView], claims: Iterable[ClaimView], runs: Iterable[RunView]
) -> tuple[Drill, ...]:
    """One a cell, in their order."""
    all_claims = tuple(claims)
    own: defaultdict[int, list[RunView]] = defaultdict(list)
    for run in runs:
        own[run.cell.number].append(run)
    compared: defaultdict[Cell, list[Comparison]] = defaultdict(list)
    for row in applicable(report):
        compared[cell_of(row)].append(row)
    return tuple(_drill(view, all_claims, compared[view.cell], own[view.number]) for view in views)


def _drill(
    view: CellView,
    claims: Iterable[ClaimView],
    compared: Iterable[Comparison],
    runs: Iterable[RunView],
) -> Drill:
    chips = [
        (claim, claim.chips[view.number - 1]) for claim in claims
    ]  # cells are numbered from 1
    applicable = [(claim, chip) for claim, chip in chips if chip.tone != "not_applicable"]
    applicable.sort(key=lambda one: _TONES.index(one[1].tone))
    return Drill(
        cell=view,
        claims=tuple(applicable),
        not_applicable=_not_applicable_text(len(chips) - len(applicable)),
        numbers=measures.numbers(compared),
        runs=tuple(runs),
    )


def _not_applicable_text(number: int) -> str:
    if not number:
        return ""
    return f"{number} more {'claim does' if number == 1 else 'claims do'} not apply here."
