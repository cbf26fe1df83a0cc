"""A run on a cluster by hand: when it gets one, and what is cleaned up after it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from faults.core.actions import Start
from faults.core.model import Armed, FaultError
from harness.by_hand.choosing import ByHandChoice
from harness.by_hand.runs import AttachedRun, RunsByHand, state_doubts, watch_ends
from harness.by_hand.starting import RunningByHand
from harness.cluster.agent import AgentLost
from harness.deploy.by_hand_layouts import fingerprint
from harness.run_folder.journal import Journal, read, standing
from harness.run_folder.manifest import Manifest
from harness.systems.catalogue import load_system
from tests.rigs.clusters.fault_world import compiled_fault
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.machine import virtual_time
from tests.rigs.runs.plans import LAYOUT, plan

HOSTS = tuple(host.name for host in LAYOUT.hosts)
SAME = fingerprint(LAYOUT)
QUEUE = "mqproof.master-crash-1.orders"


class Workers:
    """guardian.Workers of a run that has one worker, until it is killed."""

    def __init__(self) -> None:
        self.left = ["publisher-1"]
        self.deaf = False
        self.crash: Exception | None = None

    async def workers(self, project: str) -> Sequence[str]:
        if self.crash is not None:
            raise self.crash
        if self.deaf:
            raise FaultError("the engine says no")
        return self.left

    async def kill_workers(self, project: str) -> None:
        self.left = []


class Agent:
    """Notes which listeners are deleted."""

    def __init__(self) -> None:
        self.deleted: list[str] = []
        self.lost = False

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        assert name == "proxy_delete" and timeout_s > 0
        if self.lost:
            raise AgentLost("the agent ended")
        self.deleted.append(arguments["prefix"])
        return {}


class WithAgent(SimulatedCluster):
    agent: Agent


class OnOne:
    """The runs of one cluster in memory."""

    def __init__(self) -> None:
        self.cluster = WithAgent(LAYOUT)
        self.cluster.agent = Agent()
        self.workers = Workers()
        self.ended: dict[int, int] = {}
        self.faults: tuple[str, ...] = ()
        self.log: list[str] = []
        self.collected: list[Path] = []  # folders of logs
        self.runs = RunsByHand(lambda: self.faults, self.log.append)
        choice = ByHandChoice(load_system(LAYOUT.system), LAYOUT, LAYOUT.label)
        made: Any = SimpleNamespace(
            choice=choice,
            cluster=self.cluster,
            described=SimpleNamespace(cluster="mqproof-1"),
            for_runs=SimpleNamespace(
                workers=self.workers, ends=lambda: self.ended, collect=self._collect
            ),
        )
        self.one = cast(RunningByHand, made)

    async def _collect(self, logs: Path) -> None:
        self.collected.append(logs)

    def doubts(self, layout: str = SAME) -> tuple[str, ...]:
        return asyncio.run(self.runs.doubts(self.one, layout))

    def attach(self, experiment: Path) -> AttachedRun:
        return self.runs.attach(self.one, {"experiment": str(experiment), "pid": 42})

    def release(self, run: AttachedRun, ended: bool = False) -> str:
        return virtual_time.run(self.runs.release(run, ended))


def armed(experiment: Path, **changes: Any) -> Path:
    """Write the journal of a run that was killed while its fault was active."""
    path = experiment / "runs" / "master-crash-1" / "journal.jsonl"
    manifest(experiment, **changes)
    journal = Journal(path)
    journal.armed(kill())
    journal.close()
    return path


def manifest(experiment: Path, **changes: Any) -> None:
    folder = experiment / "runs" / "master-crash-1"
    folder.mkdir(parents=True)
    made = Manifest.of(replace(plan(), name=folder.name, layout=LAYOUT))
    for name, value in changes.items():
        setattr(made, name, value)
    made.save(folder)


def kill() -> Armed:
    return compiled_fault("kill", HOSTS[0], HOSTS)


def test_a_clean_cluster_gives_no_doubt() -> None:
    assert OnOne().doubts() == ()


def test_every_doubt_is_reported_at_once() -> None:
    on = OnOne()
    on.faults = ("freeze rmq1 of rabbitmq-mirrored",)
    on.cluster.health_doubts = ("rmq2 does not answer",)
    on.cluster.declared[QUEUE] = "rmq1"
    changed = fingerprint(replace(LAYOUT, detection_timeout_s=1.0))
    fault, layout, health, queues = on.doubts(changed)
    assert fault == "a fault is active: freeze rmq1 of rabbitmq-mirrored"
    assert "has changed since `mqproof up`" in layout
    assert health == "rmq2 does not answer"
    assert queues.startswith(f"an earlier run left queues: {QUEUE}; what to do: delete them")


def test_addresses_are_no_part_of_a_fingerprint() -> None:
    hosts = tuple(replace(host, address="10.0.0.1") for host in LAYOUT.hosts)
    assert fingerprint(replace(LAYOUT, hosts=hosts)) == SAME


def test_queues_of_people_give_no_doubt() -> None:
    on = OnOne()
    on.cluster.declared["orders"] = "rmq1"
    assert on.doubts() == ()


@pytest.mark.parametrize(("allowed", "doubts"), [(False, 1), (True, 0)])
def test_queues_are_in_the_way_unless_a_run_uses_the_cluster(allowed: bool, doubts: int) -> None:
    on = OnOne()
    on.cluster.declared[QUEUE] = "rmq1"

    async def found() -> list[str]:
        return [doubt async for doubt in state_doubts(on.one, queues_allowed=allowed)]

    assert len(virtual_time.run(found())) == doubts


def test_one_run_at_a_time_has_the_clusters(tmp_path: Path) -> None:
    on = OnOne()
    run = on.attach(tmp_path)
    assert on.doubts() == ("another run uses these clusters: process 42",)
    assert on.release(run) == ""
    assert on.doubts() == ()


def test_faults_of_a_killed_run_are_undone(tmp_path: Path) -> None:
    on, journal = OnOne(), armed(tmp_path)
    assert on.release(on.attach(tmp_path)) == ""
    assert [type(one) for one in on.cluster.executor.performed] == [Start]
    assert standing(read(journal)) == ()
    assert on.workers.left == []
    assert on.cluster.deleted == ["mqproof.master-crash-1."]
    assert on.collected == [journal.parent / "logs"]
    assert on.cluster.agent.deleted == ["mqproof.master-crash-1.", "mqproof-direct"]
    assert "undo kill of rmq1 (fault 1 of master-crash-1)" in " ".join(on.log)
    assert on.doubts() == ()


def test_a_fault_that_stays_keeps_runs_away(tmp_path: Path) -> None:
    on, journal = OnOne(), armed(tmp_path)
    on.cluster.executor.refuse = (Start,)
    assert "FAILED: Start: the engine said no" in on.release(on.attach(tmp_path))
    assert len(standing(read(journal))) == 1
    (doubt,) = on.doubts()
    assert doubt.endswith("what to do: `mqproof down`, then `mqproof up`")


def test_faults_of_another_cluster_are_not_undone_here(tmp_path: Path) -> None:
    on, journal = OnOne(), armed(tmp_path, system="reference-mirrored")
    assert on.release(on.attach(tmp_path)) == ""
    assert on.cluster.executor.performed == []
    assert len(standing(read(journal))) == 1


def test_a_cleanup_that_crashed_keeps_runs_away(tmp_path: Path) -> None:
    on = OnOne()
    on.workers.crash = RuntimeError("a defect")
    with pytest.raises(RuntimeError):
        on.release(on.attach(tmp_path))
    (doubt,) = on.doubts()
    assert doubt.startswith(f"the keeper failed to clean up after {tmp_path.name}")


def test_logs_that_cannot_be_collected_are_noted(tmp_path: Path) -> None:
    on = OnOne()
    manifest(tmp_path)

    async def full(logs: Path) -> None:
        raise OSError(28, "No space left on device")

    on.one.for_runs.collect = full  # type: ignore[method-assign]
    assert on.release(on.attach(tmp_path)) == ""
    assert "logs of master-crash-1 were not collected" in " ".join(on.log)


def test_a_damaged_journal_keeps_runs_away(tmp_path: Path) -> None:
    on = OnOne()
    armed(tmp_path).write_text("{}\n{}\n")
    assert "a journal cannot be read, so faults may be active" in on.release(on.attach(tmp_path))
    assert len(on.doubts()) == 1


@pytest.mark.parametrize(
    ("changes", "ended", "left"),
    [
        ({}, True, ""),
        ({}, False, ""),
        (
            {"cluster_altered": "rmq2 was forgotten"},
            True,
            "has changed the cluster: rmq2 was forg",
        ),
        (
            {"schedule": {"steps": [{"number": 1, "at_s": 1.0, "kind": "forget_node"}]}},
            False,
            "its operations may have changed the",
        ),
        ({"schedule": {"steps": [{"number": 1, "at_s": 1.0, "kind": "restart"}]}}, True, ""),
    ],
)
def test_a_changed_cluster_is_not_clean(
    tmp_path: Path, changes: dict[str, Any], ended: bool, left: str
) -> None:
    on = OnOne()
    manifest(tmp_path, **changes)
    found = on.release(on.attach(tmp_path), ended)
    assert left in found and bool(left) == bool(found)
    assert len(on.doubts()) == bool(left)


def test_listeners_that_are_left_keep_runs_away(tmp_path: Path) -> None:
    on = OnOne()
    on.cluster.agent.lost = True
    assert "are left: the agent ended" in on.release(on.attach(tmp_path))
    assert len(on.doubts()) == 1


def test_workers_that_may_run_keep_runs_away(tmp_path: Path) -> None:
    on = OnOne()
    on.workers.deaf = True
    assert "may still run: the engine says no" in on.release(on.attach(tmp_path))
    assert len(on.doubts()) == 1


def test_every_end_of_a_process_is_reported_once() -> None:
    on = OnOne()
    reported: list[tuple[int, int]] = []

    async def watched() -> None:
        watching = asyncio.create_task(watch_ends(on.one, lambda *end: reported.append(end)))
        for ended in ({7: 137}, {7: 137}, {7: 137, 8: 0}):
            on.ended = ended
            await asyncio.sleep(0.2)
        watching.cancel()

    virtual_time.run(watched())
    assert reported == [(7, 137), (8, 0)]


def test_a_run_on_another_cluster_of_the_system_is_none_of_this_one(tmp_path: Path) -> None:
    on = OnOne()
    run = on.attach(tmp_path)
    manifest(tmp_path, layout=f"{LAYOUT.label}+4.0.5")
    assert run.is_own(run.folder("master-crash-1"))  # the system has one cluster
    one: Any = on.one
    one.choice = replace(on.one.choice, alias=f"{LAYOUT.system}:{LAYOUT.label}")
    assert not run.is_own(run.folder("master-crash-1"))
