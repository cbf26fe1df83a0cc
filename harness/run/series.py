"""All runs of an experiment, one after another, on clusters that are clean when a run begins.

1. Runs of one layout share a boot, as long as the cluster comes out of each run clean.
2. A cluster that does not, or that operations made another one than its layout says, is stood up
   anew from empty volumes; the next manifest says why.
3. A run that cannot be carried out is recorded with its reason; no run is repeated, none vanishes.
   Where a cell ends early (a bound was reached), its other runs are not begun.
4. An interrupt ends the run at hand readably, and nothing further begins.
"""

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from faults.model import FaultError
from harness.cluster import log_tails
from harness.cluster.port import Cluster, DeployError
from harness.plan.declared import declared, ignored, shown
from harness.plan.model import Experiment, RunPlan
from harness.run import told
from harness.run.interrupts import Interrupt, Interrupted
from harness.run.live import LiveRun, Outside
from harness.run.preparing import Preparing
from harness.run.resolving import NoSuchTarget
from harness.run.view import View
from harness.run.wall import wall_ns
from harness.run.worker_handles import WorkerLost
from harness.run_folder.manifest import Manifest
from harness.run_folder.reserve import Reserve
from harness.run_folder.seal import LOGS, seal
from spark_analysis.schema.failed import os_reason
from spark_analysis.schema.log import LogDamaged

HEALTH_LIMIT_S = 60.0
RUNS = "runs"

# What the world may do to a run; anything else is a bug of ours.
_TROUBLE = (DeployError, FaultError, WorkerLost, NoSuchTarget, TimeoutError, OSError)

Up = Callable[[RunPlan], Awaitable[Cluster]]  # a cluster of the plan's layout and deployment


@dataclass(slots=True)
class Hooks:
    """What a series of runs tells while it goes on, and how it is stopped."""

    interrupt: Interrupt
    began: Callable[[RunPlan, int, int], None]  # the run, its place, how many there are
    step: Callable[[str], None]
    show: Callable[[View], None]
    tell: Callable[[str], None]
    keep: bool  # the last cluster stays
    # Whether a run shall begin, asked just before; and what to do with one that was sealed.
    wanted: Callable[[RunPlan], bool] = lambda _: True
    ended: Callable[[RunPlan, Path], Awaitable[None]] | None = None


