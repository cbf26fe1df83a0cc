"""Judge defective histories: which claims catch which defect, and which defects pass.

1. Only promises that PASS on the healthy run are judged again: no other one can show a defect.
2. The same seed gives the same cases on every machine.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from random import Random

from harness.analyse.history import evidence
from harness.claims.claims import Claim, shipped
from harness.claims.judge import ClaimOutcome, ClaimVerdict, judge
from tests.rigs.defects import of_consumption, of_content, of_copies, of_loss, of_order, of_service
from tests.rigs.defects.healthy import BASES
from tests.rigs.defects.kinds import Defect
from tests.rigs.defects.runs import Run, history

DEFECTS = (
    *of_loss.DEFECTS,
    *of_copies.DEFECTS,
    *of_content.DEFECTS,
    *of_service.DEFECTS,
    *of_consumption.DEFECTS,
    *of_order.DEFECTS,
)
VARIANTS = 2  # of each base
DAY = range(25 * len(DEFECTS))
NIGHT = range(DAY.stop, 100_000)


class Answer(StrEnum):
    FAIL = "FAIL"
    OPEN = "INCONCLUSIVE"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Base:
    """A healthy run, and the promises that hold of it."""

    run: Run
    promises: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One defect of one run, and what the judge said."""

    number: int
    defect: Defect
    base: str
    run: Run
    promises: tuple[Claim, ...]
    answer: Answer
    failed: tuple[str, ...]  # the promises that FAIL
    verdicts: tuple[ClaimVerdict, ...]


@dataclass(slots=True)
class CaseCounts:
    """What became of the cases of one defect."""

    answers: Counter[Answer] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)

    @property
    def cases(self) -> int:
        return self.answers.total()


def verdicts(run: Run, claims: Sequence[Claim]) -> tuple[ClaimVerdict, ...]:
    found = evidence(history(run), run.name)
    return tuple(judge(claim, found) for claim in claims)


def held(run: Run) -> Base | None:
    """Return the run with the promises that hold of it; None if it breaks one."""
    judged = [it for it in verdicts(run, shipped()) if it.is_promise]
    if any(it.outcome is ClaimOutcome.FAIL for it in judged):
        return None
    names = {it.claim for it in judged if it.outcome is ClaimOutcome.PASS}
    return Base(run, tuple(claim for claim in shipped() if claim.name in names))


def _healthy(run: Run) -> Base:
    base = held(run)
    assert base is not None, f"{run.name} breaks a promise"
    return base


@cache
def bases() -> tuple[Base, ...]:
    """Return the healthy runs; made once in a process."""
    return tuple(
        _healthy(make(Random(f"{make.__name__} {variant}")))
        for make in BASES
        for variant in range(VARIANTS)
    )


def cases(numbers: range, runs: Sequence[Base] | None = None) -> Iterator[Case]:
    """Yield one case a number: each defect in turn, on a run that it can strike."""
    found = bases() if runs is None else runs
    for number in numbers:
        yield _case(number, DEFECTS[number % len(DEFECTS)], found)


def _case(number: int, defect: Defect, runs: Sequence[Base]) -> Case:
    for base in Random(f"run {number}").sample(runs, len(runs)):
        case = judged_with(number, defect, base)
        if case is not None:
            return case
    raise AssertionError(f"no run fits the defect {defect.name!r}")


def judged_with(number: int, defect: Defect, base: Base) -> Case | None:
    """Judge the run with the defect; None if it has nothing that the defect could strike."""
    known = {claim.name for claim in base.promises}
    if defect.claims and not known & set(defect.claims):
        return None
    broken = defect.apply(base.run, Random(f"defect {number}"))
    if broken is None or broken.rows == base.run.rows:
        return None
    return _judged(number, defect, base, broken)


def _judged(number: int, defect: Defect, base: Base, broken: Run) -> Case:
    judged = verdicts(broken, base.promises)
    failed = tuple(it.claim for it in judged if it.outcome is ClaimOutcome.FAIL)
    answer = _answer(defect, judged, failed)
    return Case(number, defect, base.run.name, broken, base.promises, answer, failed, judged)


def _answer(defect: Defect, judged: Sequence[ClaimVerdict], failed: Sequence[str]) -> Answer:
    if set(failed) & set(defect.claims):
        return Answer.FAIL
    reasons = " ".join(
        line for it in judged if it.outcome is ClaimOutcome.INCONCLUSIVE for line in it.not_judged
    )
    return Answer.OPEN if any(reason in reasons for reason in defect.reasons) else Answer.MISSED


def tallies(judged: Iterator[Case]) -> dict[str, CaseCounts]:
    """Count the cases of each defect, in the order of the table."""
    found = {defect.name: CaseCounts() for defect in DEFECTS}
    for case in judged:
        found[case.defect.name].answers[case.answer] += 1
        found[case.defect.name].claims.update(case.failed)
    return found
