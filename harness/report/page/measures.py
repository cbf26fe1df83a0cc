"""Medians and ranges over the repeats of every cell, drawn to one scale a measure.

1. A bar goes from the smallest to the largest judged value, a tick marks the median; the scale of
   a measure begins at 0 and is the same for all cells.
2. A measure that is 0 in every cell is a sentence, not a chart. Unjudged ones say so.
3. Of more than STRIPS_MAX cells those with the largest medians are drawn; each cell's own numbers
   stand with it.
4. Rows that mean nothing in their cell are left out. Without consumers before the drain, there is
   no first delivery and no backlog to wait for. A cell without downtime has nothing to recover
   from: an unknown recovery time says nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.claims.recovery import NEEDS_CONSUMERS
from harness.claims.stories import NO_BACKLOG
from harness.judging.result import Report, RunReport
from harness.plan.model import Cell, cell_of
from harness.report.page import formats
from harness.report.page.cells import CellView
from harness.report.page.totals import worst_of
from harness.view.grouping import by_key
from harness.view.naming import detail_name
from harness.view.summary import (
    AT_ONCE,
    LATER_LATE,
    NEVER_LATE,
    NOT_MEASURED,
    is_near_zero,
    is_uninformative,
)
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import BY_NAME, DOUBTFUL, PARTS, REGISTER

STRIPS_MAX = 16
_RECOVERY = "degraded"
_OF_SEVERAL = ("longest_downtime", "outages")
NO_RECOVERY = "–"  # there was nothing to recover from
_STEPS = tuple(each.name for each in REGISTER if each.of_times and each.is_step)
_PLACES = {measure.title.lower(): place for place, measure in enumerate(REGISTER)}


class Bar(NamedTuple):
    """A bar from the smallest to the largest run, in per cent of the scale; a tick: the median."""

    left: float
    width: float
    median: float
    bound: bool


class Strip(NamedTuple):
    """One cell's bar; None where nothing was judged, or measured."""

    number: int
    name: str
    text: str
    title: str
    bar: Bar | None


class MeasureText(NamedTuple):
    """A row in words. `median` alone where nothing was judged; `judged` "" where every run was."""

    median: str
    range: str
    judged: str
    sentence: str


class MeasureView:
    """`left_out`: cells."""

    def __init__(
        self,
        measure: str,
        detail: str,
        found: Mapping[Cell, Comparison],
        cells: Sequence[CellView],
    ) -> None:
        top = max(row.maximum or 0.0 for row in found.values())
        strips = [_strip(found.get(view.cell), view, top) for view in cells]
        if len(strips) > STRIPS_MAX:
            strips.sort(key=lambda one: one.bar.median if one.bar else -1.0, reverse=True)
        self.name = measure_title(measure, detail)
        self.meaning = "" if detail else formats.meaning(measure)
        self.strips = tuple(strips[:STRIPS_MAX])
        self.left_out = max(0, len(strips) - STRIPS_MAX)


class MeasuresView:
    """The comparison mart as strips. `repeated`: a strip may be of several runs. `zero`,
    `zero_undecided`: measures that are 0 in every judged run of every cell: what did not happen,
    and what did not remain undecided."""

    def __init__(self, report: Report, cells: Sequence[CellView]) -> None:
        self.repeated = are_repeated(report)
        drawn: list[MeasureView] = []
        zero: dict[bool, list[str]] = {True: [], False: []}
        for (measure, detail), found in by_measure(report).items():
            if any(row.maximum for row in found.values()):
                drawn.append(MeasureView(measure, detail, found, cells))
            elif not detail and any(row.judged for row in found.values()):
                is_open = BY_NAME[measure].grade is Grade.OPEN or measure in DOUBTFUL
                zero[is_open].append(measure_title(measure))
        self.drawn = tuple(sorted(drawn, key=lambda view: place_of(view.name)))
        self.zero, self.zero_undecided = (
            tuple(sorted(zero[is_open], key=place_of)) for is_open in (False, True)
        )


def are_repeated(report: Report) -> bool:
    """Return whether a cell has several runs: with one run each, a bar would have no length."""
    return len({run.cell for run in report.runs}) < len(report.runs)


def applicable(report: Report) -> Iterator[Comparison]:
    """Yield the rows that a page shows, in their order."""
    runs = by_key(report.runs, lambda run: run.cell)
    for row in telling(report):
        known = [run.summary for run in runs.get(cell_of(row), ()) if run.summary is not None]
        without_downtime = known and all(one.no_downtime for one in known)
        recovery = row.measure == _RECOVERY and is_uninformative(row)
        if not (without_downtime and recovery):
            yield with_recovery_bounds(row, runs.get(cell_of(row), ()))


