"""Experiments over clusters that stand in memory: boots, failures, interrupts, full disks."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from docker.errors import APIError
from requests.exceptions import ReadTimeout

from harness.cluster.port import Cluster, DeployError, Health, Link
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq_section import RocketWorkload
from harness.plan.model import Experiment, Layout, RunPlan
from harness.run.core.view import LiveCounts
from harness.run.interrupts import Interrupt
from harness.run.series import Hooks, Series
from harness.run_folder.manifest import Manifest
from harness.run_folder.whole import whole
from harness.systems.catalogue import load_layout, load_system
from tests.rigs.clusters.simulated_cluster import BOOT_ID, SimulatedCluster
from tests.rigs.machine import virtual_time
from tests.rigs.machine.disks import disk
from tests.rigs.runs.plans import LAYOUT, fault, operated, operation, plan
from tests.rigs.runs.run_folders import rows_of

OTHER = replace(LAYOUT, name="unmirrored", copies=1)


@dataclass
class World:
    """Every cluster that was stood up, in order; `make` says what stands up next."""

    make: Callable[[Layout], SimulatedCluster] = SimulatedCluster
    clusters: list[SimulatedCluster] = field(default_factory=list)
    tries: int = 0

    async def up(self, of: RunPlan) -> Cluster:
        self.tries += 1
        self.clusters.append(self.make(of.layout))
        return self.clusters[-1]


def runs(*layouts: Layout) -> tuple[RunPlan, ...]:
    return tuple(
        replace(plan(name=f"quick-{number}"), layout=layout)
        for number, layout in enumerate(layouts, 1)
    )


def perform(
    world: World,
    plans: tuple[RunPlan, ...],
    folder: Path,
    keep: bool = False,
    interrupt_when: Callable[[LiveCounts], bool] = lambda _: False,
    over: Callable[[], None] = lambda: None,
    standing: bool = False,
) -> list[dict[str, Any]]:
    """The manifests of all runs that were begun, in order."""

    async def story() -> None:
        interrupt = Interrupt()

        def show(view: LiveCounts) -> None:
            if interrupt_when(view) and not interrupt.is_set():
                interrupt.ask()

        hooks = Hooks(interrupt, lambda *_: None, lambda _: None, show, print, keep)
        hooks.over = over
        experiment = Experiment("e", 7, plans, ())
        apart, versions = virtual_time.at_once, {"python": "3"}
        await Series(
            experiment, folder, BOOT_ID, versions, world.up, hooks, apart, standing
        ).perform()

    virtual_time.run(story())
    found = sorted(folder.glob("runs/*/manifest.json"))
    return [json.loads(path.read_text()) for path in found]


def test_runs_of_one_layout_share_a_boot_while_clean(
    tmp_path: Path,
) -> None:
    world = World()
    one, two = perform(world, runs(LAYOUT, LAYOUT), tmp_path)
    assert (one["cluster_boot"], two["cluster_boot"]) == (1, 1)
    assert two["cluster_fresh_because"] == ""
    assert [cluster.downs for cluster in world.clusters] == [1]


def test_interrupted_series_leaves_nothing_to_judge(tmp_path: Path) -> None:
    phases_seen = list[str]()
    perform(
        World(),
        runs(LAYOUT),
        tmp_path,
        interrupt_when=lambda _: True,
        over=lambda: phases_seen.append("over"),
    )
    assert phases_seen == []


def test_a_manifest_says_how_the_scenario_made_its_client_differ(tmp_path: Path) -> None:
    rocket = load_system("rocketmq-2m2s")
    layout = load_layout(rocket.name, "colocated@compressed")
    own = RocketWorkload(latency_fault=True)
    differing = plan(rocketmq=own)
    differing = replace(
        differing, system=rocket, layout=layout, client=chosen_client(rocket.clients[0])
    )
    (one,) = perform(World(), (differing,), tmp_path)
    assert one["client_options"] == ["sendLatencyFaultEnable = true (publishers)"]


def test_an_unclean_cluster_is_restarted_and_the_manifest_says_why(
    tmp_path: Path,
) -> None:
    world = World(lambda layout: SimulatedCluster(layout, health_doubts=("rmq3: partition",)))
    _, two = perform(world, runs(LAYOUT, LAYOUT), tmp_path)
    assert (two["cluster_boot"], two["cluster_fresh_because"]) == (2, "rmq3: partition")
    assert [cluster.downs for cluster in world.clusters] == [1, 1]


def test_cluster_changed_by_operations_serves_no_other_run(tmp_path: Path) -> None:
    world = World()
    first, second = runs(LAYOUT, LAYOUT)
    _, two = perform(world, (operated(operation("delete_policy"), of=first), second), tmp_path)
    assert two["cluster_fresh_because"] == "what was done in the run before: delete_policy"
    assert [cluster.downs for cluster in world.clusters] == [1, 1]


def test_a_cluster_that_was_restarted_in_good_order_serves_other_runs(tmp_path: Path) -> None:
    first, second = runs(LAYOUT, LAYOUT)
    restart = operated(operation("restart_node", "all", order="in turn"), of=first)
    _, two = perform(World(), (restart, second), tmp_path)
    assert (two["cluster_boot"], two["cluster_fresh_because"]) == (1, "")


def test_another_layout_is_another_boot(tmp_path: Path) -> None:
    _, two = perform(World(), runs(LAYOUT, OTHER), tmp_path)
    assert (two["cluster_boot"], two["cluster_fresh_because"]) == (2, "another layout")


def test_layout_that_fails_to_start_is_tried_once_in_total(
    tmp_path: Path,
) -> None:
    def never(layout: Layout) -> SimulatedCluster:
        raise DeployError("no AMQP answer from rmq2 within 120 s")

    world = World(never)
    manifests = perform(world, runs(LAYOUT, LAYOUT), tmp_path)
    assert world.tries == 1
    assert len(manifests) == 2
    for manifest in manifests:
        assert "no AMQP answer from rmq2" in manifest["failure"]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (TimeoutError(), "TimeoutError"),
        (TimeoutError("no answer in 4 s"), "no answer in 4 s"),
        (APIError("500 Server Error"), "500 Server Error"),
        (ReadTimeout("the engine did not answer"), "the engine did not answer"),
        (OSError(28, "No space left on device"), "{folder}: No space left on device"),
        (OSError(13, "Permission denied", "/a/file"), "/a/file: Permission denied"),
    ],
)
def test_only_what_a_disk_refused_is_recorded_as_its_refusal(
    failure: Exception, reason: str, tmp_path: Path
) -> None:
    def never(layout: Layout) -> SimulatedCluster:
        raise failure

    (manifest,) = perform(World(never), runs(LAYOUT), tmp_path)
    assert manifest["failure"] == reason.format(folder=tmp_path / "runs" / "quick-1")


class Silent(SimulatedCluster):
    """Does not say in time whether it is well."""

    async def health(self, limit_s: float) -> Health:
        raise TimeoutError


def test_health_that_is_unknown_has_a_reason(tmp_path: Path) -> None:
    _, two = perform(World(Silent), runs(LAYOUT, LAYOUT), tmp_path)
    assert two["cluster_fresh_because"] == "its health is unknown: TimeoutError"


def test_failed_run_gives_the_next_one_a_fresh_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.worker_handles.HELLO_LIMIT_S", 0.2)
    deaf = [frozenset({"consumer-1"}), frozenset[str]()]
    world = World(lambda layout: SimulatedCluster(layout, deaf=deaf.pop(0)))
    one, two = perform(world, runs(LAYOUT, LAYOUT), tmp_path)
    assert "consumer-1 did not answer" in one["failure"]
    assert two["failure"] == ""
    assert two["cluster_fresh_because"].startswith("the run before failed")


def test_after_an_interrupt_nothing_further_begins_and_the_cluster_goes(tmp_path: Path) -> None:
    world = World()
    plans = (replace(runs(LAYOUT)[0], scenario=plan(fault("kill")).scenario), *runs(OTHER))
    manifests = perform(world, plans, tmp_path, interrupt_when=lambda view: view.phase != "")
    assert len(manifests) == 1
    assert manifests[0]["interrupted"]
    assert [cluster.downs for cluster in world.clusters] == [1]


class Endless(SimulatedCluster):
    """Never comes to an end of something; `at` is asked to be interrupted there."""

    interrupt: Interrupt
    at: str

    async def health(self, limit_s: float) -> Health:
        if self.at == "health":
            await self._never()
        return await super().health(limit_s)

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        if self.at == "link":
            await self._never()
        return await super().link(run, worker)

    async def _never(self) -> None:
        self.interrupt.ask()
        await asyncio.sleep(1000)


@pytest.mark.parametrize(("at", "recorded"), [("up", False), ("link", False), ("health", True)])
def test_interrupt_ends_every_wait_outside_the_load_too(
    at: str, recorded: bool, tmp_path: Path
) -> None:
    interrupt, took_s = Interrupt(), 0.0
    cluster = Endless(LAYOUT)
    cluster.at, cluster.interrupt = at, interrupt

    async def up(_: RunPlan) -> Cluster:
        if at == "up":
            await cluster._never()
        return cluster

    async def story() -> None:
        nonlocal took_s
        hooks = Hooks(interrupt, lambda *_: None, lambda _: None, lambda _: None, print, False)
        began_s = time.monotonic()
        series = Series(
            Experiment("e", 7, runs(LAYOUT, LAYOUT), ()),
            tmp_path,
            BOOT_ID,
            {},
            up,
            hooks,
            virtual_time.at_once,
        )
        await series.perform()
        took_s = time.monotonic() - began_s

    virtual_time.run(story())
    assert took_s < 30
    (folder,) = tmp_path.glob("runs/*")
    manifest = Manifest.load(folder)
    assert (manifest.phase, manifest.failure) == ("sealed", "")
    assert manifest.interrupted is not recorded  # what was recorded to its end is whole
    assert cluster.downs == (0 if at == "up" else 1)


def test_an_internal_reason_is_recorded_as_the_failure(tmp_path: Path) -> None:
    interrupt = Interrupt()

    async def up(_: RunPlan) -> Cluster:
        interrupt.ask("no guardian runs")
        return SimulatedCluster(LAYOUT)

    async def story() -> None:
        hooks = Hooks(interrupt, lambda *_: None, lambda _: None, lambda _: None, print, False)
        experiment = Experiment("e", 7, runs(LAYOUT), ())
        await Series(experiment, tmp_path, BOOT_ID, {}, up, hooks, virtual_time.at_once).perform()

    virtual_time.run(story())
    (folder,) = tmp_path.glob("runs/*")
    manifest = Manifest.load(folder)
    assert (manifest.interrupted, manifest.failure) == (True, "no guardian runs")
    assert manifest.facts is not None
    assert manifest.facts["clock_problem"] == "no guardian runs"


def test_an_unwanted_run_is_skipped_and_later_ones_are_played(
    tmp_path: Path,
) -> None:
    ended: list[str] = []

    async def note_end(of: RunPlan, folder: Path) -> None:
        assert (folder / "manifest.json").exists()
        ended.append(of.name)

    async def story() -> None:
        nothing = Hooks(Interrupt(), lambda *_: None, lambda _: None, lambda _: None, print, False)
        hooks = replace(nothing, wanted=lambda of: of.layout is OTHER or not ended, ended=note_end)
        experiment = Experiment("e", 7, runs(LAYOUT, LAYOUT, OTHER), ())
        await Series(
            experiment, tmp_path, BOOT_ID, {}, World().up, hooks, virtual_time.at_once
        ).perform()

    virtual_time.run(story())
    assert ended == ["quick-1", "quick-3"]
    assert sorted(path.name for path in tmp_path.glob("runs/*")) == ["quick-1", "quick-3"]


def test_end_of_the_last_load_and_cluster_are_both_reported(
    tmp_path: Path,
) -> None:
    """Processor load then delays no client that a claim covers."""
    world, phases_seen = World(), list[tuple[list[str], list[int]]]()

    def note() -> None:
        phases = sorted(Manifest.load(folder).phase for folder in tmp_path.glob("runs/*"))
        phases_seen.append((phases, [cluster.downs for cluster in world.clusters]))

    perform(world, runs(LAYOUT, LAYOUT), tmp_path, over=note)
    assert phases_seen == [(["drain", "sealed"], [0]), (["sealed", "sealed"], [0])]


def test_logs_are_sealed_apart_from_the_event_loop(tmp_path: Path) -> None:
    """The cluster's agent ends when its harness is silent for seconds."""
    phases = list[tuple[str, str]]()

    async def apart(work: Callable[[], object]) -> None:
        (folder,) = tmp_path.glob("runs/*")
        before = Manifest.load(folder).phase
        work()
        phases.append((before, Manifest.load(folder).phase))

    async def story() -> None:
        hooks = Hooks(Interrupt(), lambda *_: None, lambda _: None, lambda _: None, print, False)
        experiment = Experiment("e", 7, runs(LAYOUT), ())
        await Series(experiment, tmp_path, BOOT_ID, {}, World().up, hooks, apart).perform()

    virtual_time.run(story())
    assert phases == [("finished", "sealed")]


