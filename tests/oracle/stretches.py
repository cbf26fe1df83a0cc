"""Stretches: 5 s of publishes, and enough of them, with so few bad ones that they do not count.

1. A stretch begins or ends with a publish, lies within the load, and is good if its first and its
   last publish are good and at most one in a hundred, or one, is bad.
2. The length is 5 s, never more than it takes to have enough publishes: 1 % of an hour would
   forgive 36 s in one piece.
3. Publishes in a good stretch were served. Service begins where a good stretch does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import STRETCH_NS, allowance
from tests.oracle.scopes import Scope

IndexRange = tuple[int, int]  # [start, end)


@dataclass(frozen=True, slots=True)
class Served:
    """The served publishes of a scope, and where good stretches begin: places, ascending."""

    served: Sequence[bool]  # by place
    beginnings: Sequence[int]


def served(facts: Facts, scope: Scope) -> Served:
    steps = [0] * (scope.size + 1)
    beginnings = set[int]()
    for start, end in _good(facts, scope):
        beginnings.add(start)
        steps[start] += 1
        steps[end] -= 1
    depths = list(accumulate(steps))
    return Served(tuple(depth > 0 for depth in depths[:-1]), tuple(sorted(beginnings)))


def end_from(scope: Scope, start: int) -> int:
    """The place after the stretch from there; beyond all where there are too few."""
    return max(start + scope.least, scope.before(scope.intended_ns[start] + STRETCH_NS))


def whole_from(facts: Facts, scope: Scope, start: int) -> bool:
    within = scope.intended_ns[start] + STRETCH_NS <= facts.load_ended_ns
    return within and end_from(scope, start) <= scope.size


def few_bad(scope: Scope, start: int, end: int) -> bool:
    return scope.bad(start, end) <= allowance(end - start)


def _good(facts: Facts, scope: Scope) -> Iterator[IndexRange]:
    for start, end in _whole(facts, scope):
        edges_good = not (scope.publishes[start].missed or scope.publishes[end - 1].missed)
        if edges_good and few_bad(scope, start, end):
            yield start, end


def _whole(facts: Facts, scope: Scope) -> Iterator[IndexRange]:
    """Yield the stretches from a publish on, and those up to one."""
    for place, intended_ns in enumerate(scope.intended_ns):
        if whole_from(facts, scope, place):
            yield place, end_from(scope, place)
        start = min(place + 1 - scope.least, scope.by(intended_ns - STRETCH_NS))
        if start >= 0 and intended_ns - STRETCH_NS >= facts.load_started_ns:
            yield start, place + 1
