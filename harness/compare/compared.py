"""Layouts beside each other: whether a measure falls from each to the next, as an article claims.

1. It is decided by ranges, not by medians alone: where two overlap, more runs have to tell.
2. Without any run there is no outcome.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from harness.claims.judge import ClaimOutcome

RUNS_MIN = 3  # of each layout: two may lie apart by chance


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a comparison came out, and what it was decided by; None: nothing was run."""

    outcome: ClaimOutcome | None
    text: str


def falls(layouts: Sequence[str], values: Mapping[str, Sequence[float]]) -> Comparison:
    """Whether a measure falls from each layout to the next. `values`: one a judged run.

    PASS where every range lies below the one before, FAIL where one does not reach below it;
    INCONCLUSIVE where ranges overlap or runs are too few.
    """
    ranges = "; ".join(_range_text(layout, values.get(layout, ())) for layout in layouts)
    if not any(values.get(layout) for layout in layouts):
        return Comparison(None, "")
    if any(len(values.get(layout, ())) < RUNS_MIN for layout in layouts):
        return Comparison(
            ClaimOutcome.INCONCLUSIVE, f"{ranges}: {RUNS_MIN} runs of each are needed"
        )
    steps = [_step(values[one], values[other]) for one, other in pairwise(layouts)]
    for outcome in (ClaimOutcome.FAIL, ClaimOutcome.INCONCLUSIVE):
        if outcome in steps:
            return Comparison(outcome, ranges)
    return Comparison(ClaimOutcome.PASS, ranges)


def _step(before: Sequence[float], after: Sequence[float]) -> ClaimOutcome:
    if max(after) < min(before):
        return ClaimOutcome.PASS
    return ClaimOutcome.FAIL if min(after) >= max(before) else ClaimOutcome.INCONCLUSIVE


def _range_text(layout: str, values: Sequence[float]) -> str:
    if not values:
        return f"{layout} not run"
    return (
        f"{layout} {median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f}; "
        f"{len(values)} runs)"
    )
