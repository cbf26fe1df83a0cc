"""The run that uses one of the clusters by hand (`mqproof run --on-standing`).

1. A run gets a cluster that is clean, and only one run has any of them at a time.
2. The run belongs to its connection. When that ends, by its last line or by kill -9, the keeper
   undoes what the run's journals show as active, ends its workers, and deletes its queues and its
   listeners.
3. If a fault cannot be undone, or the run has changed what the layout says, the cluster is not
   clean until it is taken down.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults.core.model import Executor, FaultError
from harness.by_hand.injecting import LOGS
from harness.by_hand.starting import RunningByHand
from harness.cleanup.guardian import Assignment, end_workers
from harness.cleanup.heal import JOURNALS, RunningProject, mend
from harness.cluster.links import DIRECT
from harness.cluster.port import DeployError
from harness.cluster.started_clients import OURS
from harness.deploy.by_hand_layouts import fingerprint
from harness.run_folder.manifest import SEALED, Manifest

HEALTH_LIMIT_S = 3.0
_AGAIN_LIMIT_S = 30.0  # until a broker that was started again is clean
_LISTED_MAX = 5
_WATCH_S = 0.1
_LISTENERS_LIMIT_S = 10.0
_TAKE_DOWN = "`mqproof down`, then `mqproof up`"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AttachedRun:
    """The experiment that has a cluster now."""

    one: RunningByHand
    experiment: Path
    pid: int

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the experiment's runs by now."""
        return tuple(sorted(path.name for path in (self.experiment / "runs").glob("*")))

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Return how the names of the runs' queues and listeners begin."""
        return tuple(f"{OURS}{name}." for name in self.names)

    def folder(self, name: str) -> Path:
        return self.experiment / "runs" / name

    def is_own(self, folder: Path) -> bool:
        """Return whether a run's folder is of this cluster, or may be: it does not say."""
        try:
            return self.is_of(Manifest.load(folder))
        except (OSError, ValueError):
            return True

    def is_of(self, manifest: Manifest) -> bool:
        """Return whether a run is of this cluster: a system may have several, by layout."""
        choice = self.one.choice
        same = not choice.alias or manifest.layout == choice.layout.label
        return manifest.system == choice.system.name and same

    @property
    def title(self) -> str:
        return f"{self.one.choice.name}: experiment {self.experiment.name}, process {self.pid}"


class RunsByHand:
    """`faults` returns the titles of faults by hand that are active; `say` writes to a log."""

    def __init__(self, faults: Callable[[], Sequence[str]], say: Say) -> None:
        self._faults = faults
        self._say = say
        self._left: dict[str, str] = {}  # by cluster: what a run left that was not undone
        self.attached: AttachedRun | None = None

    def conflicts(self) -> tuple[str, ...]:
        """Return who else uses the clusters now."""
        if self.attached is not None:
            return (f"another run uses these clusters: process {self.attached.pid}",)
        return tuple(f"a fault is active: {title}" for title in self._faults())

    async def doubts(self, one: RunningByHand, layout: str) -> tuple[str, ...]:
        """Return why no run may use the cluster now. `layout`: the run's fingerprint of it."""
        found = list(self.conflicts())
        if self.attached is not None:
            return tuple(found)
        if left := self._left.get(one.choice.name):
            found.append(f"{left}; what to do: {_TAKE_DOWN}")
        if layout != fingerprint(one.cluster.layout):
            text = f"its layout {one.choice.layout.label} has changed since `mqproof up`"
            found.append(f"{text}; what to do: {_TAKE_DOWN}")
        found += [text async for text in state_doubts(one)]
        return tuple(found)

    def attach(self, one: RunningByHand, request: Mapping[str, Any]) -> AttachedRun:
        """Give the cluster to a run: no other gets one until it is released."""
        assert self.attached is None, "one run at a time"
        self.attached = AttachedRun(one, Path(str(request["experiment"])), int(request["pid"]))
        return self.attached

    async def release(self, run: AttachedRun, ended: bool = True) -> str:
        """Clean up after the run; return what was left, or "". `ended`: it said that it ended."""
        left = [f"the keeper failed to clean up after {run.experiment.name}"]
        try:
            left = [*[text async for text in self._cleaned(run)], *_altered(run, ended)]
        finally:
            self.attached = None
            if left:
                self._left[run.one.choice.name] = "; ".join(left)
        return "; ".join(left)

    async def _cleaned(self, run: AttachedRun) -> AsyncIterator[str]:
        cluster = run.one.cluster
        name = run.one.described.cluster
        projects = _OfRun(cluster.executor, run)
        project = RunningProject(name, run.experiment, "", keep=True)
        async for row in mend(projects, project, "keeper", run.is_own):
            self._say(f"{row.project}: {row.what}{f': {row.doubt}' if row.doubt else ''}")
            if not row.ok:
                yield f"{run.experiment.name}: {row.what}: FAILED: {row.doubt}"
        try:
            await end_workers(Assignment(name, run.experiment, True), projects, self._say)
        except FaultError as failure:
            yield f"workers of {run.experiment.name} may still run: {failure}"
        else:
            await self._collect(run)
        try:
            await cluster.health(_AGAIN_LIMIT_S)
            for prefix in run.prefixes:
                await cluster.broker.delete(prefix)
        except DeployError as failure:  # the next run's look finds them
            self._say(f"queues of {run.experiment.name} were not deleted: {failure}")
        try:
            for prefix in (*run.prefixes, DIRECT):
                await cluster.agent.call("proxy_delete", _LISTENERS_LIMIT_S, prefix=prefix)
        except DeployError as failure:
            yield f"listeners of {run.experiment.name} are left: {failure}"

    async def _collect(self, run: AttachedRun) -> None:
        """Save the workers' logs of runs that did not: `mqproof down` deletes the keeper's."""
        for name in run.names:
            try:
                await run.one.for_runs.collect(run.folder(name) / LOGS)
            except OSError as failure:
                self._say(f"logs of {name} were not collected: {failure}")


