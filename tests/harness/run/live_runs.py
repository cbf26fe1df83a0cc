"""A whole run over a cluster that stands in memory, sealed and judged."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.plan.model import RunPlan
from harness.run.core.view import LiveCounts
from harness.run.interrupts import Interrupt
from harness.run.live.live_run import LiveRun, Outside
from harness.run.preparing import Preparing
from harness.run.run_group import alone
from harness.run_folder.manifest import Manifest
from harness.run_folder.seal import seal
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from tests.oracle.judge import judge
from tests.rigs.clusters.simulated_cluster import BOOT_ID, SimulatedCluster
from tests.rigs.machine import virtual_time
from tests.rigs.runs.run_folders import rows_of


@dataclass(frozen=True, slots=True)
class Done:
    manifest: Manifest
    facts: Facts
    findings: Findings
    folder: Path
    views: list[LiveCounts]
    notices: list[str]  # what a person reads of an interrupt
    said: list[str]


def run(
    cluster: SimulatedCluster,
    of: RunPlan,
    folder: Path,
    interrupt_when: Callable[[LiveCounts], bool] = lambda _: False,
    again_after_s: Sequence[float] = (),
) -> Done:
    """`again_after_s`: how long after the first interrupt there is another one."""
    manifest = Manifest.of(of)
    views: list[LiveCounts] = []
    notices: list[str] = []
    said: list[str] = []

    async def perform() -> None:
        interrupt = Interrupt(notices.append)

        def show(view: LiveCounts) -> None:
            views.append(view)
            if interrupt_when(view) and not interrupt.is_set():
                interrupt.ask()
                for after_s in again_after_s:
                    asyncio.get_running_loop().call_later(after_s, interrupt.ask)

        prepared = await Preparing(of, cluster, folder, BOOT_ID, lambda _: None, alone()).begin()
        outside = Outside(interrupt, show, lambda m: m.save(folder), said.append)
        await LiveRun(prepared, manifest, outside).perform()

    virtual_time.run(perform())
    sealed = seal(folder)
    assert sealed.facts is not None
    facts = Facts.from_json(sealed.facts)
    return Done(sealed, facts, judge(facts, rows_of(folder)), folder, views, notices, said)
