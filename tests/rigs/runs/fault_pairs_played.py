"""Plays pairs of faults, several on one cluster, and judges each from the run's manifest.

1. A pair is verified where both faults were verified active and verified ended, and where the
   second was active before the first was undone, if its shape says so.
2. A batch may disturb a pair: what is open in a batch is played again, alone.
3. A pair whose turn did not come, because the run failed before, was not played.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from faults.core.mechanisms import COMPOSE, LOCAL
from harness.cluster.port import Cluster, DeployError, Deployment
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip as equip_compose
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip as equip_local
from harness.plan.model import Experiment, RunPlan
from harness.run.interrupts import Interrupt
from harness.run.series import Hooks, Series
from harness.run_folder.manifest import Manifest
from spark_analysis.schema.facts import Window
from tests.rigs.runs.fault_pairs import Pair, planned_batch

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
BOOT_LIMIT_S = 240.0
PAIR_LIMIT_S = 60.0
NOT_BEGUN = ("not begun", "never began")  # of a window whose turn did not come
AFTER_ANOTHER = ("overlapping", "nested")  # shapes in which the second opens well before the undo

_DEPLOYMENTS: Mapping[str, Deployment] = {
    LOCAL: LocalDeployment(equip_local),
    COMPOSE: ComposeDeployment(equip_compose),
}

Reasons = Mapping[Pair, str]  # "": verified; else why not


def play(batch: Sequence[Pair], deployment: str = LOCAL) -> Reasons:
    """What became of each pair; those that are open in the batch are played again, alone."""
    found = dict(play_batch(batch, deployment))
    for pair in batch if len(batch) > 1 else ():
        if found.get(pair, "not played"):
            found |= play_batch((pair,), deployment)
    return found


def play_batch(batch: Sequence[Pair], deployment: str = LOCAL) -> Reasons:
    """Play pairs one after the other on a cluster of their own, on this machine."""
    run = planned_batch(batch, deployment, alone=len(batch) == 1)
    assert isinstance(run, RunPlan), run
    with tempfile.TemporaryDirectory(prefix="mqproof-pairs-") as folder:
        Path(folder, "runs").mkdir()
        limit_s = BOOT_LIMIT_S + PAIR_LIMIT_S * len(batch)
        try:
            asyncio.run(asyncio.wait_for(_series(run, Path(folder)).perform(), limit_s))
        except (DeployError, TimeoutError) as failure:
            return {batch[0]: f"the run did not end: {failure!r}"}
        return judged(batch, Manifest.load(Path(folder, "runs", run.name)))


def judged(batch: Sequence[Pair], manifest: Manifest) -> Reasons:
    """What the windows of a run say of its pairs; the first one that a failure met is open."""
    windows = {window.number: window for window in manifest.windows}
    found: dict[Pair, str] = {}
    for number, pair in zip(range(1, 2 * len(batch), 2), batch, strict=True):
        own = [windows[each] for each in (number, number + 1) if each in windows]
        if len(own) == 2 and not all(each.unverified_reason in NOT_BEGUN for each in own):
            found[pair] = "; ".join(_doubts(pair, *own))
        elif manifest.failure:
            found[pair] = manifest.failure
            break
    return found


def _doubts(pair: Pair, first: Window, second: Window) -> Iterator[str]:
    for number, window in enumerate((first, second), start=1):
        if window.unverified_reason or not (window.verified and window.gone):
            yield f"fault {number}: {window.unverified_reason or 'not verified'}"
    if pair.time in AFTER_ANOTHER and first.ended_ns and second.origin_ns > first.ended_ns:
        yield "the second fault opened after the first had been undone"


def _series(run: RunPlan, folder: Path) -> Series:
    async def up(of: RunPlan) -> Cluster:
        return await _DEPLOYMENTS[of.deployment].up(of.layout, folder, lambda _: None)

    hooks = Hooks(
        Interrupt(), lambda *_: None, lambda _: None, lambda _: None, lambda _: None, keep=False
    )
    boot_id = BOOT_ID.read_text().strip()
    return Series(Experiment("e", 7, (run,), ()), folder, boot_id, {}, up, hooks)
