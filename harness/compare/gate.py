"""The gate: whether tonight is worse than a baseline, so that people leave it switched on.

1. Harm that no run of the baseline did alarms at once: a broken promise, or a loss. A cell without
   a baseline has done none. A baseline of less than CLEAN_RUNS judged runs hardly bounds the rate:
   it alarms all the same (a loss is never held back), and the alarm says so.
2. A cell whose baseline does it in some runs is flaky. Every night reports it; it alarms when it
   happens more often (Fisher's exact test, one-sided) in the latest runs.
3. Times alarm as longer.py says.
4. All that is tested in HORIZON nights shares FALSE_ALARMS in equal parts, so that so many nights
   in which nothing changed end without any alarm in 95 of 100 sets, however many cells there are.
5. Nothing is switched off. What could not be judged, what is not decided any more (by none of the
   latest five runs, where four of five of the baseline's know it), what has no baseline, and how
   small a change of each time would be caught, is reported.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import scipy

from harness.compare.longer import WINDOWS, Baseline, since
from harness.compare.medians import Median, Time, median
from harness.compare.rates import Rate, rate, table_of
from harness.compare.versus import Ran, Side
from harness.plan.model import Cell

HORIZON = 20  # nights
FALSE_ALARMS = 0.05  # of sets of so many nights
CLEAN_RUNS = 10  # judged without harm, they bound its rate at 26 %; fewer leave it nearly open
SILENT_RUNS, USUALLY = 5, 0.8  # what this share of a baseline's runs know, none of so many does


class AlarmKind(StrEnum):
    HARM = "did not happen before"
    OFTEN = "happens more often"
    LONGER = "takes longer"


@dataclass(frozen=True, slots=True)
class Alarm:
    """`before` None: there is no baseline. `since`: the night with which it most likely began."""

    cell: Cell
    what: str
    meaning: str
    kind: AlarmKind
    before: Rate | Median | None
    after: Rate | Median
    since: str


@dataclass(frozen=True, slots=True)
class Watched:
    """A time that the gate looks at. `catches`: so many times as long is found within 20 runs;
    None: nothing is, the baseline has too few runs, or they lie too far apart."""

    cell: Cell
    measure: str
    before: Median
    catches: float | None


@dataclass(frozen=True, slots=True)
class Flaky:
    """What a cell does in some runs and not in others. `before` None: no baseline."""

    cell: Cell
    what: str
    before: Rate | None
    after: Rate


@dataclass(frozen=True, slots=True)
class Gate:
    """Tonight's answer. `unjudged`: by cell, how many of tonight's runs decided nothing.
    `undecided`: promises and times that the baseline usually knows, and no run of late."""

    baseline: str
    nights: int
    runs: int
    alarms: tuple[Alarm, ...]
    flaky: tuple[Flaky, ...]
    watched: tuple[Watched, ...]
    unjudged: tuple[tuple[Cell, int], ...]
    undecided: tuple[tuple[Cell, str], ...]
    new: tuple[Cell, ...]  # cells that the baseline does not know


def gate(baseline: Side, nights: Sequence[Side]) -> Gate:
    """`nights`: the oldest first, tonight last; each holds the cells that were played."""
    assert nights, "there is a tonight"
    tonight = nights[-1]
    level = level_of(baseline)
    alarms: list[Alarm] = []
    flaky: list[Flaky] = []
    undecided: list[tuple[Cell, str]] = []
    for cell in tonight.cells:
        before = baseline.cells.get(cell)
        lately = [(night.name, night.cells[cell]) for night in nights if cell in night.cells]
        alarms += _harm(cell, before, lately, level)
        alarms += _longer(cell, before, lately, level)
        flaky += _flaky(cell, before, [ran for _, ran in lately])
        undecided += ((cell, what) for what in _undecided(before, [ran for _, ran in lately]))
    return Gate(
        baseline=baseline.name,
        nights=len(nights),
        runs=sum(ran.runs for ran in tonight.cells.values()),
        alarms=tuple(alarms),
        flaky=tuple(flaky),
        watched=tuple(_watched(baseline, tonight, level)),
        unjudged=tuple(_unjudged(tonight)),
        undecided=tuple(undecided),
        new=tuple(cell for cell in tonight.cells if cell not in baseline.cells),
    )


def judged_runs(baseline: Side, cell: Cell) -> int:
    """Return how many of the cell's baseline runs decided a promise."""
    return baseline.cells[cell].decided if cell in baseline.cells else 0


def is_few(runs: int) -> bool:
    """Return whether so many clean baseline runs cannot tell new harm from old, rare harm."""
    return 0 < runs < CLEAN_RUNS


def level_of(baseline: Side) -> float:
    """How likely one answer may be an alarm though nothing changed."""
    tests = sum(
        len(ran.times) + sum(_is_flaky(one.tried.rate) for one in ran.claims.values())
        for ran in baseline.cells.values()
    )
    return FALSE_ALARMS / (HORIZON * len(WINDOWS) * max(1, tests))


