"""Tables of a report: verdicts (claims x cells), comparison (measures x cells).

1. Cells are columns, called as the report calls them; the legend above says which cell is which.
2. Too many cells for one table make several; no column is dropped.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.judging.result import Report, RunReport
from harness.outside.text import one_line
from harness.plan.model import cell_of
from harness.report import failing
from harness.report.lines import NOT_COMPARED, InCell, by_urgency, cell_name, to_do
from harness.report.page import formats
from harness.report.page.measures import (
    NO_RECOVERY,
    amount,
    measure_text,
    measure_title,
    never_text,
    place_of,
    telling,
    why_no_recovery,
    with_recovery_bounds,
)
from harness.report.page.outs import LASTED, lasted_text
from harness.report.page.totals import ClaimOfCell, claims_of
from harness.report.tried import CellTable, reasons, tabulated
from harness.view.grouping import by_key
from harness.view.summary import is_uninformative
from spark_analysis.schema.comparison import Comparison

COLUMNS_MAX = 6
STYLES = {
    ClaimOutcome.PASS: "green",
    ClaimOutcome.FAIL: "bold red",
    ClaimOutcome.INCONCLUSIVE: "yellow",
    ClaimOutcome.NOT_APPLICABLE: "dim",
}
_SHORT = {ClaimOutcome.NOT_APPLICABLE: "n/a"}


def legend(report: Report) -> list[str]:
    """Return `A: master-crash on …`: what heads the columns."""
    return [f"{one.label}: {cell_name(one.cell)}" for one in tabulated(report)]


def verdict_tables(report: Report, whole: bool = False) -> Iterator[Table]:
    """Claims x cells, broken ones first; of several repeats the outcome that speaks for all, and
    how many had it. A claim with one outcome wherever it applies, PASS or INCONCLUSIVE, has a row
    only in the `whole`; so has one that applies to none of a table's runs."""
    held = {*everywhere(report, ClaimOutcome.PASS), *everywhere(report, ClaimOutcome.INCONCLUSIVE)}
    for shown in _chunks(report):
        runs = [run for run in report.runs if run.cell in [one.cell for one in shown]]
        verdicts = by_urgency(verdict for run in runs for verdict in run.verdicts)
        applies = {one.claim for one in verdicts if one.outcome is not ClaimOutcome.NOT_APPLICABLE}
        every = dict.fromkeys(verdict.claim for verdict in verdicts)
        claims = [claim for claim in every if whole or claim in applies - held]
        table = _table("claim", shown)
        for claim in claims:
            marks = (_mark(one.claims.get(claim), len(one.runs)) for one in shown)
            table.add_row(Text(one_line(claim)), *marks)
        if claims:
            yield table


def everywhere(report: Report, outcome: ClaimOutcome) -> list[str]:
    """Return the claims that had this outcome in every run to which they apply, in their order;
    of warnings only those that could not be judged."""
    every = outcome is ClaimOutcome.INCONCLUSIVE
    verdicts = (one for run in report.runs for one in run.verdicts if every or one.is_promise)
    applying = (one for one in verdicts if one.outcome is not ClaimOutcome.NOT_APPLICABLE)
    claims = by_key(applying, lambda one: one.claim).items()
    return [claim for claim, found in claims if {one.outcome for one in found} == {outcome}]


def left_out(report: Report) -> str:
    """Return how many claims apply to no run, as a line; "" if each applies to one."""
    found = claims_of(report.runs).values()
    others = sum(one.outcome is ClaimOutcome.NOT_APPLICABLE for one in found)
    several = len({run.cell for run in report.runs}) > 1
    which = "apply to no cell" if several else "do not apply"
    return f"{others} more claims {which} (--all lists each with its reason)" if others else ""


def comparison_tables(report: Report) -> Iterator[Table]:
    """Measures x cells: median over the judged repeats, with its interval or their range."""
    rows = {(cell_of(row), row.measure, row.detail): row for row in telling(report)}
    names = dict.fromkeys((row.measure, row.detail) for row in telling(report))
    measures = sorted(names, key=lambda name: place_of(measure_title(*name)))
    never = set(unjudged(report))
    for cells in _chunks(report):
        table = _table("measure", cells)
        lasted = [lasted_text(one.runs).replace(formats.GLUE, " ") for one in cells]
        if any(lasted):
            table.add_row(LASTED, *lasted)
        for measure, detail in measures:
            found = [rows.get((one.cell, measure, detail)) for one in cells]
            shown = any(row is not None and (row.maximum or not row.judged) for row in found)
            if shown and measure not in never:
                name = measure_title(measure, detail)
                texts = map(comparison_text, found, (one.runs for one in cells))
                table.add_row(Text(one_line(name)), *texts)
        if table.row_count:
            yield table


def failing_tables(shown: Sequence[failing.FailingRow]) -> Iterator[Table]:
    """One a scenario and layout, with a row a publisher and window. What is the same in all rows
    (a single client, repeat or fault), or known in none, has no column. No column has a least
    width: Rich would cut those behind it, without a mark."""
    for place, own in by_key(shown, lambda row: row.cell[:3]).items():
        clients = list(dict.fromkeys(row.cell[3] for row in own))
        which = {
            "client": [row.cell[3] for row in own] if len(clients) > 1 else [],
            "repeat": _if_several([row.repeat for row in own]),
            "fault": _if_several([row.window for row in own]),
        }
        which = {head: words for head, words in which.items() if words}
        title = "{} on {} {}".format(*place) + ("" if "client" in which else f" with {clients[0]}")
        table = _plain(title=Text(one_line(title)), title_justify="left")
        for column, head in enumerate(failing.HEAD[:-1]):
            words = [row.words[column] for row in own]
            which |= {head: words} if {*words} != {failing.NONE} else {}
        for head in which:
            table.add_column(head, overflow="fold")
        for texts in zip(*which.values(), strict=True):
            table.add_row(*(Text(one_line(text)) for text in texts))
        yield table


