"""Two experiments against each other: what got worse, what got better, what shows no difference.

1. Cells of the same four words are compared, and cells that differ only by the version of the
   brokers. Where there are none, and each side has one place (system, layout, client), the
   scenarios of the two places.
2. Worse is a promise violated in more runs, something lost in more runs, or a longer time.
   Warnings are left out: whether harm that was foretold comes is neither.
3. Rates are held against each other by Fisher's exact test, with Newcombe's interval of their
   difference; times as medians.py says. Every interval is of 95 %, alone.
4. Among many comparisons some differ by chance. So a difference is shown only where its own
   interval leaves zero out and its p still counts among all of them (Benjamini and Hochberg).
   Where no run of either side was a violation, or all were, there was nothing to test.
5. What could not be compared is reported with its reason.
6. A promise that the second side broke, and the first in no run, is listed where it is not shown
   to be worse: too few runs, or the first never decided it, or has no such cell or promise.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import scipy

from harness.compare.loads import Loads, differences
from harness.compare.medians import Median, Time, difference, median
from harness.compare.rates import CONFIDENCE, Rate, Tried, rate, table_of
from harness.plan.layouts import variants
from harness.plan.model import Cell

LOSS = "loss"
NO_ORIGIN = "no image or build of the user's on record"
UNKNOWN_ORIGIN = "unknown, because no run reports the version of its brokers"


class Trend(StrEnum):
    """From the first side to the second."""

    WORSE = "got worse"
    BETTER = "got better"
    NONE = "no difference shown"


@dataclass(frozen=True, slots=True)
class Counted:
    """A claim, or loss, over the runs of a cell."""

    tried: Tried
    meaning: str


@dataclass(frozen=True, slots=True)
class Ran:
    """The runs of one cell. `times`: by measure, of the runs in which it is known. `judged`: how
    many decided a promise; None: older records do not say."""

    runs: int
    claims: Mapping[str, Counted]
    times: Mapping[str, tuple[Time, ...]]
    judged: int | None = None

    @property
    def decided(self) -> int:
        """Return how many of the runs decided a promise. Older records do not say: of them the
        most runs in which any one claim that is a promise was decided."""
        if self.judged is not None:
            return self.judged
        promises = (one for what, one in self.claims.items() if what != LOSS)
        return max((one.tried.rate.runs for one in promises if not one.tried.warns), default=0)

    def rate(self, claim: str) -> Rate:
        return self.claims[claim].tried.rate if claim in self.claims else rate(0, 0)


@dataclass(frozen=True, slots=True)
class Side:
    """One experiment, or several. `brokers`: the versions that each cell's brokers reported.
    `origins`: the user's own images and builds that they ran from. `loads`: what was played."""

    name: str
    cells: Mapping[Cell, Ran]
    brokers: Mapping[Cell, tuple[str, ...]] = field(default_factory=dict)
    origins: Mapping[Cell, tuple[str, ...]] = field(default_factory=dict)
    loads: Mapping[Cell, Loads] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CellComparison:
    """One comparison. `by` and its interval: second less first, a share of runs or seconds; None
    where censored runs leave it open."""

    first: Cell
    second: Cell
    what: str
    meaning: str
    before: Rate | Median
    after: Rate | Median
    not_judged: tuple[int, int]
    by: float | None
    low: float
    high: float
    p: float | None  # None: there was nothing to test
    change: Trend = Trend.NONE

    @property
    def alone(self) -> bool:
        """Whether it would be a difference if nothing else had been compared."""
        return self.change is Trend.NONE and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class Versus:
    first: str
    second: str
    rows: tuple[CellComparison, ...]
    left_out: tuple[str, ...]  # what could not be compared, and why
    versions: tuple[str, ...] = ()  # of brokers that differ between the sides
    origins: tuple[str, ...] = ()  # user's own images and builds that differ likewise
    newly_broken: tuple[str, ...] = ()  # by the second side alone, and not shown to be worse
    loads: tuple[str, ...] = ()  # scenarios whose load differs, or may: it decides nothing

    def of(self, change: Trend) -> tuple[CellComparison, ...]:
        """The surest first."""
        found = [row for row in self.rows if row.change is change]
        return tuple(sorted(found, key=lambda row: 2.0 if row.p is None else row.p))


