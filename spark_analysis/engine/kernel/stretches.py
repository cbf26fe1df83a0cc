"""What was due in each scope, in which stretches it went well, and what of it was served.

1. A course holds all scopes of one kind, one behind the other. Their times are told apart by an
   offset a scope, so that one search answers for all of them: 200 queues cost what one costs.
2. Places count through the whole course; `starts` says where each scope begins.
3. The rules are those of schema/service.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.operations import Operations
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

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Due:
    """The operations of all scopes of one kind, in the order (scope, intended_ns, ...)."""

    kind: str
    names: tuple[str, ...]  # of the scopes
    starts: Places  # the place where each begins; behind the last: where that ends
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
    """The operations of all scopes of one kind, and the stretches that they make."""

    due: Due
    sorted_keys: Ints
    bad_before: Ints  # each place; one more than there are places
    ends: Places  # of the stretch from each place; it may lie behind the scope's end
    cut_off: Bools  # the stretch from here is not whole
    begins: Places  # good beginnings
    unserved: Places  # what is bad, and in no good stretch

    def places(self, scope: Ints | int, times_ns: Ints | int) -> Places:
        """The first place of each scope with that intended time or a later one, or its end."""
        return np.searchsorted(self.sorted_keys, self.due.keys(scope, times_ns))

    def place(self, scope: int, time_ns: int) -> int:
        return int(self.places(scope, time_ns))

    def bad_within(self, first: int, end: int) -> int:
        return int(self.bad_before[end] - self.bad_before[first]) if first < end else 0

    def in_a_stretch(self, scope: int, from_ns: int) -> int:
        """How many operations a stretch from that time may have: what it allows depends on it."""
        first, end = self.places(scope, np.array([from_ns, from_ns + STRETCH_NS]))
        return max(self.due.least, int(end - first))

    def beginning(self, after: int, scope: int) -> int | None:
        """The first good beginning of that scope at this place or later."""
        place = int(np.searchsorted(self.begins, after))
        if place < len(self.begins) and self.begins[place] < self.due.starts[scope + 1]:
            return int(self.begins[place])
        return None


def courses(operations: Operations, messages: Messages, facts: Facts) -> tuple[Course, ...]:
    """That of the run, that of its queues and that of its publishers; none without a history."""
    if not (facts.paced and facts.confirms):
        return ()
    times_ns = operations.intended_ns
    first = int(np.searchsorted(times_ns, facts.load_started_ns))
    end = max(first, int(np.searchsorted(times_ns, facts.load_ended_ns, side="right")))
    producer, _ = messages.slots.identities(operations.slot[first:end])
    queue = operations.queue.numbers[first:end]
    words = operations.queue.words
    publishers = np.unique(producer)
    scopes: Sequence[tuple[str, Sequence[str], Ints]] = (
        (RUN, [""], np.zeros(end - first, np.uint8)),
        (QUEUE, words, queue),
        (PUBLISHER, list(map(str, publishers.tolist())), np.searchsorted(publishers, producer)),
    )
    return tuple(
        course(_due(kind, names, scope, operations, slice(first, end), facts))
        for kind, names, scope in scopes
    )


def _due(
    kind: str,
    names: Sequence[str],
    scope: Ints,
    operations: Operations,
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
        operations.intended_ns[within][order],
        operations.confirmed_ns[within][order],
        operations.missed[within][order],
        facts.load_started_ns,
        facts.load_ended_ns,
    )


def course(due: Due) -> Course:
    size = len(due.intended_ns)
    scope = np.repeat(np.arange(len(due.names)), np.diff(due.starts))
    keys = due.keys(scope, due.intended_ns)
    bad_before = np.concatenate([[0], np.cumsum(due.bad)])
    here = np.arange(size)
    ends = np.maximum(here + due.least, np.searchsorted(keys, keys + STRETCH_NS))
    whole = ends <= due.starts[scope + 1]
    whole &= due.intended_ns + STRETCH_NS <= due.load_ended_ns
    firsts = here + 1 - due.least
    firsts = np.minimum(firsts, np.searchsorted(keys, keys - STRETCH_NS, side="right"))
    whole_to = firsts >= due.starts[scope]
    whole_to &= due.intended_ns - STRETCH_NS >= due.load_started_ns
    forth = np.flatnonzero(_good(due.bad, bad_before, here, ends, whole))
    back = np.flatnonzero(_good(due.bad, bad_before, firsts, here + 1, whole_to))
    begins = np.zeros(size, np.bool_)
    begins[forth] = True
    begins[firsts[back]] = True
    steps = np.bincount(forth, minlength=size + 1) + np.bincount(firsts[back], minlength=size + 1)
    steps -= np.bincount(ends[forth], minlength=size + 1)
    steps -= np.bincount(back + 1, minlength=size + 1)
    unserved = due.bad & (np.cumsum(steps)[:-1] == 0)
    return Course(
        due, keys, bad_before, ends, ~whole, np.flatnonzero(begins), np.flatnonzero(unserved)
    )


def _good(bad: Bools, bad_before: Ints, firsts: Ints, ends: Ints, whole: Bools) -> Bools:
    """Whether each [first, end) is whole, good at both ends, and not too bad between."""
    first, end = np.where(whole, firsts, 0), np.where(whole, ends, 1)
    late = bad_before[end] - bad_before[first]
    good: Bools = whole & (late <= np.maximum(1, (end - first) // 100))
    return good & ~bad[first] & ~bad[end - 1]


def few_bad(course: Course, first: int, end: int) -> bool:
    """Whether so few of [first, end) are bad that none is."""
    return course.bad_within(first, end) <= allowance(end - first)
