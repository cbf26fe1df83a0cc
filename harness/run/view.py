"""What a person sees of a run while it goes on: pure sums over what the workers said last."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.run.progress import Part
from harness.run.strip import Strip


class Speaker(Protocol):
    @property
    def status(self) -> dict[str, int]: ...


@dataclass(frozen=True, slots=True)
class LiveCounts:
    """Counts since the load began; the display makes rates of two of these."""

    phase: str
    sent: int
    confirmed: int
    unknown: int
    missed: int
    delivered: int
    outstanding: int
    armed: tuple[str, ...]
    left_s: float
    parts: tuple[Part, ...] = ()
    strip: Strip | None = None  # None where nothing is due at a time, or nothing is confirmed
    waits: tuple[str, ...] = ()  # what is waited for beside the plan, a clause each


def view_of(
    phase: str, workers: Sequence[Speaker], armed: Sequence[str], left_s: float
) -> LiveCounts:
    def total(name: str) -> int:
        return sum(worker.status.get(name, 0) for worker in workers)

    return LiveCounts(
        phase,
        total("sent"),
        total("confirmed"),
        total("unknown"),
        total("missed"),
        total("delivered"),
        total("outstanding"),
        tuple(armed),
        left_s,
    )
