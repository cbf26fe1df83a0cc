"""Sustained success: the first operation from which on things went well for long enough.

1. A period is the operations of 5 s, and at least 200 of them, by intended time; it is good if at
   most 1 % of them were missed.
2. The operation it begins with must itself be in time.
3. A period that the end of load cuts off proves nothing: it is not good, and it is not bad either.
   No more does one that went well until a later fault, and was spoiled by that.
4. What of a period lies before some instant is judged by itself if it is 200 operations at least.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from spark_analysis.definition.operations import Operation

_PERIOD_NS = 5_000_000_000
_OPERATIONS_MIN = 200
_MISSED_PERCENT_MAX = 1


@dataclass(frozen=True, slots=True)
class Search:
    """Where a good period began; else the time from which on one could have."""

    found: bool
    at_ns: int


def too_many(missed: int, operations: int) -> bool:
    """Whether so few operations are enough to say that a period with them is not good."""
    return missed * 100 > max(operations, _OPERATIONS_MIN) * _MISSED_PERCENT_MAX


class Periods:
    """The periods of one run, one an operation."""

    def __init__(self, operations: Sequence[Operation], load_ended_ns: int) -> None:
        self._operations = operations
        self._intended_ns = [operation.intended_ns for operation in operations]
        missed = (int(operation.missed) for operation in operations)
        self._missed_before = list(accumulate(missed, initial=0))
        self._load_ended_ns = load_ended_ns

    def first_good(self, from_ns: int, before_ns: int) -> Search:
        """The first good period of an operation intended within [from_ns, before_ns), where a
        later fault begins, or the load ends."""
        could_ns = before_ns
        first = bisect_left(self._intended_ns, from_ns)
        for index in range(first, bisect_left(self._intended_ns, before_ns)):
            if self._operations[index].missed:
                continue
            if self._cut_off(index):  # as are all that follow
                return Search(False, min(could_ns, self._intended_ns[index]))
            if self._good(index):
                return Search(True, self._intended_ns[index])
            if self._spoiled(index, before_ns):
                could_ns = min(could_ns, self._intended_ns[index])
        return Search(False, could_ns)

    def _cut_off(self, index: int) -> bool:
        too_late = self._intended_ns[index] + _PERIOD_NS > self._load_ended_ns
        return too_late or len(self._operations) - index < _OPERATIONS_MIN

    def _spoiled(self, index: int, before_ns: int) -> bool:
        """Whether what of it comes before that instant leaves open whether it would be good."""
        end, known = self._end(index), bisect_left(self._intended_ns, before_ns)
        missed = self._missed_before[min(known, end)] - self._missed_before[index]
        return known < end and missed * 100 <= (end - index) * _MISSED_PERCENT_MAX

    def good_before(self, from_ns: int, before_ns: int) -> bool:
        """Whether the period from the first operation at `from_ns` on, cut off at `before_ns`, is
        still long enough to be judged, and good."""
        index = bisect_left(self._intended_ns, from_ns)
        end = min(self._end(index), bisect_left(self._intended_ns, before_ns))
        return end - index >= _OPERATIONS_MIN and self._few_missed(index, end)

    def confirmed_before(self, from_ns: int, before_ns: int) -> bool:
        """Whether of the whole period from the first operation at `from_ns` on at most 1 % were
        missed, or not confirmed before `before_ns`."""
        index = bisect_left(self._intended_ns, from_ns)
        period = self._operations[index : self._end(index)]
        late = sum(one.missed or not one.confirmed_before(before_ns) for one in period)
        whole = self._end(index) <= len(self._operations)
        return whole and late * 100 <= len(period) * _MISSED_PERCENT_MAX

    def _good(self, index: int) -> bool:
        return self._few_missed(index, self._end(index))

    def _end(self, index: int) -> int:
        """The place after its last operation; beyond all where there are too few."""
        if index == len(self._operations):
            return index + _OPERATIONS_MIN
        in_time = bisect_left(self._intended_ns, self._intended_ns[index] + _PERIOD_NS)
        return max(in_time, index + _OPERATIONS_MIN)

    def _few_missed(self, index: int, end: int) -> bool:
        missed = self._missed_before[end] - self._missed_before[index]
        return missed * 100 <= (end - index) * _MISSED_PERCENT_MAX
