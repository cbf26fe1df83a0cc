"""How far a run is: its phases with what each is expected to take, and how much of each is done.

1. A phase is never told as done before it is; one that takes longer stays at ALMOST.
2. A phase that the run does not have (windows, where there is no fault) is not told.
3. Pure: times are nanoseconds of one clock.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.plan.model import Schedule
from harness.run.core.conductor import NS, Conductor
from harness.run.core.conductor_protocol import RunPhase

ALMOST = 0.95
# The time of the drain is unknown; the bar needs some length.
DRAIN_S = 4.0
AUDIT_S = 3.0


@dataclass(frozen=True, slots=True)
class Part:
    """One phase: what it is expected to take, and the share of it that is done."""

    phase: str
    expected_s: float
    done: float


def parts(
    schedule: Schedule, phase: RunPhase, entered_ns: Mapping[str, int], now_ns: int
) -> tuple[Part, ...]:
    """`entered_ns`: when each phase began that has begun, by its name."""
    return tuple(
        Part(_name(each), seconds, _done(each, seconds, phase, entered_ns, now_ns))
        for each, seconds in _lengths(schedule)
        if seconds > 0 or _name(each) in entered_ns
    )


def _lengths(schedule: Schedule) -> Iterator[tuple[RunPhase, float]]:
    yield RunPhase.BASELINE, schedule.baseline_s
    yield RunPhase.WINDOWS, schedule.load_s - schedule.baseline_s - schedule.recovery_s
    yield RunPhase.RECOVERY, schedule.recovery_s
    yield RunPhase.SETTLE, schedule.settle_s
    yield RunPhase.DRAIN, DRAIN_S
    yield RunPhase.AUDIT, AUDIT_S


def _done(
    each: RunPhase, expected_s: float, phase: RunPhase, entered_ns: Mapping[str, int], now_ns: int
) -> float:
    began_ns = entered_ns.get(_name(each))
    if began_ns is None:
        return 0.0
    if phase.value > each.value:
        return 1.0
    passed_s = max(0, now_ns - began_ns) / 1e9
    return min(ALMOST, passed_s / expected_s) if expected_s > 0 else ALMOST


def _name(phase: RunPhase) -> str:
    return phase.name.lower()


# --- Waits ---------------------------------------------------------------------------------------
# PURE: what a run waits for while nothing is planned any more, and for how long at most.
#
# 1. A fault that is being undone, and one that is not yet seen to have ended, is named.
# 2. So is each step at the end: queues are drained, then places are read.


GONE_LIMIT_S = 120.0  # how long the end of a fault is looked for


@dataclass(frozen=True, slots=True)
class Ending:
    """What the end of a run does. `drain_limit_s`: for a queue. `audit`: the auditor's step."""

    drain_limit_s: float
    audit: str


def waits(
    conductor: Conductor,
    titles: Mapping[int, str],
    ending: Ending,
    entered_ns: Mapping[str, int],
    origin_ns: int,
    now_ns: int,
) -> Iterator[str]:
    """Yield a clause each. `titles`: of windows. `entered_ns`: phases by name, since origin_ns."""
    for number, since_ns in conductor.undoing().items():
        yield f"undoing {titles[number]}: {_passed(now_ns - since_ns)}"
    for number, since_ns in conductor.leaving().items():
        passed = _passed(now_ns - since_ns, GONE_LIMIT_S)
        yield f"waiting for proof that {titles[number]} has ended: {passed}"
    phase = conductor.phase
    since_ns = origin_ns + entered_ns.get(phase.name.lower(), now_ns - origin_ns)
    if phase is RunPhase.DRAIN:
        limit = f"{ending.drain_limit_s:.0f} s at most for each"  # queue after queue
        yield f"draining the queues: {_passed(now_ns - since_ns)}, {limit}"
    if phase is RunPhase.AUDIT:
        step = ending.audit or "reading what brokers still hold"
        yield f"audit: {step}: {_passed(now_ns - since_ns)}"


def _passed(passed_ns: int, limit_s: float = 0.0) -> str:
    limit = f", {limit_s:.0f} s at most" if limit_s else ""
    return f"{max(0, passed_ns) / NS:.0f} s so far{limit}"
