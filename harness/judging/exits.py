"""The exit code of mqproof, decided in this one place from the judgement.

1. An interrupt comes first, then a bug of ours, then bad input, then the outcome of the judgement.
2. Pages, files and terminals show it; none of them decides it.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import IntEnum, StrEnum

from harness.claims.judge import ClaimOutcome, ClaimResult, worst
from harness.compare.expectations import CellResult, Known, Standing
from harness.compare.versus import Trend, Versus

NOTHING_JUDGED = "nothing was judged"  # NOT_DECIDED, because nothing could begin or be written
NOTHING_DONE = {  # the same of commands that judge nothing
    "build": "not every image was built",
    "campaign": "the campaign command did not finish",
    "compare": "nothing was compared",
    "doctor": "not everything was checked",
    "down": "not every cluster is down",
    "fault": "the fault command did not finish",
    "heal": "not everything was cleaned up",
    "list": "nothing was listed",
    "new": "nothing was written",
    "pack": "nothing was packed",
    "reference": "no cluster runs",
    "serve": "nothing is served",
    "status": "nothing is shown",
    "up": "no cluster runs",
}


class Exit(IntEnum):
    PASSED = 0
    FAILED = 1
    NOT_DECIDED = 2
    INTERRUPTED = 130
    BAD_INPUT = 254
    CRASH = 255  # a fault of ours, and nothing else


class Judge(StrEnum):
    CLAIMS = "claims"
    EXPECTATIONS = "expectations"


def of_experiment(
    by: Judge,
    runs: Collection[Sequence[ClaimResult]],
    cells: Collection[CellResult],
    *,
    interrupted: bool,
    crashed: bool,
    refused: bool,
) -> Exit:
    """`runs`: the verdicts of each, none where it was not judged. `crashed`: a fault of ours is
    why one was not; `refused`: bad input is."""
    if interrupted:
        return Exit.INTERRUPTED
    if crashed:
        return Exit.CRASH
    if refused:
        return Exit.BAD_INPUT
    if by is Judge.EXPECTATIONS:
        return of_expectations(cells)
    return of_claims(runs)


def of_claims(runs: Iterable[Sequence[ClaimResult]]) -> Exit:
    """FAILED: a promise was broken. NOT_DECIDED: one that applied could not be judged, or a run in
    which none was. Warnings and claims about some cases set neither."""
    outcomes: list[ClaimOutcome] = []
    for verdicts in runs:
        promises = (one.outcome for one in verdicts if one.is_promise)
        applicable = [one for one in promises if one is not ClaimOutcome.NOT_APPLICABLE]
        outcomes += applicable or [ClaimOutcome.INCONCLUSIVE]
    decided = {ClaimOutcome.FAIL: Exit.FAILED, ClaimOutcome.PASS: Exit.PASSED}
    return decided.get(worst(outcomes), Exit.NOT_DECIDED)


def of_expectations(cells: Iterable[CellResult]) -> Exit:
    """FAILED: a cell differs. NOT_DECIDED: one is new or not judged, or there is none."""
    standings = {result.standing for result in cells}
    if Standing.DIFFERS in standings:
        return Exit.FAILED
    return Exit.PASSED if standings == {Standing.AS_EXPECTED} else Exit.NOT_DECIDED


def of_versus(comparison: Versus) -> Exit:
    """FAILED: something got worse. NOT_DECIDED: nothing could be compared, or a promise was broken
    on the second side alone, which is not shown to be worse."""
    if comparison.of(Trend.WORSE):
        return Exit.FAILED
    open_question = comparison.newly_broken or not comparison.rows
    return Exit.NOT_DECIDED if open_question else Exit.PASSED


def of_telling(decided: Exit, *, crashed: bool, unwritten: bool) -> Exit:
    """Return the exit code after the report. `crashed`: a bug of ours kept a page, or a run's
    verdict, from it. `unwritten`: a disk refused one of its files. The judgement stands, but it is
    incomplete: it is never 0."""
    if crashed:
        return Exit.CRASH
    return Exit.NOT_DECIDED if unwritten and decided is Exit.PASSED else decided


def is_failure(by: Judge, verdict: ClaimResult, known: Known | None) -> bool:
    """Return whether one verdict on its own is a failure. `known`: its expectation. Without one
    only a broken promise is."""
    if by is Judge.CLAIMS or known is None:
        return verdict.outcome is ClaimOutcome.FAIL and verdict.is_promise
    return verdict.outcome is not ClaimOutcome.INCONCLUSIVE and not known.allows(verdict.outcome)
