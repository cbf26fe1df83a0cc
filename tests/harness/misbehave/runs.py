"""Runs of misbehaving clusters, all in one folder, so that one Spark job judges them.

1. Three clusters run at a time: what is asked of them is what became of messages, not how long it
   took. They stand up one after another, for each looks for free addresses.
"""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.analyse.exactness import Compared, compare
from harness.analyse.judged_run import JudgedRun
from harness.cluster.port import Cluster
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip
from harness.plan.model import Experiment, RunPlan
from harness.run.interrupts import Interrupt
from harness.run.series import Hooks, Series
from tests.harness.misbehave.scenarios import experiment, misbehave

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
AT_A_TIME = 3


Planned = Callable[[str, int, int], Experiment]


def perform(
    kinds: Iterable[str],
    folder: Path,
    seed: int,
    repeats: int = 1,
    planned: Planned = experiment,
) -> None:
    """The runs of each kind, on a cluster of their own. `planned`: of a kind, a seed, repeats."""
    asyncio.run(_perform(kinds, folder, seed, repeats, planned))


def classes(run: JudgedRun) -> dict[str, Compared]:
    """What was found of a run that went as it was meant to, beside its truth."""
    assert run.manifest.failure == ""
    assert all(window.verified and window.gone for window in run.facts.windows)
    assert all(end.drained and not end.unreadable for end in run.facts.queues)
    return {each.what: each for each in compare(run.folder, run.manifest, run.findings)}


async def _perform(
    kinds: Iterable[str], folder: Path, seed: int, repeats: int, planned: Planned
) -> None:
    places, standing_up = asyncio.Semaphore(AT_A_TIME), asyncio.Lock()

    async def one(kind: str) -> None:
        deployment = LocalDeployment(equip, misbehave=misbehave(kind, seed))

        async def up(plan: RunPlan) -> Cluster:
            async with standing_up:
                return await deployment.up(plan.layout, folder, lambda _: None)

        hooks = Hooks(
            Interrupt(), lambda *_: None, lambda _: None, lambda _: None, print, keep=False
        )
        runs = planned(kind, seed, repeats)
        async with places:
            await Series(runs, folder, BOOT_ID.read_text().strip(), {}, up, hooks).perform()

    async with asyncio.TaskGroup() as group:
        for kind in kinds:
            group.create_task(one(kind))
