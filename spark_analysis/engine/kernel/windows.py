"""The judged time of each fault window, and of the calm before the first.

1. Window 0 is the time before; the judged time of a window ends where the next one begins, if that
   is later than where it begins itself.
"""

from dataclasses import dataclass, replace

from spark_analysis.schema.facts import Facts, Window


@dataclass(frozen=True, slots=True)
class Judged:
    """The judged time [from_ns, until_ns) of one window."""

    number: int
    from_ns: int
    until_ns: int


def judged_times(facts: Facts) -> tuple[Judged, ...]:
    """Window 0 and every fault window, in order."""
    windows = in_order(facts)
    numbers = (0, *(window.number for window in windows))
    starts = (facts.load_started_ns, *(window.origin_ns for window in windows))
    ends = (*starts[1:], facts.load_ended_ns)
    calm, *rest = map(Judged, numbers, starts, ends)
    return calm, *(replace(one, until_ns=max(one.from_ns, one.until_ns)) for one in rest)


def in_order(facts: Facts) -> tuple[Window, ...]:
    return tuple(sorted(facts.windows, key=lambda window: window.number))
