"""A run that is left by a failure: whatever failed, faults are undone and workers end."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from faults.core.actions import Action, Start
from faults.core.model import Armed, FaultError
from harness.cluster.port import DeployError
from harness.run.fault_windows.windows import LiveWindow
from harness.run.live.run_timeline import RunTimeline
from harness.run_folder.journal import read, standing
from harness.run_folder.manifest import Manifest
from tests.harness.run.live_runs import run
from tests.rigs.clusters.fault_world import World
from tests.rigs.clusters.simulated_cluster import ScriptedWorker, SimulatedCluster
from tests.rigs.machine.descriptors import open_in
from tests.rigs.runs.plans import LAYOUT, fault, operated, operation, plan


@pytest.mark.parametrize("returns", [True, False])
def test_a_failure_after_a_clients_crash_ends_every_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: bool
) -> None:
    async def fails(_: LiveWindow) -> None:
        raise RuntimeError("a look that fails unforeseen")

    monkeypatch.setattr(LiveWindow, "leave", fails)
    cluster = SimulatedCluster(LAYOUT)
    of = plan(fault("client_crash", "consumer-1", returns=returns), consumers=2)
    with pytest.raises(RuntimeError, match="unforeseen"):
        run(cluster, of, tmp_path)
    living = {name: one for name, one in cluster.workers.items() if name != "consumer-1"}
    assert {name: one.heard[-1] for name, one in living.items()} == dict.fromkeys(living, "close")


def test_a_run_leaves_neither_its_journal_nor_its_record_open(tmp_path: Path) -> None:
    run(SimulatedCluster(LAYOUT), plan(fault("kill")), tmp_path)
    assert (tmp_path / "journal.jsonl").stat().st_size
    assert open_in(tmp_path / "journal.jsonl", tmp_path / "logs" / "harness") == []


def test_a_worker_whose_end_is_unknown_keeps_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def exit_code(worker: ScriptedWorker) -> int | None:
        if worker.name == "consumer-1":
            raise DeployError("the engine did not report how a process ended")
        return 0

    monkeypatch.setattr(ScriptedWorker, "exit_code", exit_code)
    cluster = SimulatedCluster(LAYOUT)
    with pytest.raises(DeployError, match="did not report"):
        run(cluster, plan(publishers=2), tmp_path)
    assert {name: one.closed for name, one in cluster.workers.items()} == dict.fromkeys(
        ("publisher-1", "publisher-2", "consumer-1"), True
    )
    assert open_in(tmp_path / "journal.jsonl", tmp_path / "logs" / "harness") == []


def test_a_start_that_fails_unforeseen_keeps_nothing_from_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = World.change

    def changes(world: World, action: Action) -> None:
        if action == Start("rmq2", 30.0):
            raise KeyError("rmq2")
        change(world, action)

    monkeypatch.setattr(World, "change", changes)
    cluster = SimulatedCluster(LAYOUT)
    of = operated(operation("stop_node", "rmq2"), operation("stop_node", "rmq3"))
    with pytest.raises(KeyError, match="rmq2"):
        run(cluster, of, tmp_path)
    assert cluster.executor.performed[-2:] == [Start("rmq2", 30.0), Start("rmq3", 30.0)]
    assert [one.kind for one in standing(read(tmp_path / "journal.jsonl"))] == ["stop_node"]
    assert {one.heard[-1] for one in cluster.workers.values()} == {"close"}
    assert all(one.closed for one in cluster.workers.values())
    manifest = Manifest.load(tmp_path)
    assert [one.ok for one in manifest.operations] == [True, True]
    assert manifest.cluster_altered == "rmq2 was left stopped, rmq3 was left stopped"
    assert open_in(tmp_path / "journal.jsonl", tmp_path / "logs" / "harness") == []


def test_a_canary_that_does_not_close_leaves_the_fault_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(_: World, armed: Armed) -> None:
        raise FaultError(f"no answer about {armed.kind}")

    monkeypatch.setattr(World, "dismiss", refuses)
    done = run(SimulatedCluster(LAYOUT), plan(fault("kill")), tmp_path)
    (window,) = done.facts.windows
    assert (window.verified, window.gone, done.manifest.failure) == (True, True, "")


def test_an_undo_that_fails_unforeseen_keeps_no_other_from_it() -> None:
    closed: list[int] = []

    def window(number: int, error: Exception | None = None) -> SimpleNamespace:
        async def close() -> None:
            closed.append(number)
            if error is not None:
                raise error

        return SimpleNamespace(close=close)

    windows: Any = {1: window(1), 2: window(2, KeyError("consumer-1")), 3: window(3)}
    with pytest.raises(KeyError, match="consumer-1"):
        asyncio.run(timeline(windows, lambda: None).undo_all([1, 2, 3]))
    assert closed == [1, 2, 3]


def timeline(windows: Any, save: Callable[[], None]) -> RunTimeline:
    schedule = SimpleNamespace(steps=())
    parts: Any = SimpleNamespace(stage=SimpleNamespace(plan=SimpleNamespace(schedule=schedule)))
    prepared: Any = None
    return RunTimeline(windows, parts, prepared, save, asyncio.Queue())
