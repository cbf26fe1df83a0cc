"""`--bound SHARE`: so many runs that a violation in that share of them would have shown.

1. After n runs without a violation the 95 % one-sided bound of the rate is
   `1 - 0.05 ** (1 / n)`; n is the least for which that is below the bound (29 for 10 %).
2. A run that could not be judged is no such run: others are done, told and counted, but no more
   than a fifth of n.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from harness.outside.text import brief
from harness.plan.experiment import REPEATS_MAX
from harness.plan.problems import EMPTY, Problem

FLAG = "--bound"
HELP = (
    "Repeat each cell until a promise is broken or its 95 % one-sided bound is below SHARE, "
    "such as 10%."
)
DOUBT = 0.05


@dataclass(frozen=True, slots=True)
class Bound:
    """`share`: of runs."""

    share: float

    @property
    def runs(self) -> int:
        """How many judged runs without a violation it takes."""
        return math.floor(math.log(DOUBT) / math.log1p(-self.share)) + 1

    @property
    def spare(self) -> int:
        """How many more there may be, where runs could not be judged."""
        return max(1, self.runs // 5)

    @property
    def planned(self) -> int:
        return self.runs + self.spare

    def __str__(self) -> str:
        return f"{100 * self.share:g}%"


def parse(word: str | None) -> Bound | None:
    """`10%`, or `0.1`; None without a word, and where `problems` finds one."""
    share = _share(word) if word else None
    if share is None:
        return None
    bound = Bound(share)
    return bound if bound.planned <= REPEATS_MAX else None


def problems(word: str | None, *, repeats: bool) -> Iterator[Problem]:
    """`repeats`: whether their number was asked for, too."""
    if word is None:
        return
    if repeats:
        yield Problem(FLAG, "says how often each cell is repeated; leave --repeats out")
    if not word:
        yield Problem(FLAG, EMPTY)
        return
    share = _share(word)
    if share is None:
        text = (
            f"{brief(word)} is not a share of runs above 0 % and below 100 %, such as 10% or 0.1"
        )
        yield Problem(FLAG, text)
    elif (bound := Bound(share)).planned > REPEATS_MAX:
        text = f"{word} takes {bound.runs:,} runs, and up to {bound.spare:,} more"
        yield Problem(FLAG, f"{text}; a cell has {REPEATS_MAX:,} at most: name a larger share")


def _share(word: str) -> float | None:
    try:
        share = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        return None
    # So small a share is no number of runs at all.
    return share if 1e-9 < share < 1 else None
