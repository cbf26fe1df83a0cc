"""The steps of a message's history, and which of them are shown."""

from dataclasses import dataclass
from itertools import groupby

HEAD, AROUND, TAIL = 10, 4, 6  # steps that are shown of a trace that is too long
GAP_LEAST = 5  # fewer steps are not left out: the line that says so takes room, too


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One event. `sort`: intended, sent, settled, delivered, acknowledged, connection, fault,
    replicas; gap (steps that are not told) and end (what never happened) are no events and have no
    time.

    `counted`: the delivery for which the message is here. It is never left out, and neither is
    what is `kept`: a confirm.
    """

    at_ns: int
    sort: str
    text: str
    counted: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class MessageTrace:
    """One affected message (or delivery): why it is here, and what happened to it."""

    message: str  # who sent it, its sequence, its queue
    near: str  # what happened at its time, and where in the course of the faults
    steps: tuple[TraceStep, ...]


def bounded(steps: list[TraceStep]) -> tuple[TraceStep, ...]:
    """The first, the last, what is kept and those around what is counted, where there are too
    many."""
    kept = set(range(HEAD)) | set(range(len(steps) - TAIL, len(steps)))
    for place, step in enumerate(steps):
        if step.counted:
            kept |= set(range(place - AROUND, place + AROUND + 1))
        elif step.kept:
            kept.add(place)
    shown: list[TraceStep] = []
    for is_kept, group in groupby(range(len(steps)), kept.__contains__):
        own = [steps[place] for place in group]
        if not is_kept and len(own) >= GAP_LEAST:
            own = [TraceStep(own[0].at_ns, "gap", f"{len(own)} steps left out")]
        shown += own
    return tuple(shown)
