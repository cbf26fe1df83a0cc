"""The manifest of a run that goes on: what its parts know now, saved at every step forward."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.run.drain_and_audit import DrainAndAudit
from harness.run.fault_windows.window_state import WindowState
from harness.run.operations.auditor import Auditor
from harness.run.operations.operating import Operating
from harness.run.process_ends import ProcessEnds
from harness.run.worker_handles import WorkerHandle
from harness.run_folder.manifest import Manifest


@dataclass(slots=True)
class KeptManifest:
    """The manifest of one run, and whose records go into it. `workers` grows as clients are
    replaced."""

    manifest: Manifest
    windows: Mapping[int, WindowState]
    operating: Operating
    auditor: Auditor
    process_ends: ProcessEnds
    workers: Sequence[WorkerHandle]
    drain_and_audit: DrainAndAudit
    write: Callable[[Manifest], None]

    def save(self) -> None:
        """Raise OSError if the disk refuses it."""
        manifest, windows = self.manifest, self.windows
        workers = (*self.workers, *self.drain_and_audit.workers)
        manifest.windows = [window.facts for window in windows.values()]
        manifest.operations = list(self.operating.records.values())
        manifest.audit_starts = self.auditor.records
        manifest.process_ends = list(self.process_ends.unplanned)
        manifest.absences = [one for each in windows.values() for one in each.absences]
        killed = {name: number for number, window in windows.items() for name in window.killed}
        manifest.workers = [worker.record(killed.get(worker.name, 0)) for worker in workers]
        manifest.clocks = [worker.clock_record for worker in workers]
        for number, window in windows.items():
            if window.resolved:
                fault = window.window.fault
                word = f"window {number}: {fault.kind} {fault.target}"
                manifest.resolved[word] = window.resolved
        self.write(manifest)
