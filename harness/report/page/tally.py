"""Runs counted together, those of a cell or all of an experiment: what failed, what was lost, how
long it was out, what of that is proved.

1. Sums hold what was seen; how many runs could not say more stands beside them.
2. An outage is told of the worst window of a run. A bound makes the largest value a bound, too.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from harness.analyse.judge import ClaimVerdict, Outcome, worst
from harness.analyse.summary import Number, Summary
from harness.report.display import RunReport

Cell = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Failed:
    """A claim that failed, the verdict of its first run, and where it failed."""

    verdict: ClaimVerdict
    runs: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds over runs; `bound`: the largest one is only a lower bound."""

    median_s: float
    most_s: float
    bound: bool
    runs: int
    cell: Cell  # of the largest


@dataclass(frozen=True, slots=True)
class Tally:
    runs: int
    judged: int
    cells: int
    outcome: Outcome | None  # the heaviest; None where nothing was judged
    failed: tuple[Failed, ...]
    held: int  # claims that passed in every run in which they were decided, and in one at least
    undecided: int  # claims that are inconclusive at worst
    confirmed: int
    lost: int
    stranded: int
    runs_with_loss: int
    cells_with_loss: tuple[Cell, ...]
    loss_proved: int  # runs
    outage_proved: int  # runs
    silence: Spread | None
    degraded: Spread | None
    faults_seen: int
    faults_of: int
    logs_closed: int
    logs_of: int
    doubts: tuple[tuple[str, int], ...]  # sentence, in how many runs


def tally(runs: Sequence[RunReport]) -> Tally:
    told = [run.summary for run in runs if run.summary is not None]
    losing = [run for run in runs if _lost_some(run)]
    outcomes = _outcomes(runs)
    return Tally(
        runs=len(runs),
        judged=sum(1 for run in runs if run.verdicts),
        cells=len({run.cell for run in runs}),
        outcome=worst(outcomes.values()) if outcomes else None,
        failed=_failed(runs),
        held=sum(outcome is Outcome.PASS for outcome in outcomes.values()),
        undecided=sum(outcome is Outcome.INCONCLUSIVE for outcome in outcomes.values()),
        confirmed=sum(one.confirmed for one in told),
        lost=_sum(one.lost for one in told),
        stranded=_sum(one.stranded for one in told),
        runs_with_loss=len(losing),
        cells_with_loss=_cells(losing),
        loss_proved=sum(one.loss_proved for one in told),
        outage_proved=sum(one.outage_proved for one in told),
        silence=_spread(runs, "silence_s"),
        degraded=_spread(runs, "degraded_s"),
        faults_seen=sum(one.faults_seen for one in told),
        faults_of=sum(one.faults_of for one in told),
        logs_closed=sum(one.logs_closed for one in told),
        logs_of=sum(one.logs_of for one in told),
        doubts=_doubts(runs),
    )


def worst_of(one: Summary, name: str) -> Number | None:
    """The longest of a run's windows; None where none is known."""
    known: list[Number] = [getattr(outage, name) for outage in one.outages]
    known = [number for number in known if number.least is not None]
    return max(known, key=lambda number: (number.least or 0.0, not number.exact), default=None)


def _outcomes(runs: Iterable[RunReport]) -> dict[str, Outcome]:
    """The heaviest outcome of every claim."""
    found: dict[str, list[Outcome]] = {}
    for run in runs:
        for verdict in run.verdicts:
            found.setdefault(verdict.claim, []).append(verdict.outcome)
    return {claim: worst(outcomes) for claim, outcomes in found.items()}


def _lost_some(run: RunReport) -> bool:
    one = run.summary
    return one is not None and bool(one.lost.least or one.stranded.least)


def _failed(runs: Iterable[RunReport]) -> tuple[Failed, ...]:
    """In the order in which claims are written down: the gravest ones come first there."""
    found: dict[str, list[tuple[RunReport, ClaimVerdict]]] = {}
    places: dict[str, int] = {}
    for run in runs:
        for place, verdict in enumerate(run.verdicts):
            places.setdefault(verdict.claim, place)
            if verdict.outcome is Outcome.FAIL:
                found.setdefault(verdict.claim, []).append((run, verdict))
    return tuple(
        Failed(found[claim][0][1], len(found[claim]), _cells(run for run, _ in found[claim]))
        for claim in sorted(found, key=lambda claim: places[claim])
    )


def _cells(runs: Iterable[RunReport]) -> tuple[Cell, ...]:
    return tuple(dict.fromkeys(run.cell for run in runs))


def _sum(numbers: Iterable[Number]) -> int:
    return round(sum(number.least or 0 for number in numbers))


def _spread(runs: Iterable[RunReport], name: str) -> Spread | None:
    found: list[tuple[float, bool, Cell]] = []
    for run in runs:
        number = worst_of(run.summary, name) if run.summary is not None else None
        if number is not None and number.least is not None:
            found.append((number.least, not number.exact, run.cell))
    if not found:
        return None
    longest_s, _, cell = max(found, key=lambda one: one[:2])
    bound = any(is_bound for _, is_bound, _ in found)
    return Spread(median(one[0] for one in found), longest_s, bound, len(found), cell)


def _doubts(runs: Iterable[RunReport]) -> tuple[tuple[str, int], ...]:
    found = Counter(doubt for run in runs for doubt in dict.fromkeys(_why(run)))
    return tuple(found.most_common())


def _why(run: RunReport) -> tuple[str, ...]:
    return run.doubts or ((run.failure,) if run.failure else ())
