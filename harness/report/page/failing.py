"""Whose sends failed under a fault: the table of a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.judging.result import Report
from harness.report import failing as told
from harness.report.page.cells import CellView


@dataclass(frozen=True, slots=True)
class Failing:
    """`rows`: each with the number of its cell."""

    head: tuple[str, ...]
    rows: tuple[tuple[int, told.FailingRow], ...]
    left_out: int


def failing(report: Report, views: Sequence[CellView]) -> Failing:
    numbers = {view.cell: view.number for view in views}
    rows = [(numbers[row.cell], row) for row in told.rows(report.runs)]
    return Failing(told.HEAD, tuple(rows[: told.ROWS_MAX]), told.left_out(len(rows)))
