"""Several runs at once on a cluster that stands in memory: one fault, and each its own record."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from faults import verification
from faults.core.actions import AddToxic, Kill, RemoveToxic, Start
from faults.core.model import Armed, Proof
from faults.core.witness import Witness
from harness.cluster.log_tails import LeftOut
from harness.cluster.port import Cluster, Link
from harness.plan.model import Experiment, FaultPlan, RunPlan, Schedule
from harness.plan.seeds import stream
from harness.run.core.view import LiveCounts
from harness.run.fault_windows import verifying
from harness.run.interrupts import Interrupt
from harness.run.series import Hooks, Series
from harness.run_folder.manifest import Manifest
from harness.run_folder.seal import seal
from spark_analysis.schema.tables import FAULTS
from tests.rigs.clusters.simulated_cluster import BOOT_ID, SimulatedCluster
from tests.rigs.machine import virtual_time
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import LAYOUT, fault, plan

KILL = fault("kill")


def together(*faults: FaultPlan, lasts_s: float = 0.3, runs: int = 2) -> tuple[RunPlan, ...]:
    """The same run several times, at once: only names and numbers differ."""
    names = tuple(f"quick-{number}" for number in range(1, runs + 1))
    return tuple(
        replace(plan(*faults, lasts_s=lasts_s, name=name), number=number, together=names)
        for number, name in enumerate(names, 1)
    )


@dataclass(frozen=True, slots=True)
class Played:
    folder: Path
    said: list[str]
    views: list[LiveCounts]

    def manifest(self, number: int) -> Manifest:
        return Manifest.load(self.folder / "runs" / f"quick-{number}")

    @property
    def manifests(self) -> list[Manifest]:
        return [Manifest.load(path.parent) for path in self._found()]

    def events(self, number: int) -> list[tuple[object, object]]:
        log = self.folder / "runs" / f"quick-{number}" / "logs" / "harness"
        return [(row["event"], row["ok"]) for row in read_rows(log, FAULTS)]

    def _found(self) -> list[Path]:
        return sorted(self.folder.glob("runs/*/manifest.json"))


def play(
    cluster: SimulatedCluster,
    plans: tuple[RunPlan, ...],
    folder: Path,
    meanwhile: Callable[[LiveCounts, Interrupt], None] = lambda view, interrupt: None,
    takes_s: float = 30.0,
) -> Played:
    """`meanwhile` hears of what is shown; all of it takes so long at most."""
    said: list[str] = []
    views: list[LiveCounts] = []

    async def up(_: RunPlan) -> Cluster:
        return cluster

    folder.mkdir(exist_ok=True)

    async def story() -> None:
        interrupt = Interrupt(said.append)

        def show(view: LiveCounts) -> None:
            views.append(view)
            meanwhile(view, interrupt)

        hooks = Hooks(interrupt, lambda *_: None, lambda _: None, show, said.append, False)
        experiment = Experiment("e", 7, plans, ())
        async with asyncio.timeout(takes_s):
            await Series(
                experiment, folder, BOOT_ID, {}, up, hooks, virtual_time.at_once
            ).perform()

    virtual_time.run(story())
    return Played(folder, said, views)


def breaks(cluster: SimulatedCluster, view: LiveCounts) -> None:
    """Once a fault is armed the publisher of the second run is lost."""
    worker = cluster.workers["publisher-1-of-quick-2"]
    if view.armed and "failed" not in worker.heard:
        worker.heard.append("failed")
        worker.say("failed", doubt="No space left on device")
        worker.end(70)


def timed(runs: tuple[RunPlan, ...], *windows: tuple[float, float]) -> tuple[RunPlan, ...]:
    """When each window opens, and how long it lasts, in seconds."""

    def of(schedule: Schedule) -> Schedule:
        found = zip(schedule.windows, windows, strict=True)
        return replace(
            schedule,
            windows=tuple(replace(one, opens_s=at_s, lasts_s=s) for one, (at_s, s) in found),
        )

    return tuple(replace(run, schedule=of(run.schedule)) for run in runs)


def test_two_runs_share_one_fault_recorded_in_each(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    played = play(cluster, together(KILL), tmp_path)
    assert list(map(type, cluster.executor.performed)) == [Kill, Start]
    for number in (1, 2):
        assert [event for event, ok in played.events(number) if ok] == [
            *("issued", "returned", "verified", "undo_issued", "undo_returned", "gone")
        ]
    one, two = (manifest.windows[0] for manifest in played.manifests)
    assert one.verified and one.gone and two.verified and two.gone
    origins = [m.origin_monotonic_ns + m.windows[0].origin_ns for m in played.manifests]
    assert origins[0] == origins[1]
    assert all(manifest.process_ends == [] for manifest in played.manifests)  # each had planned it
    assert cluster.downs == 1


@pytest.mark.parametrize(("kind", "looks"), [("kill", 1), ("hang", 2)])
def test_shared_fault_is_checked_once_and_links_by_each_run(
    kind: str, looks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    def held(armed: Armed, witness: Witness, limit_s: float) -> Coroutine[Any, Any, Proof]:
        begun.append(armed.window)
        return verification.held(armed, witness, limit_s)

    monkeypatch.setattr(verifying, "held", held)
    played = play(SimulatedCluster(LAYOUT), together(fault(kind)), tmp_path)
    assert len(begun) == looks
    assert all(manifest.windows[0].verified for manifest in played.manifests)


def test_each_manifest_names_the_other_runs_boot_and_reason(
    tmp_path: Path,
) -> None:
    """Share one boot between the runs, and the reason for it."""
    one, two, three = play(SimulatedCluster(LAYOUT), together(runs=3), tmp_path).manifests
    assert one.together == ["quick-2", "quick-3"]
    assert two.together == ["quick-1", "quick-3"]
    assert {each.cluster_boot for each in (one, two, three)} == {1}
    assert {each.cluster_fresh_because for each in (one, two, three)} == {
        "the experiment's first run"
    }


class Slow(SimulatedCluster):
    """Takes its time to make the ways of workers."""

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        await asyncio.sleep(1)
        return await super().link(run, worker)


def test_load_begins_at_once_in_all_of_them(tmp_path: Path) -> None:
    played = play(Slow(LAYOUT), together(KILL), tmp_path)
    began = [m.origin_monotonic_ns + (m.load_started_ns or 0) for m in played.manifests]
    assert abs(began[0] - began[1]) < 50_000_000


def test_workers_of_one_name_do_not_meet_beside_the_cluster(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    played = play(cluster, together(), tmp_path)
    assert {"publisher-1-of-quick-1", "publisher-1-of-quick-2"} <= cluster.workers.keys()
    for manifest in played.manifests:
        assert {worker.name for worker in manifest.workers} >= {"publisher-1", "consumer-1"}
        assert all(worker.log_closed for worker in manifest.workers)


def test_client_links_and_their_faults_belong_to_each_run(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    play(cluster, together(fault("hang")), tmp_path)
    proxies = [one.proxies for one in cluster.executor.performed if isinstance(one, AddToxic)]
    assert len(proxies) == 2
    assert not set(proxies[0]) & set(proxies[1])
    assert sum(isinstance(one, RemoveToxic) for one in cluster.executor.performed) == 2


@pytest.mark.parametrize("kind", ["partition", "black_hole", "freeze", "reboot", "alarm"])
def test_host_faults_have_one_name_outside_all_runs(kind: str, tmp_path: Path) -> None:
    single, cluster = SimulatedCluster(LAYOUT), SimulatedCluster(LAYOUT)
    play(single, together(fault(kind), runs=1), tmp_path / "single")
    played = play(cluster, together(fault(kind)), tmp_path / "both")
    assert cluster.executor.performed == single.executor.performed
    for manifest in played.manifests:
        assert manifest.windows[0].verified and manifest.windows[0].gone


def test_run_whose_worker_dies_leaves_and_the_fault_is_undone(
    tmp_path: Path,
) -> None:
    cluster = SimulatedCluster(LAYOUT)
    played = play(
        cluster, together(KILL, lasts_s=5), tmp_path, lambda view, _: breaks(cluster, view)
    )
    assert list(map(type, cluster.executor.performed)) == [Kill, Start]
    one, two = played.manifests
    assert (one.failure, one.phase) == ("", "sealed")
    assert "No space left" in two.failure
    window = one.windows[0]
    assert window.verified and window.gone and window.ended_ns is not None
    assert 4.8e9 < window.ended_ns - window.origin_ns < 5.5e9
    assert two.windows[0].ended_ns is not None  # it knows when its fault ended, too


def test_faults_of_others_are_no_accident_to_a_departed_run(tmp_path: Path) -> None:
    """It waits for the end of the fault that it shares, while they suffer another one."""
    cluster = SimulatedCluster(LAYOUT)
    runs = timed(together(fault("freeze", "rmq2"), KILL), (0.2, 3.0), (1.0, 0.3))
    played = play(cluster, runs, tmp_path, lambda view, _: breaks(cluster, view))
    one, two = played.manifests
    assert one.windows[1].verified and one.windows[1].gone
    assert one.windows[1].origin_ns - (one.load_started_ns or 0) < 2e9  # no run waited for it
    assert (two.windows[0].ended_ns or 0) > 3e9
    assert two.not_begun[0].unverified_reason == "not begun"
    assert two.process_ends == one.process_ends == []


def test_a_run_that_cannot_be_prepared_does_not_block_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.worker_handles.HELLO_LIMIT_S", 0.2)
    cluster = SimulatedCluster(LAYOUT, deaf=frozenset({"consumer-1-of-quick-1"}))
    played = play(cluster, together(KILL), tmp_path)
    assert list(map(type, cluster.executor.performed)) == [Kill, Start]
    assert "did not answer" in played.manifest(1).failure
    assert played.manifest(2).failure == ""
    assert played.manifest(2).windows[0].gone


def test_an_interrupt_undoes_once_and_says_so_of_one_fault(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)

    def interrupts(view: LiveCounts, interrupt: Interrupt) -> None:
        if view.armed and not interrupt.is_set():
            interrupt.ask()

    played = play(cluster, together(KILL, lasts_s=60), tmp_path, interrupts)
    assert list(map(type, cluster.executor.performed)) == [Kill, Start]
    assert played.said == ["interrupted: undoing 1 fault"]
    assert all(manifest.interrupted for manifest in played.manifests)
    assert cluster.world.dead == {}


def test_a_failed_action_is_undone_and_reported_in_both_runs(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.refuse = (Kill,)
    played = play(cluster, together(KILL), tmp_path)
    assert list(map(type, cluster.executor.performed)) == [Kill, Start]
    for manifest in played.manifests:
        assert "the engine said no" in manifest.windows[0].unverified_reason
        assert not manifest.windows[0].verified


def test_a_failed_undo_is_reported_in_both_runs(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.refuse = (Start,)
    played = play(cluster, together(KILL), tmp_path, takes_s=300)
    for manifest in played.manifests:
        assert "the undo failed" in manifest.windows[0].unverified_reason


def test_target_with_different_hosts_per_run_is_refused_for_all(tmp_path: Path) -> None:
    one, two = together(KILL)
    apart = next(seed for seed in range(50) if _placed(seed) != _placed(one.seed))
    cluster = SimulatedCluster(LAYOUT)
    played = play(cluster, (one, replace(two, seed=apart)), tmp_path)
    assert cluster.executor.performed == []
    for manifest in played.manifests:
        assert "never began: it means rmq" in manifest.not_begun[0].unverified_reason
        assert manifest.failure == ""
    assert cluster.witness.open == []


def test_targets_are_resolved_when_all_runs_reached_the_window(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    one, two = together(KILL)
    (later,) = timed((two,), (2.0, 0.3))
    another = next(host.name for host in LAYOUT.hosts if host.name != _placed(one.seed))

    def moves(view: LiveCounts, _: Interrupt) -> None:
        if any(part.phase == "windows" and part.done for part in view.parts):
            cluster.declared.update(dict.fromkeys(cluster.declared, another))

    played = play(cluster, (one, later), tmp_path, moves)
    assert list(map(type, cluster.executor.performed)) == [Kill, Start]
    assert all(manifest.windows[0].gone for manifest in played.manifests)


def test_hosts_started_for_an_audit_are_not_drained(tmp_path: Path) -> None:
    """The second run's queue is drained for long, because of a drainer that does not answer."""
    cluster = SimulatedCluster(
        LAYOUT,
        accidents=((0.5, "rmq2", 137),),
        deaf=frozenset({"drain-orders-of-quick-2"}),
    )
    one, two = play(cluster, together(), tmp_path, takes_s=300).manifests
    assert two.phases_ns["audit"] - two.phases_ns["drain"] > 20e9
    (start,) = one.audit_starts
    assert start.issued_ns is not None
    issued_ns = start.issued_ns + one.origin_monotonic_ns
    assert issued_ns >= two.phases_ns["audit"] + two.origin_monotonic_ns


