"""Runs counted together, those of a cell or all of an experiment: what failed, what was lost, how
long it was out, what of that is decided.

1. Sums count what was observed; the number of runs without a full answer stands beside them.
2. *Out* is a run's total downtime; silence is that of its worst window. If one value is a bound,
   the largest is a bound, too.
3. A claim that predicts harm and fails broke no promise: it is counted beside those that did.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from operator import attrgetter

from harness.claims.judge import ClaimOutcome, ClaimVerdict, over_runs, worst
from harness.compare.medians import Time, median
from harness.compare.rates import Rate, Tried, decided, rate, tried
from harness.judging.result import RunReport
from harness.judging.verdict_file import LateEntry, ScopeEntry, SpreadEntry, TotalsEntry
from harness.plan.model import Cell
from harness.report.page import formats
from harness.view.grouping import by_key
from harness.view.summary import CUT_SHORT, Number, Out, Promised, Summary, is_near_zero


@dataclass(frozen=True, slots=True)
class ClaimOfCell:
    """A claim over several runs. `verdicts`: one of each run that was judged by it."""

    verdicts: tuple[ClaimVerdict, ...]
    tried: Tried

    @property
    def first(self) -> ClaimVerdict:
        return self.verdicts[0]

    @property
    def outcome(self) -> ClaimOutcome:
        return over_runs(self.verdicts)

    @property
    def same(self) -> tuple[ClaimVerdict, ...]:
        outcome = self.outcome
        return tuple(one for one in self.verdicts if one.outcome is outcome)


@dataclass(frozen=True, slots=True)
class Failed:
    """A claim that failed, the verdict of its first run, and where it failed; or a warning that
    came true, and where it did."""

    verdict: ClaimVerdict
    runs: int
    cells: tuple[Cell, ...]
    found: tuple[str, ...] = ()  # by runs, what each had: `14 of 11,639`; "" if in several words


def claims_of(runs: Sequence[RunReport]) -> dict[str, ClaimOfCell]:
    """Return every claim over these runs, in the order in which claims are judged."""
    verdicts = by_key((one for run in runs for one in run.verdicts), lambda one: one.claim)
    rates = tried([run.verdicts for run in runs])
    return {claim: ClaimOfCell(tuple(own), rates[claim]) for claim, own in verdicts.items()}


def totals_of(runs: Sequence[RunReport]) -> TotalsEntry:
    """Return what runs come to together, as it is recorded."""
    summaries = [run.summary for run in runs if run.summary is not None]
    duplicates = sum((Counter(one.duplicates) for one in summaries), Counter[str]())
    return TotalsEntry(
        runs=len(runs),
        judged=sum(1 for run in runs if run.verdicts),
        confirmed=sum(one.confirmed for one in summaries),
        lost=_sum(one.lost for one in summaries),
        stranded=_sum(one.stranded for one in summaries),
        undecided_messages=sum(one.undecided for one in summaries),
        by_strength=_promised(summaries),
        duplicates=dict(duplicates.most_common()),
        loss_decided_runs=sum(one.loss_proved for one in summaries),
        outage_decided_runs=sum(one.outage_proved for one in summaries),
        faults=sum(one.faults_of for one in summaries),
        faults_seen=sum(one.faults_seen for one in summaries),
        silence=_spread(runs, lambda one: worst_of(one, "silence_s")),
        degraded=_spread(runs, lambda one: worst_of(one, "degraded_s")),
        total_downtime=_spread(runs, lambda one: one.out_s),
        downtime_runs=sum(bool(one.out_s.least) for one in summaries),
        worst_downtime_scope=_worst_scope(summaries),
        late=_late(summaries),
    )


class RunTotals(TotalsEntry):
    """Runs together: what is recorded of them, and what only pages show."""

    def __init__(self, runs: Sequence[RunReport]) -> None:
        super().__init__(**vars(totals_of(runs)))
        summaries = [run.summary for run in runs if run.summary is not None]
        timed = [one for one in summaries if one.out_s.least is not None]
        losing = [run for run in runs if _lost_some(run)]
        self.claims = claims_of(runs)
        promises = [one.outcome for one in self.claims.values() if one.first.is_promise]
        unknown = ClaimOutcome.INCONCLUSIVE
        open_ones = [one.first for one in self.claims.values() if one.outcome is unknown]
        self.deadline = deadline_text(runs)
        self.groups = tuple(sorted({one.groups for one in summaries if one.confirmed}))
        # Runs without a decided claim, even if there was something to report.
        self.unjudged = sum(not decided(run.verdicts) for run in runs)
        self.cells = len({run.cell for run in runs})
        self.scenarios = len({run.cell[0] for run in runs})
        self.outcome = worst(promises) if promises else None  # None where nothing was judged
        # Promises that were broken, warnings that did not come true.
        self.failed = _by_claim(runs, self.claims, lambda one: one.outcome is ClaimOutcome.FAIL)
        self.broken = tuple(one for one in self.failed if not one.verdict.warns)
        self.unfulfilled = tuple(one for one in self.failed if one.verdict.warns)
        # Warnings whose harm occurred.
        self.came_true = _by_claim(runs, self.claims, lambda one: one.came_true)
        # Claims that passed in every run in which they were decided, and in one at least.
        self.held = promises.count(ClaimOutcome.PASS)
        self.undecided = promises.count(unknown)  # promises, at worst
        self.open_claims = len(open_ones)
        self.open_warnings = sum(one.warns for one in open_ones)
        self.meanings = {label: text for one in summaries for label, text in one.meanings.items()}
        self.runs_with_loss = len(losing)
        self.cells_with_loss = _cells(losing)
        # Runs in which it is known whether anything was lost, if not how much.
        self.loss_judged = sum(_loss_judged(run) for run in runs)
        self.degraded_doubt = _unknown_reason(summaries)  # "" where it is known of each run
        self.out_cell = _longest_cell(runs)
        self.out_doubt = next((one.out_s.why for one in summaries if not one.outage_proved), "")
        by_length = attrgetter("seconds")
        self.longest = max((one.outs[0] for one in timed), key=by_length, default=None)
        self.not_back = sum(not one.outs[0].back for one in timed)  # out when their load ended
        self.worst = _worst_out(summaries)
        # Of a single run: its faults.
        details = [run.detail for run in runs[:1] if run.detail is not None and len(runs) == 1]
        self.spans = details[0].timeline.faults if details else ()
        self.out_bound = _why_bound([one.out_s for one in timed])
        # Faults struck hosts, and each was seen to come back with its disk.
        returned = {outage.returned for one in summaries for outage in one.outages}
        self.hosts_returned = True in returned and False not in returned
        self.unsent = sum(one.unsent for one in summaries)
        self.backlogs = tuple(one.waiting for one in summaries if one.backlog_left)
        self.logs_closed = sum(one.logs_closed for one in summaries)
        self.logs_of = sum(one.logs_of for one in summaries)
        # Sentences, each with the number of its runs.
        doubts = (dict.fromkeys(run.doubts or filter(None, [run.failure])) for run in runs)
        self.doubts = tuple(Counter(one for own in doubts for one in own).most_common())

    @property
    def whole(self) -> bool:
        """Return whether loss and downtime are decided in every run, and every fault verified."""
        proved = self.runs == self.judged == self.loss_decided_runs == self.outage_decided_runs
        return proved and self.faults_seen == self.faults

    @property
    def recorded(self) -> bool:
        """Return whether every run was judged, every fault verified, and every log complete."""
        closed = self.logs_closed == self.logs_of
        return self.runs == self.judged and self.faults_seen == self.faults and closed

    def for_groups(self, messages: str) -> str:
        """Return what losses are counted of: `9,690 messages`, `9,690 messages × 2 groups`;
        `× 1 or 2 groups` if runs differ."""
        if not self.groups or self.groups == (1,):
            return messages
        return f"{messages} × {' or '.join(map(str, self.groups))} groups"

    @property
    def longest_out_s(self) -> float:
        """Return the longest total downtime that a run had; 0: none, or it is known of none."""
        return self.total_downtime.maximum_s if self.total_downtime is not None else 0.0

    @property
    def is_out(self) -> bool:
        return self.longest_out_s > 0

    @property
    def is_fine(self) -> bool:
        """Return whether each of its runs is known never to have been out."""
        out = self.total_downtime
        if out is None or self.outage_decided_runs < self.runs:
            return False
        return not out.maximum_s and not out.bound

    @property
    def loss_open(self) -> bool:
        """Return whether more may be lost than was found."""
        return self.loss_decided_runs < self.judged

    @property
    def open_text(self) -> str:
        """Return `2 promises, 1 warning not decided`; "" if every claim is decided."""
        others = self.open_claims - self.undecided - self.open_warnings
        counts = (
            (self.undecided, "promise"),
            (self.open_warnings, "warning"),
            (others, "other claim"),
        )
        parts = [formats.plural(number, noun) for number, noun in counts if number]
        return f"{', '.join(parts)} not decided" if parts else ""

    @property
    def main_doubt(self) -> str:
        return self.doubts[0][0] if self.doubts else ""


def deadline_text(runs: Iterable[RunReport]) -> str:
    """Return `deadline 0.5 s`; "" if no message could be late, or no run says when one is."""
    found = deadline(runs)
    return f"deadline{formats.GLUE}{found}" if found else ""


def deadline(runs: Iterable[RunReport]) -> str:
    """Return `0.5 s`, or `0.5 s or 2 s` if runs differ."""
    manifests = [run.detail.manifest for run in runs if run.detail is not None]
    found = sorted({one.deadline_ns for one in manifests if one.paced and one.confirms})
    return " or ".join(f"{ns / 1e9:g}{formats.GLUE}s" for ns in found)


def loss_rate(totals: RunTotals) -> Rate:
    """In how many runs something was lost or stranded, of those in which that is known."""
    return rate(totals.runs_with_loss, totals.loss_judged)


def often_text(found: Rate, what: str, totals: RunTotals) -> str:
    """Return `lost in 0 of 10 runs (95 % one-sided bound: at most 26 %)`. Bounds need repeats of
    one experiment. Runs of several cells have none: `lost in 0 of 2 runs (of different cells)`."""
    if totals.cells < 2 or not found.runs:
        return found.brief(what)
    noun = "scenarios" if totals.scenarios == totals.cells else "cells"
    return f"{found.counted(what)} (of different {noun})"


def median_text(spread: SpreadEntry) -> str:
    """`0.13 s (0.10 s to 0.20 s)`: with its interval, where there are runs enough for one."""
    mark = "" if spread.median_reached else f"≥{formats.GLUE}"
    text = f"{mark}{formats.seconds(spread.median_s)}"
    low_s, high_s = spread.median_interval_s
    if high_s is None:
        return text
    return f"{text} ({formats.seconds(low_s)} to {formats.seconds(high_s)})"


def worst_of(one: Summary, name: str) -> Number | None:
    """Return the longest of a run's windows, or None where none is known. It is exact only if all
    are: a shorter lower bound may in truth be the longest."""
    numbers = _of_windows(one, name)
    known = [number for number in numbers if number.least is not None]
    longest = max(known, key=lambda number: number.least or 0.0, default=None)
    longest_s = longest.least or 0.0 if longest is not None else 0.0
    if bounds := [number for number in known if number.may_exceed(longest_s)]:
        first = max(bounds, key=lambda number: number.least or 0.0)
        longest = Number(longest_s, False, first.why, max(one.most for one in bounds))
    unknown = _first_unknown(numbers)
    if longest is None or unknown is None or not longest.exact:
        return longest
    # A window whose time is unknown may have been the longest.
    least = longest.least or 0.0
    return None if is_near_zero(least) else Number(least, False, unknown.why)


def _of_windows(one: Summary, name: str) -> list[Number]:
    """Return a run's times by window. Windows without a late message have no time of recovery,
    unless no window has a late message."""
    late = [outage for outage in one.outages if not outage.never_late]
    outages = late if late and name == "degraded_s" else one.outages
    return [getattr(outage, name) for outage in outages]


def _unknown_reason(summaries: Iterable[Summary]) -> str:
    """Return why the time until sending was on time is unknown of a run; "" if it is known."""
    for one in summaries:
        unknown = _first_unknown(_of_windows(one, "degraded_s"))
        if unknown is not None and worst_of(one, "degraded_s") is None:
            return unknown.why or CUT_SHORT
    return ""


def _why_bound(downtimes: Iterable[Number]) -> str:
    """Return why the longest downtime of runs is a lower bound; "" if it is none. If it is exact,
    a run with a shorter lower bound may in truth have been unavailable for longer."""
    known = sorted(downtimes, key=lambda one: (one.least or 0.0, not one.exact))
    longest_s = known[-1].least or 0.0 if known else 0.0
    bounds = [one for one in known if one.least and one.may_exceed(longest_s)]
    if not bounds:
        return ""
    last, why = bounds[-1], bounds[-1].why
    if last is known[-1]:
        return why
    least, exact = (formats.seconds(one or 0.0) for one in (last.least, longest_s))
    return (
        f"another run is known only as ≥{formats.GLUE}{least} ({why}), so it could exceed {exact}"
    )


def _first_unknown(numbers: Iterable[Number]) -> Number | None:
    return next((one for one in numbers if one.least is None and not one.exact), None)


def _worst_out(summaries: Iterable[Summary]) -> Out | None:
    """Return the queue or publisher that was unavailable for longest, if there are several."""
    found = (one.worst for one in summaries if one.worst is not None)
    return max(found, key=attrgetter("seconds"), default=None)


def _worst_scope(summaries: Iterable[Summary]) -> ScopeEntry | None:
    if (out := _worst_out(summaries)) is None:
        return None
    return ScopeEntry(
        out.scope, out.name, out.of, out.seconds, out.back, bound=not out.whole, outages=out.times
    )


def _lost_some(run: RunReport) -> bool:
    one = run.summary
    return one is not None and bool(one.lost.least or one.stranded.least)


def _loss_judged(run: RunReport) -> bool:
    one = run.summary
    return one is not None and (_lost_some(run) or (one.confirmed > 0 and one.loss_proved))


def _by_claim(
    runs: Iterable[RunReport], claims: Iterable[str], wanted: Callable[[ClaimVerdict], bool]
) -> tuple[Failed, ...]:
    """Return the claims with such a verdict in a run, in their order: the gravest come first."""
    every = ((run, one) for run in runs for one in run.verdicts if wanted(one))
    found = by_key(every, lambda pair: pair[1].claim)
    each = (zip(*found[claim], strict=True) for claim in claims if claim in found)
    return tuple(
        Failed(verdicts[0], len(own), _cells(own), tuple(one.found for one in verdicts))
        for own, verdicts in each
    )


def _cells(runs: Iterable[RunReport]) -> tuple[Cell, ...]:
    return tuple(dict.fromkeys(run.cell for run in runs))


def _sum(numbers: Iterable[Number]) -> int:
    return round(sum(number.least or 0 for number in numbers))


def _late(summaries: Iterable[Summary]) -> LateEntry:
    """Count runs in which each window's misses are known: those with deadlines, and no stall."""
    missed = publishes = runs = 0
    for own in (one.outages for one in summaries):
        if own and all(outage.missed.least is not None for outage in own):
            missed += _sum(outage.missed for outage in own)
            publishes += sum(outage.operations for outage in own)
            runs += 1
    return LateEntry(missed, publishes, runs)


