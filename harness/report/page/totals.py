"""Runs counted together, those of a cell or all of an experiment: what failed, what was lost, how
long it was out, what of that is proved.

1. Sums count what was observed; the number of runs without a full answer stands beside them.
2. *Out* is a run's total downtime; silence is that of its worst window. If one value is a bound,
   the largest is a bound, too.
3. A claim that predicts harm and fails broke no promise: it is counted beside those that did.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.claims.judge import ClaimOutcome, ClaimVerdict, over_runs, worst
from harness.compare.medians import Time, median
from harness.compare.rates import Rate, decided, rate
from harness.judging.result import RunReport
from harness.judging.verdict_file import SpreadEntry
from harness.report.page import formats
from harness.view.out import Out
from harness.view.summary import Number, Promised, Summary, informative

Cell = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Failed:
    """A claim that failed, the verdict of its first run, and where it failed."""

    verdict: ClaimVerdict
    runs: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class RunTotals:
    runs: int
    judged: int
    unjudged: int  # runs without a decided claim, even if there was something to report
    cells: int
    outcome: ClaimOutcome | None  # the heaviest; None where nothing was judged
    failed: tuple[Failed, ...]  # promises that were broken, and warnings that did not come true
    held: int  # claims that passed in every run in which they were decided, and in one at least
    undecided: int  # promises that are inconclusive at worst
    open_claims: int  # the same of all claims, warnings among them
    confirmed: int
    lost: int
    stranded: int
    untold: int  # messages that may or may not be lost
    promised: tuple[Promised, ...]  # by strength, summed over runs
    runs_with_loss: int
    cells_with_loss: tuple[Cell, ...]
    loss_proved: int  # runs
    loss_judged: int  # runs in which it is known whether anything was lost, if not how much
    outage_proved: int  # runs
    silence: SpreadEntry | None
    degraded: SpreadEntry | None
    degraded_doubt: str  # why that is unknown of some run; "" where of none
    out: SpreadEntry | None  # all outages of a run together, run by run
    out_cell: Cell | None  # of the longest
    out_doubt: str  # why that is unknown of some run; "" where of none
    downtime_runs: int  # in so many of these runs it was out
    longest: Out | None  # of the run that was unavailable for longest
    not_back: int  # runs that were out when their load ended
    worst: Out | None  # the queue or publisher that was unavailable for longest, of several
    late: tuple[int, int, int]  # not confirmed in time, due from a fault on, in how many runs
    late_later: int  # of these: due when sending had been on time for GOOD_S already
    hosts_returned: bool  # faults struck hosts, and each was seen to come back with its disk
    faults_seen: int
    faults_of: int
    logs_closed: int
    logs_of: int
    doubts: tuple[tuple[str, int], ...]  # sentence, in how many runs

    @property
    def whole(self) -> bool:
        """Return whether loss and downtime are proved in every run, and every fault verified."""
        decided = self.runs == self.judged == self.loss_proved == self.outage_proved
        return decided and self.faults_seen == self.faults_of

    @property
    def broken(self) -> tuple[Failed, ...]:
        return tuple(one for one in self.failed if not one.verdict.warns)

    @property
    def unfulfilled(self) -> tuple[Failed, ...]:
        """Warnings that did not come true."""
        return tuple(one for one in self.failed if one.verdict.warns)


def totals_of(runs: Sequence[RunReport]) -> RunTotals:
    summaries = [run.summary for run in runs if run.summary is not None]
    timed = [one for one in summaries if one.out_s.least is not None]
    losing = [run for run in runs if _lost_some(run)]
    outcomes = _outcomes(runs)
    promises = outcomes[True]
    return RunTotals(
        runs=len(runs),
        judged=sum(1 for run in runs if run.verdicts),
        unjudged=sum(not decided(run.verdicts) for run in runs),
        cells=len({run.cell for run in runs}),
        outcome=worst(promises) if promises else None,
        failed=_failed(runs),
        held=promises.count(ClaimOutcome.PASS),
        undecided=promises.count(ClaimOutcome.INCONCLUSIVE),
        open_claims=sum(one.count(ClaimOutcome.INCONCLUSIVE) for one in outcomes.values()),
        confirmed=sum(one.confirmed for one in summaries),
        lost=_sum(one.lost for one in summaries),
        stranded=_sum(one.stranded for one in summaries),
        untold=sum(one.untold for one in summaries),
        promised=_promised(summaries),
        runs_with_loss=len(losing),
        cells_with_loss=_cells(losing),
        loss_proved=sum(one.loss_proved for one in summaries),
        loss_judged=sum(_loss_judged(run) for run in runs),
        outage_proved=sum(one.outage_proved for one in summaries),
        silence=_spread(runs, lambda one: worst_of(one, "silence_s")),
        degraded=_spread(runs, lambda one: worst_of(one, "degraded_s")),
        degraded_doubt=_unknown_reason(summaries),
        out=_spread(runs, lambda one: one.out_s),
        out_cell=_longest_cell(runs),
        out_doubt=next((one.out_s.why for one in summaries if not one.outage_proved), ""),
        downtime_runs=sum(bool(one.out_s.least) for one in summaries),
        longest=_longest_out(one.outs[0] for one in timed),
        not_back=sum(not one.outs[0].back for one in timed),
        worst=_longest_out(one.worst for one in timed if one.worst is not None),
        late=_late(summaries),
        late_later=sum(out.missed_later for one in _timely(summaries) for out in one.outages),
        hosts_returned=_returned(summaries),
        faults_seen=sum(one.faults_seen for one in summaries),
        faults_of=sum(one.faults_of for one in summaries),
        logs_closed=sum(one.logs_closed for one in summaries),
        logs_of=sum(one.logs_of for one in summaries),
        doubts=_doubts(runs),
    )


def loss_rate(totals: RunTotals) -> Rate:
    """In how many runs something was lost or stranded, of those in which that is known."""
    return rate(totals.runs_with_loss, totals.loss_judged)


def out_rate(totals: RunTotals) -> Rate:
    """In how many runs it was out at all, of those in which that is known."""
    return rate(totals.downtime_runs, totals.out.runs if totals.out is not None else 0)


def median_text(spread: SpreadEntry) -> str:
    """`0.13 s (0.10 s to 0.20 s)`: with its interval, where there are runs enough for one."""
    mark = "" if spread.median_reached else f"≥{formats.GLUE}"
    text = f"{mark}{formats.seconds(spread.median_s)}"
    low_s, high_s = spread.median_interval_s
    if high_s is None:
        return text
    return f"{text} ({formats.seconds(low_s)} to {formats.seconds(high_s)})"


def worst_of(one: Summary, name: str) -> Number | None:
    """Return the longest of a run's windows, or None where none is known."""
    numbers: list[Number] = [getattr(outage, name) for outage in one.outages]
    longest = _longest(number for number in numbers if number.least is not None)
    unknown = _first_unknown(numbers)
    if longest is None or unknown is None or not longest.exact:
        return longest
    # A window whose time is unknown may have been the longest.
    longest = informative(Number(longest.least, False, unknown.why))
    return longest if longest.least is not None else None


