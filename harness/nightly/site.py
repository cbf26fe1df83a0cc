"""The folder of pages that shows all nights: it works from a disk, offline, and in ten years.

1. One page of all, and one a cell; every run's own report is a link away, as long as it is there.
2. Whatever a broker, a file or a user said is text. The only script is our own, named by its hash:
   it hides the rows in which a word does not stand. Without it everything is shown.
3. The same nights make the same bytes.
4. A drawing is 1000 wide and 100 high, and is stretched to its place; a night is a column, also
   one in which the cell was not played. Times are drawn from 0 on; a run without recovery stands
   as high as it was seen to last, in its own tone.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.compare.gate import Gate, is_few, judged_runs
from harness.compare.medians import Median, Time, median
from harness.compare.versus import LOSS, Side
from harness.judging.exits import Exit
from harness.judging.verdict_file import OUT
from harness.nightly import message, record
from harness.nightly.record import CellOfNight, Night
from harness.outside.files import is_file
from harness.plan.model import Cell
from harness.report.html import NAME as REPORT
from harness.report.html import search_script, spelled_out_page, template
from harness.report.page import formats
from harness.report.versus_page import side_text
from harness.view.grouping import by_key
from spark_analysis.files.writing import write_whole

SITE, INDEX = "site", "index.html"
SLUG_MAX = 60
WIDTH, HEIGHT, ROOM = 1000.0, 100.0, 1.1
RUN, BOUND, WORSE = "run", "bound", "worse"
_WORST = {"missed": ", worst fault"}  # of several faults in a run
_TONES = {Exit.PASSED: "pass", Exit.FAILED: "fail", Exit.NOT_DECIDED: "open"}


class Column(NamedTuple):
    """A night's place in a drawing, and its sentence."""

    x: float
    width: float
    tone: str
    title: str


class Band(NamedTuple):
    """The baseline: its interval from the top down, and its median. `height` 0: no interval."""

    y: float
    height: float
    middle: float
    title: str


class Trend:
    """How a measure of a cell went over the nights. `dots`: by tone, a path whose strokes are
    points."""

    def __init__(
        self, nights: Sequence[Night], cell: Cell, measure: str, before: Sequence[Time]
    ) -> None:
        values = [
            one.times.get(measure, ()) if one is not None else () for one in of_cell(nights, cell)
        ]
        highest = max((time.value for times in (*values, before) for time in times), default=0.0)
        top = highest * ROOM or 1.0
        alarmed = [(cell, measure) in {(one.cell, one.what) for one in n.alarms} for n in nights]
        titles = (
            f"{_name(night)}: {_listed(times) or 'not known'}"
            for night, times in zip(nights, values, strict=True)
        )
        self.measure, self.name = measure, formats.measure_name(measure)
        self.meaning, self.top = formats.meaning(measure), formats.seconds(top)
        self.band = _band(median(before), top) if before else None
        self.dots = tuple(_dots(alarmed, values, top))
        self.columns = tuple(
            Column(*place, "", title) for place, title in zip(_places(nights), titles, strict=True)
        )


class CellRow:
    """A cell on the page of all. `few`: the caveat of a small baseline, or ""."""

    def __init__(self, nights: Sequence[Night], cell: Cell, baseline: Side, gate: Gate) -> None:
        self.cell, self.path, self.strip = cell, path_of(cell), strip(nights, cell)
        last = next(one for one in reversed(self.strip) if one.tone != "absent")
        losses = (one.claims.get(LOSS) for one in of_cell(nights, cell) if one is not None)
        known = [one for one in losses if one is not None]
        lost, runs = sum(one.violated for one in known), sum(one.runs for one in known)
        runs_before = judged_runs(baseline, cell)
        self.tone, self.text = last.tone, last.title
        self.lost = f"lost in {lost:,} of {formats.plural(runs, 'run')}"
        self.trends = trends(nights, cell, baseline)
        self.catches = _catches(gate, cell)
        self.few = message.few_runs(runs_before) if is_few(runs_before) else ""


class NightRow(NamedTuple):
    """A night as a whole, or of one cell. `changes`: of versions, since each cell's last night."""

    night: Night
    tone: str
    text: str
    changes: tuple[str, ...]
    times: str = ""
    reports: tuple[tuple[str, str], ...] = ()  # and the path; "": it is not there any more


def write(folder: Path, nights: Sequence[Night], baseline: Side, gate: Gate) -> Path:
    """Writes all pages, each whole or not at all. `nights`: the oldest first."""
    site, latest, script = folder / SITE, nights[-1], search_script()
    site.mkdir(parents=True, exist_ok=True)
    # Every cell that any night judged, the latest night's first.
    cells = dict.fromkeys(one.cell for night in reversed(nights) for one in night.cells)
    rows = {cell: CellRow(nights, cell, baseline, gate) for cell in cells}
    changes = tuple(record.changes(nights))
    index = template("nightly.html").render(
        title=latest.title,
        tone=_tone(latest),
        headline=message.headline(latest),
        tonight=latest,
        notes=tuple(message.sections(latest, gate)),
        rows=tuple(rows.values()),
        nights=tuple(
            NightRow(night, _tone(night), message.headline(night), record.every_change(changed))
            for night, changed in reversed([*zip(nights, changes, strict=True)])
        ),
        script=script,
    )
    write_whole(site / INDEX, spelled_out_page(index))
    for cell, row in rows.items():
        page = template("nightly_cell.html").render(
            cell=cell,
            index=INDEX,
            row=row,
            nights=tuple(_cell_nights(folder, nights, cell, changes)),
            script=script,
        )
        write_whole(site / path_of(cell), spelled_out_page(page))
    return site / INDEX