def telling(report: Report) -> Iterator[Comparison]:
    """Yield the rows without those of PARTS, and without those of `_OF_SEVERAL` if no run had
    several outages: they only repeat others. Cells without consumers have no times of these."""
    outages = (row.maximum or 0 for row in report.comparison if row.measure == "outages")
    several = max(outages, default=0) > 1
    repeated = PARTS if several else {*PARTS, *_OF_SEVERAL}
    summaries = by_key((run for run in report.runs if run.summary), lambda run: run.cell)
    alone = {
        cell
        for cell, runs in summaries.items()
        if not any(run.summary and run.summary.has_consumers for run in runs)
    }
    for row in report.comparison:
        senseless = row.measure in NEEDS_CONSUMERS and cell_of(row) in alone
        if row.measure not in repeated and not senseless:
            yield row


def with_recovery_bounds(row: Comparison, runs: Iterable[RunReport]) -> Comparison:
    """Return the time until sending was on time again with fewer lower bounds. A fault under which
    no message was late had nothing to recover from: it makes no time of its run a bound."""
    if row.measure != _RECOVERY or not row.bounds:
        return row
    known = [worst_of(run.summary, "degraded_s") for run in runs if run.summary is not None]
    times = [(one.least, one.exact) for one in known if one is not None and one.least is not None]
    longest = round(1e9 * max((least for least, _ in times), default=-1.0))
    # The mart has the longest of all faults: the same number, or its bounds are kept.
    if len(times) != row.judged or longest != row.maximum:
        return row
    return replace(row, bounds=min(row.bounds, sum(not exact for _, exact in times)))


def by_measure(report: Report) -> dict[tuple[str, str], dict[Cell, Comparison]]:
    """Return these rows by measure and detail, and by cell."""
    rows: dict[tuple[str, str], dict[Cell, Comparison]] = {}
    for row in applicable(report):
        rows.setdefault((row.measure, row.detail), {})[cell_of(row)] = row
    return rows


def numbers(
    rows: Iterable[Comparison], runs: Sequence[RunReport]
) -> tuple[tuple[str, str, str], ...]:
    """Return those of one cell: name, `0.17 s (0.15 s – 0.19 s)`, and the whole sentence.

    Counts that are 0 in every run are left out, but the number of lost messages is always given.
    """
    texts = [
        (measure_title(row.measure, row.detail), *_text(row, runs))
        for row in rows
        if row.maximum or row.measure == "lost" or (row.maximum is None and not row.detail)
    ]
    texts.sort(key=lambda one: place_of(one[0]))
    return tuple(texts)


def place_of(name: str) -> tuple[int, str]:
    """As the register has them, details after their measure."""
    return _PLACES.get(name.partition(": ")[0], len(_PLACES)), name


def _strip(row: Comparison | None, view: CellView, top: float) -> Strip:
    if row is None:
        return Strip(view.number, view.name, "not judged", "not judged", None)
    bar = None if why_no_recovery(row, view.runs) else bar_of(row, top)
    return Strip(view.number, view.name, *_text(row, view.runs), bar)


def why_no_recovery(row: Comparison, runs: Iterable[RunReport]) -> str:
    """Return why the cell has no time until sending was on time again: no message was late, or
    it was on time at once; or none until a backlog was gone: there was none. "" if it has one, or
    the row is another measure's."""
    if row.median is None or row.maximum is None:
        return ""
    known = [run.summary for run in runs if run.summary is not None]
    if row.measure == "backlog_drained":
        return NO_BACKLOG if known and all(one.no_backlog for one in known) else ""
    if row.measure != _RECOVERY:
        return ""
    if known and all(one.never_late for one in known):
        return NEVER_LATE
    return AT_ONCE if not row.bounds and is_near_zero(row.maximum / 1e9) else ""


def is_never_reached(row: Comparison, runs: Iterable[RunReport]) -> bool:
    """Return whether it is a step that no judged run came to. Of a run with several faults the
    mart has the longest time, and whether any is a bound: the longest one may be exact."""
    known = [run.summary for run in runs if run.summary is not None]
    # A stall makes the time to a step that was reached a bound, too.
    alone = bool(known) and all(one.faults_of == 1 and not one.stalled for one in known)
    return alone and row.measure in _STEPS and bool(row.judged) and row.bounds == row.judged


