"""When sending went well for long enough after a fault, and whether its end brought that.

1. Every operation begins a period; those of all operations are judged at once.
2. A period that the end of the load cuts off is neither good nor bad, nor is one that went well
   until a later fault.
"""

from dataclasses import dataclass

import numpy as np

from spark_analysis.engine.kernel.arrays import NANOSECONDS, Bools, Ints
from spark_analysis.engine.kernel.operations import Operations
from spark_analysis.engine.kernel.records import Faults
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.words import Owed

PERIOD_NS = 5 * NANOSECONDS
PERIOD_OPERATIONS = 200
MISSED_PERCENT = 1


@dataclass(frozen=True, slots=True)
class Periods:
    """For each operation its period [place, end), and the operations missed before each place."""

    operations: Operations
    ends: Ints
    missed_before: Ints
    good: Bools
    cut_off: Bools

    def first_good(self, from_ns: int, until_ns: int) -> tuple[bool, int]:
        """Whether a good one begins in [from_ns, until_ns), and when; else when it first could."""
        intended_ns = self.operations.intended_ns
        good_ns = _first_within(intended_ns[self.good], from_ns, until_ns)
        if good_ns is not None:
            return True, good_ns
        # Whole, it might have been good.
        open_ns = intended_ns[self.cut_off | self._spoiled(until_ns)]
        could_ns = _first_within(open_ns, from_ns, until_ns)
        return False, until_ns if could_ns is None else could_ns

    def _spoiled(self, until_ns: int) -> Bools:
        """Those that reach beyond, and of which too few are missed before to call them bad."""
        starts = np.arange(len(self.ends))
        known = np.searchsorted(self.operations.intended_ns, until_ns)
        seen = np.maximum(np.minimum(self.ends, known), starts)
        missed = self.missed_before[seen] - self.missed_before[starts]
        enough = missed * 100 <= (self.ends - starts) * MISSED_PERCENT
        spoiled: Bools = ~self.operations.missed & (known < self.ends) & enough
        return spoiled

    def owed_to_system(self, from_ns: int, undo_ns: int, deadline_ns: int) -> bool:
        """Whether what of the period from `from_ns` on was decided before the undo is enough and
        good, or all of it was confirmed before."""
        intended_ns, missed = self.operations.intended_ns, self.operations.missed
        start = int(np.searchsorted(intended_ns, from_ns))
        if start == len(intended_ns):
            return False
        end = int(self.ends[start])
        late = missed[start:end] | (self.operations.confirmed_ns[start:end] >= undo_ns)
        if end <= len(intended_ns) and _few(late):
            return True
        end = min(end, int(np.searchsorted(intended_ns, undo_ns - deadline_ns)))
        return end - start >= PERIOD_OPERATIONS and _few(missed[start:end])


def periods(operations: Operations, load_ended_ns: int) -> Periods:
    """All of one run's operations, in their order."""
    intended_ns, missed = operations.intended_ns, operations.missed
    starts = np.arange(len(intended_ns))
    ends = np.searchsorted(intended_ns, intended_ns + PERIOD_NS)
    ends = np.maximum(ends, starts + PERIOD_OPERATIONS)
    whole = (ends <= len(intended_ns)) & (intended_ns + PERIOD_NS <= load_ended_ns)
    missed_before = np.concatenate([[0], np.cumsum(missed)])
    late = missed_before[np.minimum(ends, len(intended_ns))] - missed_before[starts]
    good = ~missed & whole & (late * 100 <= (ends - starts) * MISSED_PERCENT)
    return Periods(operations, ends, missed_before, good, ~missed & ~whole)


def owed(found: Periods, facts: Facts, faults: Faults, window: Window, at_ns: int) -> Owed:
    """What the success that was sustained from `at_ns` on is owed to."""
    if window.ended_ns is None:
        return Owed.NOTHING
    issued_ns = faults.at_ns[faults.event.among("undo_issued") & (faults.window == window.number)]
    if not len(issued_ns):
        return Owed.EITHER
    undo_ns = int(issued_ns.min())
    if at_ns >= undo_ns:
        return Owed.NOTHING
    if found.owed_to_system(max(at_ns, window.returned_ns), undo_ns, facts.deadline_ns):
        return Owed.SYSTEM
    held = _held(found.operations, at_ns, undo_ns, facts.deadline_ns)
    return Owed.UNDO if held else Owed.EITHER


def _held(operations: Operations, at_ns: int, undo_ns: int, deadline_ns: int) -> bool:
    """Whether success that seems to begin about a deadline before the undo was none shortly before
    it: too much waited, and nothing that waited so long was in time without the undo."""
    intended_ns, confirmed_ns = operations.intended_ns, operations.confirmed_ns
    first_ns, until_ns = undo_ns - deadline_ns * 3 // 4, undo_ns - deadline_ns // 2
    if not undo_ns - deadline_ns * 3 // 2 <= at_ns <= first_ns:
        return False
    begun = intended_ns < until_ns
    slow = begun & (intended_ns >= at_ns) & ~operations.missed & (confirmed_ns < undo_ns)
    slow &= confirmed_ns - intended_ns >= deadline_ns // 2
    late = begun & (intended_ns >= first_ns)
    waited = int(np.count_nonzero(late & (confirmed_ns >= undo_ns)))
    of = max(int(np.count_nonzero(late)), PERIOD_OPERATIONS)
    return waited * 100 > of * MISSED_PERCENT and not slow.any()


def _few(late: Bools) -> bool:
    return int(np.count_nonzero(late)) * 100 <= len(late) * MISSED_PERCENT


def _first_within(times_ns: Ints, from_ns: int, until_ns: int) -> int | None:
    place = int(np.searchsorted(times_ns, from_ns))
    if place < len(times_ns) and times_ns[place] < until_ns:
        return int(times_ns[place])
    return None