def rates_apart(before: Rate, after: Rate) -> tuple[float, float, float | None]:
    """The interval of their difference, second less first, and its p: None where no run was a
    violation, or all were."""
    open_question = 0 < before.violated + after.violated < before.runs + after.runs
    p = float(scipy.stats.fisher_exact(table_of(before, after)).pvalue) if open_question else None
    return *_newcombe(before, after), p


def versus(first: Side, second: Side) -> Versus:
    """The second side against the first."""
    pairs = _pairs(first, second)
    left_out = [*_alone(first, {one for one, _ in pairs})]
    left_out += _alone(second, {other for _, other in pairs})
    rows: list[CellComparison] = []
    for one, other in pairs:
        for found in _compared(one, first.cells[one], other, second.cells[other]):
            if isinstance(found, CellComparison):
                rows.append(found)
            else:
                left_out.append(found)
    versions = tuple(dict.fromkeys(_versions(first, second, pairs)))
    origins = tuple(dict.fromkeys(_origins(first, second, pairs)))
    decided = _decided(rows)
    newly = tuple(_newly_broken(first, second, pairs, decided))
    loads = tuple(dict.fromkeys(_loads(first, second, pairs)))
    return Versus(
        first.name, second.name, decided, tuple(left_out), versions, origins, newly, loads
    )


def _loads(first: Side, second: Side, pairs: Sequence[tuple[Cell, Cell]]) -> Iterator[str]:
    """Yield each scenario whose load differs between the sides, or may."""
    names = first.name, second.name
    for one, other in pairs:
        before, after = first.loads.get(one, ()), second.loads.get(other, ())
        if found := differences(before, after, names):
            yield f"{one[0]}: {found}"


def _newly_broken(
    first: Side,
    second: Side,
    pairs: Sequence[tuple[Cell, Cell]],
    rows: Iterable[CellComparison],
) -> Iterator[str]:
    """Yield what the second side broke or lost, and the first in no run, as far as no row shows
    that it got worse."""
    worse = {(row.second, row.what) for row in rows if row.change is Trend.WORSE}
    before = {other: first.cells[one] for one, other in pairs}
    for cell, ran in second.cells.items():
        for what, counted in ran.claims.items():
            if counted.tried.warns or not counted.tried.rate.violated or (cell, what) in worse:
                continue
            known = before[cell].claims.get(what) if cell in before else None
            same = known is not None and known.meaning == counted.meaning
            held = known.tried.rate if known is not None and same else rate(0, 0)
            if not held.violated:
                then = held.counted("") if held.runs else "never decided"
                now = counted.tried.rate.counted("")
                yield f"{' · '.join(cell)}, {what}: {then} -> {now}"


def _versions(first: Side, second: Side, pairs: Sequence[tuple[Cell, Cell]]) -> Iterator[str]:
    """Yield what reported another version of the brokers on the second side; once a layout."""
    for one, other in pairs:
        before, after = first.brokers.get(one, ()), second.brokers.get(other, ())
        if before and after and before != after:
            yield f"{one[1]} {_unversioned(one)[2]}: {', '.join(before)} → {', '.join(after)}"


def _origins(first: Side, second: Side, pairs: Sequence[tuple[Cell, Cell]]) -> Iterator[str]:
    """Yield what ran from another image or build of the user's on the second side; once a
    layout."""
    for one, other in pairs:
        if first.origins.get(one, ()) != second.origins.get(other, ()):
            texts = (_origin(first, one), _origin(second, other))
            yield f"{one[1]} {_unversioned(one)[2]}: {' → '.join(texts)}"


def _origin(side: Side, cell: Cell) -> str:
    """Return what a cell's brokers ran from. If no run was judged, or no cluster came up, no run
    reports a version: then it is unknown."""
    found = ", ".join(side.origins.get(cell, ()))
    return found or (NO_ORIGIN if side.brokers.get(cell) else UNKNOWN_ORIGIN)


def _unversioned(cell: Cell) -> Cell:
    scenario, system, layout, client = cell
    return (scenario, system, variants.split(layout)[0], client)


def _pairs(first: Side, second: Side) -> list[tuple[Cell, Cell]]:
    same = [(cell, cell) for cell in first.cells if cell in second.cells]
    paired = {cell for cell, _ in same}
    same += _versioned_pairs(
        [cell for cell in first.cells if cell not in paired],
        [cell for cell in second.cells if cell not in paired],
    )
    places = [{cell[1:] for cell in side.cells} for side in (first, second)]
    if same or any(len(one) != 1 for one in places):
        return same
    (place,) = places[1]
    moved = [(cell, (cell[0], *place)) for cell in first.cells]
    return [(cell, other) for cell, other in moved if other in second.cells]


