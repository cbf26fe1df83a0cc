"""The comparison mart as one table: scenarios and their measures down, places across.

1. A number is a median over the judged runs, its range stands beside it; where not all runs were
   judged, it says of how many it is. A bound is `≥`, and what was not judged says so.
2. The bars of a measure have one scale and begin at 0; the tick is the median.
3. Measures that are 0 in every judged cell are listed in a sentence; losses have their own table.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.judging.result import Report
from harness.plan.model import Cell
from harness.report.page import formats, measures, outs
from harness.report.page.places import Place, scenarios_of
from harness.report.page.totals import deadline_text
from harness.view.grouping import by_key
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.measures import GONE, REGISTER

Name = tuple[str, str]  # measure, detail
Rows = Mapping[Name, Mapping[Cell, Comparison]]
_ROWS = sorted(REGISTER, key=lambda each: not each.of_times)  # times first
_PLACES = {each.name: place for place, each in enumerate(_ROWS)}


class Value(NamedTuple):
    """One place's. There is no bar without a number: none is known, or a step was never reached,
    which is no time to put beside others."""

    letter: str
    text: str
    range: str
    title: str
    known: bool = False
    bar: measures.Bar | None = None


class GridLine(NamedTuple):
    name: str
    values: tuple[Value | None, ...]  # None: not requested


class GridGroup(NamedTuple):
    """One scenario. `runs`: of each place; None if it was not requested."""

    scenario: str
    title: str
    deadline: str
    runs: tuple[str | None, ...]
    lines: tuple[GridLine, ...]


class Grid(NamedTuple):
    """`meanings`: what a line says, where that is not plain. `zero`: the measures that are 0 in
    every judged run. `repeated`: a value may be of several runs."""

    groups: tuple[GridGroup, ...]
    meanings: tuple[tuple[str, str], ...]
    zero: tuple[str, ...]
    repeated: bool


def grid(report: Report, compared: Sequence[Place]) -> Grid:
    rows = {
        name: found
        for name, found in sorted(measures.by_measure(report).items(), key=_order)
        if name[0] not in GONE
    }
    zero = [name for name, found in rows.items() if _is_zero(name[1], found)]
    shown = {name: rows[name] for name in rows if name not in zero}
    groups = [_group(one, shown, report, compared) for one in scenarios_of(compared)]
    lines = {line.name for group in groups for line in group.lines}
    meanings = (
        (measures.measure_title(measure), formats.meaning(measure))
        for measure, detail in shown
        if not detail
    )
    return Grid(
        groups=tuple(group for group in groups if group.lines),
        meanings=tuple((name, text) for name, text in meanings if text and name in lines),
        zero=tuple(measures.measure_title(measure) for measure, detail in zero if not detail),
        repeated=measures.are_repeated(report),
    )


def _order(row: tuple[Name, object]) -> tuple[int, str]:
    """Times, then counts, as the register has them; details after their measure."""
    measure, detail = row[0]
    return _PLACES.get(measure, len(_PLACES)), detail


def _is_zero(detail: str, found: Mapping[Cell, Comparison]) -> bool:
    if any(row.maximum for row in found.values()):
        return False
    return bool(detail) or any(row.judged for row in found.values())


def _top(found: Mapping[Cell, Comparison], report: Report) -> float:
    """The largest value that is drawn."""
    runs = by_key(report.runs, lambda run: run.cell)
    drawn = (
        row.maximum or 0.0
        for cell, row in found.items()
        if not measures.is_never_reached(row, runs.get(cell, ()))
    )
    return max(drawn, default=0.0)


def _group(scenario: str, rows: Rows, report: Report, compared: Sequence[Place]) -> GridGroup:
    cells: list[Cell] = [(scenario, *place.key) for place in compared]
    lasted = [outs.lasted_text(place.of(scenario)) for place in compared]
    values = [
        Value(place.letter, text, "", "until it was undone", True) if text else None
        for place, text in zip(compared, lasted, strict=True)
    ]
    lines = [GridLine(outs.LASTED, tuple(values))] if any(lasted) else []
    for (measure, detail), by_cell in rows.items():
        found = [by_cell.get(cell) for cell in cells]
        # A provenance that no place has here would be a line of zeros.
        if any(found) and (not detail or any(row and row.maximum for row in found)):
            values = [
                _value(place, scenario, row, _top(by_cell, report)) if row is not None else None
                for place, row in zip(compared, found, strict=True)
            ]
            lines.append(GridLine(measures.measure_title(measure, detail), tuple(values)))
    runs = [len(place.of(scenario)) for place in compared]
    run_counts = tuple(formats.plural(number, "run") if number else None for number in runs)
    title = next((t.scenario for c, t in report.titles.items() if c[0] == scenario), "")
    deadline = deadline_text(run for place in compared for run in place.of(scenario))
    return GridGroup(scenario, title, deadline, run_counts, tuple(lines))


def _value(place: Place, scenario: str, row: Comparison, top: float) -> Value:
    letter, runs = place.letter, place.of(scenario)
    measured = measures.measure_text(row, runs)
    bar = measures.bar_of(row, top)
    if measures.why_no_recovery(row, runs):
        return Value(letter, measured.median, measured.range, measured.sentence, True)
    if bar is None:
        return Value(letter, measured.median, "", measured.sentence)
    bar = None if measures.is_never_reached(row, runs) else bar
    ends = ", ".join(filter(None, (measured.range, measured.judged)))
    return Value(letter, measured.median, ends, measured.sentence, True, bar)
