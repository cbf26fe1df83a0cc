"""What the runs of a cell come to together: claim by claim, and for loss.

1. Each line says of how many runs it is; runs that could not be judged are never in them.
2. A cell in which more than a fifth of the runs could not be judged says so before anything else.
"""

from collections.abc import Iterator, Mapping

from harness.compare.rates import Tried, too_many, tried
from harness.judging.result import Report
from harness.report.lines import cell_name
from harness.report.page import formats
from harness.report.page.formats import plural
from harness.report.page.totals import Cell, RunTotals, loss_rate, totals_of


def claims_of(report: Report, cell: Cell) -> Mapping[str, Tried]:
    """Every claim over the runs of a cell."""
    return tried([run.verdicts for run in report.runs if run.cell == cell])


def unjudged_words(totals: RunTotals) -> str:
    """Of a cell, where it is more than a fifth; else nothing."""
    if not too_many(totals.unjudged, totals.runs):
        return ""
    return f"{formats.of(totals.unjudged, totals.runs, 'run')} could not be judged"


def rate_lines(report: Report) -> Iterator[str]:
    """What was lost, and which promises were broken, in how many runs of each cell."""
    for number, cell in enumerate(dict.fromkeys(run.cell for run in report.runs), start=1):
        totals = totals_of([run for run in report.runs if run.cell == cell])
        lines = [unjudged_words(totals)]
        lines += [loss_rate(totals).describe("lost")] if totals.confirmed else []
        lines += _grouped(claims_of(report, cell))
        if any(lines):
            yield f"{number}: {cell_name(cell)}"
            yield from (f"   {line}" for line in lines if line)


def _grouped(found: Mapping[str, Tried]) -> Iterator[str]:
    """Yield a line for what may be said of several claims alike, with their names."""
    claims: dict[str, list[str]] = {}
    for claim, one in found.items():
        if one.rate.violated or one.mostly_unjudged:
            claims.setdefault(_words(one), []).append(claim)
    for words, names in claims.items():
        yield f"{', '.join(names)}: {words}"


def _words(one: Tried) -> str:
    what = "did not come true" if one.warns else "violated"
    unjudged = f"not judged in {one.not_judged} of {plural(one.rate.runs + one.not_judged, 'run')}"
    if one.mostly_unjudged:
        rate = one.rate.describe(what) if one.rate.runs else "no rate"
        return f"{unjudged}; {rate}"
    return one.rate.describe(what) + (f"; {unjudged}" if one.not_judged else "")
