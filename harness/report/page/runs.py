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
from harness.view.detail import AffectedClass
from harness.view.message_traces import TraceStep
from harness.view.summary import Number, Summary
from harness.view.timeline import FaultSpan, OperationSpan


@dataclass(frozen=True, slots=True)
class RunView:
    """A run, and what its page says in words. `report`: what was found, shortened in a report of
    many runs."""

    report: RunReport
    anchor: str
    cell: CellView
    tone: str
    badge: str
    facts: tuple[str, ...]
    verdicts: tuple[Seen, ...]  # of claims that apply
    not_applicable: int
    advice: tuple[str, ...]
    chart: Chart | None
    outages: tuple[str, ...]  # of the run, of its worst queue and its worst publisher
    faults: tuple[tuple[WindowView, FaultSpan], ...]
    operations: tuple[tuple[OperationSpan, str], ...]  # and when it went on
    process_ends: tuple[tuple[str, str], ...]  # badge's tone, and the sentence
    audit_starts: tuple[tuple[str, str], ...]  # likewise
    affected: tuple[tuple[AffectedClass, str], ...]  # and a note on omitted ones
    happenings: tuple[TraceStep, ...]
    origins: tuple[tuple[str, str], ...]  # seed, deployment, versions: where it comes from
    left_out: str  # why its timeline and stories are not here; "" where they are

    @property
    def name(self) -> str:
        return self.report.name


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
        report=run,
        anchor=f"run-{number}",
        cell=cell,
        tone=tone,
        badge=badge,
        facts=_facts(run),
        verdicts=tuple(seen(run, one, report, (cell,)) for one in applicable),
        not_applicable=len(run.verdicts) - len(applicable),
        advice=tuple(dict.fromkeys(text for one in run.verdicts for text in one.advice)),
        chart=chart(timeline) if timeline and whole else None,
        outages=_outages(run),
        faults=tuple((window(one), one) for one in (timeline.faults if timeline else ())),
        operations=tuple((one, _when(one)) for one in (timeline.operations if timeline else ())),
        process_ends=tuple(
            ("fail" if one.by_itself else "open", unplanned_text(one))
            for one in (detail.process_ends if detail else ())
        ),
        audit_starts=tuple(
            ("open" if one.answered_ns is None else "pass", describe_start(one))
            for one in (detail.audit_starts if detail else ())
        ),
        affected=tuple(
            (one, _omission_note(len(one.traces), one.number))
            for one in (detail.affected if detail else ())
        ),
        happenings=tuple(
            TraceStep(one.at_ns, one.sort, f"{one.who}: {one.text}", not one.ok)
            for one in (timeline.happenings if timeline else ())
        ),
        origins=_origins(run),
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
    for name, word in (("silence_s", "silent"), ("degraded_s", "on time again after")):
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


def _when(one: OperationSpan) -> str:
    when = "never" if one.began_ns is None else f"from {formats.after(one.began_ns)}"
    if one.returned_ns is not None:
        when += f" to {formats.after(one.returned_ns)}"
    if one.requested_ns is not None:
        when += f", requested at {formats.after(one.requested_ns)}"
    return when


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
