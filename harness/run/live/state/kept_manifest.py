"""The manifest of a run that goes on: what its parts know now, saved at every step forward."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.run.live.state.parts import RunParts
from harness.run_folder.manifest import NAME as MANIFEST
from harness.run_folder.manifest import Manifest
from harness.run_folder.planned import TargetRecord
from spark_analysis.files.failed import os_reason


@dataclass(slots=True)
class KeptManifest:
    """The manifest of one run. `refused` gets the reason when the disk refuses it."""

    parts: RunParts
    write: Callable[[Manifest], None]
    refused: Callable[[str], None]

    def enter(self, phase: str, at_ns: int) -> None:
        """Save that a phase has begun. `at_ns`: run time."""
        manifest = self.parts.manifest
        manifest.phase = phase
        manifest.phases_ns[phase] = at_ns
        self.save()

    def save(self) -> None:
        self._collect()
        try:
            self.write(self.parts.manifest)
        except OSError as refused:
            self.refused(os_reason(refused, Path(MANIFEST)))

    def _collect(self) -> None:
        parts, manifest, windows = self.parts, self.parts.manifest, self.parts.windows
        workers = (*parts.workers, *parts.drain_and_audit.workers)
        manifest.windows = [window.facts for window in windows.values()]
        manifest.operations = list(parts.operating.records.values())
        manifest.audit_starts = parts.auditor.records
        manifest.process_ends = list(parts.stage.process_ends.unplanned)
        manifest.process_watch_lost = parts.stage.process_ends.watch_lost
        manifest.absences = [one for each in windows.values() for one in each.absences]
        killed = {name: number for number, window in windows.items() for name in window.killed}
        manifest.workers = [worker.record(killed.get(worker.name, 0)) for worker in workers]
        manifest.clocks = [worker.clock_record for worker in workers]
        faults = {number: window.window.fault for number, window in windows.items()}
        manifest.targets = [
            TargetRecord(number, fault.kind.name, fault.target.word, windows[number].resolved)
            for number, fault in faults.items()
            if windows[number].resolved
        ]
