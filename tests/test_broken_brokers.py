"""The judge finds every defect of the generator, and no harmless change moves a verdict.

By night a share of the numbers is played (tests/rigs/suite/shares.py).
"""

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from random import Random

import pytest

from harness.campaigns.evidence import Evidence
from harness.claims.judge import ClaimVerdict
from tests.rigs.defects.harmless import HARMLESS
from tests.rigs.defects.measure import (
    DAY,
    DEFECTS,
    NIGHT,
    Answer,
    Case,
    bases,
    cases,
    judged_with,
    tallies,
    verdicts,
)
from tests.rigs.defects.packed import brought, packs, runs
from tests.rigs.defects.runs import Run
from tests.rigs.defects.table import PAGE, shown, table
from tests.rigs.suite.shares import CHUNKS, chunk_of_night

# One worker makes the cases, and judges them once for all tests.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.long,
    pytest.mark.xdist_group("defects"),
]
Change = Callable[[Run, Random], Run]
OFTEN = 11  # one defective case in so many gets a harmless change by day


@cache
def by_day() -> tuple[Case, ...]:
    return tuple(cases(DAY))


def outcomes(judged: Iterable[ClaimVerdict]) -> dict[str, str]:
    return {it.claim: it.outcome.value for it in judged}


def missed(judged: Iterable[Case]) -> list[tuple[int, str, str]]:
    return [(it.number, it.defect.name, it.base) for it in judged if it.answer is Answer.MISSED]


def test_every_defect_is_caught() -> None:
    assert missed(by_day()) == []


def test_the_table_of_defects_shows_what_was_measured() -> None:
    assert shown(PAGE.read_text(encoding="utf-8")) == table(tallies(iter(by_day())))


@pytest.mark.parametrize("change", HARMLESS, ids=lambda it: it.__name__)
def test_a_harmless_change_of_a_healthy_run_changes_no_verdict(change: Change) -> None:
    for number, base in enumerate(bases()):
        changed = change(base.run, Random(f"harmless {number}"))
        assert set(outcomes(verdicts(changed, base.promises)).values()) == {"PASS"}, base.run.name


def moved_by_a_harmless_change(case: Case) -> dict[str, tuple[str, str]]:
    """Return the verdicts that a random harmless change moves: before, and after."""
    random = Random(f"harmless {case.number}")
    change = HARMLESS[random.randrange(len(HARMLESS))]
    held = outcomes(verdicts(change(case.run, random), case.promises))
    before = outcomes(case.verdicts)
    return {it: (before[it], held[it]) for it in before if before[it] != held[it]}


def test_a_harmless_change_of_a_broken_run_changes_no_verdict() -> None:
    for case in by_day()[::OFTEN]:
        assert not moved_by_a_harmless_change(case), (case.number, case.defect.name)


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_defect_is_caught_by_night(chunk: int) -> None:
    for case in cases(chunk_of_night(chunk, NIGHT)):
        assert case.answer is not Answer.MISSED, (case.number, case.defect.name, case.base)
        if case.number % OFTEN == 0:
            assert not moved_by_a_harmless_change(case), (case.number, case.defect.name)


# What real runs have and the small histories lack, and what it leaves open (docs/verdicts.md).
OPEN_IN_REAL_RUNS = (
    "a killed consumer leaves open why",  # the defect struck what that consumer held
    "an earlier delivery of either is possible",  # the message came twice
    "consumers poll routes and rebalance",
)


def excused(case: Case) -> bool:
    """Say whether another promise fails, or the real run leaves its own claims open.

    A stall leaves open claims about service. It is subtracted from a starvation (docs/verdicts.md
    10), so it excuses none.
    """
    own = [it for it in case.verdicts if it.claim in case.defect.claims]
    of_service = [it for it in own if not it.claim.endswith("-consumed")]
    stalled = any(" stalled " in line for it in of_service for line in it.not_judged)
    left = any(
        reason in line for reason in OPEN_IN_REAL_RUNS for it in own for line in it.not_judged
    )
    return bool(case.failed) or stalled or left


@pytest.mark.nightly
@pytest.mark.parametrize("pack", packs(), ids=lambda pack: pack.pack.name.split(".")[0])
def test_every_defect_of_a_packed_run_is_caught(pack: Evidence, tmp_path: Path) -> None:
    with brought(pack) as file:
        bases_of_pack = [*runs(file, tmp_path)]
    for base in bases_of_pack:
        found = [judged_with(number, defect, base) for number, defect in enumerate(DEFECTS)]
        assert any(found), base.run.name
        assert missed(case for case in found if case is not None and not excused(case)) == []
        for change in HARMLESS:
            changed = verdicts(change(base.run, Random(base.run.name)), base.promises)
            assert set(outcomes(changed).values()) == {"PASS"}, (base.run.name, change.__name__)
