"""PURE: what a run waits for while nothing is planned any more, and for how long at most.

1. A fault that is being undone, and one that is not yet seen to have ended, is named.
2. So is each step at the end: queues are drained, then places are read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.run.conductor import NS, Conductor
from harness.run.conductor_protocol import RunPhase

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
        what = f"until {titles[number]} is verified ended"
        yield f"waiting {what}: {_passed(now_ns - since_ns, GONE_LIMIT_S)}"
    phase = conductor.phase
    since_ns = origin_ns + entered_ns.get(phase.name.lower(), now_ns - origin_ns)
    if phase is RunPhase.DRAIN:
        limit = f"{ending.drain_limit_s:.0f} s at most for each"  # queue after queue
        yield f"draining the queues: {_passed(now_ns - since_ns)}, {limit}"
    if phase is RunPhase.AUDIT:
        step = ending.audit or "reading what brokers still hold"
        yield f"audit: {step}: {_passed(now_ns - since_ns)}"


def _passed(passed_ns: int, limit_s: float = 0.0) -> str:
    limit = f" of {limit_s:.0f} s at most" if limit_s else " s so far"
    return f"{max(0, passed_ns) / NS:.0f}{limit}"
