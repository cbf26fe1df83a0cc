"""Runs played together, in one picture: what name servers showed, and whose sends failed.

1. Each run has a time of its own: all are drawn from the instant at which the first fault came.
2. Name servers are asked by every run; what the first one's prober saw is drawn.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.judging.result import Report, RunReport
from harness.report.charts import routes
from harness.report.charts.chart import ticks
from harness.report.charts.scale import Lane, Scale, Tick
from harness.view.routes import Row, Stretch
from harness.view.timeline import FaultSpan, Timeline

NS = 1e9
BEFORE_S = 20.0  # of what came before the fault


@dataclass(frozen=True, slots=True)
class Joint:
    """`place`: of all of them; `ticks`, and all else: seconds from the first fault on."""

    place: str
    ticks: tuple[Tick, ...]
    faults: tuple[Lane, ...]
    servers: tuple[Lane, ...]
    sends: tuple[Lane, ...]


def joint(report: Report) -> tuple[Joint, ...]:
    """A picture a group of which at least two runs were judged."""
    return tuple(filter(None, map(_picture, _groups(report.runs))))


def _groups(runs: Iterable[RunReport]) -> Iterable[list[RunReport]]:
    """Of a report over several experiments the names of runs may be the same."""
    groups: dict[tuple[str, frozenset[str]], list[RunReport]] = {}
    for run in runs:
        if run.together:
            names = frozenset((run.name, *run.together))
            groups.setdefault((run.piece, names), []).append(run)
    return groups.values()


def _picture(group: Sequence[RunReport]) -> Joint | None:
    drawn = [(run, run.detail.timeline) for run in group if run.detail is not None]
    drawn = [(run, time) for run, time in drawn if time.faults and time.routes.sends]
    if len(drawn) < 2:
        return None
    (first, timeline), *_ = drawn
    until_s = max(time.until_s - _origin_s(time) for _, time in drawn)
    scale = Scale(-BEFORE_S, max(until_s, 1.0))
    return Joint(
        place="{} on {} {}, repeat {}".format(*first.cell[:3], first.repeat),
        ticks=tuple(ticks(scale)),
        faults=tuple(_faults(timeline, scale)),
        servers=tuple(routes.lanes(_shifted(timeline.routes.servers, timeline), scale)),
        sends=tuple(lane for run, time in drawn for lane in _sends(run, time, scale)),
    )


def _origin_s(timeline: Timeline) -> float:
    return timeline.faults[0].issued_ns / NS


def _faults(timeline: Timeline, scale: Scale) -> Iterator[Lane]:
    origin_s = _origin_s(timeline)
    for fault in timeline.faults:
        until_s = scale.until_s if fault.ended_ns is None else fault.ended_ns / NS - origin_s
        span = scale.span(fault.issued_ns / NS - origin_s, until_s, "held", _struck(fault))
        yield Lane(f"fault {fault.number}", (span,))


def _struck(fault: FaultSpan) -> str:
    return f"{fault.kind} {fault.resolved}".strip()


def _sends(run: RunReport, timeline: Timeline, scale: Scale) -> Iterator[Lane]:
    """Named by the client, and by whom each publisher asked when the fault came."""
    told = run.detail.failing if run.detail is not None else ()
    asked = {one.publisher: one.asked for one in told if one.window == 1}
    for row in _shifted(timeline.routes.sends, timeline):
        whom = asked.get(row.name, "")
        name = f"{run.cell[3]}, {f'asks {whom}' if whom else row.name}"
        yield from routes.lanes([replace(row, name=name)], scale)


def _shifted(rows: Iterable[Row], timeline: Timeline) -> Iterator[Row]:
    origin_ns = timeline.faults[0].issued_ns
    for row in rows:
        yield Row(row.name, tuple(_moved(one, origin_ns) for one in row.stretches))


def _moved(one: Stretch, by_ns: int) -> Stretch:
    """Its title tells times of the run, which are not those of the picture."""
    return replace(one, from_ns=one.from_ns - by_ns, until_ns=one.until_ns - by_ns, title="")
