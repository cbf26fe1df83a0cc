"""How a cell went over the nights, as drawings: places and paths, with no idea of HTML.

1. A drawing is 1000 wide and 100 high, and is stretched to its place; a night is a column, also
   one in which the cell was not played.
2. Times are drawn from 0 on; a run without recovery stands as high as it was seen to last, in its
   own tone.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.compare.medians import Median, Time, median
from harness.compare.versus import LOSS, Side
from harness.judging.verdict_file import OUT
from harness.nightly.record import CellOfNight, Night
from harness.nightly.suite import Cell
from harness.report.page import formats
from harness.report.versus_page import side_text

WIDTH, HEIGHT, ROOM = 1000.0, 100.0, 1.1
FIRST = OUT  # the time that stands for a cell where there is room for one
RUN, BOUND, WORSE = "run", "bound", "worse"


@dataclass(frozen=True, slots=True)
class Column:
    """A night's place in a drawing, and its sentence."""

    x: float
    width: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True)
class Band:
    """The baseline: its interval from the top down, and its median. `height` 0: no interval."""

    y: float
    height: float
    middle: float
    title: str


@dataclass(frozen=True, slots=True)
class Trend:
    """`dots`: by tone, a path whose strokes are points."""

    measure: str
    name: str
    meaning: str
    top: str
    band: Band | None
    dots: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]


def of_cell(nights: Sequence[Night], cell: Cell) -> list[CellOfNight | None]:
    """What each night judged of the cell; None where it judged nothing."""
    found = ({one.cell: one for one in night.cells} for night in nights)
    return [cells.get(cell) for cells in found]


def strip(nights: Sequence[Night], cell: Cell) -> tuple[Column, ...]:
    """A column a night: what came of the cell."""
    width = WIDTH / max(1, len(nights))
    return tuple(
        Column(round(place * width, 2), round(width, 2), *_came(night, one, cell))
        for place, (night, one) in enumerate(zip(nights, of_cell(nights, cell), strict=True))
    )


def trends(nights: Sequence[Night], cell: Cell, baseline: Side) -> tuple[Trend, ...]:
    """A drawing a measure, the one that stands for the cell first."""
    known = baseline.cells.get(cell)
    before = known.times if known is not None else {}
    played = [one for one in of_cell(nights, cell) if one is not None]
    names = dict.fromkeys([*before, *(name for one in played for name in one.times)])
    ordered = sorted(names, key=lambda name: name != FIRST)
    return tuple(
        trend(nights, cell, name, before.get(name, ()))
        for name in ordered
        if before.get(name) or any(one.times.get(name) for one in played)
    )


def trend(nights: Sequence[Night], cell: Cell, measure: str, before: Sequence[Time]) -> Trend:
    values = [
        [Time(*time) for time in one.times.get(measure, ())] if one is not None else []
        for one in of_cell(nights, cell)
    ]
    middle = median(before) if before else None
    highest = max([time.value for times in (*values, before) for time in times], default=0.0)
    top = highest * ROOM or 1.0
    width = WIDTH / max(1, len(nights))
    return Trend(
        measure=measure,
        name=formats.measure_name(measure),
        meaning=formats.meaning(measure),
        top=formats.seconds(top),
        band=None if middle is None else _band(middle, top),
        dots=tuple(_dots(nights, cell, measure, values, width, top)),
        columns=tuple(
            Column(round(place * width, 2), round(width, 2), "", _times_text(night, times))
            for place, (night, times) in enumerate(zip(nights, values, strict=True))
        ),
    )


def _dots(
    nights: Sequence[Night],
    cell: Cell,
    measure: str,
    values: Sequence[Sequence[Time]],
    width: float,
    top: float,
) -> Iterable[tuple[str, str]]:
    paths: dict[str, list[str]] = {}
    for place, (night, times) in enumerate(zip(nights, values, strict=True)):
        alarmed = any(one.cell == cell and one.what == measure for one in night.alarms)
        for number, time in enumerate(times, start=1):
            x = (place + number / (len(times) + 1)) * width
            tone = WORSE if alarmed else BOUND if time.censored else RUN
            paths.setdefault(tone, []).append(f"M{x:.1f} {_y(time.value, top):.1f}h0")
    return ((tone, "".join(path)) for tone, path in sorted(paths.items()))


def _band(baseline: Median, top: float) -> Band:
    middle = _y(baseline.median, top)
    if not math.isfinite(baseline.high):
        return Band(middle, 0.0, middle, side_text(baseline))
    high, low = _y(min(baseline.high, top), top), _y(baseline.low, top)
    return Band(high, round(low - high, 1), middle, side_text(baseline))


def _y(value: float, top: float) -> float:
    return round(HEIGHT * (1 - value / top), 1)


def _times_text(night: Night, times: Sequence[Time]) -> str:
    if not times:
        return f"{_name(night)}: not known"
    return f"{_name(night)}: " + ", ".join(
        f"{'≥ ' if time.censored else ''}{formats.seconds(time.value)}" for time in times
    )


def _came(night: Night, one: CellOfNight | None, cell: Cell) -> tuple[str, str]:
    """Its tone, and its sentence."""
    name = _name(night)
    if one is None:
        return "absent", f"{name}: not played"
    if alarms := [alarm.text for alarm in night.alarms if alarm.cell == cell]:
        return "fail", f"{name}: {'; '.join(alarms)}"
    harm = [claim for claim, tried in one.claims.items() if tried.violated and not tried.warns]
    if harm:
        return "known", f"{name}: {', '.join(harm)}, as in the baseline"
    if not any(tried.runs for tried in one.claims.values()):
        return "open", f"{name}: nothing was decided"
    return "pass", f"{name}: no harm in {formats.plural(one.runs, 'run')}"


def _name(night: Night) -> str:
    began = formats.dated(night.name)
    return f"{began}, {night.label}" if night.label else began


def loss(nights: Sequence[Night], cell: Cell) -> tuple[int, int]:
    """In how many of the cell's runs something was lost, and in how many that is known."""
    losses = [one.claims.get(LOSS) for one in of_cell(nights, cell) if one is not None]
    known = [one for one in losses if one is not None]
    return sum(one.violated for one in known), sum(one.runs for one in known)


def every_cell(nights: Iterable[Night]) -> list[Cell]:
    """Every cell that any night judged, the latest night's first."""
    cells = [one.cell for night in reversed(list(nights)) for one in night.cells]
    return list(dict.fromkeys(cells))
