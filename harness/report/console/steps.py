"""Steps as a person sees them: one at a time, each with what it takes and took."""

import time
from dataclasses import dataclass

from harness.report.display import Display

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
    "seal the logs": 1.0,
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
