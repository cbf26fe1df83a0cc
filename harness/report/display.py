"""Where what goes on is shown: steps, live views, messages.

1. Values only; nothing here prints.
2. The pipeline tells a Display what it does; it never asks it anything.
"""

from dataclasses import dataclass
from typing import Protocol

from harness.run.progress import Part
from harness.run.strip import Strip


@dataclass(frozen=True, slots=True)
class LiveView:
    """A run while it goes on. Rates are of the last second or so."""

    run: str
    phase: str
    sent_per_s: float
    confirmed_per_s: float
    delivered_per_s: float
    success_ratio: float | None  # confirmed of sent, lately; None where nothing was sent
    outstanding: int
    armed: tuple[str, ...]
    left_s: float
    place: str = ""  # "2 of 3": which of the experiment's runs
    parts: tuple[Part, ...] = ()
    strip: Strip | None = None  # None where nothing is due at a time, or nothing is confirmed
    waits: tuple[str, ...] = ()  # what is waited for beside the plan, a clause each


class Display(Protocol):
    """Where the pipeline says what it is doing."""

    def step_began(self, name: str, expected_s: float | None) -> None:
        """A step that takes a while; the one before has ended."""

    def step_ended(self, seconds: float) -> None: ...

    def live(self, view: LiveView) -> None: ...

    def message(self, text: str) -> None: ...
