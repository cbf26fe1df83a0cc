"""Whatever happens in whichever order: one leader a term, equal logs, nothing lost that was
confirmed, and confirms again after the mending; and a rule that is not kept is found out.

Without SYNC_FLUSH members crash, stand still and are cut off, and keep their power. With it they
lose their power, too, all of them at once if it comes to that.
"""

import pytest

from reference_impl.rocketmq.dledger.rules import Rule
from tests.reference_impl.rocketmq.dledger.schedules import (
    CRASHES_3,
    CRASHES_5,
    MODES,
    POWER_3,
    Mode,
    broken,
    found_by,
    losses,
    schedules_until_found,
)
from tests.rigs.suite.shares import CHUNKS, chunk_of_night

SCHEDULES = {CRASHES_3: 550, POWER_3: 350, CRASHES_5: 100}  # a hundred times as many by night
MANY = 100
# Without one of the others other promises are broken, and few or no schedules lose a message.
LOSE_MESSAGES = (Rule.COMPLETE_LOG, Rule.MAJORITY)
# What a loss of power takes no member has cut.
ADMITTED = [rule for rule in Rule if rule is not Rule.FLUSH_FIRST]
ADMITTED_IN = 12  # schedules
FOUND_WITHIN = 400  # schedules; medians: docs/behaviour/rocketmq-elections.md 1.1


def _broken(mode: Mode, seeds: range) -> dict[int, list[str]]:
    return {seed: found for seed in seeds if (found := broken(mode, seed))}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_a_group_keeps_its_promises(mode: Mode) -> None:
    assert _broken(mode, range(SCHEDULES[mode])) == {}


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_a_group_keeps_its_promises_in_many_more_schedules(mode: Mode, chunk: int) -> None:
    first = SCHEDULES[mode]
    of_night = range(first, (MANY + 1) * first)
    assert _broken(mode, chunk_of_night(chunk, of_night)) == {}


@pytest.mark.parametrize("rule", Rule)
def test_a_schedule_finds_the_rule_that_is_switched_off(rule: Rule) -> None:
    assert schedules_until_found(found_by(rule), rule, 0, FOUND_WITHIN) is not None


@pytest.mark.parametrize("rule", LOSE_MESSAGES)
def test_members_admit_every_confirmed_entry_that_a_missing_rule_costs(rule: Rule) -> None:
    found = [losses(found_by(rule), seed, rule) for seed in range(ADMITTED_IN)]
    assert any(lost for lost, _ in found)
    assert [lost - admitted for lost, admitted in found if lost - admitted] == []


@pytest.mark.nightly
@pytest.mark.parametrize("rule", ADMITTED)
def test_members_admit_them_in_many_more_schedules(rule: Rule) -> None:
    for seed in range(MANY * ADMITTED_IN):
        lost, admitted = losses(found_by(rule), seed, rule)
        assert lost <= admitted, seed
