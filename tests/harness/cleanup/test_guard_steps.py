"""What a guardian does step by step, over a folder whose projects are hard to find."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from faults.core.model import FaultError
from harness.cleanup.docker_projects import connected
from harness.cleanup.guardian import ATTEMPTS_LEAST, Assignment, guard, take_over
from harness.cleanup.heal import RunningProject
from tests.harness.cleanup.fake_guardian import Folder, fault, with_fault
from tests.rigs.machine import virtual_time


class Busy(Folder):
    """Projects that cannot be found at first. `failures`: how many times."""

    def __init__(self, folder: Path, failures: int) -> None:
        super().__init__(folder)
        self._failures = failures

    async def find(self) -> Sequence[RunningProject]:
        self._failures -= 1
        if self._failures >= 0:
            raise FaultError("find labelled projects: Read timed out")
        return await super().find()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_fault(tmp_path)


def guarded(folder: Path, failures: int) -> tuple[list[str], list[str]]:
    """Return what was done, and what the log says."""
    said: list[str] = []
    assignment = Assignment("p", folder, keep=False)
    virtual_time.run(guard(assignment, Busy(folder, failures), said.append))
    lines = (folder / "done").read_text().splitlines()
    return [line.split(" ", 1)[1] for line in lines], said


@pytest.mark.parametrize("failures", [0, 1, 20])
def test_faults_are_undone_though_the_engine_was_busy(folder: Path, failures: int) -> None:
    deeds, said = guarded(folder, failures)
    assert deeds == [f"perform {fault().undo[0]}", "remove p"]
    assert sum("it is tried again" in line for line in said) == min(failures, 1)


@pytest.mark.parametrize("limit_s", [40.0, 0.0])  # 0: a single try waits for longer than that
def test_faults_are_undone_though_the_engine_was_first_unreachable(
    folder: Path, limit_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cleanup.guardian.CLEAR_LIMIT_S", limit_s)
    said: list[str] = []
    failures = [FaultError("no Docker engine: Read timed out")] * (ATTEMPTS_LEAST - 1)

    def projects() -> Folder:
        if failures:
            raise failures.pop()
        return Folder(folder)

    assignment = Assignment("p", folder, keep=False)
    virtual_time.run(take_over(assignment, projects, said.append))
    assert f"perform {fault().undo[0]}" in (folder / "done").read_text()
    assert said[0].startswith("reach the projects: FAILED: no Docker engine")


def test_an_engine_that_is_not_there_is_a_fault_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(FaultError, match="no Docker engine"):
        connected()


def test_the_project_is_removed_though_it_was_never_found(folder: Path) -> None:
    deeds, said = guarded(folder, 10**6)
    assert set(deeds) == {"remove p"}
    assert any(line.startswith("mend: FAILED: FaultError(") for line in said)
