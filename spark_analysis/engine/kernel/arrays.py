"""Small array operations that several kernels need, each linear or n log n.

1. Nothing here knows what a message is.
2. A time that never comes is NEVER, so that a minimum needs no second array to say "none".
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]

NEVER = int(np.iinfo(np.int64).max)
NANOSECONDS = 1_000_000_000
_DENSE = 1 << 22  # a table of this many places is cheaper than a sort
_BLOCK = 1 << 15  # rows: what is made of so few on the way stays in a core's cache
MANY = 1 << 18  # rows: steps over so many hardly keep another thread from the interpreter
_NEAR = 1 << 12  # neighbours that are looked up together
_LONG = 1 << 10  # rows of a group: so many, and looking at one costs nothing beside them


def index(size: int) -> type[np.signedinteger[Any]]:
    """Return the integer type for numbers up to `size`; for one number per message it needs half
    the memory of numpy's default."""
    return np.int32 if size < 1 << 31 else np.int64


def blocks(size: int, rows: int = _BLOCK) -> Iterator[slice]:
    """Yield all rows block by block, for computations with many intermediate steps."""
    return (slice(start, start + rows) for start in range(0, size, rows))


def earliest(size: int, place: Ints, values: Ints) -> NDArray[np.int64]:
    """Return the smallest value of each of `size` places; NEVER if it has none."""
    smallest = np.full(size, NEVER, np.int64)
    np.minimum.at(smallest, place, values.astype(np.int64, copy=False))
    return smallest


def marked(size: int, place: Ints) -> Bools:
    """Return for each of `size` places whether it occurs."""
    marks = np.zeros(size, np.bool_)
    marks[place] = True
    return marks


def among(values: Ints, few: Sequence[int]) -> Bools:
    """Return which of the values are one of these few."""
    found = np.zeros(len(values), np.bool_) if not few else values == few[0]
    for each in few[1:]:
        found |= values == each
    return found


def first_places(size: int, place: Ints) -> NDArray[np.int64]:
    """Return for each of `size` numbers its first position in `place`; NEVER if it does not
    occur."""
    firsts = np.full(size, NEVER, np.int64)
    # Of several values for one place numpy keeps the last.
    firsts[place[::-1]] = np.arange(len(place) - 1, -1, -1)
    return firsts


def first_rows(size: int, place: Ints, rows: Ints) -> Ints:
    """Return for each of `size` places the first of its rows, which ascend; -1 if it has none."""
    firsts = np.full(size, -1, index(int(rows[-1]) + 1 if len(rows) else 0))
    # Of several values for one place numpy keeps the last.
    firsts[place[::-1]] = rows[::-1]
    return firsts


def running_max(group: Ints, values: Ints) -> Ints:
    """Return for each place the largest value of its group so far; groups ascend."""
    if not len(group):
        return values
    numbers = np.zeros(len(group), np.int64)
    np.cumsum(group[1:] != group[:-1], out=numbers[1:])
    # Each group's values are raised above those of all groups before it.
    lowest, highest = int(values.min()), int(values.max())
    if (highest - lowest + 1) * (int(numbers[-1]) + 2) > NEVER:
        distinct, ranks = np.unique(values, return_inverse=True)
        largest: Ints = distinct[running_max(group, ranks)]
        return largest
    numbers *= highest - lowest + 1
    largest = np.maximum.accumulate(numbers + (values - lowest))
    largest -= numbers - lowest
    return largest


def largest_before(group: Ints, values: Ints) -> Ints:
    """Return for each place the largest value of its group above it, -NEVER for the first; groups
    ascend."""
    starts = np.flatnonzero(group[1:] != group[:-1]) + 1
    if len(starts) * _LONG <= len(group):
        return _largest_before_in_long(values, [0, *starts.tolist(), len(group)])
    before = np.full(len(group), -NEVER, np.int64)
    same = group[1:] == group[:-1]
    before[1:] = np.where(same, running_max(group, values)[:-1], np.int64(-NEVER))
    return before


def _largest_before_in_long(values: Ints, bounds: Sequence[int]) -> Ints:
    """The same group by group: that takes no more room than the answer."""
    before = np.full(len(values), -NEVER, np.int64)
    for start, end in pairwise(bounds):
        np.maximum.accumulate(values[start : max(start, end - 1)], out=before[start + 1 : end])
    return before


