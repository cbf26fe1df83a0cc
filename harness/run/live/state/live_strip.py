"""The live strip of a run: the reports of its publishers, and the verified faults.

1. The shares are summed once a second, and again when the publishers have closed. Faults are
   current at every look.
"""

from collections.abc import Sequence
from dataclasses import replace

from harness.plan.workload import Workload
from harness.run.core.strip import SECOND_NS, Load, PublisherSeconds, Spell, Strip, strip
from harness.run.core.window_state import WindowState
from harness.run.worker_handles import WorkerHandle
from harness.workers.protocol import Role


class LiveStrip:
    """Of one run. `workers` grows as clients are replaced."""

    def __init__(self, workload: Workload, workers: Sequence[WorkerHandle]) -> None:
        self._workload = workload
        self._workers = workers
        self._shares: tuple[tuple[int, bool], Strip] | None = None

    def at(
        self,
        now_ns: int,
        started_ns: int | None,
        ended_ns: int | None,
        opened: Sequence[tuple[WindowState, int]],
    ) -> Strip | None:
        """`started_ns`, `ended_ns`: of the load; `opened`: windows, and since when at the most.
        None where nothing is due at a time, or nothing is confirmed."""
        workload = self._workload
        if workload.rate is None or not workload.confirms or started_ns is None:
            return None
        publishers = [m for m in self._workers if m.config.role is Role.PUBLISHER]
        closed = all(worker.ended.is_set() for worker in publishers)
        key = now_ns // SECOND_NS, closed
        if self._shares is None or self._shares[0] != key:
            load = Load(started_ns, ended_ns, round(workload.deadline_s * SECOND_NS), closed)
            reports = [PublisherSeconds(m.config.number, m.seconds) for m in publishers]
            absences = [absence for window, _ in opened for absence in window.absences]
            self._shares = key, strip(load, now_ns, reports, absences)
        # Of an action that failed, and may have taken effect, only its beginning is known.
        faults = tuple(
            Spell(window.title, max(at_ns, window.facts.origin_ns), window.facts.ended_ns)
            for window, at_ns in opened
        )
        return replace(self._shares[1], faults=faults)
