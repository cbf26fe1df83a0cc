"""The recovery stages of each fault window, and how long each took.

1. A stage that was not reached is at least as late as the end of the observed time: a lower bound.
2. A stage that cannot be judged in this run (no confirms, no intended times) has no row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.windows import Force, Judged, in_order, judged_times
from spark_analysis.engine.kernel.times.consumption import Given
from spark_analysis.engine.kernel.times.recovered_by import recovered_by
from spark_analysis.engine.kernel.times.stretches import Course
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.words import Fate, RecoveredBy

# --- Backlog -------------------------------------------------------------------------------------
# Confirmed messages that waited too long for their first delivery, and when none waited any more.
#
# 1. A message that was never delivered does not wait: it is a loss. A message that only the drain
#    received waited to the end.
# 2. A delayed message waits from when it is due. For a message that is committed only at the
#    broker's check, the start of its wait is unknown.


@dataclass(frozen=True, slots=True)
class Backlog:
    """Messages that waited too long at every time between `from_ns` and `until_ns`."""

    from_ns: Ints
    until_ns: Ints

    @classmethod
    def of(cls, messages: Messages, arrived: Arrivals, deadline_ns: int) -> Self:
        held = arrived.delivered & (messages.confirmed_ns < NEVER)
        held &= messages.terms.fates != Fate.COMMIT_WHEN_CHECKED
        slots = np.flatnonzero(held)
        first = arrived.first[slots]
        from_ns = messages.confirmed_ns[slots]
        if messages.terms.delayed.any():
            from_ns = np.maximum(from_ns, messages.terms.latest_due_ns(slots))
        from_ns = from_ns + deadline_ns
        drained = arrived.came_by(arrived.ways.drain, first)
        until_ns = np.where(drained, NEVER, arrived.received_ns(first))
        waited = from_ns < until_ns
        return cls(from_ns[waited], until_ns[waited])

    def drained_ns(self, resumed_ns: int, returned_ns: int, limit_ns: int) -> int | None:
        """Return when no message waited too long any more; None if one does at the limit.

        `resumed_ns`: since when there was consumption, and it cannot have been earlier.
        """
        waits = (self.from_ns < limit_ns) & (self.until_ns > limit_ns)
        if returned_ns > limit_ns or waits.any():
            return None
        over_ns = self.until_ns[(self.until_ns > returned_ns) & (self.until_ns <= limit_ns)]
        return int(over_ns.max(initial=resumed_ns))


# --- The time when sending was good for long enough after a fault: a milestone -------------------
# 1. A stretch that the end of the load cuts off is neither good nor bad; nor is one that went well
#    until a later fault.


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


# --- Stages --------------------------------------------------------------------------------------


FIRST_SUCCESS, CONSUMERS_RESUMED = "first_success", "consumers_resumed"


def stages(
    messages: Messages,
    arrived: Arrivals,
    found: Given,
    run_course: Course | None,
    forces: Sequence[Force],
    facts: Facts,
) -> list[Stage]:
    """One row a window and stage. `run_course`: None where there is no history."""
    windows, limits = in_order(facts), judged_times(facts)[1:]
    resumed = [
        found.resumed_ns(window, judged.until_ns)
        for window, judged in zip(windows, limits, strict=True)
    ]
    columns = {CONSUMERS_RESUMED: resumed}
    if facts.confirms:
        columns[FIRST_SUCCESS] = [*_first_success(messages, windows, limits)]
        if any(worker.role == "consumer" for worker in facts.workers):
            columns["backlog_drained"] = [*_backlog_drained(messages, arrived, facts, resumed)]
    rows = [
        _row(
            facts.run,
            window,
            stage,
            at_ns is not None,
            judged.until_ns if at_ns is None else at_ns,
        )
        for stage, times_ns in columns.items()
        for window, judged, at_ns in zip(windows, limits, times_ns, strict=True)
    ]
    if run_course is not None:
        lasting = sustained(run_course, forces, limits, facts.deadline_ns)
        for window, (reached, at_ns, recovered_by) in zip(windows, lasting, strict=True):
            row = _row(facts.run, window, "sustained_success", reached, at_ns)
            rows.append(replace(row, recovered_by=str(recovered_by)))
    return rows


def settled(facts: Facts, reached: Sequence[Stage]) -> Facts:
    """With what is known of windows whose host never returns: the change of master is over once
    serving and consuming have resumed."""
    after_ns = {(row.window, row.stage): row.after_ns for row in reached if row.reached}
    windows = []
    for window in facts.windows:
        served_ns = after_ns.get((window.number, FIRST_SUCCESS))
        resumed_ns = after_ns.get((window.number, CONSUMERS_RESUMED))
        for_ever = window.over_ns is None and window.ended_ns is None
        if for_ever and served_ns is not None and resumed_ns is not None:
            over_ns = window.origin_ns + max(served_ns, resumed_ns) - 1
            windows.append(replace(window, over_ns=over_ns))
        else:
            windows.append(window)
    return replace(facts, windows=tuple(windows))


def _row(run: str, window: Window, stage: str, reached: bool, at_ns: int) -> Stage:
    uncertainty_ns = window.returned_ns - window.origin_ns
    return Stage(run, window.number, stage, reached, at_ns - window.origin_ns, uncertainty_ns)


def _first_success(
    messages: Messages, windows: Sequence[Window], limits: Sequence[Judged]
) -> Iterator[int | None]:
    for window, judged in zip(windows, limits, strict=True):
        after = messages.confirms_sent_ns >= window.returned_ns
        at_ns = int(messages.confirms_settled_ns[after].min(initial=NEVER))
        yield at_ns if at_ns <= judged.until_ns else None


def _backlog_drained(
    messages: Messages, arrived: Arrivals, facts: Facts, resumed: Sequence[int | None]
) -> Iterator[int | None]:
    if not facts.windows:
        return
    backlog = Backlog.of(messages, arrived, facts.deadline_ns)
    limits = judged_times(facts)[1:]
    for window, judged, resumed_ns in zip(in_order(facts), limits, resumed, strict=True):
        yield (
            None
            if resumed_ns is None
            else backlog.drained_ns(resumed_ns, window.returned_ns, judged.until_ns)
        )
