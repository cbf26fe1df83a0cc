"""A few kills at random moments with every commit; by night a hundred and more (kills.py)."""

import pytest

from tests.docker.conftest import require_docker
from tests.unlucky.kills import BOTH, GUARDIAN, HARNESS, LOCAL, NODE, attempt, summary

SEED = 20261124
BY_NIGHT = [pytest.param(one, marks=pytest.mark.nightly) for one in (HARNESS, GUARDIAN)]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("victim", [*BY_NIGHT, NODE, BOTH])
def test_a_kill_of_any_process_leaves_nothing_and_readable_records(victim: str) -> None:
    one = attempt(SEED, 0, "local", (victim,))
    assert one.killed
    assert one.wrong == ()


@pytest.mark.nightly
def test_hundred_random_kills_leave_nothing_and_lose_nothing() -> None:
    tries = [attempt(SEED, number, "local", LOCAL) for number in range(100)]
    tries += [attempt(SEED, 1000 + number, "local", (BOTH,)) for number in range(20)]
    assert not any(one.wrong for one in tries), "\n".join(summary(tries))


@pytest.mark.nightly
@pytest.mark.docker
def test_twenty_harnesses_that_are_killed_leave_nothing_in_the_engine() -> None:
    require_docker()
    tries = [attempt(SEED, number, "compose", (HARNESS,)) for number in range(20)]
    assert not any(one.wrong for one in tries), "\n".join(summary(tries))
