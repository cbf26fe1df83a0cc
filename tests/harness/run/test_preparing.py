"""Where clients enter that are to stay out of what the schedule does."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from harness.cluster.port import DeployError, Roles
from harness.plan.model import OperationPlan, RunPlan
from harness.run.preparing import Preparing
from harness.run.run_group import alone
from harness.run.worker_handles import WorkerLost
from tests.harness.run.live_runs import run
from tests.rigs.clusters.simulated_cluster import ScriptedWorker, SimulatedCluster
from tests.rigs.machine.descriptors import open_in
from tests.rigs.runs.plans import LAYOUT, fault, operated, operation, plan

HELD = {"orders": Roles("rmq2", ("rmq1", "rmq3"), ("rmq1", "rmq3"))}


def involved(of: RunPlan, held: dict[str, Roles] = HELD) -> tuple[str, ...]:
    nowhere = cast(Any, None)
    return Preparing(of, nowhere, Path(), "", lambda _: None, alone())._involved(held)


@pytest.mark.parametrize(
    ("operations", "hosts"),
    [
        ((operation("restart_node", "master of orders"),), ("rmq2",)),
        ((operation("stop_node", "mirror of orders"),), ("rmq1",)),
        ((operation("reset_node", "rmq3"),), ("rmq3",)),
        ((operation("restart_node", "all"), operation("synchronise", "orders")), ()),
        ((operation("stop_node", "rmq1"), operation("start_node", "first stopped")), ("rmq1",)),
    ],
)
def test_targets_of_operations_are_involved_like_targets_of_faults(
    operations: tuple[OperationPlan, ...], hosts: tuple[str, ...]
) -> None:
    assert involved(operated(*operations)) == hosts


def test_operations_spare_one_host_if_clients_can_avoid_it() -> None:
    every = [operation("restart_node", host) for host in ("rmq1", "rmq2", "rmq3")]
    assert involved(operated(*every)) == ("rmq1", "rmq2")
    of = operated(*every, of=plan(fault("kill", "rmq3")))
    assert involved(of) == ("rmq3", "rmq1")


def test_uninvolved_host_of_an_operation_holds_no_copy() -> None:
    held = {"orders": Roles("rmq1", ("rmq2",), ("rmq2",))}
    assert involved(operated(operation("restart_node", "uninvolved")), held) == ("rmq3",)


@pytest.mark.parametrize("refused", ["Journal", "RunRecorder"])
def test_no_worker_is_started_if_the_disk_refuses_a_file(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"harness.run.stage.{refused}", full)
    cluster = SimulatedCluster(LAYOUT)
    with pytest.raises(OSError, match="No space"):
        run(cluster, plan(), tmp_path)
    assert cluster.workers == {}
    assert open_in(tmp_path / "journal.jsonl", tmp_path / "logs" / "harness") == []


def test_workers_that_do_not_start_leave_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.worker_handles.HELLO_LIMIT_S", 0.2)
    cluster = SimulatedCluster(LAYOUT, deaf=frozenset({"consumer-1"}))
    with pytest.raises(WorkerLost, match="consumer-1"):
        run(cluster, plan(), tmp_path)
    assert (tmp_path / "journal.jsonl").exists()
    assert open_in(tmp_path / "journal.jsonl", tmp_path / "logs" / "harness") == []


@pytest.mark.parametrize("refused", ["hello", "configure"])
def test_a_worker_that_does_not_start_is_killed_and_its_channel_closed(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = ScriptedWorker.send

    async def send(worker: ScriptedWorker, message: dict[str, Any]) -> None:
        if (worker.name, message["do"]) == ("consumer-1", refused):
            raise DeployError("consumer-1 cannot be talked to")
        await honest(worker, message)

    monkeypatch.setattr(ScriptedWorker, "send", send)
    cluster = SimulatedCluster(LAYOUT)
    with pytest.raises(DeployError, match="consumer-1"):
        run(cluster, plan(), tmp_path)
    lost = cluster.workers["consumer-1"]
    assert (asyncio.run(lost.exit_code()), lost.closed) == (137, True)
    assert cluster.workers["publisher-1"].closed
