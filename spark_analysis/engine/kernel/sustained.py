"""The time when sending was good for long enough after a fault: a milestone.

1. A stretch that the end of the load cuts off is neither good nor bad; nor is one that went well
   until a later fault.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from spark_analysis.engine.kernel.arrays import Bools, Ints
from spark_analysis.engine.kernel.recovered_by import recovered_by
from spark_analysis.engine.kernel.stretches import Course
from spark_analysis.engine.kernel.windows import Force, Judged
from spark_analysis.schema.words import RecoveredBy

Sustained = tuple[
    bool, int, RecoveredBy
]  # whether, since when (or not before), and what brought it back


def sustained(
    course: Course, forces: Sequence[Force], limits: Sequence[Judged], deadline_ns: int
) -> Iterator[Sustained]:
    """One a window; `course`: that of the run."""
    times_ns = course.due.intended_ns
    for force, judged in zip(forces, limits, strict=True):
        begin = course.beginning(course.place(0, judged.from_ns), 0)
        if begin is not None and times_ns[begin] < judged.until_ns:
            yield True, int(times_ns[begin]), _to_what(course, begin, force, deadline_ns)
            continue
        could = course.cut_off | _spoiled(course, course.place(0, judged.until_ns))
        could_ns = _first_within(times_ns[could & ~course.due.bad], judged)
        yield False, judged.until_ns if could_ns is None else could_ns, RecoveredBy.NOTHING


def _spoiled(course: Course, known: int) -> Bools:
    """Return the stretches that reach beyond the end and have too few bad publishes before it to
    be bad."""
    starts = np.arange(len(course.ends))
    seen = np.maximum(np.minimum(course.ends, known), starts)
    late = course.bad_before[seen] - course.bad_before[starts]
    spoiled: Bools = late <= np.maximum(1, (course.ends - starts) // 100)
    return spoiled & (known < course.ends)


def _to_what(course: Course, begin: int, force: Force, deadline_ns: int) -> RecoveredBy:
    if course.due.intended_ns[begin] >= force.surely_ns or force.window.ended_ns is None:
        return RecoveredBy.NOTHING
    if force.undo_ns is None:
        return RecoveredBy.EITHER
    return recovered_by(course, 0, begin, force, deadline_ns)


def _first_within(times_ns: Ints, judged: Judged) -> int | None:
    place = int(np.searchsorted(times_ns, judged.from_ns))
    if place < len(times_ns) and times_ns[place] < judged.until_ns:
        return int(times_ns[place])
    return None
