"""The duration of a fault and of its judged time, a stage's time in words, and who was away."""

from collections.abc import Iterator

from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Absence, Facts, Window

NS = 1e9


def fault_length_s(window: Window) -> float | None:
    """From the fault's origin to the return of its undo; None where it never ended."""
    return None if window.ended_ns is None else (window.ended_ns - window.origin_ns) / NS


def judged_ns(facts: Facts, number: int) -> int:
    """From a window's origin to its limit (schema/availability.py): the next one's origin, or
    the load's end."""
    origins = {one.number: one.origin_ns for one in facts.windows}
    later = [other for other in origins if other > number]
    until_ns = origins[min(later)] if later else facts.load_ended_ns
    return max(0, until_ns - origins[number])


def stage_text(row: Stage, after: str = "after ") -> str:
    """Return `after 0.161 s`, or `not within 40.0 s`. `after`: what comes before a time."""
    seconds = row.after_ns / NS
    return f"{after}{seconds:.3f} s" if row.reached else f"not within {seconds:.1f} s"


def windows_of(facts: Facts, from_ns: int, until_ns: int) -> Iterator[int]:
    """Yield the windows in whose time [from_ns, until_ns) lies. The time of a window lasts until
    the next one's origin."""
    windows = sorted(facts.windows, key=lambda one: one.number)
    ends_ns = [one.origin_ns for one in windows[1:]] + [facts.load_ended_ns]
    for one, end_ns in zip(windows, ends_ns, strict=True):
        if one.origin_ns < until_ns and end_ns > from_ns:
            yield one.number


def all_away(facts: Facts, role: str, from_ns: int, until_ns: int) -> bool:
    """Return whether each worker of a role was absent at some instant of [from_ns, until_ns)."""
    away = {one.worker for one in facts.absences if _meets(one, one.until_ns, from_ns, until_ns)}
    return away >= _of_role(facts, role)


def any_away(facts: Facts, role: str, from_ns: int, until_ns: int) -> bool:
    """Return whether a worker of a role was absent, and no other had taken its place, at some
    instant of [from_ns, until_ns)."""
    found = (one for one in facts.absences if one.worker in _of_role(facts, role))
    return any(_meets(one, _replaced_ns(one, facts), from_ns, until_ns) for one in found)


def _of_role(facts: Facts, role: str) -> set[int]:
    return {worker.number for worker in facts.workers if worker.role == role}


def _meets(absence: Absence, over_ns: int | None, from_ns: int, until_ns: int) -> bool:
    return absence.from_ns < until_ns and (over_ns is None or over_ns > from_ns)


def _replaced_ns(absence: Absence, facts: Facts) -> int | None:
    """Return when a worker was back, or another in its place: the undo of a crash starts one."""
    if absence.until_ns is not None:
        return absence.until_ns
    ends_ns = [
        one.ended_ns
        for one in facts.windows
        if one.of_clients and one.origin_ns <= absence.from_ns
        if one.ended_ns is None or one.ended_ns >= absence.from_ns
    ]
    known = [at_ns for at_ns in ends_ns if at_ns is not None]
    return max(known) if known and len(known) == len(ends_ns) else None