def _promised(summaries: Iterable[Summary]) -> tuple[Promised, ...]:
    every = (each for one in summaries for each in one.promised)
    levels = sorted(by_key(every, lambda one: (one.rank, one.strength)).items())
    return tuple(
        Promised(*level, *map(sum, zip(*(astuple(one)[len(level) :] for one in own), strict=True)))
        for level, own in levels
    )


def times_of(runs: Iterable[RunReport], time_of: Callable[[Summary], Number | None]) -> list[Time]:
    return [Time(one.least or 0.0, not one.exact) for one in _numbers_of(runs, time_of)]


def _numbers_of(
    runs: Iterable[RunReport], time_of: Callable[[Summary], Number | None]
) -> list[Number]:
    numbers = [time_of(run.summary) for run in runs if run.summary is not None]
    return [one for one in numbers if one is not None and one.least is not None]


def _spread(
    runs: Sequence[RunReport], time_of: Callable[[Summary], Number | None]
) -> SpreadEntry | None:
    numbers, times = _numbers_of(runs, time_of), times_of(runs, time_of)
    if not numbers:
        return None
    middle = median(times)
    longest_s = max(one.value for one in times)
    return SpreadEntry(
        median_s=middle.median,
        median_reached=middle.reached,
        median_interval_s=(middle.low, middle.high if math.isfinite(middle.high) else None),
        maximum_s=longest_s,
        bound=any(one.may_exceed(longest_s) for one in numbers),
        runs=len(times),
    )


def _longest_cell(runs: Iterable[RunReport]) -> Cell | None:
    """Return the cell of the run that was unavailable for longest."""
    known = [(run.summary.out_s, run.cell) for run in runs if run.summary is not None]
    timed = [(out.least, not out.exact, cell) for out, cell in known if out.least is not None]
    return max(timed, key=lambda one: one[:2])[2] if timed else None
