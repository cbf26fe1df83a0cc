"""What mqproof ends with, and what decides it: the one place, from what was judged.

1. An interrupt comes first, then a fault of ours, then the outcome of what was judged.
2. Pages, files and terminals tell it; none of them chooses.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import IntEnum, StrEnum

from harness.claims import judge
from harness.claims.judge import ClaimVerdict, Outcome
from harness.compare import expectations
from harness.compare.expectations import CellResult, Known


class Exit(IntEnum):
    """Exit codes."""

    PASSED = 0
    FAILED = 1
    NOT_DECIDED = 2
    INTERRUPTED = 130
    BAD_INPUT = 254
    CRASH = 255  # a fault of ours, and nothing else


class Judge(StrEnum):
    """What decides the exit code."""

    CLAIMS = "claims"
    EXPECTATIONS = "expectations"


def of_experiment(
    by: Judge,
    runs: Collection[Sequence[ClaimVerdict]],
    cells: Collection[CellResult],
    *,
    interrupted: bool,
    crashed: bool,
) -> Exit:
    """`runs`: the verdicts of each, none where it was not judged. `crashed`: a fault of ours is
    why one was not."""
    if interrupted:
        return Exit.INTERRUPTED
    if crashed:
        return Exit.CRASH
    if by is Judge.EXPECTATIONS:
        return Exit(expectations.exit_code(cells))
    return of_claims(runs)


def of_claims(runs: Iterable[Sequence[ClaimVerdict]]) -> Exit:
    """By what was claimed alone, as histories are judged of which nothing is expected."""
    return Exit(judge.exit_code(runs))


def of_telling(decided: Exit, *, crashed: bool) -> Exit:
    """What was decided, after it was told. `crashed`: a fault of ours kept a page, or a run's
    verdict, from it; what was judged stands, but nobody is to take it for the whole."""
    return Exit.CRASH if crashed else decided


def is_failure(by: Judge, verdict: ClaimVerdict, known: Known | None) -> bool:
    """Whether one verdict, told alone, is a failure. `known`: what is expected of it."""
    if by is Judge.CLAIMS or known is None:  # new, and nobody said that it may
        return verdict.outcome is Outcome.FAIL
    return verdict.outcome is not Outcome.INCONCLUSIVE and not known.allows(verdict.outcome)
