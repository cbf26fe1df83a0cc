"""A broker that is broken for one consumer group alone is found, whatever the other group got."""

from random import Random

import pytest

from harness.claims.judge import ClaimOutcome
from tests.rigs.defects.grouped import grouped, same_sent
from tests.rigs.defects.kinds import Defect
from tests.rigs.defects.measure import DEFECTS, Base, bases, verdicts
from tests.rigs.defects.runs import Run

# The worker that judges the defects of one group has made the healthy runs already.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.long,
    pytest.mark.xdist_group("defects"),
]
BASES = range(12)
LOST, COPIED = "confirmed-is-delivered", "one-copy"


def outcomes(run: Run, base: Base) -> dict[str, ClaimOutcome]:
    return {one.claim: one.outcome for one in verdicts(run, base.promises)}


def failed(run: Run, base: Base) -> set[str]:
    return {name for name, one in outcomes(run, base).items() if one is ClaimOutcome.FAIL}


def chosen(base: Base, keeps: int) -> Run:
    """Return the run whose consumers got every second message, or every other one."""
    rows = base.run.table("deliveries")
    return base.run.having(deliveries=[row for row in rows if row["sequence"] % 2 == keeps])


@pytest.mark.parametrize("number", BASES)
def test_two_groups_that_got_everything_keep_every_promise(number: int) -> None:
    base = bases()[number]
    assert set(outcomes(grouped(base.run, base.run), base).values()) == {ClaimOutcome.PASS}


@pytest.mark.parametrize("number", BASES)
def test_a_group_that_gets_nothing_lost_every_message(number: int) -> None:
    base = bases()[number]
    nothing = base.run.having(deliveries=[])
    assert LOST in failed(grouped(base.run, nothing), base)
    assert LOST in failed(grouped(nothing, base.run), base)


@pytest.mark.parametrize("number", BASES)
def test_groups_that_share_messages_lose_those_of_the_other(number: int) -> None:
    base = bases()[number]
    assert LOST in failed(grouped(chosen(base, 0), chosen(base, 1)), base)


def copied(base: Base, random: Random) -> Run | None:
    (twice,) = (defect for defect in DEFECTS if defect.name == "store twice")
    return twice.apply(base.run, random)


@pytest.mark.parametrize("number", BASES)
def test_twice_to_one_group_and_never_to_the_other_is_both(number: int) -> None:
    base = bases()[number]
    broken = copied(base, Random(number))
    assert broken is not None, "messages of every base may come twice"
    once = {(row["producer"], row["sequence"]) for row in base.run.table("deliveries")}
    often = [(row["producer"], row["sequence"]) for row in broken.table("deliveries")]
    again = {one for one in once if often.count(one) > 1}
    rest = [
        row
        for row in base.run.table("deliveries")
        if (row["producer"], row["sequence"]) not in again
    ]
    found = failed(grouped(broken, base.run.having(deliveries=rest)), base)
    assert {LOST, COPIED} <= found


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda one: one.name)
def test_a_defect_for_one_group_breaks_the_same_promises(defect: Defect) -> None:
    for base in bases():
        broken = defect.apply(base.run, Random(f"{defect.name} {base.run.name}"))
        if broken is None or not same_sent(base.run, broken):
            continue
        alone = failed(broken, base)
        assert alone <= failed(grouped(base.run, broken), base), base.run.name
        assert alone <= failed(grouped(broken, base.run), base), base.run.name
