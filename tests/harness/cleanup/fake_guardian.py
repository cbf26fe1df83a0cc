"""A guardian of projects in its experiment's folder; it notes in a file there what it does."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from faults.core.actions import Action
from faults.core.model import Armed, Receipt
from harness.cleanup.guardian import Assignment, watch
from harness.cleanup.heal import RunningProject
from harness.run_folder.journal import Journal
from tests.rigs.clusters.fault_world import compiled_fault


def fault() -> Armed:
    return compiled_fault("kill", "rmq1", ("rmq1", "rmq2"))


def with_fault(folder: Path) -> Path:
    """Make the folder an experiment with one fault armed, and a project that stands."""
    run = folder / "runs" / "run-1"
    run.mkdir(parents=True)
    Journal(run / "journal.jsonl").armed(fault())
    (folder / "project").touch()
    return folder


class Folder:
    """guardian.GuardedProjects in a folder.

    A worker runs while the file `worker` is there; the file `stubborn` keeps it there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def find(self) -> Sequence[RunningProject]:
        there = (self._folder / "project").exists()
        return [RunningProject("p", Path("elsewhere"), "", False)] if there else []

    def executor(self, project: str) -> "Folder":
        assert project == "p"
        return self

    async def perform(self, action: Action) -> Receipt:
        self._note(f"perform {action}")
        return Receipt(1, 2)

    async def sweep(self, project: str) -> Sequence[str]:
        self._note(f"sweep {project}")
        return []

    async def remove(self, project: str) -> None:
        self._note(f"remove {project}")
        (self._folder / "project").unlink(missing_ok=True)

    async def workers(self, project: str) -> Sequence[str]:
        assert project == "p"
        worker = self._folder / "worker"
        there = worker.exists()
        if there and not (self._folder / "stubborn").exists():
            worker.unlink()  # it stops by itself after one look
        return ["python -m harness.workers publisher-1"] if there else []

    async def kill_workers(self, project: str) -> None:
        self._note(f"kill workers of {project}")

    def _note(self, text: str) -> None:
        with (self._folder / "done").open("a") as file:
            file.write(f"{time.monotonic():.3f} {text}\n")


if __name__ == "__main__":
    _, _, _, folder, _, _, *keep = sys.argv[1:]
    assignment = Assignment("p", Path(folder), keep == ["--keep"])
    sys.exit(watch(assignment, lambda: Folder(Path(folder)), sys.stdin.buffer))
