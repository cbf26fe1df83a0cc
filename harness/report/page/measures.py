"""Medians and ranges over the repeats of every cell, drawn to one scale a measure.

1. A bar goes from the smallest to the largest judged value, a tick marks the median; the scale of
   a measure begins at 0 and is the same for all cells.
2. A measure that is 0 in every cell is a sentence, not a chart. Unjudged ones say so.
3. Of more than STRIPS_MAX cells those with the largest medians are drawn; each cell's own numbers
   stand with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.judging.result import Report
from harness.report.page import formats
from harness.report.page.applicable import by_measure
from harness.report.page.cells import CellView
from harness.view.summary import is_uninformative
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import BY_NAME, DOUBTFUL, REGISTER

STRIPS_MAX = 16
UNKNOWN = "unknown"
_PLACES = {measure.title: place for place, measure in enumerate(REGISTER)}


@dataclass(frozen=True, slots=True)
class Strip:
    """One cell's bar; places in per cent of the scale, None where nothing was judged."""

    number: int
    name: str
    text: str
    title: str
    median: float | None = None
    left: float = 0.0
    width: float = 0.0
    bound: bool = False


@dataclass(frozen=True, slots=True)
class MeasureText:
    """A row in words. `median` alone where nothing was judged; `judged` "" where every run was."""

    median: str
    range: str
    judged: str
    sentence: str


@dataclass(frozen=True, slots=True)
class MeasureView:
    name: str
    meaning: str
    strips: tuple[Strip, ...]
    left_out: int  # cells


@dataclass(frozen=True, slots=True)
class MeasuresView:
    drawn: tuple[MeasureView, ...]
    # Measures that are 0 in every judged run of every cell: what did not happen, and what did not
    # remain undecided.
    zero: tuple[str, ...]
    zero_undecided: tuple[str, ...]


def measures(report: Report, views: Iterable[CellView]) -> MeasuresView:
    """The comparison mart as strips."""
    cells = tuple(views)
    drawn: list[MeasureView] = []
    zero: list[str] = []
    undecided: list[str] = []
    for (measure, detail), found in by_measure(report).items():
        if any(row.maximum for row in found.values()):
            drawn.append(_measure(measure, detail, found, cells))
        elif not detail and any(row.judged for row in found.values()):
            is_open = BY_NAME[measure].grade is Grade.OPEN or measure in DOUBTFUL
            (undecided if is_open else zero).append(formats.measure_name(measure))
    drawn.sort(key=lambda view: _order(view.name))
    return MeasuresView(tuple(drawn), _listed(zero), _listed(undecided))


def _listed(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name.lower() for name in sorted(names, key=_order))


def numbers(rows: Iterable[Comparison]) -> tuple[tuple[str, str, str], ...]:
    """Return those of one cell: name, `0.17 s (0.15 s – 0.19 s)`, and the whole sentence.

    Counts that are 0 in every run are left out, but what was lost is always told.
    """
    texts = [
        (_name(row.measure, row.detail), *_text(row))
        for row in rows
        if row.maximum or row.measure == "lost" or (row.maximum is None and not row.detail)
    ]
    texts.sort(key=lambda one: _order(one[0]))
    return tuple(texts)


def _order(name: str) -> tuple[int, str]:
    """As the register has them, details after their measure."""
    return _PLACES.get(name.partition(": ")[0], len(_PLACES)), name


def _measure(
    measure: str,
    detail: str,
    found: dict[tuple[str, str, str, str], Comparison],
    cells: tuple[CellView, ...],
) -> MeasureView:
    top = max(row.maximum or 0.0 for row in found.values())
    name = _name(measure, detail)
    strips = [_strip(found.get(view.cell), view, top) for view in cells]
    if len(strips) > STRIPS_MAX:
        strips.sort(key=lambda strip: -1.0 if strip.median is None else strip.median, reverse=True)
    meaning = "" if detail else formats.meaning(measure)
    left_out = max(0, len(strips) - STRIPS_MAX)
    return MeasureView(name, meaning, tuple(strips[:STRIPS_MAX]), left_out)


def _strip(row: Comparison | None, view: CellView, top: float) -> Strip:
    if row is None or row.median is None or row.minimum is None or row.maximum is None:
        text = "not judged" if row is None else f"not judged (0 of {row.runs})"
        return Strip(view.number, view.name, text, text)
    text, title = _text(row)
    if is_uninformative(row):
        return Strip(view.number, view.name, text, title)
    return Strip(
        number=view.number,
        name=view.name,
        text=text,
        median=round(100 * row.median / top, 2),
        left=round(100 * row.minimum / top, 2),
        width=round(100 * (row.maximum - row.minimum) / top, 2),
        bound=bool(row.bounds),
        title=title,
    )


def _name(measure: str, detail: str) -> str:
    return formats.measure_name(measure) + (f": {detail.replace('_', ' ')}" if detail else "")


def measure_text(row: Comparison) -> MeasureText:
    if row.median is None or row.minimum is None or row.maximum is None:
        text = f"not judged (0 of {row.runs})"
        return MeasureText(text, "", "", text)
    if is_uninformative(row):
        return MeasureText(UNKNOWN, "", "", "every run has only a lower bound near zero")
    least, median, most = (_number(v, row.unit) for v in (row.minimum, row.median, row.maximum))
    mark = "≥ " if row.bounds else ""
    judged = f"{row.judged} of {row.runs}"
    runs = formats.plural(row.runs, "run")
    title = f"median {mark}{median}, from {least} to {mark}{most}, {row.judged} of {runs}"
    if row.judged == 1:
        title = f"{mark}{median}, {row.judged} of {runs}"
    if row.median_from is not None:
        ends = f"at {_number(row.median_from, row.unit)} or above"
        if row.median_until is not None:
            until = _number(row.median_until, row.unit)
            ends = f"within {_number(row.median_from, row.unit)} to {until}"
        title += f"; the true median lies {ends} with at least 95 %"
    return MeasureText(
        median=f"{mark}{median}",
        range="" if least == most else f"{least} – {mark}{most}",
        judged="" if row.judged == row.runs else f"{judged} judged",
        sentence=title,
    )


def _text(row: Comparison) -> tuple[str, str]:
    """Median and range in short, and in a sentence."""
    one = measure_text(row)
    spread = f" ({one.range})" if one.range else ""
    return ", ".join(filter(None, (f"{one.median}{spread}", one.judged))), one.sentence


def _number(value: float, unit: str) -> str:
    if unit == "ns":
        return formats.seconds(value / 1e9)
    if unit == "share":
        return f"{value:.2%}"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
