"""The time that is judged for each fault window.

1. A window is judged from its origin to the next window's origin, the last one to the end of load.
   Of faults that are made at once the next one's may come first: then it has no time of its own.
2. Window 0 is the time before the first fault.
"""

from dataclasses import dataclass

from spark_analysis.schema.facts import Facts, Window


@dataclass(frozen=True, slots=True)
class Judged:
    """The judged time of one window: [from_ns, until_ns)."""

    number: int
    from_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class Faulted:
    """A fault window with the end of its judged time."""

    window: Window
    until_ns: int


def faulted(facts: Facts) -> tuple[Faulted, ...]:
    """The fault windows, in the order of the schedule."""
    windows = sorted(facts.windows, key=lambda window: window.number)
    ends = [window.origin_ns for window in windows[1:]] + [facts.load_ended_ns]
    return tuple(
        Faulted(window, max(window.origin_ns, end))
        for window, end in zip(windows, ends, strict=False)
    )


def judged(facts: Facts) -> tuple[Judged, ...]:
    """The judged time of every window, window 0 first."""
    windows = faulted(facts)
    steady_until_ns = windows[0].window.origin_ns if windows else facts.load_ended_ns
    steady = Judged(0, facts.load_started_ns, steady_until_ns)
    rest = (Judged(w.window.number, w.window.origin_ns, w.until_ns) for w in windows)
    return steady, *rest
