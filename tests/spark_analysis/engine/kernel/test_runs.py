"""Runs answer as the flags do that they were made from."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel.times.stretches import Runs


@given(st.lists(st.booleans()))
def test_runs_find_the_next_set_flag_before_and_behind(flags: Sequence[bool]) -> None:
    size, found = len(flags), Runs.of(np.array(flags, np.bool_))
    places = np.arange(size)
    before = [max((at for at in range(place + 1) if flags[at]), default=-1) for place in places]
    behind = [
        min((at for at in range(place, size) if flags[at]), default=size) for place in places
    ]
    assert found.up_to(places).tolist() == before
    assert found.starting(places).tolist() == behind


def test_behind_the_last_place_nothing_is_set() -> None:
    found = Runs.of(np.array([True, False, True]))
    assert found.starting(3) == 3
    assert found.firsts.tolist() == found.lasts.tolist() == [0, 2]
