"""The judged time of each fault window, of the steady state before, and how long faults held.

1. Window 0 is the time before; the judged time of a window ends where the next one begins, if that
   is later than where it begins itself.
2. A fault that is being undone is in force no more for certain.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, among
from spark_analysis.engine.kernel.records import Faults
from spark_analysis.schema.facts import Facts, Unsettled, Window
from spark_analysis.schema.taken_clients import known_taken


@dataclass(frozen=True, slots=True)
class Judged:
    """The judged time [from_ns, until_ns) of one window."""

    number: int
    from_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class Force:
    """The time in which the fault of one window was in force."""

    window: Window
    undo_ns: int | None  # when its undo was first issued
    until_ns: int

    @property
    def surely_ns(self) -> int:
        """From then on its undo had been issued, noted or not: it had when it returned."""
        known = (self.undo_ns, self.window.ended_ns)
        return next((at_ns for at_ns in known if at_ns is not None), NEVER)

    def moved(self, by_ns: int) -> "Force":
        """Return the same fault, as a clock shows it that is ahead by so much."""
        window = replace(
            self.window,
            origin_ns=self.window.origin_ns + by_ns,
            returned_ns=self.window.returned_ns + by_ns,
            ended_ns=None if self.window.ended_ns is None else self.window.ended_ns + by_ns,
        )
        undo_ns = None if self.undo_ns is None else self.undo_ns + by_ns
        return Force(window, undo_ns, self.until_ns + by_ns)


@dataclass(frozen=True, slots=True)
class OverlappingFaults:
    """Faults that were in force one into another, until all of them were seen to be gone."""

    from_ns: int  # the origin of the first, or of those before that left no time to recover
    over_ns: int
    next_ns: int  # the next fault, or the end of load

    def moved(self, by_ns: int) -> "OverlappingFaults":
        """Return the same times, as a clock shows them that is ahead by so much."""
        return OverlappingFaults(self.from_ns + by_ns, self.over_ns + by_ns, self.next_ns + by_ns)


Overlaps = dict[int, OverlappingFaults]  # by window number


def judged_times(facts: Facts) -> tuple[Judged, ...]:
    """Window 0 and every fault window, in order."""
    windows = in_order(facts)
    numbers = (0, *(window.number for window in windows))
    starts = (facts.load_started_ns, *(window.origin_ns for window in windows))
    ends = (*starts[1:], facts.load_ended_ns)
    steady, *rest = map(Judged, numbers, starts, ends)
    return steady, *(replace(one, until_ns=max(one.from_ns, one.until_ns)) for one in rest)


def in_order(facts: Facts) -> tuple[Window, ...]:
    return tuple(sorted(facts.windows, key=lambda window: window.number))


def forces(facts: Facts, faults: Faults) -> tuple[Force, ...]:
    """One a fault window, in order."""
    found = []
    for window in in_order(facts):
        undo_ns = _earliest(faults, window, "undo_issued")
        until_ns = window.ended_ns if undo_ns is None else undo_ns
        until_ns = facts.load_ended_ns if until_ns is None else min(until_ns, facts.load_ended_ns)
        found.append(Force(window, undo_ns, until_ns))
    return tuple(found)


def overlaps(facts: Facts, faults: Faults) -> tuple[Overlaps, ...]:
    """Return the overlapping faults by window number; none for a window whose overlap may never be
    over. Where no record says when a fault was gone they are found twice: as if it was gone as
    early, and as late, as possible."""
    windows = in_order(facts)
    between_ns = [window.gone_between_ns(_earliest(faults, window, "gone")) for window in windows]
    gone_ns = np.array([each or (NEVER, NEVER) for each in between_ns], np.int64).reshape(-1, 2)
    earliest, latest = (_overlaps(facts, windows, gone_ns[:, each]) for each in (0, 1))
    earliest = {number: earliest[number] for number in latest}
    return (earliest,) if earliest == latest else (earliest, latest)


def _overlaps(facts: Facts, windows: Sequence[Window], gone_ns: Ints) -> Overlaps:
    origins_ns = np.array([window.origin_ns for window in windows], np.int64)
    joins = np.array([not window.of_clients for window in windows], np.bool_)
    found = {}
    for place, window in enumerate(windows):
        inside, grown = np.zeros(len(windows), np.bool_), np.arange(len(windows)) == place
        while grown.sum() > inside.sum():
            inside = grown
            from_ns, over_ns = int(origins_ns[inside].min()), int(gone_ns[inside].max())
            grown = inside | (joins & (origins_ns <= over_ns) & (gone_ns >= from_ns))
        if over_ns < NEVER:
            from_ns = _unhealed_since(from_ns, origins_ns[joins], gone_ns[joins], facts)
            later = np.append(origins_ns[origins_ns > over_ns], facts.load_ended_ns)
            found[window.number] = OverlappingFaults(from_ns, over_ns, int(later.min()))
    return found


def _unhealed_since(from_ns: int, origins_ns: Ints, gone_ns: Ints, facts: Facts) -> int:
    """Return the origin of the first fault of a chain whose last begins at `from_ns`: each began
    before service could be judged after the one before it."""
    soon_ns = facts.deadline_ns + facts.reconnect_ns
    while (before := (origins_ns < from_ns) & (gone_ns >= from_ns - soon_ns)).any():
        from_ns = int(origins_ns[before].min())
    return from_ns


def listed(windows: tuple[Window, ...]) -> str:
    """Their numbers, as marts have them."""
    return ",".join(str(window.number) for window in windows)


def _earliest(faults: Faults, window: Window, event: str) -> int | None:
    at_ns = faults.at_ns[faults.event.among(event) & (faults.window == window.number)]
    return int(at_ns.min()) if len(at_ns) else None


def earliest_origins(received_ns: Ints, windows: Iterable[Unsettled]) -> NDArray[np.int64]:
    """Return for each time the earliest origin of the windows that were not over before it, or
    NEVER."""
    origin_ns = np.full(len(received_ns), NEVER, np.int64)
    for window in windows:
        over_ns = NEVER if window.over_ns is None else window.over_ns
        np.minimum(origin_ns, window.origin_ns, out=origin_ns, where=received_ns <= over_ns)
    return origin_ns


def may_have_taken(consumers: Ints, facts: Facts, window: Unsettled) -> Bools:
    """Return whether a window may have affected each of these consumers, also the drain's."""
    taken = known_taken(facts, window)
    if taken is None:
        return np.ones(len(consumers), np.bool_)
    return among(consumers, [*taken])
