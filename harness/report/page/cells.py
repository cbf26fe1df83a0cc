"""A sentence a cell.

1. A plain description of a cell comes first; names of layouts and clients stand below.
2. Losses come with the number of runs. If more than a fifth of the runs could not be judged, the
   page says that first.
"""

from collections.abc import Iterable, Sequence

from harness.claims.judge import ClaimOutcome
from harness.compare.expectations import CellResult, Standing
from harness.compare.rates import BOUNDS_FROM, Rate, rate, too_many
from harness.judging.exits import Judge
from harness.judging.result import CellTitle, Report, RunReport
from harness.judging.verdict_file import SpreadEntry
from harness.report.lines import NO_COMPARISON, cell_name
from harness.report.page import formats, outs
from harness.report.page.totals import RunTotals, loss_rate, median_text
from harness.report.tried import CellTable, tabulated
from harness.view.takeovers import NAME as TAKEOVER

TAKEOVERS_MAX = 2  # of a run, beside its sentence
_FOUND = (ClaimOutcome.PASS, ClaimOutcome.FAIL, ClaimOutcome.INCONCLUSIVE)
_STANDINGS = {
    Standing.AS_EXPECTED: "as expected",
    Standing.NEW: "no expectation is recorded",
    Standing.NOT_JUDGED: NO_COMPARISON,
}


class CellView:
    """One cell with all its runs. `standing`: how it stands to what is known of it."""

    def __init__(self, table: CellTable, report: Report) -> None:
        cell, totals = table.cell, table.totals
        result = report.result_of(cell)
        self.number, self.label = table.number, table.label
        self.cell, self.name = cell, cell_name(cell)
        self.title = report.titles.get(cell) or CellTitle(*cell[:3])
        mark = badge_of(totals.outcome)
        self.sign, self.word = mark.sign, mark.word
        self.tone, self.badge = mark.shown
        self.sentence = " ".join(_sentences(totals))
        self.happened = _happened(table.runs)  # "" if no record says it
        self.standing = _standing(result, table.runs) if result else ""
        # A reader wants to know where a cell is not as it is known to be.
        differs = result is not None and result.standing is Standing.DIFFERS
        wanted = report.judge is Judge.EXPECTATIONS or differs
        self.differences = result.lines if result and wanted else ()
        self.totals, self.claims, self.runs = totals, table.claims, table.runs


def cells(report: Report) -> tuple[CellView, ...]:
    """Every cell, in the order of its first run."""
    return tuple(CellView(one, report) for one in tabulated(report))


def badge_of(outcome: ClaimOutcome | None) -> formats.Badge:
    """Return the badge of an outcome; None: nothing was judged."""
    return formats.NOT_JUDGED if outcome is None else formats.BADGES[outcome]


def claim_badge(outcome: ClaimOutcome | None, *, warns: bool) -> formats.Badge:
    """Return the badge of a single claim: harm that was predicted, and came, is no good news."""
    if warns and outcome is ClaimOutcome.PASS:
        return formats.CONFIRMED
    if warns and outcome is ClaimOutcome.FAIL:
        return formats.NOT_SEEN
    return badge_of(outcome)


def _difference(result: CellResult, runs: Iterable[RunReport]) -> str:
    """Return `expected FAIL, found PASS`; "" if differing claims or runs are not alike in it."""
    found = {
        f"expected {result.known[one.claim].describe(warns=one.warns)}, found {one.word}"
        for run in runs
        for one in run.verdicts
        if one.claim in result.differing
        and one.outcome is not ClaimOutcome.INCONCLUSIVE
        and not result.known[one.claim].allows(one.outcome)
    }
    return found.pop() if len(found) == 1 else ""


