"""One run as a page shows it: timeline, faults, recovery, verdicts, stories, doubts, where from.

1. What could not be judged stands there with its reason and what to do, never in small print.
2. Sentences are those of the verdicts; nothing is judged or rounded a second time here.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.claims.judge import ClaimOutcome, worst
from harness.judging.result import Report, RunReport
from harness.report.charts.chart import Chart, chart
from harness.report.page import formats
from harness.report.page.cells import CellView, badge_of
from harness.report.page.claims import Seen, seen
from harness.report.page.faults import WindowView, window
from harness.report.page.outs import NOT_OUT, length, spell_text, worst_text
from harness.report.page.totals import worst_of
from harness.report.page.versions import of_brokers
from harness.run_folder.process_ends import unplanned_text
from harness.view.audited import describe_start
from harness.view.summary import Number, Summary
from harness.view.timeline import FaultSpan, OperationSpan


@dataclass(frozen=True, slots=True)
class StepView:
    at: str
    sort: str
    text: str
    counted: bool


@dataclass(frozen=True, slots=True)
class StoryView:
    message: str
    near: str
    steps: tuple[StepView, ...]


@dataclass(frozen=True, slots=True)
class AffectedView:
    """One class of affected messages, and the stories of some of them."""

    name: str
    detail: str
    meaning: str
    number: str
    grave: bool
    omission: str
    stories: tuple[StoryView, ...]


@dataclass(frozen=True, slots=True)
class StageView:
    name: str
    meaning: str
    text: str
    reached: bool


@dataclass(frozen=True, slots=True)
class FaultView:
    """A window, and how clients recovered from it."""

    window: WindowView
    stages: tuple[StageView, ...]
    stages_doubt: str


@dataclass(frozen=True, slots=True)
class OperationView:
    """One operation: what was asked for, and what became of it."""

    number: int
    title: str
    resolved: str
    tone: str
    badge: str
    when: str
    detail: str


@dataclass(frozen=True, slots=True)
class RowView:
    """One line of the table behind the drawing."""

    at: str
    due: str
    missed: str
    confirmed: str
    delivered: str
    p50: str
    p99: str


@dataclass(frozen=True, slots=True)
class RunView:
    name: str
    anchor: str
    repeat: int
    cell: CellView
    tone: str
    badge: str
    facts: tuple[str, ...]
    failure: str
    verdicts: tuple[tuple[str, Seen], ...]  # the claim's meaning, and what was seen of it
    not_applicable: int
    doubts: tuple[str, ...]
    advice: tuple[str, ...]
    observations: tuple[tuple[bool, str], ...]
    chart: Chart | None
    slice_s: int
    rows: tuple[RowView, ...]
    outages: tuple[str, ...]  # of the run, of its worst queue and its worst publisher
    faults: tuple[FaultView, ...]
    operations: tuple[OperationView, ...]
    process_ends: tuple[tuple[str, str], ...]  # badge's tone, and the sentence
    audit_starts: tuple[tuple[str, str], ...]  # likewise
    affected: tuple[AffectedView, ...]
    happenings: tuple[StepView, ...]
    happenings_left_out: int
    origins: tuple[tuple[str, str], ...]  # seed, deployment, versions: where it comes from
    unreadable: str
    piece: str  # the experiment that it is of, in a report over several
    left_out: str  # why its timeline and stories are not here; "" where they are


LENGTHY_MAX = 60  # each takes some 80 KB


def runs(report: Report, views: Iterable[CellView]) -> tuple[RunView, ...]:
    by_cell = {view.cell: view for view in views}
    whole = at_length(report)
    return tuple(
        _run(number, run, report, by_cell[run.cell], number in whole)
        for number, run in enumerate(report.runs, start=1)
    )


def at_length(report: Report) -> frozenset[int]:
    """Return the numbers of the runs that get a timeline and stories, LENGTHY_MAX at most.

    Of every cell its gravest run comes first, of all cells the gravest, in the order of runs.
    """
    ranked: list[tuple[int, int, int]] = []
    seen_of: Counter[tuple[str, ...]] = Counter()
    graded = [(_grade(run), number, run) for number, run in enumerate(report.runs, start=1)]
    for grade, number, run in sorted(graded, key=lambda one: one[:2]):
        ranked.append((seen_of[run.cell], grade, number))
        seen_of[run.cell] += 1
    return frozenset(number for _, _, number in sorted(ranked)[:LENGTHY_MAX])


def _grade(run: RunReport) -> int:
    order = list(formats.BADGES)
    return min((order.index(one.outcome) for one in run.verdicts), default=len(order))


def _short(run: RunReport) -> RunReport:
    """Without what takes most room; its faults, verdicts and numbers stay."""
    if run.detail is None:
        return run
    timeline = replace(
        run.detail.timeline, slices=(), happenings=(), happenings_left_out=0, marks=()
    )
    return replace(run, detail=replace(run.detail, timeline=timeline, affected=()))


def _left_out(run: RunReport) -> str:
    where = f"the report of experiment {run.piece} has them"
    if not run.piece:
        where = f"what was recorded is in runs/{run.name}/raw"
    return f"Timeline and stories are left out in a report of so many runs: {where}."


def _run(number: int, run: RunReport, report: Report, cell: CellView, whole: bool) -> RunView:
    left_out = "" if whole or run.detail is None else _left_out(run)
    run = run if whole else _short(run)
    promises = (one.outcome for one in run.verdicts if one.is_promise)
    tone, badge = badge_of(worst(promises) if run.verdicts else None)
    applicable = [one for one in run.verdicts if one.outcome is not ClaimOutcome.NOT_APPLICABLE]
    applicable.sort(key=lambda one: list(formats.BADGES).index(one.outcome))
    detail = run.detail
    timeline = detail.timeline if detail else None
    return RunView(
        name=run.name,
        anchor=f"run-{number}",
        repeat=run.repeat,
        cell=cell,
        tone=tone,
        badge=badge,
        facts=_facts(run),
        failure=run.failure,
        verdicts=tuple((one.meaning, seen(run, one, report, (cell,))) for one in applicable),
        not_applicable=len(run.verdicts) - len(applicable),
        doubts=run.doubts,
        advice=tuple(dict.fromkeys(text for one in run.verdicts for text in one.advice)),
        observations=tuple((one.judged, one.text) for one in run.observations),
        chart=chart(timeline) if timeline and whole else None,
        slice_s=timeline.slice_s if timeline else 1,
        rows=_rows(run),
        outages=_outages(run),
        faults=tuple(_fault(fault) for fault in timeline.faults) if timeline else (),
        operations=tuple(map(_operation, timeline.operations)) if timeline else (),
        process_ends=tuple(
            ("fail" if one.by_itself else "open", unplanned_text(one))
            for one in (detail.process_ends if detail else ())
        ),
        audit_starts=tuple(
            ("open" if one.answered_ns is None else "pass", describe_start(one))
            for one in (detail.audit_starts if detail else ())
        ),
        affected=_affected(run),
        happenings=tuple(
            StepView(formats.after(one.at_ns), one.sort, f"{one.who}: {one.text}", not one.ok)
            for one in (timeline.happenings if timeline else ())
        ),
        happenings_left_out=timeline.happenings_left_out if timeline else 0,
        origins=_origins(run),
        unreadable=detail.unreadable if detail else "",
        piece=run.piece,
        left_out=left_out,
    )


def _facts(run: RunReport) -> tuple[str, ...]:
    """What is read while the run is still folded."""
    one = run.summary
    if one is None:
        return ("not judged",)
    facts = [f"{formats.bound(one.lost)} of {formats.count(one.confirmed)} lost"]
    if not one.lost.least and not one.lost.exact:
        facts = ["loss: not decided"]
    if one.stranded.least:
        facts.append(f"{formats.bound(one.stranded)} stranded")
    if one.duplicated.least:
        facts.append(f"{formats.bound(one.duplicated)} duplicated")
    facts += _outs(one)
    for name, word in (("silence_s", "silent"), ("degraded_s", "degraded")):
        found = worst_of(one, name)
        if found is not None:
            facts.append(f"{word} {_time(found)}")
        elif one.outages and not (one.no_downtime and name == "degraded_s"):
            facts.append(f"{word}: unknown")
    return tuple(facts)


def _outages(run: RunReport) -> tuple[str, ...]:
    """Return each outage as a sentence, for readers who cannot point at a bar."""
    outs = run.detail.timeline.outs if run.detail else ()
    return tuple(spell_text(spell, 0) for out in outs for spell in out.spells)


def _outs(one: Summary) -> list[str]:
    """Return the run as a whole, and the queue or publisher that was unavailable for longest."""
    if one.out_s.least is None:
        return ["downtime: unknown"] if one.out_s.why else []
    run = length(one.outs[0]) if one.out_s.least else ""
    worst = [worst_text(one.worst)] if one.worst is not None else []
    return [f"downtime {run}" if run else NOT_OUT, *worst]


def _time(number: Number) -> str:
    return f"{'' if number.exact else '≥ '}{formats.seconds(number.least or 0.0)}"


def _rows(run: RunReport) -> tuple[RowView, ...]:
    slices = run.detail.timeline.slices if run.detail else ()
    return tuple(
        RowView(
            f"+{one.from_s}",
            formats.count(one.operations),
            formats.count(one.missed),
            formats.count(one.confirmed),
            formats.count(one.delivered),
            "" if one.p50_ms is None else f"{one.p50_ms:,.1f}",
            "" if one.p99_ms is None else f"{one.p99_ms:,.1f}",
        )
        for one in slices
    )


def _fault(fault: FaultSpan) -> FaultView:
    return FaultView(
        window=window(fault),
        stages=tuple(
            StageView(
                formats.stage_name(row.stage),
                formats.stage_meaning(row.stage),
                f"{'' if row.reached else 'not within '}{row.after_ns / 1e9:.3f} s",
                row.reached,
            )
            for row in sorted(fault.stages, key=lambda row: (not row.reached, row.after_ns))
        ),
        stages_doubt=fault.stages_doubt,
    )


def _operation(one: OperationSpan) -> OperationView:
    tone, badge = ("pass", "DONE") if one.ok else ("open", "FAILED")
    when = "never" if one.began_ns is None else f"from {formats.after(one.began_ns)}"
    if one.returned_ns is not None:
        when += f" to {formats.after(one.returned_ns)}"
    if one.requested_ns is not None:
        when += f", requested at {formats.after(one.requested_ns)}"
    title = f"{one.kind} {one.target}".strip()
    return OperationView(one.number, title, one.resolved, tone, badge, when, one.detail)


def _affected(run: RunReport) -> tuple[AffectedView, ...]:
    found = run.detail.affected if run.detail else ()
    return tuple(
        AffectedView(
            name=formats.measure_name(one.measure),
            detail=one.detail.replace("_", " "),
            meaning=formats.meaning(one.measure),
            number=formats.count(one.number),
            grave=formats.is_grave(one.measure, one.detail),
            omission=_omission_note(len(one.traces), one.number),
            stories=tuple(
                StoryView(
                    trace.message,
                    trace.near,
                    tuple(
                        StepView(formats.after(step.at_ns), step.sort, step.text, step.counted)
                        for step in trace.steps
                    ),
                )
                for trace in one.traces
            ),
        )
        for one in found
    )


def _omission_note(stories: int, number: int) -> str:
    if not stories:
        return "no story is shown here: graver ones took the space"
    if stories == number:
        return ""
    shown = formats.plural(stories, "message")
    return f"the first {shown} of {formats.count(number)}, by time"


def _origins(run: RunReport) -> tuple[tuple[str, str], ...]:
    pairs = [
        ("seed of the run", str(run.seed)),
        ("folder", f"runs/{run.name.rpartition('/')[2]}/"),
    ]
    pairs = [("experiment", run.piece), *pairs] if run.piece else pairs
    pairs += [(of_brokers(run.cell[1]), run.brokers)] if run.brokers else []
    detail = run.detail
    if detail is not None:
        pairs += [("deployment", detail.deployment)] if detail.deployment else []
        pairs += [
            (worker.name, _worker(worker.exit_code, worker.log_closed, worker.failure))
            for worker in detail.workers
        ]
    pairs += [("note", note) for note in run.notes]
    return tuple(pairs)


def _worker(exit_code: int | None, log_closed: bool, doubt: str) -> str:
    log = "log complete" if log_closed else "log not closed"
    code = "it did not say how it ended" if exit_code is None else f"exit code {exit_code}"
    return f"{log}, {code}" + (f": {doubt}" if doubt else "")
