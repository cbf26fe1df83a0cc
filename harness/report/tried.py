"""What the runs of a cell come to together, tabulated once for every page, terminal and file.

1. Each line says of how many runs it is; runs that could not be judged are never in them.
2. A cell in which more than a fifth of the runs could not be judged says so before anything else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.claims.judge import ClaimOutcome, ClaimVerdict, over_runs
from harness.compare.rates import Tried, too_many, tried
from harness.judging.result import Report, RunReport
from harness.report.lines import cell_name
from harness.report.page import formats
from harness.report.page.formats import plural
from harness.report.page.totals import Cell, RunTotals, loss_rate, totals_of


@dataclass(frozen=True, slots=True)
class ClaimOfCell:
    """A claim over several runs. `verdicts`: one of each run that was judged by it."""

    verdicts: tuple[ClaimVerdict, ...]
    tried: Tried

    @property
    def outcome(self) -> ClaimOutcome:
        return over_runs(self.verdicts)

    @property
    def same(self) -> tuple[ClaimVerdict, ...]:
        """Return the verdicts with this outcome."""
        outcome = self.outcome
        return tuple(one for one in self.verdicts if one.outcome is outcome)


@dataclass(frozen=True, slots=True)
class CellTable:
    """`number`: what pages and tables call the cell."""

    number: int
    cell: Cell
    runs: tuple[RunReport, ...]
    totals: RunTotals
    claims: Mapping[str, ClaimOfCell]


def tabulated(report: Report) -> tuple[CellTable, ...]:
    """Return the cells in the order of their first run."""
    by_cell: dict[Cell, list[RunReport]] = {}
    for run in report.runs:
        by_cell.setdefault(run.cell, []).append(run)
    return tuple(
        CellTable(number, cell, tuple(runs), totals_of(runs), claims_of(runs))
        for number, (cell, runs) in enumerate(by_cell.items(), start=1)
    )


def claims_of(runs: Sequence[RunReport]) -> dict[str, ClaimOfCell]:
    """Return every claim over these runs, in the order in which claims are judged."""
    verdicts: dict[str, list[ClaimVerdict]] = {}
    for one in (one for run in runs for one in run.verdicts):
        verdicts.setdefault(one.claim, []).append(one)
    rates = tried([run.verdicts for run in runs])
    return {claim: ClaimOfCell(tuple(own), rates[claim]) for claim, own in verdicts.items()}


def unjudged_words(totals: RunTotals) -> str:
    """Of a cell, where it is more than a fifth; else nothing."""
    if not too_many(totals.unjudged, totals.runs):
        return ""
    return f"{formats.of(totals.unjudged, totals.runs, 'run')} could not be judged"


def rate_lines(report: Report) -> Iterator[str]:
    """What was lost, and which promises were broken, in how many runs of each cell."""
    for one in tabulated(report):
        lines = [unjudged_words(one.totals)]
        lines += [loss_rate(one.totals).describe("lost")] if one.totals.confirmed else []
        lines += _grouped(one.claims)
        if any(lines):
            yield f"{one.number}: {cell_name(one.cell)}"
            yield from (f"   {line}" for line in lines if line)


def _grouped(found: Mapping[str, ClaimOfCell]) -> Iterator[str]:
    """Yield a line for what may be said of several claims alike, with their names."""
    claims: dict[str, list[str]] = {}
    for claim, one in found.items():
        if one.tried.rate.violated or one.tried.mostly_unjudged:
            claims.setdefault(_words(one.tried), []).append(claim)
    for words, names in claims.items():
        yield f"{', '.join(names)}: {words}"


def _words(one: Tried) -> str:
    runs = plural(one.rate.runs + one.not_judged, "run")
    unjudged = f"not decided in {one.not_judged} of {runs}"
    if one.mostly_unjudged:
        return f"{unjudged}; {one.described if one.rate.runs else 'so there is no rate'}"
    return one.described + (f"; {unjudged}" if one.not_judged else "")