def _versioned_pairs(first: Sequence[Cell], second: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Return the cells that differ only by version, if each side has one version of them."""
    of_second = Counter(map(_unversioned, second))
    of_first = Counter(map(_unversioned, first))
    return [
        (one, other)
        for one in first
        for other in second
        if _unversioned(one) == _unversioned(other)
        and of_first[_unversioned(one)] == of_second[_unversioned(other)] == 1
    ]


def _alone(side: Side, paired: set[Cell]) -> Iterator[str]:
    for cell in side.cells:
        if cell not in paired:
            yield f"{' · '.join(cell)}: only {side.name} has it"


def _compared(one: Cell, first: Ran, other: Cell, second: Ran) -> Iterator[CellComparison | str]:
    for claim in dict.fromkeys((*first.claims, *second.claims)):
        yield from _claim(one, first.claims.get(claim), other, second.claims.get(claim), claim)
    for measure in dict.fromkeys((*first.times, *second.times)):
        before, after = first.times.get(measure, ()), second.times.get(measure, ())
        if before and after:
            yield _time(one, other, measure, before, after, (first.runs, second.runs))
        else:
            yield f"{' · '.join(one)}, {measure}: known in no run of {_which(before, after)}"


def _claim(
    one: Cell, first: Counted | None, other: Cell, second: Counted | None, claim: str
) -> Iterator[CellComparison | str]:
    place = f"{' · '.join(one)}, {claim}"
    if first is None or second is None:
        yield f"{place}: {_which(first, second)} does not know this claim"
        return
    if first.tried.warns or second.tried.warns:
        return
    if first.meaning != second.meaning:
        yield f"{place}: it says one thing in the one, and another in the other"
        return
    before, after = first.tried.rate, second.tried.rate
    if before.runs and after.runs:
        unjudged = (first.tried.not_judged, second.tried.not_judged)
        yield _rate(one, other, claim, first.meaning, before, after, unjudged)
    elif first.tried.applied or second.tried.applied:
        yield f"{place}: decided in no run of {_which(before.runs, after.runs)}"


def _which(first: object, second: object) -> str:
    if not first and not second:
        return "either"
    return "the second" if first else "the first"


def _rate(
    one: Cell,
    other: Cell,
    claim: str,
    meaning: str,
    before: Rate,
    after: Rate,
    unjudged: tuple[int, int],
) -> CellComparison:
    low, high, p = rates_apart(before, after)
    by = after.violated / after.runs - before.violated / before.runs
    return CellComparison(one, other, claim, meaning, before, after, unjudged, by, low, high, p)


def _newcombe(before: Rate, after: Rate) -> tuple[float, float]:
    """Newcombe's: the two intervals of Wilson, squared and added."""
    (low_b, mid_b, high_b), (low_a, mid_a, high_a) = _wilson(before), _wilson(after)
    by = mid_a - mid_b
    low = by - math.hypot(mid_a - low_a, high_b - mid_b)
    return low, by + math.hypot(high_a - mid_a, mid_b - low_b)


def _wilson(of: Rate) -> tuple[float, float, float]:
    test = scipy.stats.binomtest(of.violated, of.runs)
    interval = test.proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), of.violated / of.runs, float(interval.high)


def _time(
    one: Cell,
    other: Cell,
    measure: str,
    before: Sequence[Time],
    after: Sequence[Time],
    runs: tuple[int, int],
) -> CellComparison:
    change = difference(before, after)
    by = change.least if change.least == change.most else None
    unknown = (runs[0] - len(before), runs[1] - len(after))
    return CellComparison(
        *(one, other, measure, ""),
        before=median(before),
        after=median(after),
        not_judged=unknown,
        by=by,
        low=change.low,
        high=change.high,
        p=change.p,
    )


def _decided(rows: Sequence[CellComparison]) -> tuple[CellComparison, ...]:
    """With the p of each among all that were tested."""
    tested = [row.p for row in rows if row.p is not None]
    adjusted = iter(scipy.stats.false_discovery_control(tested) if tested else ())
    return tuple(row if row.p is None else _changed(row, float(next(adjusted))) for row in rows)


def _changed(row: CellComparison, p: float) -> CellComparison:
    if p > 1 - CONFIDENCE or row.low <= 0 <= row.high:
        return row
    return replace(row, change=Trend.WORSE if row.low > 0 else Trend.BETTER)
