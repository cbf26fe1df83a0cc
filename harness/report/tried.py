"""What the runs of a cell come to together: claim by claim, and for loss.

1. Each line says of how many runs it is; runs that could not be judged are never in them.
2. A cell in which more than a fifth of the runs could not be judged says so before anything else.
"""

from collections.abc import Iterator, Mapping

from harness.compare.rates import Tried, too_many, tried
from harness.judging.result import Report
from harness.report.lines import cell_name
from harness.report.page import formats
from harness.report.page.tally import Cell, Tally, loss_rate, tally


def claims_of(report: Report, cell: Cell) -> Mapping[str, Tried]:
    """Every claim over the runs of a cell."""
    return tried([run.verdicts for run in report.runs if run.cell == cell])


def unjudged_words(told: Tally) -> str:
    """Of a cell, where it is more than a fifth; else nothing."""
    if not too_many(told.unjudged, told.runs):
        return ""
    return f"{formats.of(told.unjudged, told.runs, 'run')} could not be judged"


def rate_lines(report: Report) -> Iterator[str]:
    """What was lost, and which promises were broken, in how many runs of each cell."""
    for number, cell in enumerate(dict.fromkeys(run.cell for run in report.runs), start=1):
        told = tally([run for run in report.runs if run.cell == cell])
        lines = [unjudged_words(told)]
        lines += [loss_rate(told).told("lost")] if told.confirmed else []
        lines += [
            f"{claim}: {_words(one)}"
            for claim, one in claims_of(report, cell).items()
            if one.rate.violated or one.mostly_unjudged
        ]
        if any(lines):
            yield f"{number}: {cell_name(cell)}"
            yield from (f"   {line}" for line in lines if line)


def _words(one: Tried) -> str:
    what = "did not come true" if one.warns else "violated"
    unjudged = f"not judged in {one.not_judged} of {one.rate.runs + one.not_judged} runs"
    if one.mostly_unjudged:
        return f"{unjudged}; {one.rate.told(what)}"
    return one.rate.told(what) + (f"; {unjudged}" if one.not_judged else "")
