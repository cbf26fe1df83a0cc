"""Where what goes on is shown: steps, live views, messages.

1. Values only; nothing here prints.
2. The pipeline tells a Display what it does; it never asks it anything.
3. A part of a step (`building X: Step 3/11 …` of `building X`) is a message if it takes more than
   SLOW_PART_S: a build has dozens of parts, and most of them take no time.
"""

import time
from dataclasses import dataclass
from threading import Timer
from typing import Protocol

from harness.run.core.view import LiveCounts


class Display(Protocol):
    def step_began(self, name: str, expected_s: float | None) -> None:
        """A step that takes a while; the one before has ended."""

    def step_ended(self, seconds: float) -> None: ...

    def live(self, view: LiveCounts) -> None: ...

    def message(self, text: str) -> None: ...


# What steps took on two cores, in seconds, so that a person knows how long to wait.
EXPECTED_S = {
    "start containers": 8.0,
    "start the proxy": 1.0,
    "start the nodes": 1.0,
    "start the agent": 2.0,
    "wait until every broker answers and the cluster is clean": 20.0,
    "wait until every node answers and the cluster is clean": 2.0,
    "wait until every broker answers and the clusters are clean": 45.0,
    "undo faults and remove the clusters": 4.0,
    "declare the queues (slaves copy their configuration every 10 s)": 20.0,
    "declare the queues (slaves copy their configuration every 60 s)": 70.0,
    "declare the queues": 2.0,
    "connect the workers": 2.0,
    "seal the run": 1.0,
    "verify the sealed runs": 1.0,
    "check that the cluster is clean": 3.0,
    "tear the cluster down": 12.0,
    "start Spark": 8.0,
    "judge the runs": 10.0,
    "judge the run": 1.0,
}


SLOW_PART_S = 3.0


@dataclass(slots=True)
class Steps:
    """Told to a display; when one begins, the one before has ended."""

    show: Display
    _began_s: float | None = None
    _name: str = ""
    _part: Timer | None = None

    def begin(self, name: str) -> None:
        if self._began_s is not None and name.startswith(f"{self._name}: "):
            self._begin_part(name)
            return
        self.end()
        known = [seconds for step, seconds in EXPECTED_S.items() if name.startswith(step)]
        self.show.step_began(name, known[0] if known else None)
        self._name, self._began_s = name, time.monotonic()

    def end(self) -> None:
        self._end_part()
        if self._began_s is not None:
            self.show.step_ended(time.monotonic() - self._began_s)
            self._began_s = None

    def _begin_part(self, name: str) -> None:
        """Let a timer show a part that takes long while it runs: it may be the last event."""
        self._end_part()
        self._part = Timer(SLOW_PART_S, self.show.message, [f"{name} ..."])
        self._part.daemon = True
        self._part.start()

    def _end_part(self) -> None:
        if self._part is not None:
            self._part.cancel()
            self._part = None
