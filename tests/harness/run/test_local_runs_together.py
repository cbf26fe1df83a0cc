"""Two runs at once with real workers, proxy and nodes: one fault, and each judged on its own."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cluster.port import Cluster
from harness.plan.files.targets import parse_target
from harness.plan.model import Experiment, FaultPlan, RunPlan
from harness.plan.workload import BootstrapAddress
from harness.run.interrupts import Interrupt
from harness.run.series import Hooks, Series
from harness.run_folder.manifest import Manifest
from spark_analysis.schema.facts import Facts
from tests.oracle.judge import judge
from tests.rigs.clusters.local import UNMIRRORED, deployment
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = pytest.mark.slow

BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
NAMES = ("quick-1", "quick-2")


def together(of_fault: FaultPlan) -> tuple[RunPlan, ...]:
    # The nodes know nothing of each other: who enters elsewhere makes a queue of that name there.
    at_master = plan(
        of_fault, lasts_s=4.0, consumer_endpoint=BootstrapAddress(parse_target("master of orders"))
    )
    alone = replace(at_master, layout=UNMIRRORED, deployment="local")
    return tuple(
        replace(alone, name=name, number=number, together=NAMES)
        for number, name in enumerate(NAMES, 1)
    )


def play(plans: tuple[RunPlan, ...], folder: Path) -> list[Manifest]:
    async def up(of: RunPlan) -> Cluster:
        return await deployment().up(of.layout, folder, lambda _: None)

    async def story() -> None:
        hooks = Hooks(
            Interrupt(), lambda *_: None, lambda _: None, lambda _: None, print, keep=False
        )
        series = Series(Experiment("e", 7, plans, ()), folder, BOOT_ID, {}, up, hooks)
        await asyncio.wait_for(series.perform(), 240)

    asyncio.run(story())
    return [Manifest.load(folder / "runs" / name) for name in NAMES]


@pytest.mark.parametrize(
    "kind", ["freeze", pytest.param("kill", marks=pytest.mark.nightly), "hang"]
)
def test_real_runs_share_one_fault_and_keep_own_messages(kind: str, tmp_path: Path) -> None:
    """Use real workers of two runs."""
    one, two = play(together(fault(kind)), tmp_path)
    for manifest in (one, two):
        assert manifest.failure == ""
        (window,) = manifest.windows
        assert window.unverified_reason == ""
        assert window.verified and window.gone
        folder = tmp_path / "runs" / manifest.run
        assert manifest.facts is not None
        findings = judge(Facts.from_json(manifest.facts), rows_of(folder))
        counted = {row.measure: row.count for row in findings.counts}
        assert counted["state"] > 0
        assert "unexpected" not in counted  # no client got what the other run had sent
        assert (folder / "broker_logs" / "ref1.log").is_file()
    if kind != "hang":  # of links each run has its own
        began = [m.origin_monotonic_ns + m.windows[0].origin_ns for m in (one, two)]
        assert began[0] == began[1]
