"""Stretches are found for all publishes of all scopes at once; here one by one.

1. Times are multiples of a quarter of a second, so that many are equal and edges are met.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel.times import stretches as kernel
from spark_analysis.engine.kernel.times.stretches import Course, Due, Runs, course
from spark_analysis.schema.service import LEAST, QUEUE, RUN, STRETCH_NS, allowance

QUARTER = 250_000_000
LOAD = (2 * QUARTER, 90 * QUARTER)

Times = list[tuple[int, bool]]  # intended_ns, bad
TIMES = st.integers(LOAD[0] // QUARTER, LOAD[1] // QUARTER)
RUNS = st.lists(st.tuples(TIMES, st.integers(1, 12), st.sampled_from([False, False, True])))
SCOPES = st.lists(RUNS, min_size=1, max_size=4)


def course_of(scopes: Sequence[Times], kind: str = QUEUE) -> Course:
    rows = [row for scope in scopes for row in scope]
    sizes = [len(scope) for scope in scopes]
    times = np.array([row[0] for row in rows], np.int64)
    bad = np.array([row[1] for row in rows], np.bool_)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    names = tuple(map(str, range(len(scopes))))
    return course(Due(kind, names, starts, times, times + 1, bad, *LOAD))


def listed(found: Runs) -> list[int]:
    pairs = zip(found.firsts.tolist(), found.lasts.tolist(), strict=True)
    return [place for first, last in pairs for place in range(first, last + 1)]


def stretches(times: Times, least: int) -> list[tuple[int, int]]:
    """The good ones of one scope, both sorts, as service.py says it."""
    count, found = len(times), []
    for i, (at_ns, _) in enumerate(times):
        e = max(i + least, sum(each[0] < at_ns + STRETCH_NS for each in times))
        if e <= count and at_ns + STRETCH_NS <= LOAD[1]:
            found.append((i, e))
        f = min(i + 1 - least, sum(each[0] <= at_ns - STRETCH_NS for each in times))
        if f >= 0 and at_ns - STRETCH_NS >= LOAD[0]:
            found.append((f, i + 1))
    return [
        (first, end)
        for first, end in found
        if not times[first][1]
        and not times[end - 1][1]
        and sum(bad for _, bad in times[first:end]) <= allowance(end - first)
    ]


@given(SCOPES, st.sampled_from([2, 7, 1000]))
def test_stretches_of_scopes_are_independent(
    runs: list[list[tuple[int, int, bool]]], together: int
) -> None:
    scopes = [
        sorted((at * QUARTER, bad) for at, times, bad in scope for _ in range(times))
        for scope in runs
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "MANY", together)
        found = course_of(scopes)
    begins, unserved = [], []
    for start, times in zip(found.due.starts.tolist(), scopes, strict=False):
        good = stretches(times, LEAST[QUEUE])
        begins += sorted({start + first for first, _ in good})
        unserved += [
            start + place
            for place, (_, bad) in enumerate(times)
            if bad and not any(first <= place < end for first, end in good)
        ]
    assert listed(found.begins) == begins
    assert found.unserved.tolist() == unserved


def test_a_scope_of_nothing_has_no_stretch() -> None:
    found = course_of([[]], RUN)
    assert listed(found.begins) == found.unserved.tolist() == []
    assert found.place(0, LOAD[1]) == 0
    assert found.beginning(0, 0) is None


def test_places_stay_within_their_scope() -> None:
    each = [(LOAD[0], False), (LOAD[1], False)]
    found = course_of([each, each])
    times_ns = np.array([-(10**15), LOAD[0], LOAD[0] + 1, LOAD[1] + 1, 10**15])
    assert found.places(0, times_ns).tolist() == [0, 0, 1, 2, 2]
    assert found.places(1, times_ns).tolist() == [2, 2, 3, 4, 4]


def test_the_next_scopes_good_beginning_is_not_this_ones() -> None:
    often = [(at * QUARTER, False) for at in range(2, 60)]
    found = course_of([[(LOAD[0], False)], often])
    assert found.beginning(0, 0) is None
    assert found.beginning(0, 1) == 1
