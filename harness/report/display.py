"""Where what goes on is shown: steps, live views, messages.

1. Values only; nothing here prints.
2. The pipeline tells a Display what it does; it never asks it anything.
"""

import time
from dataclasses import dataclass
from typing import Protocol

from harness.run.core.progress import Part
from harness.run.core.strip import Strip
from harness.run.core.view import LiveCounts, PerSecond


@dataclass(frozen=True, slots=True)
class LiveView:
    """A run while it goes on."""

    run: str
    phase: str
    rates: PerSecond | None  # None: the load has not begun, or has ended
    late: int | None  # so far: their deadline passed without a confirm; None: nothing has one
    outstanding: int
    armed: tuple[str, ...]
    left_s: float
    place: str = ""  # "2 of 3": which of the experiment's runs
    parts: tuple[Part, ...] = ()
    strip: Strip | None = None  # None where nothing is due at a time, or nothing is confirmed
    waits: tuple[str, ...] = ()  # what is waited for beside the plan, a clause each
    has_consumers: bool = True  # before the drain

    @property
    def deliveries(self) -> str:
        """Return `delivered 200/s`. A run without consumers delivers nothing before the drain."""
        if not self.has_consumers or self.rates is None:
            return "no consumers"
        return f"delivered {self.rates.delivered:,.0f}/s"


class Display(Protocol):
    def step_began(self, name: str, expected_s: float | None) -> None:
        """A step that takes a while; the one before has ended."""

    def step_ended(self, seconds: float) -> None: ...

    def live(self, view: LiveView) -> None: ...

    def message(self, text: str) -> None: ...


_WITHOUT_LOAD = ("drain", "audit", "closing", "finished")  # phases after the load


def live_view(run: str, place: str, counts: LiveCounts, *, has_consumers: bool = True) -> LiveView:
    """Return the live view of a run out of its counts. `place`: `2 of 3`."""
    return LiveView(
        run=run,
        phase=counts.phase,
        rates=None if counts.phase in _WITHOUT_LOAD else counts.rates,
        late=None if counts.strip is None else counts.missed,
        outstanding=counts.outstanding,
        armed=counts.armed,
        left_s=counts.left_s,
        place=place,
        parts=counts.parts,
        strip=counts.strip,
        waits=counts.waits,
        has_consumers=has_consumers,
    )


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
    "declare the queues, which slaves copy every 10 s": 8.0,
    "declare the queues, which slaves copy every 60 s": 50.0,
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


@dataclass(slots=True)
class Steps:
    """Told to a display; when one begins, the one before has ended."""

    show: Display
    _began_s: float | None = None

    def begin(self, name: str) -> None:
        self.end()
        known = [seconds for step, seconds in EXPECTED_S.items() if name.startswith(step)]
        self.show.step_began(name, known[0] if known else None)
        self._began_s = time.monotonic()

    def end(self) -> None:
        if self._began_s is not None:
            self.show.step_ended(time.monotonic() - self._began_s)
            self._began_s = None
