"""All runs of an experiment, one after another, on clusters that are clean when a run begins.

1. Runs of one layout share a cluster, as long as it is clean after each run.
2. If it is not clean, or operations have changed its layout, a new cluster is started from empty
   volumes. The next manifest says why.
3. A run that cannot be carried out is recorded with its reason; no run is repeated or left out. If
   a cell ends early (a bound was reached), its other runs do not begin.
4. An interrupt ends the current run readably, and no further run begins.
5. Runs that are played together are prepared one after another and then run concurrently, each in
   its own folder. If one of them fails, the others go on.
"""

import asyncio
import contextlib
import errno
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path

from faults.core.model import FaultError
from harness.cluster import log_tails
from harness.cluster.port import Cluster, DeployError, WrongInput
from harness.plan.declared import FEW, declared, ignored, shown
from harness.plan.model import Experiment, RunPlan
from harness.plan.problems import PlanError, Problem
from harness.run.core.resolving import NoSuchTarget
from harness.run.core.view import LiveCounts
from harness.run.interrupts import Interrupt, RunInterrupted
from harness.run.live.live_run import LiveRun, Outside
from harness.run.prepared import Prepared
from harness.run.preparing import Preparing
from harness.run.run_group import Participant, RunGroup
from harness.run.shared_cluster import KeptLogs, SharedCluster
from harness.run.worker_handles import WorkerLost
from harness.run_folder.manifest import Manifest
from harness.run_folder.reserve import Reserve
from harness.run_folder.seal import LOGS, seal
from spark_analysis.files.failed import os_reason
from spark_analysis.files.log import LogDamaged
from spark_analysis.files.writing import FULL

# --- Wall ----------------------------------------------------------------------------------------
# The clock of the day: servers' own logs tell the time by it; runs themselves do without.


def wall_ns(monotonic_ns: int) -> int:
    """What it would have said then, in ns since 1970, had it always run as it runs now."""
    return time.time_ns() - (time.monotonic_ns() - monotonic_ns)


# --- Special messages ----------------------------------------------------------------------------
# How many of a run's messages are delayed or in transactions, by the client family's section.


def special_messages(plan: RunPlan) -> dict[str, int | None]:
    """Return how many messages are delayed and in transactions, if these are few on purpose.

    These are facts for claims; None if there are many, or if the number is unknown. Raise
    PlanError if the section counts what it does not declare.
    """
    every = plan.client.counted(plan.scenario.workload, plan.schedule.load_s)
    few = {name: number for name, number in every.items() if 0 < number < FEW}
    return {name: few.get(name) for name in plan.client.counted_names}


# --- The series ----------------------------------------------------------------------------------


HEALTH_LIMIT_S = 60.0
RUNS = "runs"
KEPT_LOGS = ".logs-of-runs-together"

# What the world may do to a run; anything else is a bug of ours.
_TROUBLE = (DeployError, FaultError, WorkerLost, NoSuchTarget, TimeoutError, OSError)
_OF_DISKS = (*FULL, errno.EIO, errno.EROFS)

Up = Callable[[RunPlan], Awaitable[Cluster]]  # a cluster of the plan's layout and deployment


@dataclass(slots=True)
class Hooks:
    """The callbacks of a series of runs, and its interrupt."""

    interrupt: Interrupt
    # The run, or those that are played together (the first is shown); its number, and how many
    # there are in all.
    began: Callable[[Sequence[RunPlan], int, int], None]
    step: Callable[[str], None]
    show: Callable[[LiveCounts], None]
    report: Callable[[str], None]
    keep: bool  # the last cluster stays
    # Whether a run shall begin, asked just before; and what to do with one that was sealed.
    wanted: Callable[[RunPlan], bool] = lambda _: True
    ended: Callable[[RunPlan, Path], Awaitable[None]] | None = None
    # The last load is over: nothing timed happens any more. It may be called again.
    over: Callable[[], None] = lambda: None


