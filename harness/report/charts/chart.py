"""A run's timeline as a drawing: places and paths, pure, with no idea of HTML.

1. Positions on the time axis are per cent of the width, so that a chart fits every screen. Texts
   stay texts: the renderer sets them in a fixed size.
2. Every slice has a sentence that says its numbers.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from harness.claims.judge import ClaimOutcome
from harness.claims.times import stage_text
from harness.report.charts.plots import late_share, plots
from harness.report.charts.scale import NS, Lane, Scale, Span, ticks
from harness.report.page.faults import beginning
from harness.report.page.formats import (
    StageTime,
    measure_name,
    phase_title,
    share,
    stage_name,
    stage_time,
)
from harness.report.page.outs import drawn, spell_text
from harness.view.grouping import by_key
from harness.view.summary import NEVER_LATE, WindowOutage
from harness.view.timeline import FaultSpan, Mark, Slice, Timeline
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.digest import SUSTAINED
from spark_analysis.schema.measure import Grade, Measure
from spark_analysis.schema.measures import GONE, REGISTER
from spark_analysis.schema.service import RUN, SYSTEM

_LANES = tuple(  # of affected messages, the gravest first; unknown ones have no lane
    each
    for each in REGISTER
    if each.listed and not each.of_times and each.grade in (Grade.VIOLATION, Grade.HARMLESS)
)


class Hit(NamedTuple):
    """A slice's column in the box of a plot, and its sentence."""

    x: float
    width: float
    title: str


class FaultRow(NamedTuple):
    """A fault's own rows: as it was asked for, where anything was, and as it was."""

    name: str  # "fault 2"; "fault" where it is the only one
    requested: tuple[Span, ...]
    held: tuple[Span, ...]


class Key(NamedTuple):
    """One entry of the legend below the rows: a tone, the rows that have it, what it means."""

    rows: str
    tone: str
    text: str


KEYS = (
    Key("asked", "asked", "time that the scenario requests for the fault"),
    Key(
        "force",
        "held",
        "fault, from its injection to its undo (verified active and verified ended)",
    ),
    Key("force", "doubted", "fault, from its injection to its undo (not verified)"),
    Key("outages", "out", "outage that ended without the undo of a fault"),
    Key("outages", "open", "outage that did not end, or that the undo may have ended"),
    Key("stage", "reached", "time from the fault to a recovery step"),
    Key("stage", "missing", "recovery step not reached"),
    Key("stage", "doubted", "not judged, or not measured"),
    Key("marks", Grade.VIOLATION.value, "messages affected; see FAIL below for broken promises"),
    Key("marks", "doubted", "messages affected; whether a promise is broken is not decided"),
    Key("marks", "predicted", "messages affected: harm that a warning predicted"),
    Key("marks", Grade.HARMLESS.value, "messages affected, no promise broken"),
    Key("marks", "fine", "event of clients or probes: good"),
    Key("marks", "bad", "event of clients or probes: failure"),
)


# Of messages that a promise may cover, by the worst verdict on a promise of the run.
_TONES = {
    ClaimOutcome.FAIL: Grade.VIOLATION.value,
    ClaimOutcome.INCONCLUSIVE: "doubted",
    ClaimOutcome.PASS: Grade.HARMLESS.value,
    ClaimOutcome.NOT_APPLICABLE: Grade.HARMLESS.value,
}


