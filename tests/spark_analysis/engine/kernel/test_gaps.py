from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel.times import availability
from spark_analysis.engine.kernel.times.availability import Gaps

TIMES = st.lists(st.integers(0, 100))
CONFIRMS = Gaps(np.array([40, 10, 70]), started_ns=0, ended_ns=100, due_ns=None)


def test_the_longest_gap_is_the_earliest_of_equals() -> None:
    assert CONFIRMS.longest(0, 100) == (30, 10, False)
    assert CONFIRMS.longest(40, 100) == (30, 40, False)


def test_a_gap_that_only_touches_the_interval_is_outside() -> None:
    assert CONFIRMS.longest(0, 10) == (10, 0, False)
    assert CONFIRMS.longest(10, 11) == (30, 10, False)


def test_silence_up_to_the_end_of_the_load_is_censored() -> None:
    assert CONFIRMS.longest(70, 100) == (30, 70, True)
    last_at_the_end = Gaps(np.array([100]), started_ns=0, ended_ns=100, due_ns=None)
    assert last_at_the_end.longest(0, 100) == (100, 0, False)


def test_an_interval_after_the_load_has_no_silence() -> None:
    assert CONFIRMS.longest(100, 100) == (0, 100, False)


def test_silence_runs_from_what_was_due_first_in_it() -> None:
    due = Gaps(
        np.array([40, 10, 70]), started_ns=0, ended_ns=100, due_ns=np.array([5, 12, 69, 95])
    )
    assert due.longest(0, 100) == (28, 12, False)  # of (40, 70) only 1 is left
    assert due.longest(41, 72) == (1, 69, False)
    assert due.longest(70, 100) == (5, 95, True)


def test_a_gap_in_which_nothing_was_due_is_none() -> None:
    idle = Gaps(np.array([10]), started_ns=0, ended_ns=100, due_ns=np.array([5, 10]))
    assert idle.longest(0, 100) == (90, 10, True)  # due at the very confirm: it counts
    calm = Gaps(np.array([10]), started_ns=0, ended_ns=100, due_ns=np.array([5]))
    assert calm.longest(0, 100) == (5, 5, False)
    assert calm.longest(50, 100) == (0, 50, False)


@given(TIMES, TIMES, TIMES)
def test_gaps_are_found_alike_however_many_are_looked_at_together(
    confirms: Sequence[int], due: Sequence[int], wanted: Sequence[int]
) -> None:
    def found(together: int) -> list[tuple[int, int, bool]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(availability, "MANY", together)
            due_ns = np.sort(np.array(due, np.int64))
            gaps = Gaps(np.array(confirms, np.int64), 0, 100, due_ns)
        return [gaps.longest(at, at + 10) for at in (0, *wanted)]

    assert found(2) == found(1000)
