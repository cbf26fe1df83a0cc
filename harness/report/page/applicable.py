"""Rows of the comparison that mean something in their cell; the others are left out of pages.

1. Without consumers before the drain, there is no first delivery and no backlog to wait for.
2. A cell without downtime has nothing to recover from: an unknown recovery time says nothing.
"""

from collections.abc import Collection, Iterator

from harness.claims.recovery import NEEDS_CONSUMERS
from harness.judging.result import Report, RunReport
from harness.view.summary import is_uninformative
from spark_analysis.schema.comparison import Comparison

_RECOVERY = "degraded"
_Cell = tuple[str, str, str, str]


def applicable(report: Report) -> Iterator[Comparison]:
    """Yield the rows that a page shows, in their order."""
    runs: dict[_Cell, list[RunReport]] = {}
    for run in report.runs:
        runs.setdefault(run.cell, []).append(run)
    for row in report.comparison:
        own = runs.get(cell_of(row), [])
        if not (_without_consumers(row, own) or _without_downtime(row, own)):
            yield row


def by_measure(report: Report) -> dict[tuple[str, str], dict[_Cell, Comparison]]:
    """Return these rows by measure and detail, and by cell."""
    rows: dict[tuple[str, str], dict[_Cell, Comparison]] = {}
    for row in applicable(report):
        rows.setdefault((row.measure, row.detail), {})[cell_of(row)] = row
    return rows


def cell_of(row: Comparison) -> _Cell:
    return row.scenario, row.system, row.layout, row.client


def _without_consumers(row: Comparison, runs: Collection[RunReport]) -> bool:
    """Return whether the row is about consumers, in a cell that had none."""
    known = [run.summary.has_consumers for run in runs if run.summary is not None]
    return row.measure in NEEDS_CONSUMERS and bool(known) and not any(known)


def _without_downtime(row: Comparison, runs: Collection[RunReport]) -> bool:
    """Return whether the row is an unknown recovery time, in a cell that had no downtime."""
    if row.measure != _RECOVERY or not is_uninformative(row):
        return False
    known = [run.summary.no_downtime for run in runs if run.summary is not None]
    return bool(known) and all(known)