class Chart:
    """`promises`: the worst verdict on a promise of the run; None: the run was not judged.
    `outages`: of the run, by window. `predicted`: measures whose harm a warning predicted."""

    def __init__(
        self,
        timeline: Timeline,
        promises: ClaimOutcome | None = None,
        outages: Sequence[WindowOutage] = (),
        predicted: Collection[str] = (),
    ) -> None:
        scale = Scale(timeline.from_s, max(timeline.until_s, timeline.from_s + 1))
        routes = timeline.routes
        self.label = _label(timeline)  # for those who cannot see it
        self.ticks = tuple(ticks(scale))
        self.phases = tuple(_phases(timeline, scale))
        self.faults = tuple(_fault_rows(timeline, scale))
        self.plots = tuple(plots(timeline, scale))
        self.hits = tuple(_hit(one, timeline, scale) for one in timeline.slices)
        self.outs = tuple(_outs(timeline, scale))  # of the run, its worst queue and publisher
        self.stages = tuple(_stages(timeline, scale, outages))
        grave = _TONES[ClaimOutcome.INCONCLUSIVE if promises is None else promises]
        foretold = () if promises in (None, ClaimOutcome.FAIL) else predicted
        self.lanes = tuple(_lanes(timeline, scale, grave, foretold))
        # Which host served each queue; what name servers showed says more.
        self.serving = () if routes.servers else tuple(_serving(timeline, scale))
        self.servers = tuple(scale.lanes(routes.servers))  # what each showed of each broker
        self.clients = tuple(scale.lanes(routes.clients))  # which name server each asked
        self.believed = tuple(scale.lanes(routes.believed))  # where their routes had each broker
        self.sends = tuple(scale.lanes(routes.sends))  # of publishers that ask name servers
        self.servers_left_out, self.believed_left_out = routes.left_out, routes.believed_left_out
        self.unknown = timeline.use.unknown  # what of the brokers' use is not drawn, and why

    @property
    def legend(self) -> tuple[Key, ...]:
        """The tones that are drawn, and no others."""
        rows = (("outages", self.outs), ("stage", self.stages), ("marks", self.lanes))
        drawn = {("force", span.tone) for fault in self.faults for span in fault.held}
        drawn |= {("asked", "asked") for fault in self.faults if fault.requested}
        drawn |= {(name, span.tone) for name, own in rows for lane in own for span in lane.spans}
        return tuple(key for key in KEYS if (key.rows, key.tone) in drawn)


def _label(timeline: Timeline) -> str:
    faults = "; ".join(
        f"{fault.kind} at +{fault.issued_ns / NS:.1f} s" for fault in timeline.faults
    )
    return (
        f"Timeline from +{timeline.from_s} s to +{timeline.until_s} s: success, rates and latency "
        f"in slices of {timeline.slice_s} s; faults: {faults or 'none'}"
    )


def _phases(timeline: Timeline, scale: Scale) -> Iterable[Span]:
    names = [*timeline.phases, ("", round(timeline.until_s * NS))]
    for (name, began_ns), (_, ended_ns) in pairwise(names):
        if began_ns / NS < scale.until_s and ended_ns > began_ns:
            words = phase_title(name)
            title = f"{words}, from +{began_ns / NS:.1f} s"
            yield scale.span(began_ns / NS, ended_ns / NS, name, words, title)


def _fault_rows(timeline: Timeline, scale: Scale) -> Iterable[FaultRow]:
    for fault in timeline.faults:
        name = f"fault {fault.number}" if len(timeline.faults) > 1 else "fault"
        requested = tuple(_requested_span(fault, timeline, scale))
        yield FaultRow(name, requested, (_held(fault, scale),))


def _requested_span(fault: FaultSpan, timeline: Timeline, scale: Scale) -> Iterable[Span]:
    """Yield the requested time. It begins later if the fault has to wait for an earlier one."""
    if fault.requested_from_ns is not None and fault.requested_until_ns is not None:
        begins = beginning(fault, timeline)
        from_ns = fault.requested_from_ns if begins.at_ns is None else begins.at_ns
        lasts_s = (fault.requested_until_ns - fault.requested_from_ns) / NS
        title = f"fault {fault.number} was requested {begins.text}, for {lasts_s:.1f} s"
        until_s = from_ns / NS + lasts_s
        yield scale.span(from_ns / NS, until_s, "asked", fault.describe(fault.target), title)


def _held(fault: FaultSpan, scale: Scale) -> Span:
    until_s = scale.until_s if fault.ended_ns is None else fault.ended_ns / NS
    tone = "held" if fault.verified else "doubted"
    end = "and never undone" if fault.ended_ns is None else f"and undone by +{until_s:.1f} s"
    seen = "verified" if fault.verified else fault.doubt or "not verified"
    title = f"fault {fault.number} was injected at +{fault.issued_ns / NS:.3f} s {end}: {seen}"
    return scale.span(fault.issued_ns / NS, until_s, tone, fault.words, title)


