"""Where what goes on is shown: steps, live views, messages.

1. Values only; nothing here prints.
2. The pipeline tells a Display what it does; it never asks it anything.
"""

import time
from collections import deque
from dataclasses import dataclass, fields
from typing import Protocol

from harness.run.view import LiveCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveView(LiveCounts):
    """A run while it goes on. Rates are of the last second or so."""

    run: str
    sent_per_s: float
    confirmed_per_s: float
    delivered_per_s: float
    success_ratio: float | None  # confirmed of sent, lately; None where nothing was sent
    place: str = ""  # "2 of 3": which of the experiment's runs


class Display(Protocol):
    def step_began(self, name: str, expected_s: float | None) -> None:
        """A step that takes a while; the one before has ended."""

    def step_ended(self, seconds: float) -> None: ...

    def live(self, view: LiveView) -> None: ...

    def message(self, text: str) -> None: ...


WINDOW_S = 1.0


class Rates:
    """Makes live views of one run out of its counts."""

    def __init__(self, run: str, place: str = "") -> None:
        self._run = run
        self._place = place
        self._looks: deque[tuple[float, LiveCounts]] = deque()

    def view(self, now_s: float, counts: LiveCounts) -> LiveView:
        """The live view at `now_s` (any clock that goes forward)."""
        self._looks.append((now_s, counts))
        while len(self._looks) > 2 and now_s - self._looks[1][0] >= WINDOW_S:
            self._looks.popleft()
        then_s, then = self._looks[0]
        span_s = now_s - then_s
        sent = counts.sent - then.sent
        confirmed = counts.confirmed - then.confirmed
        return LiveView(
            **{one.name: getattr(counts, one.name) for one in fields(counts)},
            run=self._run,
            sent_per_s=_rate(sent, span_s),
            confirmed_per_s=_rate(confirmed, span_s),
            delivered_per_s=_rate(counts.delivered - then.delivered, span_s),
            success_ratio=min(1.0, confirmed / sent) if sent > 0 else None,
            place=self._place,
        )


def _rate(number: int, span_s: float) -> float:
    return number / span_s if span_s > 0 else 0.0


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
