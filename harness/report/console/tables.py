"""Tables of a report: verdicts (claims x cells), comparison (measures x cells).

1. Cells are columns with a number; the legend above says which cell a number is.
2. Too many cells for one table make several; no column is dropped.
"""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from harness.claims.judge import ClaimOutcome
from harness.judging.result import Report
from harness.outside.text import one_line
from harness.report import failing
from harness.report.lines import by_urgency, cell_name
from harness.report.page.formats import measure_name
from harness.report.tried import ClaimOfCell, tabulated
from harness.view.summary import is_uninformative
from spark_analysis.schema.comparison import Comparison

COLUMNS_MAX = 6
_CLIENT_MIN = 34  # letters of a client's name on one line
_STYLES = {
    ClaimOutcome.PASS: "green",
    ClaimOutcome.FAIL: "bold red",
    ClaimOutcome.INCONCLUSIVE: "yellow",
    ClaimOutcome.NOT_APPLICABLE: "dim",
}
_OF_WARNINGS = "dim yellow"
_SHORT = {ClaimOutcome.NOT_APPLICABLE: "n/a"}
Cell = tuple[str, str, str, str]


def legend(report: Report) -> list[str]:
    """`1: master-crash on …`: the numbers that head the columns."""
    return [f"{number}: {cell_name(cell)}" for number, cell in _numbered(report)]


def verdict_tables(report: Report, whole: bool = False) -> Iterator[Table]:
    """Claims x cells, broken ones first; of several repeats the outcome that speaks for all, and
    how many had it. A claim with one outcome wherever it applies, PASS or INCONCLUSIVE, has a row
    only in the `whole`; so has one that applies to none of a table's runs."""
    held = {*everywhere(report, ClaimOutcome.PASS), *everywhere(report, ClaimOutcome.INCONCLUSIVE)}
    tables = {one.cell: one for one in tabulated(report)}
    for cells in _chunks(_numbered(report)):
        shown = [tables[cell] for _, cell in cells]
        runs = [run for run in report.runs if run.cell in [one.cell for one in shown]]
        verdicts = by_urgency(verdict for run in runs for verdict in run.verdicts)
        applies = {one.claim for one in verdicts if one.outcome is not ClaimOutcome.NOT_APPLICABLE}
        every = dict.fromkeys(verdict.claim for verdict in verdicts)
        claims = [claim for claim in every if whole or claim in applies - held]
        table = _table("claim", cells)
        for claim in claims:
            marks = (_mark(one.claims.get(claim), len(one.runs)) for one in shown)
            table.add_row(Text(one_line(claim)), *marks)
        if claims:
            yield table


def everywhere(report: Report, outcome: ClaimOutcome) -> list[str]:
    """Return the claims that had this outcome in every run to which they apply, in their order;
    of warnings only those that could not be judged."""
    every = outcome is ClaimOutcome.INCONCLUSIVE
    outcomes: dict[str, set[ClaimOutcome]] = {}
    for run in report.runs:
        for one in run.verdicts:
            if one.outcome is not ClaimOutcome.NOT_APPLICABLE and (every or one.is_promise):
                outcomes.setdefault(one.claim, set()).add(one.outcome)
    return [claim for claim, found in outcomes.items() if found == {outcome}]


def left_out(report: Report) -> int:
    """How many claims apply to no run."""
    every = {one.claim for run in report.runs for one in run.verdicts}
    applies = {
        one.claim
        for run in report.runs
        for one in run.verdicts
        if one.outcome is not ClaimOutcome.NOT_APPLICABLE
    }
    return len(every - applies)


def comparison_tables(report: Report) -> Iterator[Table]:
    """Measures x cells: median over the judged repeats, with its interval or their range."""
    rows = {
        ((row.scenario, row.system, row.layout, row.client), row.measure, row.detail): row
        for row in report.comparison
    }
    measures = dict.fromkeys((row.measure, row.detail) for row in report.comparison)
    never = set(unjudged(report))
    for cells in _chunks(_numbered(report)):
        table = _table("measure", cells)
        for measure, detail in measures:
            found = [rows.get((cell, measure, detail)) for _, cell in cells]
            shown = any(row is not None and (row.maximum or not row.judged) for row in found)
            if shown and measure not in never:
                name = measure_title(measure, detail)
                table.add_row(Text(one_line(name)), *(comparison_text(row) for row in found))
        if table.row_count:
            yield table