def path_of(cell: Cell) -> str:
    """A name of small letters and digits that no other cell has."""
    plain = "".join(mark if mark.isascii() and mark.isalnum() else "-" for mark in "-".join(cell))
    digest = hashlib.sha256("\0".join(cell).encode("utf-8", "replace")).hexdigest()[:8]
    return f"cell-{plain.lower()[:SLUG_MAX].strip('-')}-{digest}.html"


def of_cell(nights: Sequence[Night], cell: Cell) -> list[CellOfNight | None]:
    """What each night judged of the cell; None where it judged nothing."""
    found = ({one.cell: one for one in night.cells} for night in nights)
    return [cells.get(cell) for cells in found]


def strip(nights: Sequence[Night], cell: Cell) -> tuple[Column, ...]:
    """A column a night: what came of the cell."""
    together = zip(_places(nights), nights, of_cell(nights, cell), strict=True)
    return tuple(Column(*place, *_came(night, one, cell)) for place, night, one in together)


def trends(nights: Sequence[Night], cell: Cell, baseline: Side) -> tuple[Trend, ...]:
    """A drawing a measure; the one that stands for the cell, the downtime, first."""
    known = baseline.cells.get(cell)
    before = known.times if known is not None else {}
    played = [one for one in of_cell(nights, cell) if one is not None]
    names = dict.fromkeys([*before, *(name for one in played for name in one.times)])
    return tuple(
        Trend(nights, cell, name, before.get(name, ()))
        for name in sorted(names, key=lambda name: name != OUT)
        if before.get(name) or any(one.times.get(name) for one in played)
    )


def _places(nights: Sequence[Night]) -> Iterator[tuple[float, float]]:
    width = WIDTH / max(1, len(nights))
    return ((round(place * width, 2), round(width, 2)) for place in range(len(nights)))


def _dots(
    alarmed: Sequence[bool], values: Sequence[Sequence[Time]], top: float
) -> Iterable[tuple[str, str]]:
    width = WIDTH / max(1, len(values))
    dots = [
        (_dot_tone(alarm, time), x, _y(time.value, top))
        for place, (alarm, times) in enumerate(zip(alarmed, values, strict=True))
        for number, time in enumerate(times, start=1)
        for x in [(place + number / (len(times) + 1)) * width]
    ]
    for tone, own in sorted(by_key(dots, lambda dot: dot[0]).items()):
        yield tone, "".join(f"M{x:.1f} {y:.1f}h0" for _, x, y in own)


def _dot_tone(alarm: bool, time: Time) -> str:
    if alarm:
        return WORSE
    return BOUND if time.censored else RUN


def _band(baseline: Median, top: float) -> Band:
    middle = _y(baseline.median, top)
    if not math.isfinite(baseline.high):
        return Band(middle, 0.0, middle, side_text(baseline))
    high, low = _y(min(baseline.high, top), top), _y(baseline.low, top)
    return Band(high, round(low - high, 1), middle, side_text(baseline))


def _y(value: float, top: float) -> float:
    return round(HEIGHT * (1 - value / top), 1)


def _listed(times: Iterable[Time]) -> str:
    return ", ".join(time.describe(formats.seconds) for time in times)


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


def _catches(gate: Gate, cell: Cell) -> str:
    """How small a change of the time that stands for the cell would be caught."""
    watched = (one for one in gate.watched if one.cell == cell and one.measure == OUT)
    first = next(watched, None)
    if first is None:
        return ""
    if first.catches is None:
        return "no change is caught: the baseline has too few runs, or they lie too far apart"
    return f"{100 * (first.catches - 1):.0f} % longer is caught within 20 runs"


def _cell_nights(
    folder: Path, nights: Sequence[Night], cell: Cell, changes: Sequence[record.Changes]
) -> Iterator[NightRow]:
    """The latest first; those in which it was not to be played are left out."""
    together = zip(nights, of_cell(nights, cell), strip(nights, cell), changes, strict=True)
    for night, one, column, changed in reversed(list(together)):
        if one is not None or night.plays_of(cell):
            times = "; ".join(
                f"{formats.measure_name(name).lower()}{_WORST.get(name, '')} {_listed(times)}"
                for name, times in (one.times.items() if one is not None else ())
            )
            reports = tuple(_reports(folder, night, cell))
            own = changed.get(cell, ())
            yield NightRow(night, column.tone, column.title, own, times, reports)


def _reports(folder: Path, night: Night, cell: Cell) -> Iterator[tuple[str, str]]:
    for one in night.plays_of(cell):
        if one.experiment:
            there = is_file(folder / one.experiment / REPORT)
            yield one.experiment, f"../{one.experiment}/{REPORT}" if there else ""
        else:
            yield one.why, ""


def _tone(night: Night) -> str:
    return "not_applicable" if night.exit_code is None else _TONES[Exit(night.exit_code)]