def _unknown_reason(summaries: Iterable[Summary]) -> str:
    """Return why the time until sending was on time is unknown of a run; "" if it is known."""
    for one in summaries:
        unknown = _first_unknown(outage.degraded_s for outage in one.outages)
        if unknown is not None and worst_of(one, "degraded_s") is None:
            return unknown.why or "the load ended, or the next fault began, before recovery"
    return ""


def _first_unknown(numbers: Iterable[Number]) -> Number | None:
    return next((one for one in numbers if one.least is None and not one.exact), None)


def _longest_out(outs: Iterable[Out]) -> Out | None:
    return max(outs, key=lambda one: one.seconds, default=None)


def _longest(numbers: Iterable[Number]) -> Number | None:
    """Exact only if all are: a shorter lower bound may in truth be the longest."""
    known = sorted(numbers, key=lambda number: number.least or 0.0, reverse=True)
    bound = next((number for number in known if not number.exact), None)
    if not known or bound is None:
        return known[0] if known else None
    return Number(known[0].least, False, bound.why)


def _outcomes(runs: Iterable[RunReport]) -> dict[bool, list[ClaimOutcome]]:
    """Return the outcome of every claim over all runs: those of promises under True."""
    found: dict[tuple[bool, str], list[ClaimVerdict]] = {}
    for one in (one for run in runs for one in run.verdicts):
        found.setdefault((one.is_promise, one.claim), []).append(one)
    outcomes: dict[bool, list[ClaimOutcome]] = {True: [], False: []}
    for (is_promise, _), verdicts in found.items():
        outcomes[is_promise].append(over_runs(verdicts))
    return outcomes


