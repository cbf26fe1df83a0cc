from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_analysis.engine.kernel import arrays
from spark_analysis.engine.kernel.arrays import (
    NEVER,
    ascending_places,
    blocks,
    distinct_places,
    earliest,
    expand,
    find,
    group_numbers,
    pair_numbers,
    value_counts,
)


def test_a_place_without_values_is_never() -> None:
    found = earliest(3, np.array([2, 0, 2]), np.array([7, 5, 6]))
    assert found.tolist() == [5, NEVER, 6]


def test_group_numbers_sort_as_the_columns_do() -> None:
    columns = [np.array([2, 1, 2, 1]), np.array([-5, 9, -6, 9])]
    numbers = group_numbers(*columns)
    assert np.argsort(numbers, kind="stable").tolist() == [1, 3, 2, 0]
    assert numbers[1] == numbers[3]


def test_group_numbers_of_one_column_keep_its_order() -> None:
    numbers = group_numbers(np.array([32_769, 32_767, 32_768]))
    assert np.argsort(numbers, kind="stable").tolist() == [1, 2, 0]


def test_group_numbers_of_the_largest_integers_do_not_overflow() -> None:
    extremes = np.array([-(2**62), 2**62, 0, 2**62])
    numbers = group_numbers(extremes, extremes, extremes, extremes)
    assert np.argsort(numbers, kind="stable").tolist() == [0, 2, 1, 3]


def test_group_numbers_of_many_wide_columns_do_not_overflow() -> None:
    wide = np.array([0, (1 << 22) - 2, 5, (1 << 22) - 2])
    numbers = group_numbers(wide, wide, wide)
    assert np.argsort(numbers, kind="stable").tolist() == [0, 2, 1, 3]
    assert numbers[1] == numbers[3]


def test_groups_that_16_bits_cannot_number_are_distinguished() -> None:
    many = np.arange((1 << 16) + 1)
    assert len(np.unique(group_numbers(many, many % 1))) == len(many)


def test_a_column_that_says_nothing_changes_no_group_number() -> None:
    column, constant = np.array([2, 1, 2]), np.full(3, 10**18)
    together = group_numbers(constant, column, constant)
    assert together.tolist() == group_numbers(column).tolist()


def test_group_numbers_of_narrow_columns_are_wide_enough() -> None:
    narrow = np.array([-128, 127, 0], np.int8)
    assert np.argsort(group_numbers(narrow, narrow), kind="stable").tolist() == [0, 2, 1]


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(-1, 10)), st.sampled_from([1, 2, 5]))
def test_neighbours_belong_where_each_of_them_belongs(
    keys: Sequence[int], values: Sequence[int], near: int
) -> None:
    sorted_keys, ascending = np.sort(np.array(keys, int)), np.sort(np.array(values, int))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_NEAR", near)
        for side in ("left", "right"):
            found = ascending_places(sorted_keys, ascending, side)  # type: ignore[arg-type]
            assert found.tolist() == np.searchsorted(sorted_keys, ascending, side).tolist()  # type: ignore[call-overload]


def test_blocks_hold_every_row_once() -> None:
    rows = np.arange(10)
    assert [rows[some].tolist() for some in blocks(10, 4)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]
    assert list(blocks(0)) == []


@pytest.mark.parametrize(
    "values", [[], [7], [5, 3, 5, -2], [10**18, -(10**18), 10**18], list(range(99, -1, -1))]
)
def test_distinct_values_have_places(values: list[int]) -> None:
    given_values = np.array(values, np.int64)
    distinct, places = distinct_places(given_values)
    assert distinct[places].tolist() == values
    if values:
        assert distinct.tolist() == sorted(set(values))


def test_pairs_are_distinguished_and_negative_numbers_are_kept() -> None:
    high = np.array([1, 1, -1, 2, 0], np.int32)
    low = np.array([2, -2, 2, -2, -2], np.int32)
    assert len(set(pair_numbers(high, low).tolist())) == 5


def test_pairs_of_the_largest_number_and_minus_1_differ() -> None:
    high, low = np.array([2**31 - 1, -1], np.int32), np.zeros(2, np.int32)
    assert len(set(pair_numbers(high, low).tolist())) == 2


@pytest.mark.parametrize("width", [np.int16, np.int64])
def test_numbers_of_another_width_make_no_pairs(width: type) -> None:
    pair: np.ndarray[Any, Any] = np.zeros(1, np.int32)
    other: np.ndarray[Any, Any] = np.zeros(1, width)
    for high, low in ((pair, other), (other, pair)):
        with pytest.raises(AssertionError):
            pair_numbers(high, low)


def test_find_returns_a_keys_position_or_minus_1() -> None:
    assert find(np.array([3, 5]), np.array([5, 4, 3, 9])).tolist() == [1, -1, 0, -1]
    assert find(np.array([], np.int64), np.array([5])).tolist() == [-1]


def test_expand_lists_each_position_of_each_nonempty_range() -> None:
    ranges, positions = expand(np.array([4, 9, 1, 8]), np.array([6, 9, 2, 5]))
    assert list(zip(ranges.tolist(), positions.tolist(), strict=True)) == [(0, 4), (0, 5), (2, 1)]


def test_counts_of_distant_values_need_no_dense_array() -> None:
    assert value_counts(np.array([-1, 3, 3])) == ([-1, 3], [1, 2])
    assert value_counts(np.array([10**18, -(10**18), 10**18])) == ([-(10**18), 10**18], [1, 2])


@pytest.mark.parametrize("sizes", [[5_000, 1, 3_000], [1] * 50, [3, 1, 2], [1], []])
def test_the_largest_before_stays_within_its_group_at_any_length(sizes: list[int]) -> None:
    draw = np.random.default_rng(7)
    group = np.repeat(np.arange(len(sizes)), sizes)
    values = draw.integers(-100, 100, len(group))
    wanted, largest = [], dict[int, int]()
    for number, value in zip(group.tolist(), values.tolist(), strict=True):
        wanted.append(largest.get(number, -NEVER))
        largest[number] = max(largest.get(number, -NEVER), value)
    assert arrays.largest_before(group, values).tolist() == wanted