def failing_tables(shown: Sequence[failing.FailingRow]) -> Iterator[Table]:
    """One a scenario and layout, with a row a publisher and window."""
    for place in dict.fromkeys(row.cell[:3] for row in shown):
        table = Table(
            title=Text(one_line("{} on {} {}".format(*place))),
            title_justify="left",
            box=None,
            pad_edge=False,
            show_edge=False,
            header_style="bold",
        )
        table.add_column("client", min_width=_CLIENT_MIN, overflow="fold")
        own = [one for one in shown if one.cell[:3] == place]
        which = {"repeat": [one.repeat for one in own], "fault": [one.window for one in own]}
        which = {head: numbers for head, numbers in which.items() if max(numbers) > 1}
        for head in (*which, *failing.HEAD):
            table.add_column(head, overflow="fold")
        for index, row in enumerate(own):
            numbers = [str(each[index]) for each in which.values()]
            words = (row.cell[3], *numbers, *row.words)
            table.add_row(*(Text(one_line(word)) for word in words))
        yield table


def measure_title(measure: str, detail: str = "") -> str:
    """`delivered more than once: publisher retry`."""
    title = measure_name(measure).lower()
    return f"{title}: {detail.replace('_', ' ')}" if detail else title


def nowhere(report: Report) -> list[str]:
    """The measures that were judged, and are 0 wherever they were."""
    return [
        measure
        for measure, rows in _by_measure(report).items()
        if all(row.judged and not row.maximum for row in rows)
    ]


def unjudged(report: Report) -> list[str]:
    """The measures that were judged in no run."""
    found = _by_measure(report)
    return [name for name, rows in found.items() if not any(row.judged for row in rows)]


def _by_measure(report: Report) -> dict[str, list[Comparison]]:
    found: dict[str, list[Comparison]] = {}
    for row in report.comparison:
        if not row.detail:
            found.setdefault(row.measure, []).append(row)
    return found


def comparison_text(row: Comparison | None) -> str:
    """`0.171 s (0.150 s to 0.190 s, 5 of 5)`: median, range, how many of the repeats were judged;
    `0.171 s [0.160 s to 0.180 s] (9 of 9)`: the median's interval, where they are enough."""
    if row is None:
        return ""
    if row.median is None or row.minimum is None or row.maximum is None:
        return f"not judged (0 of {row.runs})"
    if is_uninformative(row):
        return "unknown"
    median = f"{'>= ' if row.bounds else ''}{_number(row.median, row.unit)}"
    if row.runs == 1:
        return median
    judged = f"{row.judged} of {row.runs}"
    if row.median_from is None:
        low, high = _number(row.minimum, row.unit), _number(row.maximum, row.unit)
        return f"{median} ({low} to {high}, {judged})"
    low = _number(row.median_from, row.unit)
    if row.median_until is None:
        return f"{median} [{low} or more] ({judged})"
    return f"{median} [{low} to {_number(row.median_until, row.unit)}] ({judged})"


def _number(value: float, unit: str) -> str:
    if unit == "ns":
        return f"{value / 1e9:.3f} s"
    if unit == "share":
        return f"{value:.2%}"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _numbered(report: Report) -> list[tuple[int, Cell]]:
    return list(enumerate(dict.fromkeys(run.cell for run in report.runs), start=1))


def _chunks(cells: Sequence[tuple[int, Cell]]) -> Iterator[Sequence[tuple[int, Cell]]]:
    for start in range(0, len(cells), COLUMNS_MAX):
        yield cells[start : start + COLUMNS_MAX]


def _table(first: str, cells: Sequence[tuple[int, Cell]]) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column(first, no_wrap=True)
    for number, _ in cells:
        table.add_column(str(number))
    return table


def _mark(one: ClaimOfCell | None, runs: int) -> Text:
    """`PASS 10/10`: an outcome, and in how many of the cell's runs."""
    if one is None:
        return Text("not judged", "yellow")
    first = one.same[0]
    word = _SHORT.get(first.outcome, first.word)
    style = _STYLES[first.outcome] if first.is_promise else _OF_WARNINGS
    return Text(f"{word} {len(one.same)}/{runs}", style)