def _altered(run: AttachedRun, ended: bool) -> Iterator[str]:
    """Yield how runs changed the cluster. Without an end, operations may have changed it."""
    for name in run.names:
        try:
            manifest = Manifest.load(run.folder(name))
        except (OSError, ValueError) as error:
            yield f"what {name} did is unknown: {error}"
            continue
        if not run.is_of(manifest):
            continue
        if manifest.cluster_altered:
            yield f"{name} has changed the cluster: {manifest.cluster_altered}"
        elif not ended and manifest.phase != SEALED and manifest.schedule["steps"]:
            yield f"{name} was killed, and its operations may have changed the cluster"


async def state_doubts(one: RunningByHand, *, queues_allowed: bool = False) -> AsyncIterator[str]:
    """Yield what the brokers show against a run."""
    try:
        health = await one.cluster.health(HEALTH_LIMIT_S)
        for doubt in health.doubts:
            yield doubt
        queues = await one.cluster.broker.queues(OURS)
    except DeployError as failure:
        yield f"its state is unknown: {failure}"
        return
    if queues and not queues_allowed:
        listed = ", ".join(queues[:_LISTED_MAX])
        more = f" and {len(queues) - _LISTED_MAX} more" if len(queues) > _LISTED_MAX else ""
        what = f"an earlier run left queues: {listed}{more}"
        yield f"{what}; what to do: delete them, or {_TAKE_DOWN}"


@dataclass(frozen=True, slots=True)
class _OfRun:
    """guardian.GuardedProjects for one cluster and one run."""

    own: Executor
    run: AttachedRun

    async def find(self) -> Sequence[RunningProject]:
        return ()

    def executor(self, project: str) -> Executor:  # noqa: ARG002  (the port's)
        return self.own

    async def sweep(self, project: str) -> Sequence[str]:  # noqa: ARG002  (the port's)
        """There is nothing to undo without a journal; what a damaged one hides is unknown."""
        if any(self._journals()):
            raise FaultError("a journal cannot be read, so faults may be active")
        return ()

    async def remove(self, project: str) -> None:
        raise AssertionError(f"{project} is removed by `mqproof down`")

    async def workers(self, project: str) -> Sequence[str]:
        return await self.run.one.for_runs.workers.workers(project)

    async def kill_workers(self, project: str) -> None:
        await self.run.one.for_runs.workers.kill_workers(project)

    def _journals(self) -> Iterator[Path]:
        found = self.run.experiment.glob(JOURNALS)
        return (path for path in found if self.run.is_own(path.parent))


async def watch_ends(one: RunningByHand, report: Callable[[int, int], None]) -> None:
    """Report every end of a node's process, until cancelled."""
    known: set[int] = set()
    while True:
        for pid, code in one.for_runs.ends().items():
            if pid not in known:
                known.add(pid)
                report(pid, code)
        await asyncio.sleep(_WATCH_S)
