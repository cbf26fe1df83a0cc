"""The comparison mart as tables: scenarios and their measures down, places across.

1. A number is a median over the judged runs, its range stands beside it; where not all runs were
   judged, it says of how many it is. A bound is `≥`, and what was not judged says so.
2. The bars of a table have one scale a unit and begin at 0; the tick is the median.
3. Measures that are 0 in every judged cell are listed in a sentence.
4. Scenarios that only one place had are left to their cells: there is nothing to compare.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.judging.result import Report
from harness.plan.model import Cell
from harness.report.page import formats, measures
from harness.report.page.places import Place, scenarios_of
from harness.report.page.totals import deadline_text
from harness.view.naming import detail_name
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.measures import GONE, REGISTER

Name = tuple[str, str]  # measure, detail
Rows = Mapping[Name, Mapping[Cell, Comparison]]
_TIMES = [each for each in REGISTER if each.of_times]
_STEPS = tuple(each.name for each in _TIMES if each.is_step)
_WORST = (
    "The worst fault of a run counts. If the next fault began before one of its faults was over, "
    "the run's value is a lower bound (≥). If one of its faults could not be judged, the run has "
    "no value there."
)
_SERVICE = (
    "Downtime, longest outage and number of outages cover the whole run. In the other rows: "
    f"{_WORST[0].lower()}{_WORST[1:]}"
)
_SHARED_ONLY = (
    "Only scenarios that several columns ran; the others stand in the section “Results by cell”."
)
# The anchor of a table, its name in short and at length, a note, and its measures. The matrix
# above has those of GONE, a last table all others.
_TABLES: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        *("served", "availability", "Availability", _SERVICE),
        tuple(each.name for each in _TIMES if not each.is_step),
    ),
    (
        *("recovery", "recovery", "Recovery, step by step"),
        "Times begin at the instant before the fault. If a step was not reached before the next "
        "fault or the end of the load, its time is a lower bound (≥). A bound near zero says "
        "nothing: then the time is not measured. If no run reached a step, it has no bar. "
        f"{_WORST}",
        _STEPS,
    ),
    (
        *("twice", "duplicates", "Duplicates by source"),
        "Duplicate deliveries of a run. A publisher that gets no answer sends the message again, "
        "so at-least-once delivery causes some duplicates; these break no promise. Duplicates "
        "that only the broker can have caused break a promise.",
        tuple(each.name for each in REGISTER if each.details),
    ),
)


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
    anchor: str
    short: str
    name: str
    note: str
    meanings: tuple[tuple[str, str], ...]  # what a line says, where that is not plain
    groups: tuple[GridGroup, ...]


def grids(report: Report, compared: Sequence[Place]) -> tuple[tuple[Grid, ...], tuple[str, ...]]:
    """The tables, and the measures that are 0 in every judged run."""
    rows = measures.by_measure(report)
    zero = [name for name, found in rows.items() if _is_zero(name[1], found)]
    shown = {name: rows[name] for name in rows if name not in zero}
    had_by_several = _shared(compared)
    left_out = "" if had_by_several == scenarios_of(compared) else _SHARED_ONLY
    elsewhere = {*GONE, *(measure for *_, own in _TABLES for measure in own)}
    rest = tuple(m for m, detail in shown if not detail and m not in elsewhere)
    tables = []
    for anchor, short, title, note, own in (
        *_TABLES,
        ("other", "other counts", "Other counts", "", rest),
    ):
        names = [name for measure in own for name in shown if name[0] == measure]
        if names:
            wanted = {name: shown[name] for name in names}
            tops = _tops(wanted)
            groups = [_group(one, wanted, tops, report, compared) for one in had_by_several]
            text = f"{note} {left_out}".strip()
            meanings = tuple(_meanings(names, groups))
            tables.append(Grid(anchor, short, title, text, meanings, tuple(groups)))
    return tuple(tables), tuple(
        formats.measure_name(measure).lower()
        for measure, detail in zero
        if not detail and measure not in GONE
    )


def _meanings(names: Sequence[Name], groups: Sequence[GridGroup]) -> Iterator[tuple[str, str]]:
    """Yield what each line says that is shown, where that is not plain."""
    shown = {line.name for group in groups for line in group.lines}
    for measure, detail in names:
        name, meaning = formats.short_name(measure), formats.meaning(measure)
        if not detail and meaning and name in shown:
            yield name, meaning


def _is_zero(detail: str, found: Mapping[Cell, Comparison]) -> bool:
    if any(row.maximum for row in found.values()):
        return False
    return bool(detail) or any(row.judged for row in found.values())


def _tops(rows: Rows) -> Mapping[str, float]:
    """The largest value that is drawn, by unit."""
    tops: dict[str, float] = {}
    for row in (row for found in rows.values() for row in found.values() if not _never(row)):
        tops[row.unit] = max(tops.get(row.unit, 0.0), row.maximum or 0.0)
    return tops


def _shared(compared: Sequence[Place]) -> tuple[str, ...]:
    """Scenarios of two places at least; all of them where there is no such."""
    names = scenarios_of(compared)
    shared = (name for name in names if sum(name in one.scenarios for one in compared) > 1)
    return tuple(shared) or names


def _group(
    scenario: str, rows: Rows, tops: Mapping[str, float], report: Report, compared: Sequence[Place]
) -> GridGroup:
    cells: list[Cell] = [(scenario, *place.key) for place in compared]
    lines = []
    for (measure, detail), by_cell in rows.items():
        found = [by_cell.get(cell) for cell in cells]
        # A provenance that no place has here would be a line of zeros.
        if any(found) and (not detail or any(row and row.maximum for row in found)):
            values = (
                _value(place, scenario, row, tops) if row is not None else None
                for place, row in zip(compared, found, strict=True)
            )
            name = detail_name(measure, detail) if detail else formats.short_name(measure)
            lines.append(GridLine(name, tuple(values)))
    runs = [len(place.of(scenario)) for place in compared]
    run_counts = tuple(formats.plural(number, "run") if number else None for number in runs)
    title = next((t.scenario for c, t in report.titles.items() if c[0] == scenario), "")
    deadline = deadline_text(run for place in compared for run in place.of(scenario))
    return GridGroup(scenario, title, deadline, run_counts, tuple(lines))


def _never(row: Comparison) -> bool:
    """Whether it is a step that no judged run came to."""
    return row.measure in _STEPS and bool(row.judged) and row.bounds == row.judged


def _value(place: Place, scenario: str, row: Comparison, tops: Mapping[str, float]) -> Value:
    letter, runs = place.letter, place.of(scenario)
    measured = measures.measure_text(row, runs)
    bar = measures.bar_of(row, tops.get(row.unit, 0.0))
    if measures.needs_no_recovery(row, runs):
        return Value(letter, measured.median, measured.range, measured.sentence, True)
    if bar is None:
        return Value(letter, measured.median, "", measured.sentence)
    text, ends = measured.median, measured.range
    if _never(row):
        text, ends, bar = "not reached", f"in {formats.seconds((row.minimum or 0.0) / 1e9)}", None
    ends = ", ".join(filter(None, (ends, measured.judged)))
    return Value(letter, text, ends, measured.sentence, True, bar)
