"""Whether recent runs take longer: what is caught, how soon, and how often it is a false alarm."""

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from harness.compare.longer import LEAST_S, Baseline, since
from harness.compare.medians import Time

LEVEL = 0.05 / (20 * 3 * 9)  # three cells of three times each, in 20 nights
ALONE = 0.05 / (20 * 3)
IQR_15 = 0.15 / 1.349  # of a normal distribution: its deviation, where the quarters lie so


def times(*values: float) -> list[Time]:
    """Below zero: not back, seen for so long."""
    return [Time(abs(value), value < 0) for value in values]


def around(median: float, spread: float, count: int, chance: Random) -> list[float]:
    return [max(0.0, chance.gauss(median, spread * median)) for _ in range(count)]


def caught(factor: float, level: float, sets: int, spread: float = IQR_15) -> float:
    """In which share of sets, each of a baseline of 30 runs and 20 nights, something alarms."""
    chance = Random(7)
    found = 0.0
    for _ in range(sets):
        baseline = Baseline(times(*around(10, spread, 30, chance)), level)
        found += baseline.caught(np.array([around(10 * factor, spread, 20, chance)]))
    return found / sets


def test_twenty_nights_in_which_nothing_changed_seldom_alarm() -> None:
    assert caught(1.0, ALONE, 600, spread=0.3) <= 0.05


def test_thirty_per_cent_longer_outage_is_caught_within_20_nights() -> None:
    assert caught(1.3, LEVEL, 200) >= 0.95


def test_a_certain_increase_below_ten_percent_is_no_alarm() -> None:
    sure = Baseline(times(*(10 + 0.001 * number for number in range(30))), LEVEL)
    assert sure.longer(times(*[10.9] * 20)) == 0
    assert sure.longer(times(*[11.2] * 20)) > 0


def test_increase_below_the_resolution_of_a_run_is_no_alarm() -> None:
    never_out = Baseline(times(*[0.0] * 30), LEVEL)
    assert never_out.longer(times(*[0.9 * LEAST_S] * 20)) == 0
    assert never_out.longer(times(*[1.1 * LEAST_S] * 20)) > 0


def test_five_much_longer_runs_are_enough() -> None:
    baseline = Baseline(times(*(9 + 0.1 * number for number in range(30))), LEVEL)
    assert baseline.longer(times(10, 10, 10, *[30] * 4)) == 0
    assert baseline.longer(times(10, 10, 10, *[30] * 5)) == 5


def test_outage_that_is_no_longer_longer_alarms_no_more() -> None:
    baseline = Baseline(times(*(9 + 0.1 * number for number in range(30))), LEVEL)
    assert baseline.longer(times(*[30] * 5)) == 5
    assert baseline.longer(times(*[30] * 5, *[10] * 20)) == 0


def test_equal_runs_speak_against_an_alarm() -> None:
    assert Baseline(times(*[10] * 30), LEVEL).longer(times(*[10] * 20)) == 0


def test_unrecovered_baseline_run_may_have_lasted_any_time() -> None:
    known = Baseline(times(*[10.0] * 30), LEVEL)
    open_ended = Baseline(times(*[10.0] * 15, *[-10.0] * 15), LEVEL)
    recent = times(*[40] * 5)
    assert known.longer(recent) == 5
    assert open_ended.longer(recent) == 0


def test_unrecovered_recent_run_counts_with_its_observed_length() -> None:
    baseline = Baseline(times(*[10.0] * 30), LEVEL)
    assert baseline.longer(times(*[-40] * 5)) == 5
    assert baseline.longer(times(*[-5] * 20)) == 0


@pytest.mark.parametrize(("runs", "can"), [(1, False), (2, False), (30, True)])
def test_baseline_too_small_for_an_alarm_says_so(runs: int, can: bool) -> None:
    baseline = Baseline(times(*[10.0] * runs), LEVEL)
    assert baseline.can_alarm is can
    assert (baseline.smallest_caught() is not None) is can
    assert (baseline.longer(times(*[1000] * 20)) > 0) is can


def smallest(values: Sequence[float]) -> float:
    found = Baseline(times(*values), LEVEL).smallest_caught()
    return math.inf if found is None else found


def test_smallest_detectable_change_grows_with_the_spread_of_runs() -> None:
    chance = Random(3)
    close, apart = around(10, 0.03, 30, chance), around(10, 0.4, 30, chance)
    assert smallest(close) <= 1.2
    assert smallest(close) < smallest(apart)


def test_the_night_with_which_it_began_is_found() -> None:
    baseline = times(*(10 + 0.1 * number for number in range(30)))
    recent = times(10.1, 11.9, 10.7, 11.3, *[16, 15, 17, 16, 15])
    assert since(baseline, recent) == 4
    assert since(baseline, times(16, 15, 17)) == 0
