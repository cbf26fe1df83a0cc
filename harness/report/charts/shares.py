"""Share on time over time, of all runs of a cell, as areas in a box of 1000 x 100.

1. Runs are laid over each other so that the first fault of each lies at 0; without a fault, the
   beginning of its load. Of several runs, what fell into the second of the fault is drawn after
   it: nothing looks late before a fault that was not.
2. What was on time in every run is one area from the bottom; what was late hangs from the top,
   in as many layers as there are runs: where all of them were late it is dense, where one was,
   faint. Of more than LAYERS_MAX runs the layers are quantiles.
3. Faults lie above and outages below, a row a run: nothing is averaged there. Faults that overlap
   have rows of their own within that of their run, as many in each run as one of them needs.
4. What is short stays visible: nothing is drawn narrower than LEAST.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from harness.report.charts.plots import late_shares
from harness.report.charts.scale import NS, Scale
from harness.report.page.faults import fault_title
from harness.report.page.outs import drawn, fault_text, spell_text
from harness.view.summary import Out
from harness.view.timeline import FaultSpan, Timeline
from spark_analysis.schema.service import NEVER, RUN, UNKNOWN

Stretch = tuple[tuple[float, float], list[float]]  # from, until; the shares that were late
Height = tuple[float, float, float]  # from, until, the share that is drawn
LAYERS_MAX = 10
LEAST = 4.0  # of 1000


class ShareBlock(NamedTuple):
    """Places in a box of 1000; `row` of as many rows as there are runs; a fault's of more, where
    faults overlap."""

    x: float
    width: float
    row: int
    tone: str
    title: str


class ShareLane(NamedTuple):
    """The outages of one scope, a row a run."""

    scope: str
    name: str
    blocks: tuple[ShareBlock, ...]


class Shares:
    """Of one cell at least one run. `scale`: the same for all cells that stand one below the
    other, in seconds from the fault."""

    def __init__(self, timelines: Sequence[Timeline], scale: Scale) -> None:
        stretches = list(_stretches(timelines, scale))
        layers = min(len(timelines), LAYERS_MAX)
        self.on_time = _area([(*at, 1 - late[0]) for at, late in stretches], scale, 100)
        self.late = tuple(  # layers, the faintest last
            _area([(*at, _layer(late, n, layers)) for at, late in stretches], scale, 0)
            for n in range(layers)
        )
        self.density = round(1 - 0.08 ** (1 / layers), 3)  # of one layer
        self.median = "" if len(timelines) == 1 else _line(stretches, scale)
        # Rows for the faults of a run: those that overlap lie apart.
        self.fault_rows = max(len(_apart(one)) for one in timelines) or 1
        self.faults = tuple(_faults(timelines, scale, self.fault_rows))
        # Where the fault began; None: there is none.
        self.zero = _x(0.0, scale) if any(map(_opened, timelines)) else None
        self.lanes = tuple(_lanes(timelines, scale))
        self.runs = len(timelines)


def span(timelines: Iterable[Timeline]) -> tuple[float, float]:
    """The time that all of these need, in seconds from the fault."""
    ends = [(one.from_s - _zero_s(one), one.until_s - _zero_s(one)) for one in timelines]
    return min(first for first, _ in ends), max(last for _, last in ends)


def _opened(timeline: Timeline) -> list[int]:
    """When its faults were issued, of those that came to that."""
    return [fault.issued_ns for fault in timeline.faults if fault.opened]


def _zero_s(timeline: Timeline) -> float:
    opened = _opened(timeline)
    return min(opened) / NS if opened else float(timeline.from_s)


def _stretches(timelines: Sequence[Timeline], scale: Scale) -> Iterator[Stretch]:
    """Yield the shares that were late, of each run in which something was due then, the largest
    first. A single run has its own seconds; several have those from their faults on."""
    if len(timelines) == 1:
        (one,), zero_s = timelines, _zero_s(timelines[0])
        for part in one.slices:
            for from_s, until_s, share in late_shares(part, one.slice_s):
                at = max(from_s - zero_s, scale.from_s), min(until_s - zero_s, scale.until_s)
                if at[0] < at[1]:
                    yield at, [share]
        return
    step_s = max(one.slice_s for one in timelines)
    for number in range(math.floor(scale.from_s / step_s), math.ceil(scale.until_s / step_s)):
        if late := _late(timelines, number * step_s):
            yield (number * step_s, (number + 1) * step_s), sorted(late, reverse=True)


def _late(timelines: Iterable[Timeline], at_s: float) -> list[float]:
    """The share that was late at an instant, of each run in which something was due then."""
    found = []
    for one in timelines:
        place = math.floor((at_s + _zero_s(one) - one.from_s) / one.slice_s)
        if 0 <= place < len(one.slices) and one.slices[place].operations:
            found.append(one.slices[place].missed / one.slices[place].operations)
    return found


def _layer(late: Sequence[float], number: int, layers: int) -> float:
    """Of so many runs the one that stands for a layer: each its own, or a quantile."""
    return late[min(len(late) - 1, (2 * number + 1) * len(late) // (2 * layers))]


def _area(heights: Iterable[Height], scale: Scale, base: int) -> str:
    """Columns from the top (base 0) or the bottom (100); equal ones side by side are one."""
    parts = []
    for left, right, height in _steps(heights, scale):
        if height <= 0:
            continue
        right = max(right, left + LEAST) if not base else right
        end = 100 * height if not base else 100 - 100 * height
        parts.append(f"M{left:g} {base}V{end:.4g}H{right:g}V{base}Z")
    return "".join(parts)


def _line(stretches: Iterable[Stretch], scale: Scale) -> str:
    """The median, as steps."""
    parts = []
    before = None
    heights = ((*at, late[len(late) // 2]) for at, late in stretches)
    for left, right, height in _steps(heights, scale):
        y = f"{100 * height:.4g}"
        parts.append(f"V{y}H{right:g}" if before == left else f"M{left:g} {y}H{right:g}")
        before = right
    return "".join(parts)


def _steps(heights: Iterable[Height], scale: Scale) -> Iterable[tuple[float, float, float]]:
    """Left, right and height of each stretch of columns of one height, without gaps."""
    merged: list[Height] = []
    for from_s, until_s, height in heights:
        if merged and merged[-1][1:] == (from_s, height):
            merged[-1] = merged[-1][0], until_s, height
        else:
            merged.append((from_s, until_s, height))
    for from_s, until_s, height in merged:
        yield _x(from_s, scale), _x(until_s, scale), height


def _apart(timeline: Timeline) -> list[list[FaultSpan]]:
    """Return the faults of a run in rows: within a row none begins before the last one ended."""
    rows: list[list[FaultSpan]] = []
    opened = [fault for fault in timeline.faults if fault.opened]
    for fault in sorted(opened, key=lambda one: one.issued_ns):
        free = (row for row in rows if _is_over(row[-1], fault.issued_ns))
        row = next(free, None)
        if row is None:
            rows.append(row := [])
        row.append(fault)
    return rows


def _is_over(fault: FaultSpan, at_ns: int) -> bool:
    return fault.ended_ns is not None and fault.ended_ns <= at_ns


def _faults(timelines: Sequence[Timeline], scale: Scale, rows: int) -> Iterable[ShareBlock]:
    """Yield the windows of each run, which has so many `rows`."""
    for number, one in enumerate(timelines):
        zero_s = _zero_s(one)
        for row, own in enumerate(_apart(one), start=number * rows):
            for fault in own:
                from_s = fault.issued_ns / NS - zero_s
                until_s = scale.until_s if fault.ended_ns is None else fault.ended_ns / NS - zero_s
                tone = "held" if fault.verified else "doubted"
                title = fault_text(fault_title(fault), fault, one.faults)
                yield _block(from_s, until_s, row, tone, title, scale)


def _lanes(timelines: Sequence[Timeline], scale: Scale) -> Iterable[ShareLane]:
    """The run's is always there, the others where something lies in them."""
    scopes = dict.fromkeys(out.scope for one in timelines for out in drawn(one.outs))
    for scope in scopes:
        blocks: list[ShareBlock] = []
        named: list[Out] = []
        for row, one in enumerate(timelines):
            zero_s = _zero_s(one)
            for out in (out for out in drawn(one.outs) if out.scope == scope):
                for spell in out.spells:
                    ends_s = spell.from_ns / NS - zero_s, spell.until_ns / NS - zero_s
                    tone = "open" if spell.ended in (NEVER, UNKNOWN) else "out"
                    title = spell_text(spell, one.faults, stalled_s=out.stalled_s)
                    blocks.append(_block(*ends_s, row, tone, title, scale))
                named.append(out)
        if blocks or scope == RUN:
            longest = max(named, key=lambda out: out.seconds)
            yield ShareLane(scope, longest.name, tuple(blocks))


def _block(
    from_s: float, until_s: float, row: int, tone: str, title: str, scale: Scale
) -> ShareBlock:
    left = _x(from_s, scale)
    width = max(2 * LEAST, _x(until_s, scale) - left)
    return ShareBlock(min(left, 1000 - width), round(width, 1), row, tone, title)


def _x(at_s: float, scale: Scale) -> float:
    return round(scale.place(at_s) * 10, 1)