def _standing(result: CellResult, runs: Iterable[RunReport]) -> str:
    """Return how a cell stands to what is known; of one that is known in part, how much is."""
    if result.standing is Standing.NEW and result.known:
        decided = {one.claim for run in runs for one in run.verdicts if one.outcome in _FOUND}
        of = formats.of(len(result.lines), len(decided), "claim")
        have = "has" if len(result.lines) == 1 else "have"
        return f"{of} {have} no recorded expectation (the badge does not depend on it)"
    if result.standing is Standing.DIFFERS:
        verb = "differs" if len(result.differing) == 1 else "differ"
        claims = f"{formats.plural(len(result.differing), 'claim')} {verb} from the expectation"
        return ": ".join(filter(None, (claims, _difference(result, runs))))
    return _STANDINGS.get(result.standing, "")


def _sentences(totals: RunTotals) -> list[str]:
    runs = "the run" if totals.runs == 1 else f"{totals.runs} runs"
    if not totals.judged:
        why = totals.main_doubt or "no reason was recorded"
        return [f"Nothing was judged in {runs}: {why}."]
    loss = _loss(totals, runs)
    if totals.loss_judged > 1:
        known = loss_rate(totals)
        of = formats.of(known.violated, known.runs, "run")
        often = f"in {of}" if known.violated else f"{of} lost any"
        loss = f"{loss.removesuffix('.')} ({often}{_bounds(known)})."
    parts = [loss, _outage(totals), _claims(totals)]
    if totals.unjudged:
        first = 0 if too_many(totals.unjudged, totals.runs) else len(parts)
        unjudged = formats.of(totals.unjudged, totals.runs, "run")
        parts.insert(first, f"{unjudged} could not be judged.")
    if totals.doubts:
        sentence, number = totals.doubts[0]
        place = f" (in {formats.of(number, totals.runs, 'run')})" if totals.runs > 1 else ""
        more = len(totals.doubts) - 1
        others = f", and {formats.plural(more, 'more caveat')}" if more else ""
        parts.append(f"Caveat: {sentence}{place}{others}.")
    return list(filter(None, parts))


def _happened(runs: Sequence[RunReport]) -> str:
    """Return which hosts took queues over, in the run that lost most; "" if no run recorded it."""
    explained = [run for run in runs if any(one.name == TAKEOVER for one in run.observations)]
    if not explained:
        return ""
    worst = max(explained, key=_gone)
    texts = [one.text for one in worst.observations if one.name == TAKEOVER]
    more = f" {len(texts) - TAKEOVERS_MAX} more are below." if len(texts) > TAKEOVERS_MAX else ""
    place = f" of {worst.name}" if len(runs) > 1 else ""
    shown = " ".join(texts[:TAKEOVERS_MAX])
    return f"Recorded at the faults{place} (no proof of the cause): {shown}{more}"


def _gone(run: RunReport) -> float:
    known = run.summary
    return 0 if known is None else (known.lost.least or 0) + (known.stranded.least or 0)


def _loss(totals: RunTotals, runs: str) -> str:
    if not totals.confirmed:
        return f"Nothing was confirmed in {runs}, so nothing can be said to be lost."
    undecided = totals.judged - totals.loss_decided_runs
    of = totals.for_groups(formats.plural(totals.confirmed, "confirmed message"))
    if totals.lost or totals.stranded:
        lost = f"{'At least ' if undecided else ''}{formats.count(totals.lost)}"
        stranded = f", and {formats.count(totals.stranded)} stranded" if totals.stranded else ""
        verb = "was" if totals.lost == 1 and not totals.stranded else "were"
        return f"{lost} of {of} {verb} lost{stranded}."
    if undecided:
        place = "" if totals.judged == 1 else f" in {formats.of(undecided, totals.judged, 'run')}"
        return f"No loss was found, but a loss is not ruled out{place}."
    return f"None of {of} was lost."


def _bounds(known: Rate) -> str:
    return f"; {known.bounds}" if known.runs >= BOUNDS_FROM else ""