def _harm(
    cell: Cell, before: Ran | None, lately: Sequence[tuple[str, Ran]], level: float
) -> Iterator[Alarm]:
    for claim, one in lately[-1][1].claims.items():
        after = one.tried.rate
        if one.tried.warns or not after.violated:
            continue
        rates = [(night, ran.rate(claim)) for night, ran in lately]
        known = before.claims.get(claim) if before is not None else None
        was = known.tried.rate if known is not None and known.tried.rate.runs else None
        if was is None or not was.violated:
            first = _first(rates, lambda one: bool(one.violated))
            yield Alarm(cell, claim, one.meaning, AlarmKind.HARM, was, after, first)
        elif often := _more_often(was, [rate for _, rate in rates], level):
            first = _first(rates[-often.nights :], lambda one: bool(one.violated))
            yield Alarm(cell, claim, one.meaning, AlarmKind.OFTEN, was, often.rate, first)


@dataclass(frozen=True, slots=True)
class _Latest:
    """The runs of so many of the latest nights together."""

    nights: int
    rate: Rate


def _more_often(before: Rate, lately: Sequence[Rate], level: float) -> _Latest | None:
    """The latest runs in which it happened more often, by the smallest window that shows it."""
    for window in WINDOWS:
        latest = _latest(lately, window)
        if latest is not None and _p_of_more(before, latest.rate) <= level:
            return latest
    return None


def _latest(lately: Sequence[Rate], window: int) -> _Latest | None:
    """The fewest of the latest nights that have so many runs; None: they have not."""
    violated = runs = 0
    for number, one in enumerate(reversed(lately), start=1):
        violated, runs = violated + one.violated, runs + one.runs
        if runs >= window:
            return _Latest(number, rate(violated, runs))
    return None


def _p_of_more(before: Rate, after: Rate) -> float:
    table = table_of(before, after)
    return float(scipy.stats.fisher_exact(table, alternative="greater").pvalue)


def _first(rates: Sequence[tuple[str, Rate]], holds: Callable[[Rate], bool]) -> str:
    """Return the first night since which it always holds. An unjudged night does not interrupt
    that."""
    found = rates[-1][0]
    for night, one in reversed(rates):
        if not one.runs:
            continue
        if not holds(one):
            break
        found = night
    return found


def _longer(
    cell: Cell, before: Ran | None, lately: Sequence[tuple[str, Ran]], level: float
) -> Iterator[Alarm]:
    for measure, tonight in lately[-1][1].times.items():
        was = before.times.get(measure, ()) if before is not None else ()
        if not tonight or not was:
            continue
        nights = [(name, time) for name, ran in lately for time in ran.times.get(measure, ())]
        recent = [time for _, time in nights]
        window = Baseline(was, level).longer(recent)
        if window:
            began = nights[since(was, recent)][0]
            after = median(recent[-window:])
            yield Alarm(cell, measure, "", AlarmKind.LONGER, median(was), after, began)


def _flaky(cell: Cell, before: Ran | None, lately: Sequence[Ran]) -> Iterator[Flaky]:
    claims = dict.fromkeys(claim for ran in lately for claim in ran.claims)
    for claim in claims:
        known = before.claims.get(claim) if before is not None else None
        if any(ran.claims[claim].tried.warns for ran in lately if claim in ran.claims):
            continue
        was = known.tried.rate if known is not None else None
        after = _sum(ran.rate(claim) for ran in lately)
        every = _sum([after, *([was] if was is not None else [])])
        if _is_flaky(every):
            yield Flaky(cell, claim, was, after)


def _watched(baseline: Side, tonight: Side, level: float) -> Iterator[Watched]:
    for cell in tonight.cells:
        known = baseline.cells.get(cell)
        for measure, times in known.times.items() if known is not None else ():
            if times:
                yield Watched(cell, measure, median(times), _catches(times, level))


def _unjudged(tonight: Side) -> Iterator[tuple[Cell, int]]:
    for cell, ran in tonight.cells.items():
        if ran.decided < ran.runs:
            yield cell, ran.runs - ran.decided


def _undecided(before: Ran | None, lately: Sequence[Ran]) -> Iterator[str]:
    """Yield the promises and times that the latest nights did not decide: they do not pass."""
    latest = _latest_nights(lately)
    if before is None or not latest:
        return
    least = USUALLY * before.runs
    for claim, one in before.claims.items():
        usual = one.tried.rate.runs >= least and not one.tried.warns
        if usual and not any(ran.rate(claim).runs for ran in latest):
            yield claim
    for measure, times in before.times.items():
        if len(times) >= least and not any(ran.times.get(measure) for ran in latest):
            yield measure


def _latest_nights(lately: Sequence[Ran]) -> Sequence[Ran]:
    """The fewest of the latest that have SILENT_RUNS runs; none where all have fewer."""
    runs = 0
    for number, ran in enumerate(reversed(lately), start=1):
        runs += ran.runs
        if runs >= SILENT_RUNS:
            return lately[-number:]
    return ()


def _sum(rates: Iterable[Rate]) -> Rate:
    every = list(rates)
    return rate(sum(one.violated for one in every), sum(one.runs for one in every))


def _is_flaky(one: Rate) -> bool:
    return 0 < one.violated < one.runs


@lru_cache(maxsize=4096)
def _catches(times: tuple[Time, ...], level: float) -> float | None:
    return Baseline(times, level).smallest_caught()