@dataclass(slots=True)
class Series:
    """An experiment on its way. `perform` once."""

    experiment: Experiment
    folder: Path
    boot_id: str
    versions: dict[str, str]  # of this machine and of mqproof itself
    up: Up
    hooks: Hooks
    # Do what takes seconds: in a thread, for the cluster's agent ends when its harness is silent.
    apart: Callable[[Callable[[], object]], Awaitable[object]] = asyncio.to_thread
    standing: bool = False  # the clusters ran before, and stay
    _cluster: Cluster | None = None
    _boots: int = 0
    _unclean: str = "the experiment's first run"
    _done: int = 0
    _hopeless: dict[tuple[str, str, str], DeployError] = field(default_factory=dict)
    _prepared: bool = False  # a run was: its load could begin
    _under_load: set[str] = field(default_factory=set)  # runs whose load is not over

    async def perform(self) -> None:
        self._under_load = {plan.name for group in self.experiment.groups for plan in group}
        try:
            for _, groups in groupby(self.experiment.groups, key=lambda group: _place(group[0])):
                self._unclean = self._unclean if self._boots == 0 else "another layout"
                for group in groups:
                    if self.hooks.interrupt.is_set():
                        return
                    await self._play([plan for plan in group if self.hooks.wanted(plan)])
            if not self.hooks.interrupt.is_set():
                self.hooks.over()
        finally:
            if not self.hooks.keep:
                await self._down()
        self._refuse_wrong_input()

    def _refuse_wrong_input(self) -> None:
        """Raise PlanError if no load could begin, each time because of what the user named."""
        hopeless = self._hopeless.items()
        wrong = {place: one for place, one in hopeless if isinstance(one, WrongInput)}
        places = {_place(group[0]) for group in self.experiment.groups}
        if not self._prepared and wrong.keys() == places:
            raise PlanError(
                problem
                for place, one in wrong.items()
                for problem in one.problems or (Problem(" ".join(place), str(one)),)
            )

    async def _play(self, plans: Sequence[RunPlan]) -> None:
        """One run, or those that are played together."""
        if not plans:
            return
        self.hooks.began(plans, self._done + 1, len(self.experiment.runs))
        self._done += len(plans)
        group = _Group(plans, KeptLogs(self.folder / KEPT_LOGS, self.apart))
        work = (self._run_or_report(plan, group) for plan in plans)
        ended = await asyncio.gather(*work, return_exceptions=True)
        self._under_load -= {plan.name for plan in plans}
        group.logs.forget()
        await self._seal(group)
        recorded: dict[str, Manifest] = {}
        for one in ended:
            if isinstance(one, BaseException):
                raise one  # a fault of ours; the others have come to their ends
            if one is not None:
                recorded[one.run] = one
        await self._look_after(list(recorded.values()))
        for plan in plans:
            if self.hooks.ended is None or self.hooks.interrupt.is_set():
                return
            if plan.name in recorded:
                await self.hooks.ended(plan, self.folder / RUNS / plan.name)

    async def _run_or_report(self, plan: RunPlan, group: "_Group") -> Manifest | None:
        """Play a run. If the disk is full, report it; earlier runs stay usable."""
        try:
            return await self._run_one(plan, group)
        except OSError as refused:
            reason = _reason(refused, self.folder / RUNS / plan.name)
            self.hooks.report(f"{plan.name} was not recorded: {reason}")
            return None
        finally:
            group.participant(plan).withdraw()

    async def _run_one(self, plan: RunPlan, group: "_Group") -> Manifest:
        folder = self.folder / RUNS / plan.name
        (folder / LOGS).mkdir(parents=True)
        manifest = Manifest.of(plan)
        manifest.together = group.others(plan)
        with self._recorded(plan, manifest, folder, group) as reserve:
            async with group.turn:
                cluster = group.view(await self._clean_cluster(plan, manifest, group), plan)
                prepared = await self._prepare(plan, cluster, manifest, folder, group)
            outside = self._outside(plan, group, reserve)
            try:
                await LiveRun(prepared, manifest, outside).perform()
            finally:
                manifest.wall_set_ns = wall_ns(prepared.stage.origin_ns) - manifest.origin_wall_ns
                with contextlib.suppress(DeployError):
                    manifest.broker_logs_left_out = dict(await cluster.fetch_logs(folder))
        return manifest

    @contextlib.contextmanager
    def _recorded(
        self, plan: RunPlan, manifest: Manifest, folder: Path, group: "_Group"
    ) -> Iterator[Reserve]:
        """However a run ends, its folder tells of it, and is to be sealed."""
        manifest.boot_id = self.boot_id
        manifest.broker_log_bytes_max = log_tails.BYTES_MAX
        manifest.state = {**declared(plan), **special_messages(plan)}
        manifest.ignored = ignored(plan)
        manifest.client_options = shown(plan)
        manifest.save(folder)
        reserve = Reserve(folder)
        try:
            yield reserve
        except RunInterrupted:
            manifest.interrupted = True
            manifest.failure = manifest.failure or self.hooks.interrupt.reason
        except _TROUBLE as failure:
            manifest.failure = manifest.failure or _reason(failure, folder)
        finally:
            with contextlib.suppress(OSError):
                reserve.save(manifest)
            reserve.end()
            group.ended.append(folder)

    async def _seal(self, group: "_Group") -> None:
        """Seal the folders of runs that have ended."""
        for folder in group.ended:
            with contextlib.suppress(LogDamaged, OSError):  # a full disk: `analyse` may seal later
                self.hooks.step("seal the run: write its tables and checksums")
                await self.apart(partial(seal, folder))

    async def _clean_cluster(self, plan: RunPlan, manifest: Manifest, group: "_Group") -> Cluster:
        """One for the whole group: what happens to its runs is looked at when all have ended."""
        if self._cluster is None or self._unclean:
            group.fresh_because = "" if self.standing else self._unclean
            await self._down()
            self._cluster = await self._stand_up(plan)
            self._boots += 1
            self._unclean = ""
        manifest.cluster_fresh_because = group.fresh_because
        manifest.cluster_boot = self._boots
        manifest.cluster_stood = self.standing
        manifest.versions = self.versions | self._cluster.versions()
        return self._cluster

    async def _stand_up(self, plan: RunPlan) -> Cluster:
        """A layout that did not come up once is not waited for again."""
        if _place(plan) in self._hopeless:
            raise self._hopeless[_place(plan)]
        try:
            return await self.hooks.interrupt.unless(self.up(plan))
        except DeployError as failure:
            text = f"the cluster did not come up: {failure}"
            again = DeployError(text)
            if isinstance(failure, WrongInput):
                again = WrongInput(text, failure.problems)
            self._hopeless[_place(plan)] = again
            raise again from failure

    async def _prepare(
        self,
        plan: RunPlan,
        cluster: Cluster,
        manifest: Manifest,
        folder: Path,
        group: "_Group",
    ) -> Prepared:
        participant = group.participant(plan)
        preparing = Preparing(plan, cluster, folder, self.boot_id, self.hooks.step, participant)
        try:
            prepared = await self.hooks.interrupt.unless(preparing.begin())
        except WrongInput as wrong:
            self._hopeless[_place(plan)] = wrong
            raise
        self._prepared = True
        manifest.origin_monotonic_ns = prepared.stage.origin_ns
        manifest.origin_wall_ns = wall_ns(prepared.stage.origin_ns)
        manifest.endpoints |= prepared.entries
        manifest.versions |= prepared.versions
        return prepared

    def _outside(self, plan: RunPlan, group: "_Group", reserve: Reserve) -> Outside:
        """Of runs that are played together the first is shown, and tells what all would tell."""
        hooks, over = self.hooks, partial(self._load_over, plan.name)
        if plan is group.plans[0]:
            return Outside(hooks.interrupt, hooks.show, reserve.save, hooks.report, over)
        return Outside(hooks.interrupt, lambda _: None, reserve.save, lambda _: None, over)

    def _load_over(self, run: str) -> None:
        self._under_load.discard(run)
        if not self._under_load:
            self.hooks.over()

    async def _look_after(self, ended: Sequence[Manifest]) -> None:
        """Whether the cluster may serve others, after these runs on it."""
        failures = [manifest.failure for manifest in ended if manifest.failure]
        altered = [manifest.cluster_altered for manifest in ended if manifest.cluster_altered]
        if failures:
            self._unclean = f"the run before failed: {failures[0]}"
        elif altered:  # healthy or not, it is not what the layout says
            self._unclean = f"what was done in the run before: {altered[0]}"
        elif ended and self._cluster is not None and not self.hooks.interrupt.is_set():
            self.hooks.step("check that the cluster is clean")
            with contextlib.suppress(RunInterrupted):
                self._unclean = await self._doubts(self._cluster)

    async def _doubts(self, cluster: Cluster) -> str:
        """What stands against the cluster's health; "" where it is clean."""
        try:
            health = await self.hooks.interrupt.unless(cluster.health(HEALTH_LIMIT_S))
        except _TROUBLE as failure:
            return f"its health is unknown: {str(failure) or type(failure).__name__}"
        return "" if health.clean else "; ".join(health.doubts)

    async def _down(self) -> None:
        if self._cluster is not None:
            done = "give the cluster back" if self.standing else "tear the cluster down"
            self.hooks.step(done)
            cluster, self._cluster = self._cluster, None
            await cluster.down()