def _outage(totals: RunTotals) -> str:
    if not totals.faults and not totals.is_out:
        return "Nothing was broken on purpose."
    parts = []
    out = totals.total_downtime
    if out is not None:
        clients = outs.clients_text(totals)
        seen = f"the downtime for {clients} was {_time(out)}"
        seen = seen if totals.is_out else f"{clients} saw no downtime"
        known = rate(totals.downtime_runs, out.runs)
        of = f" ({known.counted('downtime')}{_bounds(known)})" if totals.runs > 1 else ""
        late = outs.late_then(totals) if totals.runs == 1 else ""
        bound = f"{outs.BOUND} {totals.out_bound}" if totals.out_bound else ""
        late = "; ".join(filter(None, (late, bound)))
        late = f"{_deadline(totals)}: {late}" if late else ""
        parts.append(f"{seen}{of}{late}{_few_late(totals)}")
    parts += filter(None, [outs.worst_of_runs(totals)])
    if totals.silence is not None and totals.silence.maximum_s:
        parts.append(f"the longest time without a confirm was {_time(totals.silence)}")
    # Without downtime there is nothing to recover from.
    recovers = out is None or totals.is_out or totals.outage_decided_runs < totals.judged
    # Messages that were due before the first confirm may have been confirmed in time, too.
    silence_s = totals.silence.maximum_s if totals.silence is not None else 0
    recovers = recovers and (totals.degraded is None or totals.degraded.maximum_s >= silence_s)
    if totals.degraded is not None and totals.degraded.maximum_s and recovers:
        recovery = totals.degraded
        again = f"sending was on time again after {_time(recovery)}"
        if recovery.runs == 1 and recovery.bound:  # it perhaps never was
            least = formats.seconds(recovery.maximum_s)
            again = f"sending was not on time again for at least {least}"
        parts.append(again)
    if totals.degraded_doubt and recovers:
        first = "" if totals.degraded is None else "in some runs, "
        parts.append(f"{first}recovery time unknown: {totals.degraded_doubt}")
    if out is None:
        parts.append("the downtime is not decided")
    text = "; ".join(parts)
    return " ".join(filter(None, (f"{text[0].upper()}{text[1:]}.", outs.compared_text(totals))))


def _deadline(totals: RunTotals) -> str:
    return f" ({totals.deadline})" if totals.deadline else ""


def _few_late(totals: RunTotals) -> str:
    """Return how many messages were late if clients saw no downtime; "" if they saw one, or the
    number is unknown."""
    late = totals.late
    if totals.is_out or not late.operations or late.runs < totals.runs:
        return ""
    if not late.missed:
        return f": from the first fault on, no message was late{_deadline(totals)}"
    few = "" if totals.worst is not None else ", too few for an outage"
    of = f"{formats.share(late.share)} of the messages"
    return f": from the first fault on, {of} were late{_deadline(totals)}{few}"


def _claims(totals: RunTotals) -> str:
    tail = ""
    if totals.came_true:
        first = totals.came_true[0].verdict.meaning
        number = formats.plural(len(totals.came_true), "warning")
        quoted = f": “{first}”" if len(totals.came_true) == 1 else f", such as “{first}”"
        tail = f"; {number} came true{quoted}"
    tail += f"; {formats.untrue(len(totals.unfulfilled))}" if totals.unfulfilled else ""
    tail += f"; {totals.open_text}" if totals.open_claims else ""
    kept = formats.kept(totals.held)
    if totals.broken:
        first = totals.broken[0].verdict.meaning
        more = f" and {len(totals.broken) - 1} more" if len(totals.broken) > 1 else ""
        return f"Failed: “{first}”{more}; {kept}{tail}."
    return f"{kept}{tail}."


def _time(spread: SpreadEntry) -> str:
    """Return the times. A mark of a lower bound stands at what it bounds: the longest, the median
    or both."""
    most = formats.seconds(spread.maximum_s)
    if spread.runs == 1:
        return f"at least {most}" if spread.bound else most
    mark = f"{outs.LEAST}{formats.GLUE}" if spread.bound else ""
    return f"{median_text(spread)} in the median, {mark}{most} at worst"
