"""Whose sends failed under a fault, and how, as a table.

1. One row for each publisher and window, run by run. A dash stands for what is unknown, and for a
   name server where clients use none; never 0.
2. Bounded: ROWS_MAX rows; pages say how many more there are, and verdict.json has all.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.judging.result import RunReport
from harness.plan.model import Cell
from harness.report.page.formats import share
from harness.view.failing import Failing, after_text, answers_text

ROWS_MAX = 200
HEAD = (  # the last is in pages only: a run's own lines in a terminal say how its sends failed
    *("publisher", "failed", "last failed after", "name server", "switched name server after"),
    *("route without the master after", "how they failed"),
)
# What `failed` and the times count.
MEANING = (
    "Failed attempts to send, of all attempts from the fault up to the publisher's last failed "
    "one; retries are attempts, too. Times are seconds from the fault on. A send that gets no "
    "answer fails when its client gives up, so sends may still fail when service is back."
)
NONE = "–"


class FailingRow(NamedTuple):
    """`number`: of its cell; `words`: one for each of HEAD."""

    number: int
    cell: Cell
    repeat: int
    window: int
    words: tuple[str, ...]
    fails: bool


class FailingTable(NamedTuple):
    """`columns`: those of HEAD in which some row has a value, by their places in `words`."""

    rows: tuple[FailingRow, ...]
    left_out: int
    columns: tuple[tuple[int, str], ...]


def table(runs: Sequence[RunReport]) -> FailingTable:
    """Return no row of a run in which no attempt to send failed."""
    numbers = {cell: number for number, cell in enumerate(dict.fromkeys(r.cell for r in runs), 1)}
    found = ((run, run.detail.failing) for run in runs if run.detail is not None)
    rows = [
        FailingRow(
            *(numbers[run.cell], run.cell, run.repeat, one.window),
            *(tuple(_words(one)), one.failed > 0),
        )
        for run, publishers in found
        for one in publishers
        if any(each.failed for each in publishers)
    ]
    shown = tuple(rows[:ROWS_MAX])
    columns = (
        (place, head)
        for place, head in enumerate(HEAD)
        if any(row.words[place] != NONE for row in shown)
    )
    return FailingTable(shown, len(rows) - len(shown), tuple(columns))


def _words(one: Failing) -> Iterator[str]:
    yield one.publisher
    # `30 of 118, 25 %`: of what was sent until the last one failed.
    some = f"{one.failed:,} of {one.sent_by_then:,}, {share(one.share)}"
    yield some if one.failed else f"none of {one.sent:,}"
    yield _after(one.last_failed_s)
    yield one.name_server or NONE
    yield _after(one.turned_s, f": {one.turned_to}")
    yield _after(one.left_out_s, f": {one.left_out}")
    yield answers_text([one]) or NONE


def _after(seconds: float | None, whom: str = "") -> str:
    return NONE if seconds is None else f"{after_text(seconds)}{whom}"
