"""The folder of pages that shows all nights: it works from a disk, offline, and in ten years.

1. One page of all, and one a cell; every run's own report is a link away, as long as it is there.
2. Whatever a broker, a file or a user said is text. The only script is our own, named by its hash:
   it hides the rows in which a word does not stand. Without it everything is shown.
3. The same nights make the same bytes.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.compare.gate import Gate, is_few, judged_runs
from harness.compare.versus import Side
from harness.judging.exits import Exit
from harness.nightly import message, record, trend
from harness.nightly.record import CellOfNight, Night
from harness.nightly.suite import Cell
from harness.nightly.trend import Column, Trend
from harness.outside.files import is_file
from harness.report.html import NAME as REPORT
from harness.report.html import search_script, template
from harness.report.page import formats
from spark_analysis.schema.writing import write_whole

SITE, INDEX = "site", "index.html"
SLUG_MAX = 60
Changes = tuple[str, ...]
_TONES = {Exit.PASSED: "pass", Exit.FAILED: "fail", Exit.NOT_DECIDED: "open"}


@dataclass(frozen=True, slots=True)
class CellRow:
    """A cell on the page of all."""

    cell: Cell
    path: str
    tone: str
    text: str
    lost: str
    strip: tuple[Column, ...]
    trend: Trend | None
    catches: str
    few: str  # the caveat of a small baseline, or ""


@dataclass(frozen=True, slots=True)
class NightRow:
    """A night as a whole, or of one cell. `changes`: of versions, from the night before."""

    night: Night
    tone: str
    text: str
    changes: tuple[str, ...]
    times: str = ""
    reports: tuple[tuple[str, str], ...] = ()  # and the path; "": it is not there any more


def write(folder: Path, nights: Sequence[Night], baseline: Side, gate: Gate) -> Path:
    """Writes all pages, each whole or not at all. `nights`: the oldest first."""
    site = folder / SITE
    site.mkdir(parents=True, exist_ok=True)
    script = search_script()
    cells = trend.every_cell(nights)
    rows = {cell: _row(nights, cell, baseline, gate) for cell in cells}
    changes = tuple(record.changes(nights))
    notes = tuple(message.sections(nights[-1], gate))
    _put(
        site / INDEX,
        template("nightly.html").render(
            title=nights[-1].title,
            tone=_tone(nights[-1]),
            headline=message.headline(nights[-1]),
            tonight=nights[-1],
            notes=notes,
            rows=tuple(rows.values()),
            nights=tuple(_nights(nights, changes)),
            script=script,
        ),
    )
    for cell in cells:
        _put(
            site / path_of(cell),
            template("nightly_cell.html").render(
                cell=cell,
                index=INDEX,
                row=rows[cell],
                trends=trend.trends(nights, cell, baseline),
                nights=tuple(_cell_nights(folder, nights, cell, changes)),
                script=script,
            ),
        )
    return site / INDEX


def path_of(cell: Cell) -> str:
    """A name of small letters and digits that no other cell has."""
    plain = "".join(mark if mark.isascii() and mark.isalnum() else "-" for mark in "-".join(cell))
    digest = hashlib.sha256("\0".join(cell).encode("utf-8", "replace")).hexdigest()[:8]
    return f"cell-{plain.lower()[:SLUG_MAX].strip('-')}-{digest}.html"


def _put(path: Path, text: str) -> None:
    write_whole(path, text)


def _row(nights: Sequence[Night], cell: Cell, baseline: Side, gate: Gate) -> CellRow:
    strip = trend.strip(nights, cell)
    last = next(column for column in reversed(strip) if column.tone != "absent")
    drawn = trend.trends(nights, cell, baseline)
    lost, runs = trend.loss(nights, cell)
    runs_before = judged_runs(baseline, cell)
    return CellRow(
        cell=cell,
        path=path_of(cell),
        tone=last.tone,
        text=last.title,
        lost=f"lost in {lost:,} of {formats.plural(runs, 'run')}",
        strip=strip,
        trend=drawn[0] if drawn else None,
        catches=_catches(gate, cell),
        few=message.few_runs(runs_before) if is_few(runs_before) else "",
    )


def _catches(gate: Gate, cell: Cell) -> str:
    """How small a change of the time that stands for the cell would be caught."""
    watched = [one for one in gate.watched if one.cell == cell]
    first = next((one for one in watched if one.measure == trend.FIRST), None)
    if first is None:
        return ""
    if first.catches is None:
        return "no change is caught: the baseline has too few runs, or they lie too far apart"
    return f"{100 * (first.catches - 1):.0f} % longer is caught within 20 runs"


def _nights(nights: Sequence[Night], changes: Sequence[Changes]) -> Iterator[NightRow]:
    """The latest first."""
    for night, changed in reversed(list(zip(nights, changes, strict=True))):
        yield NightRow(night, _tone(night), message.headline(night), changed)


def _cell_nights(
    folder: Path, nights: Sequence[Night], cell: Cell, changes: Sequence[Changes]
) -> Iterator[NightRow]:
    """The latest first; those in which it was not to be played are left out."""
    strip, nights_of_cell = trend.strip(nights, cell), trend.of_cell(nights, cell)
    together = zip(nights, nights_of_cell, strip, changes, strict=True)
    for night, one, column, changed in reversed(list(together)):
        if one is None and not night.plays_of(cell):
            continue
        times = "" if one is None else _times(one)
        reports = tuple(_reports(folder, night, cell))
        yield NightRow(night, column.tone, column.title, changed, times, reports)


def _times(one: CellOfNight) -> str:
    return "; ".join(
        f"{formats.short_name(name)} "
        + ", ".join(f"{'≥ ' if bound else ''}{formats.seconds(value)}" for value, bound in times)
        for name, times in one.times.items()
    )


def _reports(folder: Path, night: Night, cell: Cell) -> Iterator[tuple[str, str]]:
    for one in night.plays_of(cell):
        if one.experiment:
            there = is_file(folder / one.experiment / REPORT)
            yield one.experiment, f"../{one.experiment}/{REPORT}" if there else ""
        else:
            yield one.why, ""


def _tone(night: Night) -> str:
    return "not_applicable" if night.exit_code is None else _TONES[Exit(night.exit_code)]
