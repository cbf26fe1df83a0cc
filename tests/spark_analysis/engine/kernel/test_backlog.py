import numpy as np

from spark_analysis.engine.kernel.backlog import Backlog

RISE_AND_FALL = Backlog(np.array([10, 20, 30, 40]), np.array([1, 3, 2, 0]))


def test_it_is_drained_when_the_last_time_above_the_base_ends() -> None:
    assert RISE_AND_FALL.drained_ns(base=1, from_ns=5, until_ns=100) == 40
    assert RISE_AND_FALL.drained_ns(base=2, from_ns=5, until_ns=100) == 30


def test_it_was_never_above_the_base_in_that_time() -> None:
    assert RISE_AND_FALL.drained_ns(base=3, from_ns=5, until_ns=100) == 5
    assert RISE_AND_FALL.drained_ns(base=0, from_ns=40, until_ns=100) == 40


def test_a_step_that_began_before_the_time_in_question_counts() -> None:
    assert RISE_AND_FALL.drained_ns(base=2, from_ns=29, until_ns=100) == 30


def test_it_is_not_drained_while_it_is_above_the_base_at_the_end() -> None:
    assert RISE_AND_FALL.drained_ns(base=1, from_ns=5, until_ns=39) is None
    assert RISE_AND_FALL.drained_ns(base=9, from_ns=50, until_ns=49) is None


def test_the_largest_is_that_of_the_half_open_time() -> None:
    assert RISE_AND_FALL.largest(0, 20) == 1
    assert RISE_AND_FALL.largest(0, 21) == 3
    assert RISE_AND_FALL.largest(25, 30) == 3
    assert RISE_AND_FALL.largest(25, 25) == 0
