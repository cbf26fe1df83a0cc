"""Whose sends failed under a fault: the table of a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.judging.result import Report
from harness.report import failing as told
from harness.report.page.cells import CellView

HEAD = told.HEAD


@dataclass(frozen=True, slots=True)
class FailingRow:
    number: int  # of its cell
    client: str
    repeat: int
    window: int
    words: tuple[str, ...]
    fails: bool


@dataclass(frozen=True, slots=True)
class Failing:
    head: tuple[str, ...]
    rows: tuple[FailingRow, ...]
    left_out: int


def failing(report: Report, views: Sequence[CellView]) -> Failing:
    numbers = {view.cell: view.number for view in views}
    rows = told.rows(report.runs)
    return Failing(
        HEAD,
        tuple(
            FailingRow(
                numbers[row.cell], row.cell[3], row.repeat, row.window, row.words, row.fails
            )
            for row in rows[: told.ROWS_MAX]
        ),
        max(0, len(rows) - told.ROWS_MAX),
    )
