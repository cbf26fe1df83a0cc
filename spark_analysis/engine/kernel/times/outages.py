"""The outages of each scope, and what ended each.

1. The kernel examines only outages one by one; bad and unserved publishes show where they are.
2. The rules are OUTAGES of schema/service.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spark_analysis.engine.kernel.events.windows import Force, listed
from spark_analysis.engine.kernel.times.recovered_by import recovered_by
from spark_analysis.engine.kernel.times.stretches import Course
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import (
    EITHER,
    NEVER,
    PUBLISHER,
    SYSTEM,
    UNDO,
    UNKNOWN,
    Outage,
    allowance,
)


@dataclass(frozen=True, slots=True)
class Spell:
    """An outage: its row, its publishes' places [first, end), and the windows whose undo ended
    it."""

    scope: int
    first: int
    end: int
    row: Outage
    undone: frozenset[int]


def spells(course: Course, forces: Sequence[Force], facts: Facts) -> list[Spell]:
    """The outages of all scopes of one kind, in order."""
    inside = np.searchsorted(course.unserved, course.due.starts).tolist()
    return [
        spell
        for scope in range(len(course.due.names))
        if inside[scope] < inside[scope + 1]
        for spell in _of_scope(course, scope, forces, facts)
    ]


def _of_scope(
    course: Course, scope: int, forces: Sequence[Force], facts: Facts
) -> Iterator[Spell]:
    place, last = (int(each) for each in course.due.starts[scope : scope + 2])
    while True:
        number = int(np.searchsorted(course.unserved, place))
        if number == len(course.unserved) or course.unserved[number] >= last:
            return
        first = int(course.unserved[number])
        begin = course.beginning(first + 1, scope)
        end = last if begin is None else begin
        began_ns = int(course.due.intended_ns[first])
        borne = allowance(course.in_a_stretch(scope, began_ns))
        if course.bad_within(first, end) > borne:
            yield _spell(course, scope, first, begin, forces, facts)
        place = end


def _spell(
    course: Course,
    scope: int,
    first: int,
    begin: int | None,
    forces: Sequence[Force],
    facts: Facts,
) -> Spell:
    times_ns = course.due.intended_ns
    from_ns = int(times_ns[first])
    seemed = None if begin is not None else _seemed_good(course, scope, first)
    end = begin if begin is not None else seemed
    until_ns = facts.load_ended_ns if end is None else int(times_ns[end])
    windows = tuple(force for force in forces if _touches(force, from_ns, until_ns))
    said = {}
    if begin is not None:
        said = _ended(course, scope, begin, from_ns, windows, facts)
        ended = next(word for word in (UNDO, EITHER, SYSTEM) if word in {SYSTEM, *said.values()})
    else:
        ended = NEVER if seemed is None else UNKNOWN
    end = int(course.due.starts[scope + 1]) if end is None else end
    row = Outage(
        run=facts.run,
        scope=course.due.kind,
        name=course.due.names[scope],
        from_ns=from_ns,
        until_ns=until_ns,
        ended=ended,
        due=end - first,
        bad=course.bad_within(first, end),
        windows=listed(tuple(force.window for force in windows)),
    )
    undone = frozenset(window for window, word in said.items() if word == UNDO)
    return Spell(scope, first, end, row, undone)


def _seemed_good(course: Course, scope: int, first: int) -> int | None:
    """The first good publish after it from which few enough are bad, to the end."""
    last = int(course.due.starts[scope + 1])
    places = np.arange(first + 1, last)
    late = course.bad_before[last] - course.bad_before[first + 1 : last]
    good = ~course.due.bad[first + 1 : last] & (late <= np.maximum(1, (last - places) // 100))
    return int(places[np.argmax(good)]) if good.any() else None


def _touches(force: Force, from_ns: int, until_ns: int) -> bool:
    ended_ns = force.window.ended_ns
    return force.window.origin_ns < until_ns and (ended_ns is None or from_ns < ended_ns)


def _ended(
    course: Course,
    scope: int,
    begin: int,
    from_ns: int,
    windows: Sequence[Force],
    facts: Facts,
) -> dict[int, str]:
    """Return by window what ended it, of those that decide this."""
    # A client that stands still ends no outage of the cluster, and neither does its return.
    deciding = [each for each in windows if not each.window.of_clients] or windows
    return {
        each.window.number: _said(course, scope, begin, from_ns, each, facts) for each in deciding
    }


def _said(course: Course, scope: int, begin: int, from_ns: int, force: Force, facts: Facts) -> str:
    """Return what ended it, as far as one window shows."""
    if force.window.ended_ns is None or from_ns >= force.until_ns:
        return SYSTEM
    back_ns, off_ns = int(course.due.intended_ns[begin]), facts.clock_bound_ns(PUBLISHER)
    if back_ns - off_ns >= force.surely_ns:
        return UNDO
    if force.undo_ns is None or back_ns + off_ns >= force.surely_ns:
        return EITHER
    return str(recovered_by(course, scope, begin, force, facts.deadline_ns))