def _lost_some(run: RunReport) -> bool:
    one = run.summary
    return one is not None and bool(one.lost.least or one.stranded.least)


def _loss_judged(run: RunReport) -> bool:
    one = run.summary
    return one is not None and (_lost_some(run) or (one.confirmed > 0 and one.loss_proved))


def _failed(runs: Iterable[RunReport]) -> tuple[Failed, ...]:
    """In the order in which claims are written down: the gravest ones come first there."""
    found: dict[str, list[tuple[RunReport, ClaimVerdict]]] = {}
    places: dict[str, int] = {}
    for run in runs:
        for place, verdict in enumerate(run.verdicts):
            places.setdefault(verdict.claim, place)
            if verdict.outcome is ClaimOutcome.FAIL:
                found.setdefault(verdict.claim, []).append((run, verdict))
    return tuple(
        Failed(found[claim][0][1], len(found[claim]), _cells(run for run, _ in found[claim]))
        for claim in sorted(found, key=lambda claim: places[claim])
    )


def _cells(runs: Iterable[RunReport]) -> tuple[Cell, ...]:
    return tuple(dict.fromkeys(run.cell for run in runs))


def _sum(numbers: Iterable[Number]) -> int:
    return round(sum(number.least or 0 for number in numbers))


def _late(summaries: Iterable[Summary]) -> tuple[int, int, int]:
    missed = publishes = runs = 0
    for one in _timely(summaries):
        missed += round(sum(outage.missed.least or 0 for outage in one.outages))
        publishes += sum(outage.operations for outage in one.outages)
        runs += 1
    return missed, publishes, runs


def _timely(summaries: Iterable[Summary]) -> Iterable[Summary]:
    """Runs in which each window's misses are known: where there are deadlines, and no stall."""
    return (
        one
        for one in summaries
        if one.outages and all(outage.missed.least is not None for outage in one.outages)
    )


def _returned(summaries: Iterable[Summary]) -> bool:
    returned = [outage.returned for one in summaries for outage in one.outages]
    return any(returned) and False not in returned


def _promised(summaries: Iterable[Summary]) -> tuple[Promised, ...]:
    sums: dict[tuple[int, str], list[int]] = {}
    for each in (each for one in summaries for each in one.promised):
        numbers = (each.confirmed, each.lost, each.stranded, each.unreachable)
        level = each.rank, each.strength
        before = sums.get(level, [0] * len(numbers))
        sums[level] = [one + more for one, more in zip(before, numbers, strict=True)]
    return tuple(Promised(*level, *sums[level]) for level in sorted(sums))


def _spread(
    runs: Iterable[RunReport], time_of: Callable[[Summary], Number | None]
) -> SpreadEntry | None:
    numbers = [time_of(run.summary) for run in runs if run.summary is not None]
    times = [
        Time(one.least, not one.exact)
        for one in numbers
        if one is not None and one.least is not None
    ]
    if not times:
        return None
    middle = median(times)
    return SpreadEntry(
        median_s=middle.median,
        median_reached=middle.reached,
        median_interval_s=(middle.low, middle.high if math.isfinite(middle.high) else None),
        maximum_s=max(one.value for one in times),
        bound=any(one.censored for one in times),
        runs=len(times),
    )


def _longest_cell(runs: Iterable[RunReport]) -> Cell | None:
    """Return the cell of the run that was unavailable for longest."""
    known = [(run.summary.out_s, run.cell) for run in runs if run.summary is not None]
    timed = [(out.least, not out.exact, cell) for out, cell in known if out.least is not None]
    return max(timed, key=lambda one: one[:2])[2] if timed else None


def _doubts(runs: Iterable[RunReport]) -> tuple[tuple[str, int], ...]:
    found = Counter(doubt for run in runs for doubt in dict.fromkeys(_why(run)))
    return tuple(found.most_common())


def _why(run: RunReport) -> tuple[str, ...]:
    return run.doubts or ((run.failure,) if run.failure else ())
