"""The picture of the first screen: share on time over time, a line of panels a column.

1. A panel is a cell: all its runs, aligned at the fault. Panels of one scenario stand one below
   the other on one scale, so that a fault is at the same place in each.
2. What differs most comes first: of more than SCENES_MAX scenarios, or LINES_MAX columns, those
   where somebody lost, then those that were unavailable for longest; the others are counted.
3. Beside each panel stand its words: what was lost, how long it was out, how sure that is.
"""

from collections.abc import Iterable, Mapping, Sequence

from harness.judging.result import RunReport
from harness.plan.model import Cell, Skipped
from harness.report.charts.scale import AxisTick, Scale, ticks
from harness.report.charts.shares import Shares, span
from harness.report.page import formats, outs
from harness.report.page.cells import CellView
from harness.report.page.places import Place, listed, scenarios_of
from harness.report.page.totals import RunTotals, deadline_text, loss_rate

SCENES_MAX = 5
LINES_MAX = 8
TICKS_MAX = 4
Cells = Mapping[Cell, CellView]


class Panel:
    """One column's in one scenario. `drawn` None: there is nothing to draw, `why` says why."""

    def __init__(
        self, place: Place, scenario: str, cells: Cells, scale: Scale, reason: str
    ) -> None:
        """`reason`: why it has no cell."""
        runs, view = place.of(scenario), cells.get((scenario, *place.key))
        timelines = [run.detail.timeline for run in runs if run.detail is not None]
        timed = [one for one in timelines if any(each.operations for each in one.slices)]
        self.place = place
        self.number = view.number if view is not None else 0  # of its cell; 0: there is none
        # Tone and words, the gravest first; then who else was out, how sure that is.
        self.findings = tuple(_findings(view.totals)) if view is not None else ()
        self.more = tuple(_more(view.totals)) if view is not None else ()
        self.tone = self.findings[0][0] if self.findings else "absent"
        self.drawn = Shares(timed, scale) if timed else None
        self.why = "" if timed else _why(runs, timelines, view, reason)
        said = "; ".join([*(text for _, text in self.findings), *self.more])
        whose = f"{place.name}, {view.title.scenario if view is not None else ''}"
        # For those who cannot see it.
        self.label = f"{whose}: share of messages on time, by second. {said}."


class Scene:
    """One scenario: a panel for each column, and the time below them."""

    def __init__(
        self, scenario: str, lines: Sequence[Place], cells: Cells, skipped: Mapping[Cell, str]
    ) -> None:
        runs = (run for place in lines for run in place.of(scenario))
        found = [run.detail.timeline for run in runs if run.detail]
        from_s, until_s = span(found) if found else (0.0, 1.0)
        scale = Scale(from_s, max(until_s, from_s + 1))
        titles = (view.title.scenario for cell, view in cells.items() if cell[0] == scenario)
        self.scenario, self.title = scenario, next(titles, "")
        self.number = _number(scenario, lines, cells)  # "": names of cells have none
        self.deadline = deadline_text(run for place in lines for run in place.of(scenario))
        had = listed([place.letter for place in lines if place.of(scenario)])
        alone = f"not run: requested for {had} only"
        reasons = (skipped.get((scenario, *place.key)) for place in lines)
        self.panels = tuple(
            Panel(place, scenario, cells, scale, f"not applicable: {why}" if why else alone)
            for place, why in zip(lines, reasons, strict=True)
        )
        self.fault = any(one.drawn and one.drawn.zero is not None for one in self.panels)
        self.ticks = tuple(_ticks(scale, self.fault))


class Picture:
    """`runs`: of the panel that has most; `scopes`: whose outages lie below the panels."""

    def __init__(self, cells: Cells, had: Sequence[Place], skipped: Mapping[Cell, str]) -> None:
        gravest = sorted(had, key=lambda place: _gravity(place.totals), reverse=True)[:LINES_MAX]
        lines = tuple(place for place in had if place in gravest)
        names = scenarios_of(had)
        names = tuple(sorted(names, key=lambda name: _interest(name, lines, cells), reverse=True))
        self.lines = lines
        self.scenes = tuple(Scene(name, lines, cells, skipped) for name in names[:SCENES_MAX])
        numbers = [int(one.number) for one in self.scenes if one.number.isdecimal()]
        self.worst_first = numbers != sorted(numbers)  # scenarios do not stand by their numbers
        drawn = [one.drawn for scene in self.scenes for one in scene.panels if one.drawn]
        self.runs = max((one.runs for one in drawn), default=1)
        self.faults_overlap = any(one.fault_rows > 1 for one in drawn)
        self.scopes = tuple(dict.fromkeys(lane.scope for one in drawn for lane in one.lanes))
        self.left_out = _left_out(len(names) - len(self.scenes), len(had) - len(lines))