def _placed(seed: int) -> str:
    return stream(seed, "placement").choice([host.name for host in LAYOUT.hosts])


class Loud(SimulatedCluster):
    """Logs a line at each fetch, and gives only what is new, as clusters do."""

    async def fetch_logs(self, run_folder: Path) -> LeftOut:
        (run_folder / "broker_logs").mkdir(exist_ok=True)
        with (run_folder / "broker_logs" / "rmq1.log").open("a") as log:
            log.write("a line\n")
        return {"rmq1.log": 7}


def test_the_later_run_has_the_broker_logs_from_the_beginning(tmp_path: Path) -> None:
    played = play(Loud(LAYOUT), together(), tmp_path)
    logs = [
        (tmp_path / "runs" / f"quick-{number}" / "broker_logs" / "rmq1.log").read_text()
        for number in (1, 2)
    ]
    assert sorted(logs) == ["a line\n", "a line\na line\n"]
    left_out = [manifest.broker_logs_left_out["rmq1.log"] for manifest in played.manifests]
    assert sorted(left_out) == [7, 14]
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_grouped_runs_are_sealed_after_all_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sealing takes long, and workers that are not spoken to stop by themselves."""
    phases: list[list[str]] = []

    def sealing(folder: Path) -> Manifest:
        found = tmp_path.glob("runs/*")
        phases.append([Manifest.load(one).phase for one in found])
        return seal(folder)

    monkeypatch.setattr("harness.run.series.seal", sealing)
    play(SimulatedCluster(LAYOUT), together(), tmp_path)
    assert [sorted(each) for each in phases] == [["finished"] * 2, ["finished", "sealed"]]


def test_a_group_after_another_has_its_own_fault(tmp_path: Path) -> None:
    first = together(KILL)
    names = ("quick-3", "quick-4")
    second = tuple(
        replace(one, name=name, together=names) for one, name in zip(first, names, strict=True)
    )
    cluster = SimulatedCluster(LAYOUT)
    played = play(cluster, (*first, *second), tmp_path)
    assert list(map(type, cluster.executor.performed)) == [Kill, Start, Kill, Start]
    assert [manifest.cluster_boot for manifest in played.manifests] == [1, 1, 1, 1]


def test_two_windows_one_after_another_are_waited_for_by_both(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    later = timed(together(KILL, fault("freeze", "rmq2")), (0.2, 0.3), (1.0, 0.3))
    played = play(cluster, later, tmp_path)
    assert len(cluster.executor.performed) == 4
    for manifest in played.manifests:
        assert all(window.verified and window.gone for window in manifest.windows)


def test_the_first_of_them_is_shown(tmp_path: Path) -> None:
    played = play(SimulatedCluster(LAYOUT), together(), tmp_path)
    counts = [view.parts for view in played.views]
    assert counts
    done = [sum(part.done for part in parts) for parts in counts]
    assert done == sorted(done)  # one run's progress, not two in turn


def test_queues_are_put_where_the_scenario_says(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    (run,) = together(runs=1)
    load = replace(run.scenario.workload, declared_at="rmq3")
    play(cluster, (replace(run, scenario=replace(run.scenario, workload=load)),), tmp_path)
    assert set(cluster.declared.values()) == {"rmq3"}
