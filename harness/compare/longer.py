"""Whether recent runs take longer than a baseline's, asked every night without crying wolf.

1. Ranks against ranks (Mann and Whitney), exact and one-sided: nothing is supposed of how times
   are distributed. How many pairs may speak against it is the library's to say.
2. It is asked of the last 5, 10 and 20 runs: of few what is much longer shows soon, of many what
   is a little longer shows later.
3. What is not known speaks against an alarm: of two that are equal the recent one is not longer, a
   baseline run without recovery may have lasted any time, a recent one lasted as long as it
   was seen to.
4. A time that is longer by less than a tenth, or by less than 10 ms, never alarms.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import scipy

from harness.compare.medians import Time, left_out, median
from harness.plan.seeds import stream

WINDOWS = (5, 10, 20)  # runs
WITHIN = max(WINDOWS)  # runs in which a change is to be found
LEAST_SHARE, LEAST_S = 0.1, 0.01
TRIALS, CAUGHT = 200, 0.95
FACTORS = tuple(round(1.1 * 1.05**step, 2) for step in range(30))  # 1.1 to 4.5 times as long


class Baseline:
    """What recent runs are held against. `level`: how likely one answer may be wrong by chance."""

    def __init__(self, times: Sequence[Time], level: float) -> None:
        self._longest = np.sort([math.inf if one.censored else one.value for one in times])
        self._seen = [one.value for one in times]
        middle = median(times).median
        self._least = max(middle * (1 + LEAST_SHARE), middle + LEAST_S)
        self._may_oppose = {
            window: may
            for window in WINDOWS
            if (may := _may_oppose(len(times), window, level)) is not None
        }

    @property
    def can_alarm(self) -> bool:
        """Whether there are runs enough for any alarm at all."""
        return bool(self._may_oppose)

    def longer(self, recent: Sequence[Time]) -> int:
        """Of so many of the latest runs it is known that they are longer; 0: of none. `recent`:
        the oldest first."""
        found = self._alarms(np.array([[one.value for one in recent]], float))
        return next((window for window, alarms in found.items() if alarms[0, -1]), 0)

    def smallest_caught(self) -> float | None:
        """So many times as long, and 95 of 100 histories of 20 runs alarm; None: no factor that
        was tried. By drawing from the baseline itself, always the same way."""
        if not self.can_alarm:
            return None
        drawn = stream(0, "nights of a longer outage").choices(self._seen, k=TRIALS * WITHIN)
        runs = np.array(drawn, float).reshape(TRIALS, WITHIN)
        return next((factor for factor in FACTORS if self.caught(runs * factor) >= CAUGHT), None)

    def caught(self, histories: Any) -> float:
        """The share of histories (rows of runs, the oldest first) that alarm at any time."""
        answers = self._alarms(histories)
        width = histories.shape[1]
        if not answers:
            return 0.0
        ever = [alarms.any(axis=1) for window, alarms in answers.items() if window <= width]
        return float(np.logical_or.reduce(ever).mean()) if ever else 0.0

    def _alarms(self, histories: Any) -> dict[int, Any]:
        """By window: for each history and run, whether the runs up to that one are longer."""
        ahead = np.searchsorted(self._longest, histories, side="left")
        total = np.cumsum(np.pad(ahead, ((0, 0), (1, 0))), axis=1)
        found = {}
        for window, may in self._may_oppose.items():
            if window > histories.shape[1]:
                continue
            opposing = len(self._longest) * window - (total[:, window:] - total[:, :-window])
            seen = np.lib.stride_tricks.sliding_window_view(histories, window, axis=1)
            found[window] = (opposing <= may) & (np.median(seen, axis=2) >= self._least)
        return found


def since(baseline: Sequence[Time], recent: Sequence[Time]) -> int:
    """The place in `recent` from which on it was most likely longer: where ranks before and after
    lie furthest apart (Pettitt)."""
    assert recent, "of nothing there is no first"
    ranks = scipy.stats.rankdata([one.value for one in (*baseline, *recent)])
    count = len(ranks)
    before = np.cumsum(ranks)[:-1]
    apart = np.arange(1, count) * (count + 1) / 2 - before  # above zero: what follows is longer
    first = max(0, len(baseline) - 1)
    return int(np.argmax(apart[first:])) if baseline else 0


@lru_cache(maxsize=4096)
def _may_oppose(baseline: int, window: int, level: float) -> int | None:
    return left_out(baseline, window, level)
