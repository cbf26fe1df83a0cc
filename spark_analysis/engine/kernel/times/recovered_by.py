"""The cause of recovery: the system itself, or the end of the fault.

1. The rules are RECOVERED_BY of schema/service.py: of one good beginning before the undo of one
   window.
"""

import numpy as np

from spark_analysis.engine.kernel.events.windows import Force
from spark_analysis.engine.kernel.times.stretches import Course, few_bad
from spark_analysis.schema.service import allowance
from spark_analysis.schema.words import RecoveredBy


def recovered_by(
    course: Course, scope: int, begin: int, force: Force, deadline_ns: int
) -> RecoveredBy:
    """Return the cause of the good beginning at that place."""
    undo_ns = force.undo_ns
    assert undo_ns is not None, force
    began_ns = int(course.due.intended_ns[begin])
    if _by_itself(course, scope, max(began_ns, force.window.returned_ns), undo_ns, deadline_ns):
        return RecoveredBy.SYSTEM
    undone = course.place(scope, undo_ns)
    if course.bad_within(begin, undone) * 4 >= max(8, undone - begin):
        return RecoveredBy.UNDO
    if _held(course, scope, began_ns, undo_ns, deadline_ns):
        return RecoveredBy.UNDO
    from_ns = max(min(began_ns, undo_ns - deadline_ns), force.window.returned_ns)
    silent = _silent(course, scope, from_ns, undo_ns)
    return RecoveredBy.UNDO if silent else RecoveredBy.EITHER


def _by_itself(course: Course, scope: int, from_ns: int, undo_ns: int, deadline_ns: int) -> bool:
    """Return whether the publishes decided before the undo are enough and good, or all were
    confirmed then. If they are fewer than a stretch, none may have waited for the undo."""
    last = int(course.due.starts[scope + 1])
    first = course.place(scope, from_ns)
    if first >= last:
        return False
    end = int(course.ends[first])
    decided = min(course.place(scope, undo_ns - deadline_ns), end)
    if decided - first >= course.due.enough and few_bad(course, first, decided):
        young = min(course.place(scope, undo_ns - deadline_ns // 2), end)
        enough = decided - first >= course.due.least
        if enough or _confirmed(course, first, young, undo_ns):
            return True
    return end <= last and _confirmed(course, first, end, undo_ns)


def _confirmed(course: Course, first: int, end: int, undo_ns: int) -> bool:
    """Return whether few of the places [first, end) are bad, or not confirmed before the undo."""
    late = course.due.bad[first:end] | (course.due.confirmed_ns[first:end] >= undo_ns)
    return int(np.count_nonzero(late)) <= allowance(end - first)


def _held(course: Course, scope: int, began_ns: int, undo_ns: int, deadline_ns: int) -> bool:
    """Return whether success that seems to begin about a deadline before the undo was none shortly
    before it: too much waited, and nothing that waited so long was in time without the undo."""
    first_ns, until_ns = undo_ns - deadline_ns * 3 // 4, undo_ns - deadline_ns // 2
    if not undo_ns - deadline_ns * 3 // 2 <= began_ns <= first_ns:
        return False
    begun, first, end = course.places(scope, np.array([began_ns, first_ns, until_ns])).tolist()
    due = course.due
    waited = int(np.count_nonzero(due.confirmed_ns[first:end] >= undo_ns))
    if waited <= allowance(max(end - first, due.least)):
        return False
    confirmed_ns = due.confirmed_ns[begun:end]
    slow = ~due.bad[begun:end] & (confirmed_ns < undo_ns)
    slow &= confirmed_ns - due.intended_ns[begun:end] >= deadline_ns // 2
    return not slow.any()


def _silent(course: Course, scope: int, from_ns: int, undo_ns: int) -> bool:
    """Return whether enough publishes were due from then until the undo, and none of them was
    confirmed before it: only after it did anything work."""
    first, end = course.places(scope, np.array([from_ns, undo_ns])).tolist()
    early = course.due.confirmed_ns[first:end] < undo_ns
    return end - first >= course.due.enough and not bool(early.any())
