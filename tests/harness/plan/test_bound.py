"""--bound: how many runs it takes to exclude a rate."""

import pytest

from harness.plan.bound import Bound, parse, problems


@pytest.mark.parametrize(
    ("share", "runs"), [(0.1, 29), (0.05, 59), (0.01, 299), (0.5, 5), (0.259, 10), (0.2588, 11)]
)
def test_so_many_runs_without_a_violation_exclude_it(share: float, runs: int) -> None:
    bound = Bound(share)
    assert bound.runs == runs
    assert (1 - share) ** runs < 0.05 <= (1 - share) ** (runs - 1)


def test_a_fifth_more_are_to_spare_and_one_at_least() -> None:
    assert (Bound(0.1).spare, Bound(0.1).planned) == (5, 34)
    assert (Bound(0.9).runs, Bound(0.9).spare) == (2, 1)


def test_a_bound_is_a_percentage_or_a_share() -> None:
    assert parse("10%") == parse("0.1") == Bound(0.1)
    assert str(Bound(0.1)) == "10%"
    assert parse(None) is None


def test_smallest_bound_is_the_one_its_runs_can_reach() -> None:
    assert not list(problems("0.4%", repeats=False))
    (problem,) = problems("0.3%", repeats=False)
    assert "takes 998 runs, and up to 199 more" in problem.text
    assert parse("0.3%") is None


def test_no_bound_is_no_problem_even_with_repeats() -> None:
    assert not list(problems(None, repeats=True))
