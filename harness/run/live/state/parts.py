"""The parts of one run that say what is known of it: they are written, saved and shown."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.run.core.window_state import WindowState
from harness.run.drain_and_audit import DrainAndAudit
from harness.run.operations.auditor import Auditor
from harness.run.operations.operating import Operating
from harness.run.stage import Stage
from harness.run.worker_handles import WorkerHandle
from harness.run_folder.manifest import Manifest


@dataclass(frozen=True, slots=True)
class RunParts:
    """The parts of one run. `workers` grows as clients are replaced."""

    stage: Stage
    manifest: Manifest
    workers: list[WorkerHandle]
    windows: Mapping[int, WindowState]
    operating: Operating
    auditor: Auditor
    drain_and_audit: DrainAndAudit
