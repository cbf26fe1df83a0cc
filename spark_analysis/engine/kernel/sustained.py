"""When sending went well for long enough after a fault, and whether its end brought that.

1. Every operation begins a period; those of all operations are judged at once.
2. A period that the end of the load cuts off is neither good nor bad.
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

    intended_ns: Ints
    ends: Ints
    missed_before: Ints
    good: Bools
    cut_off: Bools

    def first_good(self, from_ns: int, until_ns: int) -> tuple[bool, int]:
        """Whether a good one begins in [from_ns, until_ns), and when; else when it first could."""
        good_ns = _first_within(self.intended_ns[self.good], from_ns, until_ns)
        if good_ns is not None:
            return True, good_ns
        # A period that the end of the load cut off might have been good.
        unknown_ns = _first_within(self.intended_ns[self.cut_off], from_ns, until_ns)
        return False, until_ns if unknown_ns is None else unknown_ns

    def good_before(self, at_ns: int, before_ns: int) -> bool:
        """What of the period that begins at `at_ns` is intended before the other instant."""
        place, last = (int(one) for one in np.searchsorted(self.intended_ns, [at_ns, before_ns]))
        last = min(last, int(self.ends[place]))
        missed = int(self.missed_before[last] - self.missed_before[place])
        return (
            last - place >= PERIOD_OPERATIONS and missed * 100 <= (last - place) * MISSED_PERCENT
        )


def periods(intended_ns: Ints, missed: Bools, load_ended_ns: int) -> Periods:
    """All of one run's operations, in their order."""
    starts = np.arange(len(intended_ns))
    ends = np.searchsorted(intended_ns, intended_ns + PERIOD_NS)
    ends = np.maximum(ends, starts + PERIOD_OPERATIONS)
    whole = (ends <= len(intended_ns)) & (intended_ns + PERIOD_NS <= load_ended_ns)
    missed_before = np.concatenate([[0], np.cumsum(missed)])
    late = missed_before[np.minimum(ends, len(intended_ns))] - missed_before[starts]
    good = ~missed & whole & (late * 100 <= (ends - starts) * MISSED_PERCENT)
    return Periods(intended_ns, ends, missed_before, good, ~missed & ~whole)


def owed(
    operations: Operations,
    found: Periods,
    facts: Facts,
    faults: Faults,
    window: Window,
    at_ns: int,
) -> Owed:
    """What the success that was sustained from `at_ns` on is owed to."""
    if window.ended_ns is None:
        return Owed.NOTHING
    issued_ns = faults.at_ns[faults.event.among("undo_issued") & (faults.window == window.number)]
    if not len(issued_ns):
        return Owed.EITHER
    undo_ns = int(issued_ns.min())
    if at_ns >= undo_ns:
        return Owed.NOTHING
    if found.good_before(at_ns, undo_ns - facts.deadline_ns):
        return Owed.SYSTEM
    first_ns = undo_ns - facts.deadline_ns * 3 // 4
    late = operations.intended_ns >= first_ns
    late &= operations.intended_ns < undo_ns - facts.deadline_ns // 2
    waited = int(np.count_nonzero(late & (operations.confirmed_ns >= undo_ns)))
    of = max(int(np.count_nonzero(late)), PERIOD_OPERATIONS)
    held = at_ns <= first_ns and waited * 100 > of * MISSED_PERCENT
    return Owed.UNDO if held else Owed.EITHER


def _first_within(times_ns: Ints, from_ns: int, until_ns: int) -> int | None:
    place = int(np.searchsorted(times_ns, from_ns))
    if place < len(times_ns) and times_ns[place] < until_ns:
        return int(times_ns[place])
    return None
