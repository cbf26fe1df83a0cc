"""One run as a page shows it: timeline, faults, recovery, verdicts, stories, doubts, where from.
And what a cell opens into: its claims, its numbers over the repeats, its runs.

1. What could not be judged stands there with its reason and what to do, never in small print.
2. Sentences are those of the verdicts; nothing is judged or rounded a second time here.
3. Of a cell, claims that failed come first; those that do not apply are counted only.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from harness.claims.judge import ClaimOutcome, ClaimVerdict, worst
from harness.judging.result import Report, RunReport
from harness.plan.model import cell_of
from harness.report.charts.chart import Chart
from harness.report.lines import of_brokers, standing_of, to_do
from harness.report.page import formats, outs
from harness.report.page.answers import NAMES_MAX
from harness.report.page.cells import CellView, badge_of
from harness.report.page.claims import TONES, ClaimView, Seen
from harness.report.page.faults import windows
from harness.report.page.measures import applicable, numbers
from harness.report.page.places import listed
from harness.report.page.totals import deadline, deadline_text, worst_of
from harness.report.tried import reasons
from harness.run_folder.manifest import Manifest
from harness.run_folder.process_ends import unplanned_text
from harness.view.detail import AffectedClass, Detail
from harness.view.failing import failed_text, of_first_fault
from harness.view.grouping import by_key
from harness.view.observations import describe_start
from harness.view.pausing import pause_note
from harness.view.summary import (
    AT_ONCE,
    LATER_LATE,
    NEVER_LATE,
    NOT_MEASURED,
    Number,
    Summary,
    is_near_zero,
)
from harness.view.takeovers import steps_of
from harness.view.timeline import OperationSpan
from harness.view.trace_steps import MessageTrace, TraceStep
from spark_analysis.schema.comparison import Comparison

LENGTHY_MAX = 60  # each takes some 80 KB
_ORDER = list(formats.BADGES)
_ON_TIME = "on time again (due time)", "after"
_COUNTED = " (counted from the fault; the downtime counts from its first late message)"


class RunView:
    """A run, and what its page says in words. `report`: what was found, shortened in a report of
    many runs; `left_out`: why its timeline and stories are not here, "" where they are."""

    def __init__(
        self, number: int, run: RunReport, report: Report, cell: CellView, whole: bool
    ) -> None:
        self.left_out = "" if whole or run.detail is None else _left_out(run)
        run = run if whole else _short(run)
        promises = [one.outcome for one in run.verdicts if one.is_promise]
        outcome = worst(promises) if run.verdicts else None
        applying = [one for one in run.verdicts if one.outcome is not ClaimOutcome.NOT_APPLICABLE]
        applying.sort(key=_place)
        self.report, self.name, self.anchor, self.cell = run, run.name, f"run-{number}", cell
        self.tone, self.badge = badge_of(outcome).shown
        warned = [one.claim for one in run.verdicts if one.came_true]
        failing = of_first_fault(run.detail.failing if run.detail is not None else ())
        failed = [f"from the first fault on, {text}"] if (text := failed_text(failing)) else []
        self.facts = (*_facts(run.summary, warned), *failed)
        self.verdicts = tuple(Seen(run, one, report, (cell,)) for one in applying)
        self.not_applicable = len(run.verdicts) - len(applying)
        self.advice = tuple(dict.fromkeys(_advice(run, report)))
        self.deadline = deadline([run])
        self.origins = tuple(_origins(run))  # where it comes from
        detail = run.detail
        timeline = detail.timeline if detail else None
        outages = run.summary.outages if run.summary is not None else ()
        drawn = timeline if whole else None
        self.chart = Chart(drawn, outcome, outages, predicted(run.verdicts)) if drawn else None
        self.outages = () if detail is None else tuple(_outages(detail))
        self.logs = outs.logs_of_brokers(run)
        self.faults = windows(timeline)
        self.ending = _ending(detail.manifest) if detail else ""
        self.operations = tuple(
            (one, _when(one)) for one in (timeline.operations if timeline else ())
        )
        # Of these two a badge's tone, and the sentence.
        self.process_ends = tuple(
            ("fail" if one.by_itself else "open", unplanned_text(one))
            for one in (detail.manifest.process_ends if detail else ())
        )
        self.audit_starts = tuple(
            ("open" if one.answered_ns is None else "pass", describe_start(one))
            for one in (detail.manifest.audit_starts if detail else ())
        )
        self.affected = tuple(_each_once(detail.affected if detail else ()))
        events = [
            TraceStep(one.at_ns, one.sort, f"{one.who}: {one.text}", not one.ok)
            for one in (timeline.happenings if timeline else ())
        ]
        taken = [step for _, step in steps_of(detail.takeovers if detail and whole else ())]
        self.happenings = tuple(sorted([*events, *taken], key=lambda step: step.at_ns))
        self.pause_note = (
            pause_note(detail.manifest.state, timeline.faults, timeline.happenings)
            if detail and timeline
            else ""
        )


class Drill:
    """What a cell opens into. Everything here stands elsewhere on the page, too, for all cells
    together."""

    def __init__(
        self,
        view: CellView,
        claims: Iterable[ClaimView],
        compared: Iterable[Comparison],
        runs: Sequence[RunView],
    ) -> None:
        chips = [(claim, claim.chips[view.number - 1]) for claim in claims]  # numbered from 1
        applying = [(claim, chip) for claim, chip in chips if chip.tone != "not_applicable"]
        self.cell, self.runs = view, tuple(runs)
        self.claims = tuple(sorted(applying, key=lambda one: TONES.index(one[1].tone)))
        others = len(chips) - len(applying)
        text = (
            f"{others} more {'claim does' if others == 1 else 'claims do'} not apply to this cell."
        )
        self.not_applicable = text if others else ""
        self.numbers = numbers(compared, view.runs)  # name, in short, in a sentence
        self.deadline = deadline_text(run.report for run in self.runs)


def runs(report: Report, views: Iterable[CellView]) -> tuple[RunView, ...]:
    by_cell = {view.cell: view for view in views}
    whole = at_length(report)
    return tuple(
        RunView(number, run, report, by_cell[run.cell], number in whole)
        for number, run in enumerate(report.runs, start=1)
    )


def drills(
    report: Report, views: Iterable[CellView], claims: Iterable[ClaimView], runs: Iterable[RunView]
) -> tuple[Drill, ...]:
    """One a cell, in their order."""
    every, own = tuple(claims), by_key(runs, lambda run: run.cell.number)
    rows = by_key(applicable(report), cell_of)
    return tuple(
        Drill(view, every, rows.get(view.cell, []), own.get(view.number, [])) for view in views
    )


def at_length(report: Report) -> frozenset[int]:
    """Return the numbers of the runs that get a timeline and stories, LENGTHY_MAX at most.

    Of every cell its gravest run comes first, of all cells the gravest, in the order of runs.
    """
    graded = sorted(
        (min(map(_place, run.verdicts), default=len(_ORDER)), number, run.cell)
        for number, run in enumerate(report.runs, 1)
    )
    cells = by_key(graded, lambda one: one[2]).values()
    ranked = ((turn, *one) for own in cells for turn, one in enumerate(own))
    return frozenset(number for _, _, number, _ in sorted(ranked)[:LENGTHY_MAX])


def _place(verdict: ClaimVerdict) -> int:
    """Return how grave a verdict is: 0 is the gravest."""
    return _ORDER.index(verdict.outcome)


def _short(run: RunReport) -> RunReport:
    """Without what takes most room; its faults, verdicts and numbers stay."""
    if run.detail is None:
        return run
    timeline = replace(
        run.detail.timeline, slices=(), happenings=(), happenings_left_out=0, marks=()
    )
    return replace(run, detail=replace(run.detail, timeline=timeline, affected=()))


def _left_out(run: RunReport) -> str:
    where = f"what was recorded is in runs/{run.name}/raw"
    if run.piece:
        where = f"the report of experiment {run.piece} has them"
    return f"Timeline and stories are left out in a report of so many runs: {where}."


def _advice(run: RunReport, report: Report) -> Iterator[str]:
    """Yield what to do about claims that could not be judged. If their reasons are not the run's
    caveats, which stand above the advice, claims and reasons come first. A decided verdict that is
    expected needs no advice."""
    found = ((one, standing_of(one, run, report).is_known) for one in run.verdicts)
    advised = (
        (one, expected)
        for one, expected in found
        if one.advice and not (expected and one.outcome is not ClaimOutcome.INCONCLUSIVE)
    )
    groups = by_key(advised, lambda each: (reasons(each[0]), each[0].advice, each[1]))
    for (why, advice, expected), alike in groups.items():
        text = f"{to_do(advice, expected=expected)}."
        if all(any(caveat in line for caveat in run.doubts) for line in why):
            yield text
            continue
        names = [one.claim for one, _ in alike[:NAMES_MAX]]
        names += [f"{len(alike) - NAMES_MAX} more"] if len(alike) > NAMES_MAX else []
        yield f"{listed(names)}: {'; '.join(why)}. {text}"


def _outages(detail: Detail) -> Iterator[str]:
    """Yield each outage, for readers who cannot point at a bar."""
    line = detail.timeline
    for out in outs.drawn(line.outs):
        for spell in out.spells:
            text = outs.spell_text(spell, line.faults, stalled_s=out.stalled_s)
            yield f"{text}{outs.answered(spell, detail)}"


def _facts(one: Summary | None, warned: Sequence[str] = ()) -> Iterator[str]:
    """Yield what is read while the run is still folded. `warned`: the warnings that came true."""
    if one is None:
        yield "not judged"
        return
    groups = f" × {one.groups} groups" if one.groups > 1 else ""
    lost = f"{formats.bound(one.lost)} of {formats.count(one.confirmed)}{groups} lost"
    yield lost if one.lost.least or one.lost.exact else "loss: not decided"
    if warned:
        yield f"came true: warning{'s' if warned[1:] else ''} {listed(warned, NAMES_MAX)}"
    if one.stranded.least:
        yield f"{formats.bound(one.stranded)} stranded"
    if one.duplicated.least:
        yield f"{formats.bound(one.duplicated)} delivered more than once"
    # The run as a whole, and the queue or publisher that was unavailable for longest.
    if one.out_s.least is not None:
        yield f"downtime {outs.length(one.outs[0])}" if one.out_s.least else outs.NOT_OUT
        if one.worst is not None and not outs.is_repeated(one.worst, one.outs[0]):
            yield outs.worst_text(one.worst)
    elif one.out_s.why:
        yield "downtime: unknown"
    for name, word, link in (("silence_s", "no confirm", "for"), ("degraded_s", *_ON_TIME)):
        found, recovers = worst_of(one, name), name == "degraded_s"
        if recovers and one.never_late:
            yield NEVER_LATE
        elif recovers and found and found.exact and is_near_zero(found.least or 0.0):
            yield AT_ONCE
        elif found is not None:
            least = "" if found.exact else "≥ "
            later = sum(each.missed_later for each in one.outages) if recovers else 0
            tail = f"; {LATER_LATE}" if later else ""
            tail += _COUNTED if recovers and _outlasts(one, found) else ""
            yield f"{word} {link} {least}{formats.seconds(found.least or 0.0)}{tail}"
        elif one.outages and not (one.no_downtime and recovers):
            yield f"{word}: {NOT_MEASURED}"


def _outlasts(one: Summary, recovered: Number) -> bool:
    """Return whether the downtime is longer than the time from the fault until its end: messages
    that were due shortly before the fault were late, too."""
    longer = (one.out_s.least or 0.0) > (recovered.least or 0.0)
    return longer and len(one.outages) == 1 and one.outs[0].times == 1


def predicted(verdicts: Sequence[ClaimVerdict]) -> frozenset[str]:
    """Return the measures whose harm a warning predicted, without those about which a promise is
    broken or not decided."""
    came_true = {_measure(fact) for one in verdicts if one.came_true for fact in one.about}
    settled = ClaimOutcome.PASS, ClaimOutcome.NOT_APPLICABLE
    promises = (one for one in verdicts if one.is_promise and one.outcome not in settled)
    return frozenset(came_true - {_measure(fact) for one in promises for fact in one.about})


def _measure(fact: str) -> str:
    return fact.partition(".")[0]


def _ending(manifest: Manifest) -> str:
    """Return when the queues were emptied, and what the audit read; "" if a step is missing."""
    times = manifest.phases_ns
    steps = [("drain", "audit"), ("audit", "closing")]
    if any(each not in times for step in steps for each in step):
        return ""
    spans = [
        f"{name} from {formats.after(times[name])} to {formats.after(times[until])}"
        for name, until in steps
    ]
    readers = [one.name for one in manifest.workers if one.role == "auditor"]
    unread = [place for one in manifest.queues for place in one.unreadable]
    found = "the audit found no other place that may hold a message"
    if readers:
        found = f"the audit read other places ({listed(readers, NAMES_MAX)})"
    if unread:
        found += f"; it could not read {listed(unread, NAMES_MAX)}"
    return f"At the end of the chart and after it: {' and '.join(spans)}; {found}."


def _when(one: OperationSpan) -> str:
    when = "never" if one.began_ns is None else f"from {formats.after(one.began_ns)}"
    if one.returned_ns is not None:
        when += f" to {formats.after(one.returned_ns)}"
    if one.requested_ns is not None:
        when += f", requested at {formats.after(one.requested_ns)}"
    return when


def _each_once(found: Iterable[AffectedClass]) -> Iterator[tuple[AffectedClass, str]]:
    """Yield the classes, each with a note on what is not shown: stories stand once."""
    shown: set[tuple[MessageTrace, ...]] = set()
    for one in found:
        if one.traces in shown:
            yield replace(one, traces=()), "the same messages as above"
            continue
        shown |= {one.traces} if one.traces else set()
        note = "no story is shown here: graver ones took the space"
        if one.traces:
            first = f"the first {formats.plural(len(one.traces), 'message')}"
            whole = len(one.traces) == one.number
            note = "" if whole else f"{first} of {formats.count(one.number)}, by time"
        yield one, note


def _origins(run: RunReport) -> Iterator[tuple[str, str]]:
    """Yield seed, deployment, versions."""
    if run.piece:
        yield "experiment", run.piece
    yield "seed of the run", str(run.seed)
    yield "folder", f"runs/{run.name.rpartition('/')[2]}/"
    yield "logs of the brokers", outs.logs_of_brokers(run)
    if run.brokers:
        yield of_brokers(run.cell[1]), run.brokers
    manifest = run.detail.manifest if run.detail is not None else None
    if manifest is not None and manifest.deployment:
        yield "deployment", manifest.deployment
    for worker in manifest.workers if manifest is not None else ():
        log = "log complete" if worker.log_closed else "log not closed"
        code = f"exit code {worker.exit_code}"
        code = "it did not say how it ended" if worker.exit_code is None else code
        yield worker.name, f"{log}, {code}" + (f": {worker.failure}" if worker.failure else "")
    yield from (("note", note) for note in run.notes)
