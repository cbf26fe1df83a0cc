"""An experiment carried out, from its first cluster until nothing of it stands.

1. A guardian stands before anything of a cluster is made: whatever becomes of this process, what
   it broke is mended and what it started is removed.
2. A signal ends what is on its way, whatever that is; what was recorded is sealed.
"""

import asyncio
import contextlib
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path

from harness.analyse.marts import judge_one
from harness.claims.judge import ClaimVerdict
from harness.cleanup.everywhere import settle
from harness.cleanup.external_projects import anything_armed
from harness.cleanup.guardian import DeploymentKind
from harness.cleanup.guards import Guards
from harness.cluster.port import Cluster, Deployment
from harness.compare.bounded import Bounded
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip as equip_compose
from harness.deploy.external.deployment import ExternalDeployment
from harness.deploy.external.faults import equip as equip_external
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip as equip_local
from harness.deploy.standing.deployment import StandingDeployment
from harness.judging import own_claims
from harness.judging.own_claims import OwnClaims
from harness.pipeline import stored
from harness.pipeline.port import RunOptions
from harness.plan.model import Experiment, RunPlan
from harness.report.display import Display, Steps
from harness.run import signals
from harness.run.core.view import LiveCounts
from harness.run.interrupts import Interrupt
from harness.run.series import Hooks, Series
from harness.run_folder.experiments import StoredRun, curtail
from spark_analysis.files.failed import Failed

# --- Early ---------------------------------------------------------------------------------------
# A run judged as soon as it is over, where its cell goes on until a bound is reached.
#
# 1. The cluster stands idle meanwhile. The last word is the report's, over all runs together.


async def judge_early(
    bounded: Bounded,
    experiment: Experiment,
    show: Display,
    steps: Steps,
    claims: OwnClaims | None,
    plan: RunPlan,
    folder: Path,
) -> None:
    """Runs of a cell that is over by now are no runs of the experiment any more."""
    steps.begin("judge the run")
    verdicts = await asyncio.to_thread(_verdicts, folder, claims)
    steps.end()
    if reason := bounded.ended(plan, verdicts):
        show.message(reason)
        curtail(bounded.carried_out(experiment), folder.parent.parent)


def _verdicts(folder: Path, claims: OwnClaims | None) -> tuple[ClaimVerdict, ...]:
    """None where the run could not be judged: what comes after it is carried out all the same."""
    run = judge_one(folder)
    if isinstance(run, Failed):
        return ()
    stored_run = StoredRun(folder, "", run.manifest.run, ("", "", "", ""), run.manifest.repeat, 0)
    every = own_claims.every([claims] if claims else [])
    return stored.judged(stored_run, run, every).verdicts


# --- The experiment ------------------------------------------------------------------------------


BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Performing:
    """One experiment on its way. `bounded` knows afterwards which of its runs were wanted,
    `interrupt` whether it ended early, and why."""

    experiment: Experiment
    folder: Path
    options: RunOptions
    show: Display
    steps: Steps
    bounded: Bounded
    interrupt: Interrupt
    over: Callable[[], None]  # called when nothing is timed any more

    async def perform(self) -> None:
        """Runs everything, or what an interrupt leaves. What was started is removed by then."""
        loop = asyncio.get_running_loop()
        with signals.handled(lambda: loop.call_soon_threadsafe(self.interrupt.ask)):
            await self._guarded()

    async def _guarded(self) -> None:
        guards = Guards(self.folder, self.options.keep, self.show.message)
        over = asyncio.Event()
        watching = asyncio.create_task(guards.watch(over, self.interrupt.ask))
        try:
            await self._series(guards).perform()
        finally:
            self.steps.end()
            over.set()
            await watching
            guards.end()
            await settle(guards.external, self.show.message)

    def _series(self, guards: Guards) -> Series:
        clients = tuple(sorted({plan.client.word for plan in self.experiment.runs}))
        deployments = self._deployments(guards, clients)

        async def up(plan: RunPlan) -> Cluster:
            return await deployments[plan.deployment].up(
                plan.layout, self.folder, self.steps.begin
            )

        standing = self.options.standing is not None
        boot_id = BOOT_ID.read_text().strip()
        versions = _own_versions() | misbehaving(self.options)
        hooks = self._hooks()
        return Series(
            self.experiment, self.folder, boot_id, versions, up, hooks, standing=standing
        )

    def _deployments(self, guards: Guards, clients: tuple[str, ...]) -> dict[str, Deployment]:
        folder, end, say = self.options.standing, self.interrupt.ask, self.show.message
        if folder is None:
            return deployments_of(self.options, guards, clients)
        # Their keeper guards them.
        return {
            kind: StandingDeployment(folder, kind, equip_local, equip_compose, end, say)
            for kind in (DeploymentKind.COMPOSE, DeploymentKind.LOCAL)
        }

    def _hooks(self) -> Hooks:
        named = ("", "")  # the run, and which of how many it is
        has_consumers = True

        def began(plans: Sequence[RunPlan], place: int, of: int) -> None:
            nonlocal named, has_consumers
            self.steps.end()
            beside = f", {len(plans)} together" if len(plans) > 1 else ""
            named = plans[0].name, f"{place} of {of}{beside}"
            has_consumers = plans[0].scenario.workload.consumers > 0
            for number, plan in enumerate(plans, place):
                self.show.message(f"run {number} of {of}{beside}: {plan.name}, {_cell(plan)}")

        def live(view: LiveCounts) -> None:
            self.steps.end()
            run, place = named
            self.show.live(replace(view, run=run, place=place, has_consumers=has_consumers))

        keep, say = self.options.keep, self.show.message
        hooks = Hooks(self.interrupt, began, self.steps.begin, live, say, keep)
        hooks.over = self.over
        if self.options.bound is not None:
            hooks.wanted = self.bounded.wanted
            hooks.ended = partial(
                judge_early,
                self.bounded,
                self.experiment,
                self.show,
                self.steps,
                self.options.claims,
            )
        return hooks


def _cell(plan: RunPlan) -> str:
    scenario, system, layout, client = plan.cell
    return f"scenario {scenario}, system {system}, layout {layout}, client {client}"


def deployments_of(
    options: RunOptions, guards: Guards, clients: tuple[str, ...] = ()
) -> dict[str, Deployment]:
    """By their names in plans. Nothing is asked of an engine before a plan wants containers."""
    return {
        DeploymentKind.COMPOSE: ComposeDeployment(
            equip_compose, options.keep, partial(guards.begin, DeploymentKind.COMPOSE), clients
        ),
        DeploymentKind.LOCAL: LocalDeployment(
            equip_local,
            options.keep,
            partial(guards.begin, DeploymentKind.LOCAL),
            options.misbehave,
        ),
        DeploymentKind.EXTERNAL: ExternalDeployment(
            equip_external, partial(guards.begin, DeploymentKind.EXTERNAL), anything_armed
        ),
    }


def misbehaving(options: RunOptions) -> dict[str, str]:
    """Return the entry that marks a run with defects on purpose."""
    return {"misbehave": str(options.misbehave)} if options.misbehave is not None else {}


def _own_versions() -> dict[str, str]:
    names = ("mqproof", "pyspark", "pyarrow", "docker", "toxiproxy-python")
    found = {"python": platform.python_version(), "kernel": platform.release()}
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):  # run from a bare checkout
            found[name] = metadata.version(name)
    return found