def _if_several(numbers: Sequence[int]) -> list[str]:
    return list(map(str, numbers)) if max(numbers) > 1 else []


def nowhere(report: Report) -> list[str]:
    """The measures that were judged, and are 0 wherever they were."""
    found = _by_measure(report).items()
    return [name for name, rows in found if all(row.judged and not row.maximum for row in rows)]


def unjudged(report: Report) -> list[str]:
    """The measures that were judged in no run."""
    found = _by_measure(report).items()
    return [name for name, rows in found if not any(row.judged for row in rows)]


def _by_measure(report: Report) -> dict[str, list[Comparison]]:
    return by_key((row for row in telling(report) if not row.detail), lambda row: row.measure)


def comparison_text(row: Comparison | None, runs: Sequence[RunReport] = ()) -> str:
    """`0.171 s (0.150 s to 0.190 s, 5 of 5)`: median, range, how many of the repeats were judged;
    `0.171 s [0.160 s to 0.180 s] (9 of 9)`: the median's interval, where they are enough."""
    if row is None:
        return ""
    row = with_recovery_bounds(row, runs)
    if why := why_no_recovery(row, runs):
        return f"{NO_RECOVERY} ({why})"
    if never := never_text(row, runs, _number(row.minimum or 0.0, row.unit)):
        return never
    if row.median is None or row.minimum is None or row.maximum is None or is_uninformative(row):
        return measure_text(row).median
    median = f"{'>= ' if row.bounds else ''}{_number(row.median, row.unit)}"
    if row.runs == 1:
        return median
    judged = f"{row.judged} of {row.runs}"
    if row.median_from is None:
        # A maximum is a bound if one run has only a bound; a minimum, if all have.
        low = f"{'>= ' if row.bounds == row.judged else ''}{_number(row.minimum, row.unit)}"
        high = f"{'>= ' if row.bounds else ''}{_number(row.maximum, row.unit)}"
        return f"{median} ({low} to {high}, {judged})"
    low = _number(row.median_from, row.unit)
    if row.median_until is None:
        return f"{median} [{low} or more] ({judged})"
    return f"{median} [{low} to {_number(row.median_until, row.unit)}] ({judged})"


def _number(value: float, unit: str) -> str:
    return amount(value, unit).replace(formats.GLUE, " ")


def _chunks(report: Report) -> Iterator[Sequence[CellTable]]:
    cells = tabulated(report)
    for start in range(0, len(cells), COLUMNS_MAX):
        yield cells[start : start + COLUMNS_MAX]


def _plain(**options: Any) -> Table:
    return Table(box=None, pad_edge=False, show_edge=False, header_style="bold", **options)


def _table(first: str, cells: Sequence[CellTable]) -> Table:
    table = _plain()
    table.add_column(first, no_wrap=True)
    for one in cells:
        table.add_column(one.label)
    return table


def _mark(one: ClaimOfCell | None, runs: int) -> Text:
    """`PASS 10/10`: an outcome, and in how many of the cell's runs, if there are several."""
    if one is None:
        return Text("not judged", "yellow")
    first = one.same[0]
    word = _SHORT.get(first.outcome, first.word)
    of = f" {len(one.same)}/{runs}" if runs > 1 else ""
    return Text(f"{word}{of}", style_of(first))


def style_of(verdict: ClaimVerdict) -> str:
    """A warning that did not come true breaks nothing."""
    return STYLES[verdict.outcome] if verdict.is_promise else "dim yellow"


Line = tuple[str, ClaimVerdict]  # and a verdict that the line is of, for its style


def grouped(
    verdicts: Iterable[ClaimVerdict],
    line_of: Callable[[ClaimVerdict], str],
    standing: Callable[[ClaimVerdict], InCell] = lambda _: NOT_COMPARED,
) -> Iterator[Line]:
    """Yield the lines of a run's claims that apply. `line_of` makes the line of a single claim;
    `standing`: what is known of the cell about it."""
    groups: dict[tuple[object, ...], list[ClaimVerdict]] = {}
    for verdict in by_urgency(verdicts):
        if verdict.outcome is not ClaimOutcome.NOT_APPLICABLE:
            is_open = verdict.outcome is ClaimOutcome.INCONCLUSIVE
            expected = is_open and standing(verdict).is_known
            groups.setdefault((expected, *_key(verdict)), []).append(verdict)
    for (is_known, *_), same in groups.items():
        first = same[0]
        line = line_of(first) if len(same) == 1 else _together(same, expected=bool(is_known))
        yield line, first


def _key(verdict: ClaimVerdict) -> tuple[object, ...]:
    """Return what a claim shares with those that stand in its line."""
    if verdict.outcome is ClaimOutcome.PASS and not verdict.warns:
        return (ClaimOutcome.PASS,)
    if verdict.outcome is ClaimOutcome.INCONCLUSIVE:
        return (ClaimOutcome.INCONCLUSIVE, verdict.is_promise, reasons(verdict), verdict.advice)
    return (verdict.claim,)


def _together(same: list[ClaimVerdict], *, expected: bool) -> str:
    first = same[0]
    head = f"{first.word}, {len(same)} claims: "
    names = ", ".join(one.claim for one in same)
    if first.outcome is ClaimOutcome.PASS:
        return head + names
    advice = to_do(first.advice, expected=expected)
    return f"{head}{'. '.join(filter(None, ('; '.join(reasons(first)), advice)))}\n{names}"
