"""Whatever happens in whichever order: one master serves at a time, logs are equal, nothing is
lost that a client took for sent or that a reader saw, and the set is whole again after the
mending. A rule that is not kept is found out.

Without flushes hosts crash, stand still and are cut off, and keep their power. With them they lose
their power, too, all of them at once if it comes to that.
"""

import pytest

from reference_impl.rocketmq.ctgmq.rules import ReplicaRule as Rule
from tests.reference_impl.rocketmq.ctgmq.schedules import (
    CRASHES_2,
    CRASHES_3,
    MODES,
    POWER_2,
    SLAVE_ACK_2,
    Mode,
    broken,
)
from tests.rigs.suite.shares import CHUNKS, chunk_of_night

pytestmark = pytest.mark.long

SCHEDULES = {CRASHES_2: 500, CRASHES_3: 200, POWER_2: 300}  # many more of them by night
MANY = {CRASHES_2: 50_000, CRASHES_3: 20_000, POWER_2: 30_000}
# Each with the schedule of CRASHES_2 that finds it first; it finds it again, and the ones before
# are played by night.
FOUND_BY = {
    Rule.LEASE: 2,
    Rule.LEASE_ON_ACK: 6,
    Rule.GRACE: 30,
    Rule.CONFIRMED_ROLE: 0,
    Rule.COMMIT_SHRINK: 6,
    Rule.UNION: 54,
    Rule.JOIN_CAUGHT_UP: 199,
    Rule.IN_SET: 0,
    Rule.ERROR_CODES: 0,
    Rule.READ_CONFIRMED: 0,
}


def _broken(mode: Mode, seeds: range) -> dict[int, list[str]]:
    return {seed: found for seed in seeds if (found := broken(mode, seed))}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_a_cluster_keeps_its_promises(mode: Mode) -> None:
    assert _broken(mode, range(SCHEDULES[mode])) == {}


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_a_cluster_keeps_its_promises_in_many_more_schedules(mode: Mode, chunk: int) -> None:
    first = SCHEDULES[mode]
    of_night = range(first, first + MANY[mode])
    assert _broken(mode, chunk_of_night(chunk, of_night)) == {}


@pytest.mark.parametrize("rule", FOUND_BY)
def test_a_schedule_finds_the_rule_that_is_switched_off(rule: Rule) -> None:
    assert broken(CRASHES_2, FOUND_BY[rule], rule)


def test_two_replicas_keep_their_promises_with_slave_ack_offset() -> None:
    assert _broken(SLAVE_ACK_2, range(20)) == {}