def _hit(one: Slice, timeline: Timeline, scale: Scale) -> Hit:
    left, right = scale.columns(one.from_s, timeline.slice_s)
    on_time = one.operations - one.missed
    parts = [f"+{one.from_s} s"]
    if one.operations:
        late = one.missed and one.late_from_s is not None
        of = f"drawn as {share(late_share(one, timeline.slice_s))} of the messages since then"
        since = f", the late ones due from +{one.late_from_s:.3f} s on ({of})" if late else ""
        parts.append(f"{on_time:,} of {one.operations:,} on time{since}")
    parts.append(f"{one.confirmed:,} confirmed, {one.delivered:,} {timeline.delivered}")
    if one.p50_ms is not None and one.p99_ms is not None:
        parts.append(f"half within {one.p50_ms:,.1f} ms, 99 % within {one.p99_ms:,.1f} ms")
    return Hit(round(left, 1), round(right - left, 1), "; ".join(parts))


def _outs(timeline: Timeline, scale: Scale) -> Iterable[Lane]:
    for out in drawn(timeline.outs):
        name = "downtime" if out.scope == RUN else f"{out.scope} {out.name} downtime"
        spans = []
        for one in out.spells:
            tone = "out" if one.ended == SYSTEM else "open"
            title = spell_text(one, timeline.faults, stalled_s=out.stalled_s)
            spans.append(scale.span(one.from_ns / NS, one.until_ns / NS, tone, "", title))
        yield Lane(name, tuple(spans))


def _stages(timeline: Timeline, scale: Scale, outages: Sequence[WindowOutage]) -> Iterable[Lane]:
    """A row each; with several faults its name says which of them it follows."""
    several = len(timeline.faults) > 1
    for fault in timeline.faults:
        after = f", fault {fault.number}" if several else ""
        on_time = any(one.never_late for one in outages if one.window == fault.number)
        # Whether a message was late from the second of the fault on, or perhaps was.
        from_s = fault.issued_ns / NS - timeline.slice_s
        later = [one.missed for one in timeline.slices if one.from_s > from_s]
        late = not on_time and (not later or any(later))
        for row in sorted(fault.stages, key=lambda row: (not row.reached, row.after_ns)):
            span = _stage(row, fault, scale, late, outages)
            yield Lane(f"{stage_name(row.stage)}{after}", (span,))


def _stage(
    row: Stage, fault: FaultSpan, scale: Scale, late: bool, outages: Sequence[WindowOutage]
) -> Span:
    from_s, after_s = fault.issued_ns / NS, row.after_ns / NS
    time = stage_time(row, outages, after="")
    unneeded = row.stage == SUSTAINED and not late and not fault.doubt_of(row.stage)
    if unneeded:
        time = StageTime(NEVER_LATE, "", known=True)
    text, tone = time.text, "reached" if row.reached else "missing"
    if not time.known:  # also of a stage that is not judged: a time near zero says nothing
        tone = "doubted"
    elif fault.doubt_of(row.stage):
        text, tone = f"{stage_text(row, after='')}, not judged", "doubted"
    is_exact = time.known and row.reached and not unneeded
    less_s = row.uncertainty_ns / NS if is_exact else 0.0
    margin = f" (or up to {less_s:.3f} s less)" if less_s >= 0.001 else ""
    title = f"fault {fault.number}: {stage_name(row.stage)} {text}{margin}"
    return scale.span(from_s, from_s + after_s, tone, text, title)


