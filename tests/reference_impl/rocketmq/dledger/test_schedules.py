"""Whatever happens in whichever order: one leader a term, equal logs, nothing lost that was
confirmed, and confirms again after the mending; and a rule that is not kept is found out.

Without SYNC_FLUSH members crash, stand still and are cut off, and keep their power. With it they
lose their power, too, all of them at once if it comes to that.
"""

import pytest

from reference_impl.rocketmq.dledger.rules import Rule
from tests.reference_impl.rocketmq.dledger.schedules import (
    CRASHES_3,
    MODES,
    POWER_3,
    Mode,
    broken,
)

SCHEDULES = {3: 80, 5: 20}  # by the size of the group; many more of them by night
MANY = {3: 33_000, 5: 10_000}
FOUND_WITHIN = 100  # schedules; docs/behaviour/rocketmq-elections.md 1.1
FOUND_BY = dict.fromkeys(Rule, CRASHES_3) | {Rule.FLUSH_FIRST: POWER_3, Rule.GIVE_WAY: POWER_3}
# A late push of an earlier term, or connection, has to meet one certain moment: test_taking.py.
BY_HAND = (Rule.FENCE, Rule.KEEP_MATCHED)


def _broken(mode: Mode, seeds: range) -> dict[int, list[str]]:
    return {seed: found for seed in seeds if (found := broken(mode, seed))}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_a_group_keeps_its_promises(mode: Mode) -> None:
    assert _broken(mode, range(SCHEDULES[mode.size])) == {}


@pytest.mark.nightly
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_a_group_keeps_its_promises_in_many_more_schedules(mode: Mode) -> None:
    first = SCHEDULES[mode.size]
    assert _broken(mode, range(first, first + MANY[mode.size])) == {}


@pytest.mark.parametrize("rule", [rule for rule in Rule if rule not in BY_HAND])
def test_a_schedule_finds_the_rule_that_is_switched_off(rule: Rule) -> None:
    assert any(broken(FOUND_BY[rule], seed, rule) for seed in range(FOUND_WITHIN))
