"""Times over runs: a median with its interval, and whether two sets of runs differ.

1. A run without recovery is a lower bound: censored and never left out. Kaplan and Meier's
   estimate takes it for what it is. A median that is not reached is `>= x`: the median of all
   values as they stand, which no censored one can pull below.
2. The interval is of 95 %: order statistics; its upper end, where a run is censored, is that of
   the estimate's log-log band. An end that so few runs cannot give is open.
3. A difference is Hodges and Lehmann's shift, with the interval of Mann and Whitney's test: it
   supposes no distribution. A censored value may be anything above its bound, so each end of the
   interval takes the case that is worst for it.
4. Three runs against three have no interval of 95 %: no difference is shown.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median as middle
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are asked for: scipy.stats takes a second

from harness.compare.rates import CONFIDENCE

FEWEST = 6  # runs that have an interval: fewer lie on one side more often than 2.5 % of the time
EXACT_MAX = 2_500  # pairs: above that the test's normal approximation is as good
NO_DIFFERENCE = "no difference shown"


class Time(NamedTuple):
    """One run's. `censored`: it lasted at least so long."""

    value: float
    censored: bool = False

    def describe(self, to_text: Callable[[float], str]) -> str:
        """Return `11.2 s`, or `≥ 11.2 s`."""
        return f"{'≥ ' if self.censored else ''}{to_text(self.value)}"


@dataclass(frozen=True, slots=True)
class Median:
    """`reached` False: it is `median` at least. Ends of the interval may be infinite."""

    median: float
    reached: bool
    low: float
    high: float
    runs: int
    censored: int

    def describe(self, to_text: Callable[[float], str]) -> str:
        """Return `11.2 s`, or `≥ 11.2 s` if it is not reached."""
        return Time(self.median, not self.reached).describe(to_text)


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much the second is more than the first: from `least` to `most`, which are one number
    where nothing is censored. `p`: of the same test, two-sided."""

    least: float
    most: float
    low: float
    high: float
    p: float

    @property
    def shown(self) -> bool:
        return self.low > 0 or self.high < 0


def median(times: Sequence[Time]) -> Median:
    """Over one run at least."""
    assert times, "nothing has no median"
    values = [one.value for one in times]
    # True values are no smaller than their bounds: this end holds however runs are censored.
    low, high = _interval(values)
    censored = sum(one.censored for one in times)
    if not censored:
        return Median(middle(values), True, low, high, len(times), 0)
    if censored == len(times):  # nothing is known of how many are left when
        return Median(middle(values), False, low, math.inf, len(times), censored)
    at, survives, band = _curve(times)
    reached = _crossed(at, survives)
    value = middle(values) if reached is None else reached
    return Median(value, reached is not None, low, _first(at, band), len(times), censored)


def difference(first: Sequence[Time], second: Sequence[Time]) -> Difference:
    """The second against the first: above zero where it took longer."""
    assert first, "nothing differs from nothing"
    assert second, "nor from it"
    lows = _shift(_values(first, math.inf), _values(second, 0.0))
    highs = _shift(_values(first, 0.0), _values(second, math.inf))
    return Difference(lows[0], highs[0], lows[1], highs[2], min(1.0, 2 * min(lows[3], highs[4])))


def _interval(values: Sequence[float]) -> tuple[float, float]:
    if len(values) < FEWEST:
        return 0.0, math.inf
    found = scipy.stats.quantile_test(values, p=0.5).confidence_interval(CONFIDENCE)
    return max(0.0, _open(found.low, 0.0)), _open(found.high, math.inf)


def _open(value: Any, otherwise: float) -> float:
    return otherwise if math.isnan(value) else float(value)


def _values(times: Iterable[Time], censored: float) -> Any:
    """`censored`: how much larger than its bound such a value is taken to be."""
    return np.array([one.value + (censored if one.censored else 0.0) for one in times], float)


def _curve(times: Sequence[Time]) -> tuple[Any, Any, Any]:
    """Kaplan and Meier's: instants, the share that lasts longer, and the upper end of its band."""
    sample = scipy.stats.CensoredData(
        uncensored=[one.value for one in times if not one.censored],
        right=[one.value for one in times if one.censored],
    )
    survival = scipy.stats.ecdf(sample).sf
    share = survival.probabilities
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the band is undefined at 0 and at 1
        band = survival.confidence_interval(CONFIDENCE, method="log-log").high.probabilities
    return survival.quantiles, share, np.where(np.isnan(band), 1.0, band)


def _crossed(at: Any, survives: Any) -> float | None:
    """Where half are left or fewer; between two instants if it is half just there."""
    below = np.flatnonzero(survives <= 0.5 + 1e-12)
    if not len(below):
        return None
    place = below[0]
    if not math.isclose(survives[place], 0.5):
        return float(at[place])
    later = np.flatnonzero(survives < 0.5 - 1e-12)
    return float(at[place] + at[later[0]]) / 2 if len(later) else None


def _first(at: Any, band: Any) -> float:
    below = np.flatnonzero(band <= 0.5)
    return float(at[below[0]]) if len(below) else math.inf


def _shift(first: Any, second: Any) -> tuple[float, float, float, float, float]:
    """Shift, its interval, and how likely so much more, and so much less, is by chance."""
    apart = np.sort(np.subtract.outer(second, first), axis=None)
    skipped = left_out(len(first), len(second), (1 - CONFIDENCE) / 2)
    low = apart[skipped] if skipped is not None else -math.inf
    high = apart[-1 - skipped] if skipped is not None else math.inf
    more = _likely(second, first)
    less = _likely(first, second)
    return _middle(apart), float(low), float(high), more, less


def _middle(apart: Any) -> float:
    """Return the median; numbers may be infinite."""
    low, high = float(apart[(len(apart) - 1) // 2]), float(apart[len(apart) // 2])
    return low if low == high else (low + high) / 2


def _likely(longer: Any, shorter: Any) -> float:
    """One-sided p that values which are no longer would look so much longer."""
    method = "exact" if longer.size * shorter.size <= EXACT_MAX else "asymptotic"
    if np.intersect1d(longer, shorter).size:
        method = "asymptotic"  # the exact distribution knows no ties
    test = scipy.stats.mannwhitneyu(longer, shorter, alternative="greater", method=method)
    return _open(test.pvalue, 1.0)


def left_out(first: int, second: int, tail: float) -> int | None:
    """So many of the smallest (and so many of the largest) differences between so many values of
    either side are left out, that it is at most `tail` likely by chance that more are below
    (above) zero. None: there is no such number, however they lie."""
    if _tail(first, second, 0) > tail:
        return None
    known, over = 0, first * second // 2 + 1
    while over - known > 1:
        between = (known + over) // 2
        if _tail(first, second, between) <= tail:
            known = between
        else:
            over = between
    return known


def _tail(first: int, second: int, pairs: int) -> float:
    """How likely it is by chance that so few pairs, or fewer, have the second above the first.

    The library tells it of samples, so two are made that have just so many.
    """
    whole, rest = divmod(pairs, first)
    base = np.arange(1.0, first + 1)
    above = np.arange(whole) + first + 1.0
    between = np.array([rest + 0.5] if whole < second else [])
    below = -np.arange(float(second - whole - len(between)))
    made = np.concatenate([above, between, below])
    method = "exact" if first * second <= EXACT_MAX else "asymptotic"
    test = scipy.stats.mannwhitneyu(made, base, alternative="less", method=method)
    return float(test.pvalue)
