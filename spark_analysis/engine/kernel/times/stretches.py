"""The due publishes of each scope, its good stretches, and the publishes that were served.

1. A course holds all scopes of one kind, one after the other. An offset per scope separates their
   times, so one search answers for all of them: 200 queues cost as much as one.
2. Places count through the whole course; `starts` says where each scope begins.
3. The rules are those of schema/service.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    MANY,
    NEVER,
    Bools,
    Ints,
    ascending_places,
    blocks,
    index,
    numbered,
)
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.publishes import Publishes
from spark_analysis.engine.kernel.records import BadRecords
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import (
    ENOUGH,
    LEAST,
    PUBLISHER,
    QUEUE,
    RUN,
    STRETCH_NS,
    allowance,
)

# --- Runs ----------------------------------------------------------------------------------------
# Places that are set, as the runs that they make: mostly few, however many places there are.


@dataclass(frozen=True, slots=True)
class Runs:
    """The set ones of `size` places: the first and the last place of each run, ascending."""

    firsts: Ints
    lasts: Ints
    size: int

    @classmethod
    def of(cls, flags: Bools) -> Self:
        edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
        return cls(edges[::2], edges[1::2] - 1, len(flags))

    def up_to(self, places: Ints) -> Ints:
        """The last that is set of all up to each of these; -1 where none is."""
        run = np.searchsorted(self.firsts, places, side="right") - 1
        found: Ints = np.minimum(places, np.append(self.lasts, -1)[run])
        return found

    def starting(self, places: Ints | int) -> Ints:
        """The first that is set of each of these and all behind it; the size where none is."""
        run = np.searchsorted(self.lasts, places)
        found: Ints = np.maximum(places, np.append(self.firsts, self.size)[run])
        return found


# --- Stretches -----------------------------------------------------------------------------------


KINDS = (RUN, QUEUE, PUBLISHER)  # of scopes

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Due:
    """The publishes of all scopes of one kind, in the order (scope, intended_ns, ...)."""

    kind: str
    names: tuple[str, ...]  # of the scopes
    starts: Indices  # the place where each begins; behind the last: where that ends
    intended_ns: Ints
    confirmed_ns: Ints
    bad: Bools
    load_started_ns: int
    load_ended_ns: int

    @property
    def least(self) -> int:
        return LEAST[self.kind]

    @property
    def enough(self) -> int:
        return ENOUGH[self.kind]

    def keys(self, scope: Ints | int, times_ns: Ints | int) -> Ints:
        """Numbers that sort as (scope, time), of times up to 5 s outside of the load."""
        first_ns, last_ns = self.load_started_ns - STRETCH_NS, self.load_ended_ns + STRETCH_NS
        span_ns = last_ns - first_ns + 2
        if span_ns * (len(self.names) + 1) > NEVER:
            raise BadRecords("the load lasts longer than can be counted")
        inside: Ints = np.clip(times_ns, first_ns, last_ns + 1) - first_ns
        return scope * np.int64(span_ns) + inside


@dataclass(frozen=True, slots=True)
class Course:
    """The publishes of all scopes of one kind, and the stretches that they make."""

    due: Due
    sorted_keys: Ints
    bad_before: Ints  # each place; one more than there are places
    ends: Ints  # of the stretch from each place; it may lie behind the scope's end
    cut_off: Bools  # the stretch from here is not whole
    begins: Runs  # good beginnings
    unserved: Indices  # what is bad, and in no good stretch

    def places(self, scope: Ints | int, times_ns: Ints | int) -> Indices:
        """The first place of each scope with that intended time or a later one, or its end."""
        return np.searchsorted(self.sorted_keys, self.due.keys(scope, times_ns))

    def place(self, scope: int, time_ns: int) -> int:
        return int(self.places(scope, time_ns))

    def bad_within(self, first: int, end: int) -> int:
        return int(self.bad_before[end] - self.bad_before[first]) if first < end else 0

    def in_a_stretch(self, scope: int, from_ns: int) -> int:
        """Return the number of publishes in a stretch from that time; the allowance depends on
        it."""
        first, end = self.places(scope, np.array([from_ns, from_ns + STRETCH_NS]))
        return max(self.due.least, int(end - first))

    def beginning(self, after: int, scope: int) -> int | None:
        """The first good beginning of that scope at this place or later."""
        place = int(self.begins.starting(after))
        return place if place < self.due.starts[scope + 1] else None


def course_of(kind: str, publishes: Publishes, messages: Messages, facts: Facts) -> Course | None:
    """Return the course of all scopes of one kind; None without a history."""
    if not (facts.paced and facts.confirms):
        return None
    times_ns = publishes.intended_ns
    first = int(np.searchsorted(times_ns, facts.load_started_ns))
    end = max(first, int(np.searchsorted(times_ns, facts.load_ended_ns, side="right")))
    within = slice(first, end)
    names, scope = _scopes(kind, publishes, messages, within)
    return course(_due(kind, names, scope, publishes, within, facts))


def _scopes(
    kind: str, publishes: Publishes, messages: Messages, within: slice
) -> tuple[Sequence[str], Ints]:
    """The names of the scopes of that kind, and the number of each publish's."""
    if kind == RUN:
        return [""], np.zeros(within.stop - within.start, np.uint8)
    if kind == QUEUE:
        return publishes.queue.words, publishes.queue.numbers[within]
    producer = messages.attempts.producer[messages.rows.first[publishes.slot[within]]]
    publishers, publisher = numbered(producer)
    return list(map(str, publishers.tolist())), publisher