def picture(
    views: Sequence[CellView], compared: Sequence[Place], skipped: Iterable[Skipped] = ()
) -> Picture | None:
    """None where no run was judged: there is nothing to see."""
    if not any(view.totals.judged for view in views):
        return None
    reasons = {one.cell: one.reason for one in skipped}
    cells = {view.cell: view for view in views}
    return Picture(cells, [one for one in compared if one.runs], reasons)


def _number(scenario: str, lines: Sequence[Place], cells: Cells) -> str:
    """Return the number by which the names of all cells of a scenario know it."""
    if len({cell[0] for cell in cells}) < 2:
        return ""
    views = ((place, cells.get((scenario, *place.key))) for place in lines)
    named = [(place, view.label) for place, view in views if view is not None]
    if len(lines) > 1 and not all(label.startswith(place.letter) for place, label in named):
        return ""
    numbers = {label.removeprefix(place.letter) for place, label in named}
    return numbers.pop() if len(numbers) == 1 else ""


def _gravity(totals: RunTotals) -> tuple[int, float]:
    return totals.lost + totals.stranded, totals.longest_out_s


def _interest(scenario: str, lines: Iterable[Place], cells: Cells) -> tuple[int, float, float]:
    """Where somebody lost, then where columns lie furthest apart, then where it was out."""
    found = [cells.get((scenario, *place.key)) for place in lines]
    gravities = [_gravity(view.totals) for view in found if view is not None]
    downtimes = [out for _, out in gravities] or [0.0]
    lost = sum(lost for lost, _ in gravities)
    return lost, max(downtimes) - min(downtimes), max(downtimes)


def _left_out(scenes: int, lines: int) -> str:
    parts = [formats.plural(scenes, "more scenario")] if scenes > 0 else []
    parts += [formats.plural(lines, "more column")] if lines > 0 else []
    if not parts:
        return ""
    are = "is" if scenes + lines == 1 else "are"
    return f"The worst losses and downtimes are drawn; {' and '.join(parts)} {are} listed below."


def _ticks(scale: Scale, fault: bool) -> Iterable[AxisTick]:
    """`fault`, `+30 s`: none before it but the one that stands far enough away."""
    zero = scale.place(0.0)
    yield AxisTick(zero, "fault" if fault else "0 s")
    for tick in ticks(scale, TICKS_MAX):
        if tick.place - zero > 12:
            yield tick


def _findings(totals: RunTotals) -> Iterable[tuple[str, str]]:
    if not totals.judged:
        yield "open", "? not judged"
        return
    losses = outs.losses(totals)
    yield from (("fail", f"✗ {text}") for text in losses)
    if totals.loss_open and not losses:
        yield "open", "? loss not decided"
    if totals.total_downtime is None:
        yield "open", "? downtime: not decided"
    elif totals.is_out:
        yield "out", f"{outs.out_phrase(totals)}{outs.history_text(totals)}"
    elif totals.faults and not totals.is_fine:
        yield "open", f"? {outs.out_phrase(totals)}"
    else:
        yield "pass", "✓ no downtime"


def _more(totals: RunTotals) -> Iterable[str]:
    if totals.judged == 1:
        yield "1 run"
    if totals.runs_with_loss and totals.judged > 1:
        yield loss_rate(totals).brief("lost")
    if late := outs.late_then(totals):
        yield f"in the worst run, {late}" if totals.runs > 1 else late
    if duplicates := outs.duplicates_text(totals):
        yield duplicates
    if totals.total_downtime is None and totals.out_doubt:
        yield totals.out_doubt
    if totals.out_bound:
        yield f"{outs.BOUND} {totals.out_bound}"
    broken = totals.faults or totals.is_out
    if totals.total_downtime is not None and broken and totals.judged > 1:
        yield outs.rate_text(totals)
    unknown = totals.judged - totals.outage_decided_runs
    if totals.total_downtime is not None and unknown:
        yield f"not decided in {formats.of(unknown, totals.judged, 'run')}"
    if outs.spread_text(totals):
        yield outs.spread_text(totals)
    if worst := outs.worst_of_runs(totals):
        yield worst
    if totals.judged and totals.faults_seen < totals.faults:
        faults = formats.plural(totals.faults, "fault")
        yield f"{totals.faults_seen} of {faults} verified"


def _why(
    runs: Sequence[RunReport], timelines: Sequence[object], view: CellView | None, reason: str
) -> str:
    if view is None:
        return reason
    if not timelines:
        return next((run.failure for run in runs if run.failure), "nothing was recorded of it")
    return "nothing was due at a certain time, so nothing can be late"