def test_a_cluster_that_stood_before_is_no_fresh_one(tmp_path: Path) -> None:
    (stood,) = perform(World(), runs(LAYOUT), tmp_path / "a", standing=True)
    (fresh,) = perform(World(), runs(LAYOUT), tmp_path / "b")
    assert (stood["cluster_stood"], stood["cluster_fresh_because"]) == (True, "")
    assert (fresh["cluster_stood"], bool(fresh["cluster_fresh_because"])) == (False, True)


def test_a_kept_cluster_is_left_standing(tmp_path: Path) -> None:
    world = World()
    perform(world, runs(LAYOUT), tmp_path, keep=True)
    assert [cluster.downs for cluster in world.clusters] == [0]


def test_full_disk_ends_the_run_with_faults_undone_and_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = Manifest.save
    world = World()
    of = replace(plan(fault("partition"), lasts_s=60), layout=LAYOUT)

    def save(manifest: Manifest, folder: Path) -> None:
        full = manifest.windows and manifest.windows[0].unverified_reason == "not verified active"
        if full and not manifest.failure:
            raise OSError(28, "No space left on device")
        saved(manifest, folder)

    monkeypatch.setattr(Manifest, "save", save)
    (manifest,) = perform(world, (of,), tmp_path)
    assert "No space left on device" in manifest["failure"]
    assert world.clusters[0].world.cuts == {}
    assert [cluster.downs for cluster in world.clusters] == [1]


