"""Times over runs: medians with lower bounds among them, and shifts by hand."""

import math
from itertools import product

import pytest

from harness.compare.medians import EXACT_MAX, Time, difference, median

INFINITE = math.inf


def times(*values: float) -> list[Time]:
    """A value below zero is a lower bound: -20 was not back after 20 s."""
    return [Time(abs(value), value < 0) for value in values]


def test_ten_runs_have_the_interval_of_their_second_and_ninth() -> None:
    result = median(times(*range(1, 11)))
    assert (result.median, result.reached, result.low, result.high) == (5.5, True, 2, 9)


def test_six_runs_are_the_fewest_with_an_interval() -> None:
    assert (median(times(*range(1, 7))).low, median(times(*range(1, 7))).high) == (1, 6)
    few = median(times(*range(1, 6)))
    assert (few.median, few.low, few.high) == (3, 0, INFINITE)


def test_a_lower_bound_is_not_dropped_from_the_median() -> None:
    # 4/6 of 6/6, 5/6, ...: half are left between the third and the fourth of six.
    result = median(times(1, 2, 3, 4, -5, -6))
    assert (result.median, result.reached, result.censored) == (3.5, True, 2)
    # Dropped, these four would have had a median of 2.5.
    assert median(times(1, 2, 3, 4)).median == 2.5


def test_lower_bound_in_the_middle_counts_runs_still_at_risk() -> None:
    # 1: 4/5 left; 2 is censored; 3: 4/5 * 2/3 = 0.533; 4: 0.267.
    result = median(times(1, -2, 3, 4, 5))
    assert (result.median, result.reached) == (4, True)


def test_unreached_median_is_reported_as_a_certain_bound() -> None:
    result = median(times(1, -20, -20, -30))
    assert (result.median, result.reached, result.high) == (20, False, INFINITE)
    none = median(times(-3, -4))
    assert (none.median, none.reached, none.low, none.high) == (3.5, False, 0, INFINITE)


def test_just_half_left_and_nothing_after_it_is_not_reached() -> None:
    result = median(times(1, 2, -3, -4))
    assert (result.median, result.reached) == (2.5, False)


def test_censored_interval_takes_the_kaplan_meier_upper_end() -> None:
    result = median(times(1, 2, 3, 4, 5, 6, 7, 8, 9, -20))
    assert (result.median, result.low, result.high) == (5.5, 2, 8)


def test_four_separate_pairs_differ_by_the_hodges_lehmann_shift() -> None:
    result = difference(times(1, 2, 3, 4), times(11, 12, 13, 14))
    # 16 differences from 7 to 13; one order in 70 lies apart so: no difference is left out.
    assert (result.least, result.most, result.low, result.high) == (10, 10, 7, 13)
    assert result.p == pytest.approx(2 / 70)
    assert result.shown


def test_interval_of_five_runs_excludes_two_differences_per_end() -> None:
    first, second = (1, 2, 3, 4, 5), (2.5, 3.5, 4.5, 5.5, 9)
    apart = sorted(b - a for a, b in product(first, second))
    result = difference(times(*first), times(*second))
    # P(U <= 2) = 4/252 is within 2.5 %, P(U <= 3) = 7/252 is not.
    assert (result.low, result.least, result.high) == (apart[2], apart[12], apart[22])
    assert not result.shown


def test_three_against_three_can_show_nothing_however_far_apart() -> None:
    result = difference(times(1, 2, 3), times(101, 102, 103))
    assert (result.least, result.low, result.high) == (100, -INFINITE, INFINITE)
    assert not result.shown


def test_swapping_the_two_samples_changes_only_the_sign() -> None:
    one, other = times(1, 2, 3, 4, -9), times(2, 4, 6, 8, 10, 12)
    there, back = difference(one, other), difference(other, one)
    assert (there.low, there.high) == (-back.high, -back.low)
    assert (there.least, there.most) == (-back.most, -back.least)
    assert there.p == pytest.approx(back.p)


def test_unrecovered_run_leaves_the_upper_end_open_and_is_longer() -> None:
    result = difference(times(1, 2, 3, 4), times(11, 12, 13, -14))
    assert (result.low, result.high) == (7, INFINITE)
    assert result.shown


def test_lower_bounds_on_both_sides_show_no_difference() -> None:
    result = difference(times(-1, -2, -3, -4, -5), times(-11, -12, -13, -14, -15))
    assert (result.least, result.most) == (-INFINITE, INFINITE)
    assert (result.low, result.high, result.shown) == (-INFINITE, INFINITE, False)


def test_runs_that_are_all_alike_differ_by_nothing() -> None:
    result = difference(times(2, 2, 2, 2), times(2, 2, 2, 2))
    assert (result.least, result.low, result.high, result.p, result.shown) == (0, 0, 0, 1, False)


def test_the_approximation_for_many_runs_meets_the_exact_interval() -> None:
    def interval(runs: int) -> float:
        return difference(times(*range(runs)), times(*(i + 0.5 for i in range(runs)))).low / runs

    at_most = math.isqrt(EXACT_MAX)
    assert interval(at_most) == pytest.approx(interval(at_most + 1), abs=0.02)