def _lanes(
    timeline: Timeline, scale: Scale, grave: str, predicted: Collection[str]
) -> Iterable[Lane]:
    """`grave`: the tone of messages that a promise may cover. `predicted`: measures that a warning
    covers."""
    for measure in _LANES:
        name, spans = _lane_name(measure), list[Span]()
        tone = grave if measure.grade is Grade.VIOLATION else measure.grade.value
        tone = "predicted" if measure.name in predicted else tone
        for mark in (mark for mark in timeline.marks if mark.measure == measure.name):
            title = f"+{mark.from_s} s: {mark.messages:,} {name}"
            from_s, until_s = _of_load(measure, mark, timeline)
            spans.append(scale.span(from_s, until_s, tone, "", title))
        if spans:
            yield Lane(name, tuple(spans))
    if timeline.operations:
        yield Lane("operation", tuple(_operated(timeline, scale)))
    for sort in ("process", "probe", "client", "stall"):
        spans = []
        # A failure comes last, so that no good event is drawn over it.
        of_sort = (one for one in timeline.happenings if one.sort == sort)
        for one in sorted(of_sort, key=lambda one: not one.ok):
            at_s, tone = one.at_ns / NS, "fine" if one.ok else "bad"
            title = f"+{at_s:.3f} s, {one.who}: {one.text}"
            spans.append(scale.span(at_s, at_s, tone, "", title))
        if spans:
            yield Lane(sort, tuple(spans))


def _lane_name(measure: Measure) -> str:
    """Return `sent then, lost later`: a mark stands where the message was sent."""
    name = measure_name(measure.name).lower()
    return f"sent then, {name} later" if measure.name in GONE and _is_sent(measure) else name


def _is_sent(measure: Measure) -> bool:
    return measure.instant in ("sent", "first sent")


def _of_load(measure: Measure, mark: Mark, timeline: Timeline) -> tuple[float, float]:
    """Return the stretch of a mark: nothing was sent before the load began."""
    from_s, until_s = float(mark.from_s), float(mark.from_s + timeline.slice_s)
    began_s = timeline.loaded_ns[0] / NS
    if _is_sent(measure) and from_s < began_s < until_s:
        from_s = began_s
    return from_s, until_s


def _serving(timeline: Timeline, scale: Scale) -> Iterable[Lane]:
    """Yield a lane a queue: the host that brokers named, from its first look to its last, and when
    mqproof did not query them."""
    for queue, looks in by_key(timeline.looks, lambda look: look.queue).items():
        spans, last_s, before = list[Span](), scale.from_s, ""
        for host, alike in groupby(looks, key=lambda look: look.serving):
            own = list(alike)
            from_s, until_s = own[0].began_ns / NS, own[-1].at_ns / NS
            name = host or f"no {timeline.serving}"
            copies = ", ".join(map(own[-1].describe, own[-1].copies)) or "none"
            seen = f"{name}, from +{from_s:.3f} s to +{until_s:.3f} s; other copies: {copies}"
            spans += _unqueried(last_s, from_s, before, scale)
            spans.append(scale.span(from_s, until_s, "shown" if host else "silent", name, seen))
            last_s, before = until_s, f" (last answer: {name})"
        spans += _unqueried(last_s, scale.until_s, before, scale)
        yield Lane(f"{timeline.serving} of {queue}", tuple(spans))


def _unqueried(from_s: float, until_s: float, before: str, scale: Scale) -> Iterable[Span]:
    """Yield the time in which brokers were not queried. `before`: their last answer."""
    from_s, until_s = max(from_s, scale.from_s), min(until_s, scale.until_s)
    if from_s < until_s:
        title = f"mqproof did not query the brokers from +{from_s:.3f} s to +{until_s:.3f} s"
        yield scale.span(from_s, until_s, "unqueried", f"not queried{before}", title)


def _operated(timeline: Timeline, scale: Scale) -> Iterable[Span]:
    """Each operation from its begin to its end; one without an end is a moment."""
    for one in timeline.operations:
        if one.began_ns is not None:
            from_s = one.began_ns / NS
            until_s = from_s if one.returned_ns is None else one.returned_ns / NS
            text = f"{one.kind} {one.resolved or one.target}".strip()
            title = f"+{from_s:.3f} s to +{until_s:.3f} s, {text}: {one.detail}"
            yield scale.span(from_s, until_s, "fine" if one.ok else "bad", "", title)
