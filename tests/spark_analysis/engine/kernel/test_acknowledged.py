"""Whether a delivery was acknowledged at all is counted; here it is looked up pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel.events import acknowledged
from spark_analysis.engine.kernel.events.acknowledged import covered

TAGS = st.integers(-2, 12)
GIVEN = st.lists(st.tuples(st.integers(0, 3), TAGS), max_size=12)
FRAMES = st.lists(st.tuples(st.integers(0, 5), TAGS, TAGS), max_size=6)


@pytest.mark.parametrize("dense", [True, False])
@given(rows=GIVEN, frames=FRAMES)
def test_acknowledged_tags_agree_with_comparing_every_pair(
    rows: list[tuple[int, int]], frames: list[tuple[int, int, int]], dense: bool
) -> None:
    scale = 1 if dense else 10**12  # too wide to count every tag
    connection, tag = as_columns(rows, 2)
    by, first, last = as_columns(frames, 3)
    found = covered(connection, tag * scale, by, first * scale, last * scale)
    assert found.tolist() == [
        any(each == on and first <= number <= last for each, first, last in frames)
        for on, number in rows
    ]


def test_tags_of_a_damaged_log_may_span_everything() -> None:
    tag = np.array([-(2**62), 2**62])
    on = np.zeros(2, np.int64)
    found = covered(on, tag, on[:1], tag[1:], tag[1:])
    assert found.tolist() == [False, True]
    assert acknowledged._WASTE < 2**62


def as_columns(rows: list[tuple[int, ...]], width: int) -> list[np.ndarray]:
    return [np.array([row[place] for row in rows], np.int64) for place in range(width)]
