"""The picture of the first screen: share on time over time, a line of panels a column.

1. A panel is a cell: all its runs, aligned at the fault. Panels of one scenario stand one below
   the other on one scale, so that a fault is at the same place in each.
2. What differs most comes first: of more than SCENES_MAX scenarios, or LINES_MAX columns, those
   where somebody lost, then those that were unavailable for longest; the others are counted.
3. Beside each panel stand its words: what was lost, how long it was out, how sure that is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.judging.result import RunReport
from harness.report.charts.chart import ticks
from harness.report.charts.scale import AxisTick, Scale
from harness.report.charts.shares import Shares, shares, span
from harness.report.page import formats
from harness.report.page.cells import CellView
from harness.report.page.comparison.places import Place, scenarios_of
from harness.report.page.outs import (
    history_text,
    is_fine,
    is_out,
    out_phrase,
    rate_text,
    spread_text,
    worst_text,
)
from harness.report.page.totals import Cell, RunTotals, loss_rate

SCENES_MAX = 5
LINES_MAX = 8
TICKS_MAX = 4


@dataclass(frozen=True, slots=True)
class Panel:
    """One column's in one scenario. `drawn` None: there is nothing to draw, `why` says why."""

    number: int  # of its cell; 0 where there is none
    place: Place
    tone: str
    findings: tuple[tuple[str, str], ...]  # tone and words, the gravest first
    more: tuple[str, ...]  # who else was out, how sure that is
    drawn: Shares | None
    why: str
    label: str  # for those who cannot see it


@dataclass(frozen=True, slots=True)
class Scene:
    """One scenario: a panel for each column, and the time below them."""

    scenario: str
    title: str
    fault: bool
    ticks: tuple[AxisTick, ...]
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    lines: tuple[Place, ...]
    scenes: tuple[Scene, ...]
    runs: int  # of the panel that has most
    scopes: tuple[str, ...]  # whose outages lie below the panels
    left_out: str


def picture(views: Sequence[CellView], compared: Sequence[Place]) -> Picture | None:
    """None where no run was judged: there is nothing to see."""
    cells = {view.cell: view for view in views}
    had = [place for place in compared if place.runs]
    if not any(view.totals.judged for view in views):
        return None
    gravest = sorted(had, key=lambda place: _gravity(place.totals), reverse=True)[:LINES_MAX]
    lines = tuple(place for place in had if place in gravest)
    names = sorted(scenarios_of(had), key=lambda name: _interest(name, lines, cells), reverse=True)
    scenes = tuple(_scene(name, lines, cells) for name in names[:SCENES_MAX])
    drawn = [panel.drawn for scene in scenes for panel in scene.panels if panel.drawn]
    return Picture(
        lines=lines,
        scenes=scenes,
        runs=max((one.runs for one in drawn), default=1),
        scopes=tuple(dict.fromkeys(lane.scope for one in drawn for lane in one.lanes)),
        left_out=_left_out(len(names) - len(scenes), len(had) - len(lines)),
    )


def _gravity(totals: RunTotals) -> tuple[int, float]:
    return totals.lost + totals.stranded, totals.out.maximum_s if totals.out is not None else 0.0


def _interest(
    scenario: str, lines: Iterable[Place], cells: Mapping[Cell, CellView]
) -> tuple[int, float, float]:
    """Where somebody lost, then where columns lie furthest apart, then where it was out."""
    found = [cells.get((scenario, *place.key)) for place in lines]
    gravities = [_gravity(view.totals) for view in found if view is not None]
    outs = [out for _, out in gravities] or [0.0]
    return sum(lost for lost, _ in gravities), max(outs) - min(outs), max(outs)


def _left_out(scenes: int, lines: int) -> str:
    parts = [formats.plural(scenes, "more scenario")] if scenes > 0 else []
    parts += [formats.plural(lines, "more column")] if lines > 0 else []
    if not parts:
        return ""
    are = "is" if scenes + lines == 1 else "are"
    return f"The worst losses and downtimes are drawn; {' and '.join(parts)} {are} listed below."


