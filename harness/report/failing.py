"""Whose sends failed under a fault, as a table: of clients that ask name servers where to send.

1. One row for each publisher and window, run by run. An unknown value is a dash, never 0.
2. Bounded: ROWS_MAX rows; pages say how many more there are, and verdict.json has all.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.judging.result import RunReport
from harness.view.failing import Failing

ROWS_MAX = 200
HEAD = ("publisher", "asked", "failed", "last after", "turned after", "left out after")
_NONE = "–"


@dataclass(frozen=True, slots=True)
class FailingRow:
    """`number`: of its cell; `words`: one for each of HEAD."""

    number: int
    cell: tuple[str, str, str, str]
    repeat: int
    window: int
    words: tuple[str, ...]
    fails: bool


@dataclass(frozen=True, slots=True)
class FailingTable:
    rows: tuple[FailingRow, ...]
    left_out: int


def table(runs: Sequence[RunReport]) -> FailingTable:
    """Return no row of a run in which no send failed, or no client reported whom it asks."""
    cells = list(dict.fromkeys(run.cell for run in runs))
    rows = [
        FailingRow(
            cells.index(run.cell) + 1,
            run.cell,
            run.repeat,
            one.window,
            tuple(_words(one)),
            one.failed > 0,
        )
        for run in runs
        for one in _with_known_server(run)
    ]
    return FailingTable(tuple(rows[:ROWS_MAX]), max(0, len(rows) - ROWS_MAX))


def _with_known_server(run: RunReport) -> Iterable[Failing]:
    failing_sends = run.detail.failing if run.detail is not None else ()
    if not any(one.failed for one in failing_sends):
        return ()
    return [one for one in failing_sends if one.name_server]


def _words(one: Failing) -> Iterator[str]:
    yield one.publisher
    yield one.name_server
    yield _failed(one)
    yield _NONE if one.last_failed_s is None else f"{one.last_failed_s:.1f} s"
    yield _NONE if one.turned_s is None else f"{one.turned_s:.1f} s: {one.turned_to}"
    yield _NONE if one.left_out_s is None else f"{one.left_out_s:.1f} s: {one.left_out}"


def _failed(one: Failing) -> str:
    """`30 of 118, 25%`: of what was sent until the last one failed."""
    if not one.failed:
        return f"none of {one.sent:,}"
    return f"{one.failed:,} of {one.sent_by_then:,}, {one.share:.0%}"
