"""Runs played together, in one picture: what name servers showed, which routes clients held, and
whose sends failed.

1. Each run has a time of its own: all are drawn from the instant at which the first fault came.
2. Every run queries name servers; what the first one's prober saw is drawn.
3. The routes of clients show only masters that a name server or a client dropped: the others did
   not move. Only clients that send are drawn.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.judging.result import RunReport
from harness.report.charts.scale import NS, AxisTick, Lane, Scale, ticks
from harness.view.grouping import by_key
from harness.view.routes import DROPPED, RouteRow
from harness.view.timeline import Timeline

BEFORE_S = 20.0  # of what came before the fault


class Joint(NamedTuple):
    """`place`: of all of them; `ticks`, and all else: seconds from the first fault on."""

    place: str
    ticks: tuple[AxisTick, ...]
    faults: tuple[Lane, ...]
    servers: tuple[Lane, ...]
    believed: tuple[Lane, ...]
    sends: tuple[Lane, ...]


def pictures(runs: Iterable[RunReport]) -> tuple[Joint, ...]:
    """Return one picture for each group with at least two judged runs, of one experiment or of one
    report."""
    together = (run for run in runs if run.together)
    # Of a report over several experiments the names of runs may be the same.
    groups = by_key(together, lambda run: (run.piece, frozenset((run.name, *run.together))))
    return tuple(filter(None, map(_picture, groups.values())))


def _picture(group: Sequence[RunReport]) -> Joint | None:
    drawn = [(run, run.detail.timeline) for run in group if run.detail is not None]
    drawn = [(run, time) for run, time in drawn if time.faults and time.routes.sends]
    if len(drawn) < 2:
        return None
    (first, timeline), *_ = drawn
    until_s = max(time.until_s - _origin_s(time) for _, time in drawn)
    scale = Scale(-BEFORE_S, max(until_s, 1.0))
    routes = [row for _, time in drawn for row in (*time.routes.servers, *time.routes.believed)]
    # Brokers whose master a name server or a client had dropped at some time.
    dropped = (row for row in routes if any(one.state == DROPPED for one in row.stretches))
    lost = {row.broker for row in dropped if row.is_master}
    return Joint(
        place="{} on {} {}, repeat {}".format(*first.cell[:3], first.repeat),
        ticks=tuple(ticks(scale)),
        faults=tuple(_faults(timeline, scale)),
        servers=tuple(scale.lanes(_shifted(timeline.routes.servers, timeline))),
        believed=tuple(lane for run, time in drawn for lane in _believed(run, time, lost, scale)),
        sends=tuple(lane for run, time in drawn for lane in _sends(run, time, scale)),
    )


def _origin_s(timeline: Timeline) -> float:
    return timeline.faults[0].issued_ns / NS


def _faults(timeline: Timeline, scale: Scale) -> Iterator[Lane]:
    origin_s = _origin_s(timeline)
    for fault in timeline.faults:
        until_s = scale.until_s if fault.ended_ns is None else fault.ended_ns / NS - origin_s
        span = scale.span(fault.issued_ns / NS - origin_s, until_s, "held", fault.words)
        yield Lane(f"fault {fault.number}", (span,))


def _believed(
    run: RunReport, timeline: Timeline, lost: Collection[str], scale: Scale
) -> Iterator[Lane]:
    """What each client's route had of these masters, named as its sends are."""
    sending = {row.source for row in timeline.routes.sends}
    for row in _shifted(timeline.routes.believed, timeline):
        if row.source in sending and row.is_master and row.broker in lost:
            yield from scale.lanes([replace(row, source=_whose(run, row.source))])


def _sends(run: RunReport, timeline: Timeline, scale: Scale) -> Iterator[Lane]:
    for row in _shifted(timeline.routes.sends, timeline):
        yield from scale.lanes([replace(row, source=_whose(run, row.source))])


def _whose(run: RunReport, worker: str) -> str:
    """Return a publisher's client, and the name server that it used when the fault began."""
    failing_sends = run.detail.failing if run.detail is not None else ()
    name_servers = {one.publisher: one.name_server for one in failing_sends if one.window == 1}
    whom = name_servers.get(worker, "")
    return f"{run.cell[3]}, {f'queries {whom}' if whom else worker}"


def _shifted(rows: Iterable[RouteRow], timeline: Timeline) -> Iterator[RouteRow]:
    by_ns = timeline.faults[0].issued_ns
    for row in rows:
        # A title gives times of the run, which are not those of the picture.
        moved = (
            replace(one, from_ns=one.from_ns - by_ns, until_ns=one.until_ns - by_ns, title="")
            for one in row.stretches
        )
        yield replace(row, stretches=tuple(moved))