def _reason(failure: Exception, folder: Path) -> str:
    """Return why a run cannot go on. The disk is blamed only where the error names a file, or says
    what only a disk says: those of engines and networks are OSErrors, too."""
    if isinstance(failure, OSError) and (failure.filename or failure.errno in _OF_DISKS):
        return os_reason(failure, folder)
    return str(failure) or type(failure).__name__


def _place(plan: RunPlan) -> tuple[str, str, str]:
    return (plan.deployment, plan.system.name, plan.layout.label)


@dataclass(slots=True)
class _Group:
    """Runs that are played at once: each is prepared when the one before it was."""

    plans: Sequence[RunPlan]
    logs: KeptLogs
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    fresh_because: str = ""  # why they got a new cluster
    ended: list[Path] = field(default_factory=list)  # the folders of those that are over
    _run_group: RunGroup = field(init=False)

    def __post_init__(self) -> None:
        self._run_group = RunGroup([plan.name for plan in self.plans])

    def participant(self, plan: RunPlan) -> Participant:
        return self._run_group.participant(plan.name)

    def others(self, plan: RunPlan) -> list[str]:
        return [other.name for other in self.plans if other is not plan]

    def view(self, cluster: Cluster, plan: RunPlan) -> Cluster:
        if len(self.plans) == 1:
            return cluster
        return SharedCluster(cluster, plan.name, self.logs)