@pytest.mark.slow
def test_recording_on_a_full_disk_stays_readable_with_its_reason(
    tmp_path: Path,
) -> None:
    """Its manifest finds room, the fault is undone, and no other run is begun for nothing."""
    world = World()
    of = replace(plan(fault("partition"), lasts_s=60), layout=LAYOUT)
    with disk(tmp_path / "disk", 8_000) as small:

        def fills_up(view: LiveCounts) -> bool:
            if view.armed and not small.full:
                small.fill()
            return False

        (manifest,) = perform(world, (of,), small.path, interrupt_when=fills_up)
        folder = small.path / "runs" / of.name
        assert "No space left on device" in manifest["failure"]
        assert str(folder) in manifest["failure"]
        assert world.clusters[0].world.cuts == {}
        assert not (folder / "reserve").exists()
        small.free()  # a larger run would not be sealed before
        sealed = whole(folder)
        assert sealed.failure == manifest["failure"]
        assert sealed.facts is not None
        assert sealed.facts["clock_problem"] == sealed.failure
        assert rows_of(folder)["attempts"]


def test_a_run_without_disk_space_keeps_earlier_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = Manifest.save

    def save(manifest: Manifest, folder: Path) -> None:
        if manifest.run == "quick-2":
            raise OSError(28, "No space left on device", str(folder / "manifest.json.partial"))
        saved(manifest, folder)

    monkeypatch.setattr(Manifest, "save", save)
    found = perform(World(), runs(LAYOUT, LAYOUT, LAYOUT), tmp_path)
    assert [one["run"] for one in found] == ["quick-1", "quick-3"]
    place = tmp_path / "runs" / "quick-2" / "manifest.json.partial"
    assert f"quick-2 was not recorded: {place}: No space left on device" in capsys.readouterr().out


def test_manifest_states_how_much_of_broker_logs_is_kept(tmp_path: Path) -> None:
    def noisy(layout: Layout) -> SimulatedCluster:
        return SimulatedCluster(layout, left_out={"rmq1.log": 7})

    (manifest,) = perform(World(noisy), runs(LAYOUT), tmp_path)
    assert manifest["broker_log_bytes_max"] == 33_554_432
    assert manifest["broker_logs_left_out"] == {"rmq1.log": 7}
