"""A whole run on a real cluster that stands, sealed and judged; and which kinds run where."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from faults.core.mechanisms import COMPOSE
from faults.kinds import KINDS
from harness.deploy.compose.cluster import ComposeCluster
from harness.outside.kernel import here, lacking
from harness.plan.model import RunPlan
from harness.run.core.view import LiveCounts
from harness.run.interrupts import Interrupt
from harness.run.live.live_run import LiveRun, Outside
from harness.run.preparing import Preparing
from harness.run.run_group import alone
from harness.run.series import wall_ns
from harness.run_folder.manifest import Manifest
from harness.run_folder.seal import seal
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from tests.oracle.judge import judge
from tests.rigs.runs.run_folders import rows_of

ON_DIRECT_LINKS = tuple(name for name, kind in KINDS.items() if COMPOSE in kind.offers)
BY_PEER_LINKS = tuple(name for name, kind in KINDS.items() if COMPOSE in kind.by_peer_links)
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Done:
    manifest: Manifest
    findings: Findings
    folder: Path


async def run(
    cluster: ComposeCluster,
    of: RunPlan,
    experiment: Path,
    interrupt_when: Callable[[LiveCounts], bool] = lambda _: False,
) -> Done:
    of = replace(of, name=_unused(experiment, of.name))
    folder = experiment / "runs" / of.name
    (folder / "logs").mkdir(parents=True)
    interrupt = Interrupt()

    def show(view: LiveCounts) -> None:
        if interrupt_when(view) and not interrupt.is_set():
            interrupt.ask()

    boot_id = BOOT_ID.read_text().strip()
    prepared = await Preparing(of, cluster, folder, boot_id, lambda _: None, alone()).begin()
    outside = Outside(interrupt, show, lambda manifest: manifest.save(folder), print)
    manifest = Manifest.of(of)
    manifest.origin_wall_ns = wall_ns(prepared.stage.origin_ns)
    await LiveRun(prepared, manifest, outside).perform()
    # The loop goes on meanwhile: an agent that hears nothing for 5 s takes the harness for lost.
    return await asyncio.to_thread(_sealed, folder)


def _sealed(folder: Path) -> Done:
    manifest = seal(folder)
    assert manifest.facts is not None
    facts = Facts.from_json(manifest.facts)
    return Done(manifest, judge(facts, rows_of(folder)), folder)


def _unused(experiment: Path, name: str) -> str:
    """Clusters share one experiment's folder; a test that is tried again begins again in it."""
    names = (name, *(f"{name}-{again}" for again in range(2, 100)))
    return next(one for one in names if not (experiment / "runs" / one).exists())


def counts(done: Done) -> dict[str, int]:
    totals: dict[str, int] = {}
    for row in done.findings.counts:
        totals[row.measure] = totals.get(row.measure, 0) + row.count
    return totals


def mostly_nightly(kinds: list[str], every_time: set[str]) -> list[Any]:
    """Parameters of a test: those that are not for every time are marked nightly."""
    nightly = [pytest.mark.nightly]
    return [
        pytest.param(kind, marks=[*_needs(kind), *([] if kind in every_time else nightly)])
        for kind in kinds
    ]


def of_this_kernel(kinds: Iterable[str]) -> list[Any]:
    """Parameters of a test: a kind that the kernel cannot do is skipped, with the reason."""
    return [pytest.param(kind, marks=_needs(kind)) for kind in kinds]


def _needs(kind: str) -> list[pytest.MarkDecorator]:
    module = KINDS[kind].options().kernel_module
    why = lacking(here(), module) if module else ""
    return [pytest.mark.skip(reason=f"the kernel {why}")] if why else []