def never_text(row: Comparison, runs: Iterable[RunReport], least: str) -> str:
    """Return `not before the load ended (40.2 s)` of a step that no judged run came to; "" if one
    did, or if the next of several faults may have cut it off. `least`: the shortest time."""
    if not is_never_reached(row, runs):
        return ""
    return f"not before the load ended ({least})"


def is_late_later(runs: Iterable[RunReport]) -> bool:
    """Return whether messages of a run were late after sending had been on time for GOOD_S."""
    known = (run.summary for run in runs if run.summary is not None)
    return any(each.missed_later for one in known for each in one.outages)


def bar_of(row: Comparison, top: float) -> Bar | None:
    """Return the bar of a cell; None: it has no number. `top`: the end of the scale."""
    if row.median is None or row.minimum is None or row.maximum is None or is_uninformative(row):
        return None
    ends = (row.minimum, row.maximum - row.minimum, row.median)
    left, width, median = (round(100 * value / top, 2) if top else 0.0 for value in ends)
    return Bar(left, width, median, bool(row.bounds))


def measure_title(measure: str, detail: str = "") -> str:
    """Return `delivered more than once: sent again by its publisher`, the name on every page."""
    name = formats.measure_name(measure).lower()
    return f"{name}: {detail_name(measure, detail)}" if detail else name


def measure_text(row: Comparison, runs: Sequence[RunReport] = ()) -> MeasureText:
    """`runs`: of the cell."""
    if why := why_no_recovery(row, runs):
        return MeasureText(NO_RECOVERY, why, "", why)
    measured = _measured(row, runs)
    if row.measure != _RECOVERY or row.median is None or not is_late_later(runs):
        return measured
    ends = "; ".join(filter(None, (measured.range, LATER_LATE)))
    return measured._replace(range=ends, sentence=f"{measured.sentence}; {LATER_LATE}")


def _measured(row: Comparison, found: Sequence[RunReport]) -> MeasureText:
    if row.median is None or row.minimum is None or row.maximum is None:
        text = _undecided(row, found)
        return MeasureText(text, "", "", text)
    if is_uninformative(row):
        return MeasureText(NOT_MEASURED, "", "", "every run has only a lower bound near zero")
    least, median, most = (amount(v, row.unit) for v in (row.minimum, row.median, row.maximum))
    mark = "≥ " if row.bounds else ""
    mark_of_least = mark if row.bounds == row.judged else ""  # all are bounds
    judged = f"{row.judged} of {row.runs}"
    runs = formats.plural(row.runs, "run")
    from_to = f"from {mark_of_least}{least} to {mark}{most}"
    title = f"median {mark}{median}, {from_to}, {row.judged} of {runs}"
    if row.judged == 1:
        title = f"{mark}{median}, {row.judged} of {runs}"
    if row.median_from is not None:
        ends = f"at {amount(row.median_from, row.unit)} or above"
        if row.median_until is not None:
            until = amount(row.median_until, row.unit)
            ends = f"within {amount(row.median_from, row.unit)} to {until}"
        title += f"; the true median lies {ends} with at least 95 %"
    if never := never_text(row, found, least):
        shown = "" if row.judged == row.runs else f"{judged} judged"
        return MeasureText(never, "", shown, title)
    return MeasureText(
        median=f"{mark}{median}",
        range="" if least == most else f"{mark_of_least}{least} – {mark}{most}",
        judged="" if row.judged == row.runs else f"{judged} judged",
        sentence=title,
    )


def _undecided(row: Comparison, found: Sequence[RunReport]) -> str:
    """Return that a measure is decided in no run: `not decided for the whole run (mqproof
    stalled)`. Its outages may be."""
    known = [run.summary for run in found if run.summary is not None]
    stalled = bool(known) and all(one.stalled for one in known)
    runs = "for the whole run" if row.runs == 1 else f"in any of {row.runs} runs"
    return f"not decided {runs}{' (mqproof stalled)' if stalled else ''}"


def _text(row: Comparison, runs: Sequence[RunReport]) -> tuple[str, str]:
    """Return the median and the range in short, and in a sentence."""
    one = measure_text(row, runs)
    spread = f" ({one.range})" if one.range else ""
    return ", ".join(filter(None, (f"{one.median}{spread}", one.judged))), one.sentence


def amount(value: float, unit: str) -> str:
    if unit == "ns":
        return formats.seconds(value / 1e9)
    if unit == "share":
        return formats.share(value)
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
