"""One line a cell: what a terminal has room for where there are hundreds of them.

1. A line says what its field in the page's matrix says, and how the cell stands to what is known.
"""

from collections.abc import Iterator

from harness.judging.result import Report
from harness.report.page.cells import CellView, cells
from harness.report.page.matrix import weight
from harness.report.page.tally import loss_rate


def overview(report: Report) -> Iterator[tuple[str, str]]:
    """`FAIL`, `12: master-crash on …: 37 lost (5 runs; not as expected)`."""
    for view in cells(report):
        _, _, word = view.badge.partition(" ")
        yield word, f"{view.number}: {view.name}: {_told(view)}"


def _told(view: CellView) -> str:
    told = view.tally
    runs = f"{told.runs} run{'' if told.runs == 1 else 's'}"
    if told.judged < told.runs:
        runs = f"{told.judged} of {runs} judged"
    if told.loss_judged:
        runs = f"{runs}; {loss_rate(told).told('lost')}"
    known = f"; {view.standing}" if view.standing else ""
    why = told.doubts[0][0] if told.doubts and not told.judged else ""
    return f"{weight(told) or why or 'not judged'} ({runs}{known})".replace("\u00a0", " ")
