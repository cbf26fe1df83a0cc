"""The judged time of each fault window, of the calm before the first, and how long faults held.

1. Window 0 is the time before; the judged time of a window ends where the next one begins, if that
   is later than where it begins itself.
2. A fault that is being undone is in force no more for certain.
"""

from dataclasses import dataclass, replace

from spark_analysis.engine.kernel.records import Faults
from spark_analysis.schema.facts import Facts, Window


@dataclass(frozen=True, slots=True)
class Judged:
    """The judged time [from_ns, until_ns) of one window."""

    number: int
    from_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class Force:
    """How long the fault of one window was in force, and when it was seen to be gone."""

    window: Window
    undo_ns: int | None  # when its undo was first issued
    until_ns: int
    gone_ns: int | None


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


def forces(facts: Facts, faults: Faults) -> tuple[Force, ...]:
    """One a fault window, in order."""
    found = []
    for window in in_order(facts):
        undo_ns = _earliest(faults, window, "undo_issued")
        until_ns = window.ended_ns if undo_ns is None else undo_ns
        until_ns = facts.load_ended_ns if until_ns is None else min(until_ns, facts.load_ended_ns)
        found.append(Force(window, undo_ns, until_ns, _earliest(faults, window, "gone")))
    return tuple(found)


def listed(windows: tuple[Window, ...]) -> str:
    """Their numbers, as marts have them."""
    return ",".join(str(window.number) for window in windows)


def _earliest(faults: Faults, window: Window, event: str) -> int | None:
    at_ns = faults.at_ns[faults.event.among(event) & (faults.window == window.number)]
    return int(at_ns.min()) if len(at_ns) else None
