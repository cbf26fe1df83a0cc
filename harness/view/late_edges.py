"""Since when messages were late, inside a slice.

1. A slice counts whole seconds. The analysis keeps the first late messages of a run (EXAMPLES), so
   the due time of the first one is known.
2. It counts late messages by fault. If none was late between two faults, what is late in the slice
   of the second fault was due after it.
"""

from collections.abc import Callable
from itertools import pairwise

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings

_NS = 1_000_000_000
LateFrom = Callable[[int, int], float | None]  # begin and length of a slice, in seconds


def late_from(facts: Facts, findings: Findings) -> LateFrom:
    """Return a function: the time in seconds before which no message of a slice was late.

    It returns None if the records do not say it.
    """
    spells = _spells(facts, findings)
    first_ns = min((row.at_ns for row in findings.examples if row.measure == "missed"), default=0)

    def of_slice(from_s: int, length_s: int) -> float | None:
        from_ns, until_ns = from_s * _NS, (from_s + length_s) * _NS
        known = first_ns / _NS if from_ns < first_ns < until_ns else None
        for ended_ns, missed in spells:
            if ended_ns >= until_ns or (ended_ns > from_ns and missed):
                break
            if ended_ns > from_ns:
                known = max(known or 0.0, ended_ns / _NS)
        return known

    return of_slice


def _spells(facts: Facts, findings: Findings) -> list[tuple[int, int]]:
    """Return the times between faults: the end of each, and how many messages due then were late.

    There are none if faults did not begin one after another, or were not counted.
    """
    windows = sorted(facts.windows, key=lambda one: one.number)
    rows = {row.window: row.missed for row in findings.availability if not row.queue}
    ascending = all(one.origin_ns < two.origin_ns for one, two in pairwise(windows))
    if not ascending or {0, *(one.number for one in windows)} != rows.keys():
        return []
    of_faults = [rows[one.number] for one in windows]
    missed = [rows[0] - sum(of_faults), *of_faults]
    return [(one.origin_ns, late) for one, late in zip(windows, missed, strict=False)]
