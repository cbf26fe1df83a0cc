"""Runs of misbehaving clusters, all in one folder, so that one Spark job judges them.

1. Two clusters run at a time: what is asked of them is what became of messages, not how long it
   took. They stand up one after another, for each looks for addresses that nobody has.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from harness.cluster.port import Cluster
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip
from harness.plan.model import RunPlan
from harness.run.interrupts import Interrupt
from harness.run.series import Hooks, Series
from tests.harness.misbehave.scenarios import experiment, misbehave

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
AT_A_TIME = 2


def perform(kinds: Iterable[str], folder: Path, seed: int, repeats: int = 1) -> None:
    """The runs of each kind, on a cluster of their own."""
    asyncio.run(_perform(kinds, folder, seed, repeats))


async def _perform(kinds: Iterable[str], folder: Path, seed: int, repeats: int) -> None:
    places, standing_up = asyncio.Semaphore(AT_A_TIME), asyncio.Lock()

    async def one(kind: str) -> None:
        deployment = LocalDeployment(equip, misbehave=misbehave(kind, seed))

        async def up(plan: RunPlan) -> Cluster:
            async with standing_up:
                return await deployment.up(plan.layout, folder, lambda _: None)

        hooks = Hooks(
            Interrupt(), lambda *_: None, lambda _: None, lambda _: None, print, keep=False
        )
        runs = experiment(kind, seed, repeats)
        async with places:
            await Series(runs, folder, BOOT_ID.read_text().strip(), {}, up, hooks).perform()

    async with asyncio.TaskGroup() as group:
        for kind in kinds:
            group.create_task(one(kind))