def _scene(scenario: str, lines: Sequence[Place], cells: Mapping[Cell, CellView]) -> Scene:
    own = {place.key: [run for run in place.runs if run.cell[0] == scenario] for place in lines}
    found = [run.detail.timeline for runs in own.values() for run in runs if run.detail]
    from_s, until_s = span(found) if found else (0.0, 1.0)
    scale = Scale(from_s, max(until_s, from_s + 1))
    panels = tuple(
        _panel(place, own[place.key], cells.get((scenario, *place.key)), scale) for place in lines
    )
    title = next((p for c, v in cells.items() if c[0] == scenario for p in [v.title.scenario]), "")
    fault = any(one.drawn and one.drawn.zero is not None for one in panels)
    return Scene(scenario, title, fault, tuple(_ticks(scale, fault)), panels)


def _ticks(scale: Scale, fault: bool) -> Iterable[AxisTick]:
    """`fault`, `+30 s`: none before it but the one that stands far enough away."""
    zero = scale.place(0.0)
    yield AxisTick(zero, "fault" if fault else "0 s")
    for tick in ticks(scale, TICKS_MAX):
        if tick.place - zero > 12:
            yield tick


def _panel(place: Place, runs: Sequence[RunReport], view: CellView | None, scale: Scale) -> Panel:
    timelines = [run.detail.timeline for run in runs if run.detail is not None]
    timed = [one for one in timelines if any(each.operations for each in one.slices)]
    findings = tuple(_findings(view.totals)) if view is not None else ()
    more = tuple(_more(view.totals)) if view is not None else ()
    drawn = shares(timed, scale) if timed else None
    said = "; ".join([text for _, text in findings] + list(more))
    name = view.title.scenario if view is not None else ""
    return Panel(
        number=view.number if view is not None else 0,
        place=place,
        tone=findings[0][0] if findings else "absent",
        findings=findings,
        more=more,
        drawn=drawn,
        why="" if drawn else _why(runs, timelines, view),
        label=f"{place.name}, {name}: share of messages confirmed on time, by second. {said}.",
    )


def _findings(totals: RunTotals) -> Iterable[tuple[str, str]]:
    if not totals.judged:
        yield "open", "? not judged"
        return
    undecided = totals.loss_proved < totals.judged
    least = "≥ " if undecided else ""
    if totals.lost:
        yield "fail", f"✗ {least}{formats.count(totals.lost)} lost"
    if totals.stranded:
        yield "fail", f"✗ {least}{formats.count(totals.stranded)} stranded"
    if undecided and not totals.lost and not totals.stranded:
        yield "open", "? loss not decided"
    if totals.out is None:
        yield "open", "? downtime: not decided"
    elif is_out(totals):
        yield "out", f"{out_phrase(totals)}{history_text(totals)}"
    elif totals.faults_of:
        yield ("pass", "✓ no downtime") if is_fine(totals) else ("open", f"? {out_phrase(totals)}")
    else:
        yield "pass", "✓ no downtime"


def _more(totals: RunTotals) -> Iterable[str]:
    if totals.runs_with_loss:
        yield loss_rate(totals).describe("lost")
    if totals.out is None and totals.out_doubt:
        yield totals.out_doubt
    if totals.out is not None and (totals.faults_of or is_out(totals)):
        yield f"downtime {rate_text(totals)}"
    unknown = totals.judged - totals.outage_proved
    if totals.out is not None and unknown:
        yield f"not decided in {formats.of(unknown, totals.judged, 'run')}"
    if spread_text(totals):
        yield spread_text(totals)
    if totals.worst is not None:
        yield worst_text(totals.worst)
    if totals.judged and totals.faults_seen < totals.faults_of:
        faults = formats.plural(totals.faults_of, "fault")
        yield f"{totals.faults_seen} of {faults} verified"


def _why(runs: Sequence[RunReport], timelines: Sequence[object], view: CellView | None) -> str:
    if view is None:
        return "not run"
    if not timelines:
        return next((run.failure for run in runs if run.failure), "nothing was recorded of it")
    return "nothing was due at a certain time, so nothing can be late"
