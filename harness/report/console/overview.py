"""One line a cell: what a terminal has room for where there are hundreds of them.

1. A line says what its field in the page's matrix says, and how the cell stands to what is known.
"""

from collections.abc import Iterator

from harness.judging.result import Report
from harness.report.page.cells import CellView, cells
from harness.report.page.matrix import weight
from harness.report.page.totals import loss_rate


def overview(report: Report) -> Iterator[tuple[str, str]]:
    """`FAIL`, `12: master-crash on …: 37 lost (5 runs; not as expected)`."""
    for view in cells(report):
        _, _, word = view.badge.partition(" ")
        yield word, f"{view.number}: {view.name}: {_cell_line(view)}"


def _cell_line(view: CellView) -> str:
    totals = view.totals
    runs = f"{totals.runs} run{'' if totals.runs == 1 else 's'}"
    if totals.judged < totals.runs:
        runs = f"{totals.judged} of {runs} judged"
    if totals.loss_judged:
        runs = f"{runs}; {loss_rate(totals).describe('lost')}"
    known = f"; {view.standing}" if view.standing and totals.judged else ""
    why = totals.doubts[0][0] if totals.doubts and not totals.judged else ""
    return f"{weight(totals) or why or 'not judged'} ({runs}{known})".replace("\u00a0", " ")