@dataclass(slots=True)
class Series:
    """An experiment on its way. `perform` once."""

    experiment: Experiment
    folder: Path
    boot_id: str
    versions: dict[str, str]  # of this machine and of mqproof itself
    up: Up
    hooks: Hooks
    _cluster: Cluster | None = None
    _boots: int = 0
    _unclean: str = "the experiment's first run"
    _done: int = 0
    _hopeless: dict[tuple[str, str, str], str] = field(default_factory=dict)

    async def perform(self) -> None:
        try:
            for _, plans in groupby(self.experiment.runs, key=_place):
                self._unclean = self._unclean if self._boots == 0 else "another layout"
                for plan in plans:
                    if self.hooks.interrupt.is_set():
                        return
                    if self.hooks.wanted(plan):
                        await self._run_or_tell(plan)
        finally:
            if not self.hooks.keep:
                await self._down()

    async def _run_or_tell(self, plan: RunPlan) -> None:
        """A run that finds no room on the disk keeps nobody from what was recorded before."""
        try:
            await self._run_one(plan)
        except OSError as refused:
            reason = os_reason(refused, self.folder / RUNS / plan.name)
            self.hooks.tell(f"{plan.name} was not recorded: {reason}")

    async def _run_one(self, plan: RunPlan) -> None:
        folder = self.folder / RUNS / plan.name
        (folder / LOGS).mkdir(parents=True)
        self._done += 1
        self.hooks.began(plan, self._done, len(self.experiment.runs))
        manifest = Manifest.of(plan)
        with self._recorded(plan, manifest, folder) as reserve:
            cluster = await self._clean_cluster(plan, manifest)
            await self._live(plan, cluster, manifest, folder, reserve)
            await self._look_after(cluster, manifest)
        if manifest.failure:
            self._unclean = f"the run before failed: {manifest.failure}"
        if self.hooks.ended is not None and not self.hooks.interrupt.is_set():
            await self.hooks.ended(plan, folder)

    @contextlib.contextmanager
    def _recorded(self, plan: RunPlan, manifest: Manifest, folder: Path) -> Iterator[Reserve]:
        """However a run ends, its folder tells of it, sealed where anything was recorded."""
        manifest.boot_id = self.boot_id
        manifest.broker_log_bytes_max = log_tails.BYTES_MAX
        manifest.state = {**declared(plan), **told.planned(plan)}
        manifest.ignored = ignored(plan)
        manifest.client_options = shown(plan)
        manifest.save(folder)
        reserve = Reserve(folder)
        try:
            yield reserve
        except Interrupted:
            manifest.interrupted = True
            manifest.failure = manifest.failure or self.hooks.interrupt.reason
        except OSError as refused:
            manifest.failure = manifest.failure or os_reason(refused, folder)
        except _TROUBLE as failure:
            manifest.failure = manifest.failure or str(failure) or type(failure).__name__
        finally:
            with contextlib.suppress(OSError):
                reserve.save(manifest)
            reserve.end()
            with contextlib.suppress(LogDamaged, OSError):  # a full disk: `analyse` may seal later
                self.hooks.step("seal the logs")
                seal(folder)

    async def _clean_cluster(self, plan: RunPlan, manifest: Manifest) -> Cluster:
        if self._cluster is None or self._unclean:
            manifest.cluster_fresh_because = self._unclean
            await self._down()
            self._cluster = await self._stand_up(plan)
            self._boots += 1
            self._unclean = ""
        manifest.cluster_boot = self._boots
        manifest.versions = self.versions | self._cluster.versions()
        return self._cluster

    async def _stand_up(self, plan: RunPlan) -> Cluster:
        """A layout that did not come up once is not waited for again."""
        if _place(plan) in self._hopeless:
            raise DeployError(self._hopeless[_place(plan)])
        try:
            return await self.hooks.interrupt.unless(self.up(plan))
        except DeployError as failure:
            self._hopeless[_place(plan)] = f"the cluster did not come up: {failure}"
            raise DeployError(self._hopeless[_place(plan)]) from failure

    async def _live(
        self,
        plan: RunPlan,
        cluster: Cluster,
        manifest: Manifest,
        folder: Path,
        reserve: Reserve,
    ) -> None:
        preparing = Preparing(plan, cluster, folder, self.boot_id, self.hooks.step)
        prepared = await self.hooks.interrupt.unless(preparing.begin())
        manifest.origin_monotonic_ns = prepared.stage.origin_ns
        manifest.origin_wall_ns = wall_ns(prepared.stage.origin_ns)
        manifest.resolved |= {f"{who} enter": host for who, host in prepared.entries.items()}
        manifest.versions |= prepared.versions
        outside = Outside(self.hooks.interrupt, self.hooks.show, reserve.save, self.hooks.tell)
        try:
            await LiveRun(plan, cluster, prepared, manifest, outside).perform()
        finally:
            manifest.wall_set_ns = wall_ns(prepared.stage.origin_ns) - manifest.origin_wall_ns
            with contextlib.suppress(DeployError):
                manifest.broker_logs_left_out = dict(await cluster.fetch_logs(folder))

    async def _look_after(self, cluster: Cluster, manifest: Manifest) -> None:
        if self.hooks.interrupt.is_set():
            return
        if manifest.cluster_altered:  # healthy or not, it is not what the layout says
            self._unclean = f"what was done in the run before: {manifest.cluster_altered}"
            return
        self.hooks.step("look whether the cluster is clean")
        with contextlib.suppress(Interrupted):
            await self._see_health(cluster)

    async def _see_health(self, cluster: Cluster) -> None:
        health = await self.hooks.interrupt.unless(cluster.health(HEALTH_LIMIT_S))
        self._unclean = "" if health.clean else "; ".join(health.doubts)

    async def _down(self) -> None:
        if self._cluster is not None:
            self.hooks.step("tear the cluster down")
            cluster, self._cluster = self._cluster, None
            await cluster.down()


def _place(plan: RunPlan) -> tuple[str, str, str]:
    return (plan.deployment, plan.system.name, plan.layout.label)