def in_order(major: Ints, *minor: Ints) -> NDArray[np.intp]:
    """The order by (major, minor ...). Of what has nearly that order one pass does almost all."""
    order = np.argsort(major, kind="stable")
    times = major[order]
    same = times[1:] == times[:-1]
    if same.any():
        tied = np.zeros(len(order), np.bool_)
        tied[1:] = same
        tied[:-1] |= same
        among = order[tied]
        order[tied] = among[np.lexsort([key[among] for key in (*minor[::-1], major)])]
    return order


def split(groups: Ints, size: int) -> list[NDArray[np.intp]]:
    """The places of each of `size` groups, in their order."""
    order = np.argsort(_narrowed(groups, size), kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups, minlength=size))[:-1])


def value_counts(values: Ints) -> tuple[list[int], list[int]]:
    """The distinct values, ascending, and how often each occurs."""
    if not len(values):
        return [], []
    low, high = int(values.min()), int(values.max())
    if high - low < _DENSE:
        counts = np.bincount(values - low)
        present = np.flatnonzero(counts)
        return (present + low).tolist(), counts[present].tolist()
    distinct, counts = np.unique(values, return_counts=True)
    return distinct.tolist(), counts.tolist()


def group_numbers(*columns: Ints) -> Ints:
    """One number for each combination of the columns; numbers sort as the combinations do."""
    numbers = np.zeros(len(columns[0]), np.int64)
    if not len(numbers):
        return numbers
    groups = 1
    for column in columns:
        ranks, span = _ranks(column)
        if span == 1:
            continue
        if groups * span > NEVER:
            numbers, groups = _compressed(numbers)
        assert groups * span <= NEVER, "more rows than any machine holds"
        numbers *= span
        numbers += ranks
        groups *= span
    return _narrowed(numbers, groups)


def distinct_places(values: Ints) -> tuple[Ints, Ints]:
    """The distinct values, ascending, and the place of each there."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > len(values):
        distinct, places = np.unique(values, return_inverse=True)
        return distinct, places
    present = marked(high - low + 1, values - low)
    distinct = np.flatnonzero(present) + low
    return distinct, _narrowed(np.cumsum(present) - 1, len(distinct))[values - low]


def numbered(values: Ints) -> tuple[Ints, Ints]:
    """Ascending values among which all of these are, and the place of each there."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low < 1 << 16:
        return np.arange(low, high + 1), values - low
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, places


def pair_numbers(high: Ints, low: Ints) -> NDArray[np.int64]:
    """Two int32 columns as one int64 column."""
    assert high.dtype == np.int32, high.dtype
    assert low.dtype == np.int32, low.dtype
    return (high.astype(np.int64) << 32) | (low.astype(np.int64) & 0xFFFFFFFF)


def find(sorted_keys: Ints, keys: Ints) -> NDArray[np.intp]:
    """The position of each key in the sorted distinct keys; -1 where it is not among them."""
    if not len(sorted_keys):
        return np.full(len(keys), -1, np.intp)
    places = np.searchsorted(sorted_keys, keys)
    places[places == len(sorted_keys)] = 0
    return np.where(sorted_keys[places] == keys, places, -1)


def ascending_places(
    sorted_keys: Ints, values: Ints, side: Literal["left", "right"] = "left"
) -> Ints:
    """Return where ascending values belong among ascending keys. Neighbouring values need few
    keys."""
    places = np.empty(len(values), index(len(sorted_keys) + 1))
    for rows in blocks(len(values), _NEAR):
        some = values[rows]
        first, last = np.searchsorted(sorted_keys, some[[0, -1]], side)
        places[rows] = first + np.searchsorted(sorted_keys[first:last], some, side)
    return places


def expand(starts: Ints, ends: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Every (range number, position) with starts[range] <= position < ends[range]."""
    lengths = np.maximum(ends - starts, 0)
    ranges = np.repeat(np.arange(len(starts)), lengths)
    before = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return ranges, starts[ranges] + (np.arange(len(ranges)) - before)


def _narrowed(numbers: Ints, size: int) -> Ints:
    """Numbers below `size`: numpy sorts 16-bit integers by radix, many times faster than wide
    ones."""
    return numbers.astype(np.uint16) if size <= 1 << 16 else numbers


def _ranks(column: Ints) -> tuple[Ints, int]:
    low, high = int(column.min()), int(column.max())
    if high - low < _DENSE:
        return np.subtract(column, low, dtype=np.int64) if low else column, high - low + 1
    return _compressed(column)


def _compressed(column: Ints) -> tuple[NDArray[np.int64], int]:
    distinct, ranks = np.unique(column, return_inverse=True)
    return ranks.astype(np.int64, copy=False), len(distinct)