def _due(
    kind: str,
    names: Sequence[str],
    scope: Ints,
    publishes: Publishes,
    within: slice,
    facts: Facts,
) -> Due:
    counts = np.bincount(scope, minlength=len(names))
    present = np.flatnonzero(counts) if kind != RUN else np.zeros(1, np.intp)
    # numpy sorts 16-bit integers by radix.
    narrow = scope.astype(np.uint16) if len(names) < 1 << 16 else scope
    order = np.argsort(narrow, kind="stable") if len(present) > 1 else slice(None)
    return Due(
        kind,
        tuple(names[number] for number in present.tolist()),
        np.concatenate([[0], np.cumsum(counts[present])]),
        publishes.intended_ns[within][order],
        publishes.confirmed_ns[within][order],
        publishes.missed[within][order],
        facts.load_started_ns,
        facts.load_ended_ns,
    )


def course(due: Due) -> Course:
    size = len(due.intended_ns)
    places = index(size + due.least + 1)
    starts = due.starts.astype(places)
    keys, ends = np.empty(size, np.int64), np.empty(size, places)
    bad_before = np.zeros(size + 1, places)
    np.cumsum(due.bad, out=bad_before[1:])
    whole, forth, back, begins = (np.zeros(size, np.bool_) for _ in range(4))
    for some in blocks(size, MANY):
        scope = _scope_of(due, some)
        keys[some] = due.keys(scope, due.intended_ns[some])
    for some in blocks(size, MANY):
        here = np.arange(some.start, min(some.stop, size), dtype=places)
        scope, times_ns = _scope_of(due, some), due.intended_ns[some]
        end = np.maximum(here + due.least, ascending_places(keys, keys[some] + STRETCH_NS))
        whole[some] = end <= starts[scope + 1]
        whole[some] &= times_ns <= due.load_ended_ns - STRETCH_NS
        forth[some] = whole[some] & _good(due.bad, bad_before, here, np.minimum(end, size))
        first = _firsts(due, keys, here)
        whole_to = first >= starts[scope]
        whole_to &= times_ns >= due.load_started_ns + STRETCH_NS
        back[some] = whole_to & _good(due.bad, bad_before, np.maximum(first, 0), here + 1)
        begins[first[back[some]]] = True
        ends[some] = end
    begins |= forth
    unserved = _unserved(due, keys, ends, Runs.of(forth), Runs.of(back))
    return Course(due, keys, bad_before, ends, ~whole, Runs.of(begins), unserved)


def _scope_of(due: Due, some: slice) -> Ints | int:
    """The scope of each of these places; one for all of them where there is one."""
    if len(due.names) == 1:
        return 0
    here = np.arange(some.start, min(some.stop, len(due.intended_ns)))
    return np.searchsorted(due.starts, here, side="right") - 1


def _firsts(due: Due, keys: Ints, places: Ints) -> Ints:
    """The first place of the stretch up to each of these, which ascend: below all of its scope
    where that is not whole."""
    before = ascending_places(keys, keys[places] - STRETCH_NS, "right")
    return np.minimum(before, places + 1 - due.least)


def _good(bad: Bools, bad_before: Ints, firsts: Ints, ends: Ints) -> Bools:
    """Return whether each [first, end) is good at both ends, and not too bad between."""
    late = bad_before[ends] - bad_before[firsts]
    few = (late <= 1) | (late <= (ends - firsts) // 100)
    good: Bools = few & ~bad[firsts] & ~bad[ends - 1]
    return good


def _unserved(due: Due, keys: Ints, ends: Ints, forth: Runs, back: Runs) -> Indices:
    """Return the bad publishes that lie in no good stretch: neither in the one from the last good
    beginning up to it, nor in the one to the first good end from it on. Others reach less far."""
    bad = np.flatnonzero(due.bad)
    before, after = forth.up_to(bad), back.starting(bad)
    served = (before >= 0) & (ends[before] > bad)
    there = np.flatnonzero(after < back.size)
    served[there] |= _firsts(due, keys, after[there]) <= bad[there]
    return bad[~served]


def few_bad(course: Course, first: int, end: int) -> bool:
    """Return whether so few publishes of [first, end) are bad that the allowance covers them."""
    return course.bad_within(first, end) <= allowance(end - first)
