"""A whole run with real workers, proxy and nodes, judged by the oracle: no Docker or Spark."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults.executors import local_processes as processes
from harness.cluster.port import DeployError
from harness.deploy.local.cluster import LocalCluster
from harness.plan.files.targets import parse_target
from harness.plan.model import RunPlan
from harness.plan.workload import BootstrapAddress
from harness.run.core.view import LiveCounts
from harness.run.interrupts import Interrupt
from harness.run.live.live_run import LiveRun, Outside
from harness.run.preparing import Preparing
from harness.run.run_group import alone
from harness.run_folder.manifest import Manifest
from harness.run_folder.seal import seal
from harness.systems.reference_mirrored import COMMAND
from spark_analysis.schema.facts import Cause, Facts
from spark_analysis.schema.tables import FAULTS, RESOURCES
from tests.oracle.judge import judge
from tests.rigs.clusters.local import HOSTS, UNMIRRORED, standing
from tests.rigs.machine.disks import disk
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, operated, operation, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = [pytest.mark.slow, pytest.mark.long]

BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
LONGER_THAN_A_LOOK_S = 4.0
NOT_DELIVERED = ("lost", "stranded", "unreachable", "loss_unknown")


Happen = Callable[[LocalCluster, Manifest, Interrupt], None]


async def performed(
    of: RunPlan,
    folder: Path,
    show: Callable[[LiveCounts], None] = lambda _: None,
    happen: Happen = lambda *_: None,
    **changes: Any,
) -> Manifest:
    """`happen` is called whenever the manifest is saved, with what interrupts the run."""
    manifest = Manifest.of(of)
    run_folder = folder / "runs" / of.name
    (run_folder / "logs").mkdir(parents=True)
    async with standing(folder, **changes) as cluster:
        interrupt = Interrupt()

        def save(saved: Manifest) -> None:
            saved.save(run_folder)
            happen(cluster, saved, interrupt)

        prepared = await Preparing(
            of, cluster, run_folder, BOOT_ID, lambda _: None, alone()
        ).begin()
        manifest.endpoints |= prepared.entries
        outside = Outside(interrupt, show, save, print)
        await LiveRun(prepared, manifest, outside).perform()
        await cluster.fetch_logs(run_folder)
    return manifest


def test_local_hang_is_verified_without_loss(tmp_path: Path) -> None:
    hang = plan(fault("hang"), lasts_s=LONGER_THAN_A_LOOK_S)
    of = replace(hang, layout=UNMIRRORED, deployment="local")
    asyncio.run(asyncio.wait_for(performed(of, tmp_path), 180))
    folder = tmp_path / "runs" / of.name
    manifest = seal(folder)
    assert manifest.failure == ""
    assert manifest.facts is not None
    facts = Facts.from_json(manifest.facts)
    findings = judge(facts, rows_of(folder))
    counted = {row.measure: row.count for row in findings.counts}
    faults = list(read_rows(folder / "logs" / "harness", FAULTS))
    assert {row["mechanism"] for row in faults} == {"proxy"}
    assert [row["ok"] for row in faults if row["event"] in ("verified", "gone")] == [1, 1]
    assert "lost" not in counted
    assert "loss_unknown" not in counted
    assert counted["state"] > 0
    sampled = {row["host"] for row in read_rows(folder / "logs" / "harness", RESOURCES)}
    assert sampled == {*HOSTS, "toxiproxy", "workers"}
    assert (folder / "broker_logs" / "ref1.log").is_file()


def test_the_live_display_agrees_with_the_verdict(tmp_path: Path) -> None:
    # The nodes know nothing of each other: who enters elsewhere makes a queue of that name there.
    hang = plan(
        fault("hang"),
        lasts_s=LONGER_THAN_A_LOOK_S,
        publishers=2,
        consumer_endpoint=BootstrapAddress(parse_target("master of orders")),
        deadline_s=1.2,
    )
    of = replace(hang, layout=UNMIRRORED, deployment="local")
    views: list[LiveCounts] = []
    asyncio.run(asyncio.wait_for(performed(of, tmp_path, views.append), 180))
    folder = tmp_path / "runs" / of.name
    manifest = seal(folder)
    assert manifest.failure == ""
    judged = {
        row.second: (row.operations, row.missed)
        for row in judge(Facts.from_json(manifest.facts or {}), rows_of(folder)).seconds
        if row.operations
    }
    strip = views[-1].strip
    assert strip is not None
    shown = {
        second: (share.due, share.due - share.on_time)
        for second, share in enumerate(strip.known, strip.first)
        if share is not None and share.due
    }
    assert shown == judged
    assert strip.pending == 0
    assert sum(missed for _, missed in shown.values()) > 0
    (fault_shown,), (window,) = strip.faults, manifest.windows
    assert (fault_shown.from_ns, fault_shown.until_ns) == (window.origin_ns, window.ended_ns)
    assert [part.done for part in views[-1].parts][:4] == [1.0] * 4


def test_operation_restarts_a_node_of_a_local_cluster(tmp_path: Path) -> None:
    restart = operated(operation("restart_node", "uninvolved"))
    of = replace(restart, layout=UNMIRRORED, deployment="local")
    asyncio.run(asyncio.wait_for(performed(of, tmp_path), 180))
    manifest = seal(tmp_path / "runs" / of.name)
    assert manifest.failure == ""
    (record,) = manifest.operations
    assert record.ok, record.detail
    assert record.resolved in HOSTS
    assert manifest.cluster_altered == ""


def unconsumed() -> RunPlan:
    """Everything that is confirmed lies on one node's disk alone until the drain."""
    of = replace(plan(consumers=0), layout=UNMIRRORED, deployment="local")
    return replace(of, schedule=replace(of.schedule, settle_s=1.0))


def kill_for_good(cluster: LocalCluster, saved: Manifest) -> None:
    """The node that holds the queue, as the drain begins: no fault did it, nothing undoes it."""
    if saved.phase != "drain" or saved.audit_starts:
        return
    for running in processes.of(
        cluster.site.cluster, processes.NODE, saved.endpoints["publishers"]
    ):
        running.signal(signal.SIGKILL)


def test_permanently_lost_local_node_is_started_and_its_disk_audited(
    tmp_path: Path,
) -> None:
    of = unconsumed()

    def happen(cluster: LocalCluster, saved: Manifest, _: Interrupt) -> None:
        kill_for_good(cluster, saved)

    asyncio.run(asyncio.wait_for(performed(of, tmp_path, happen=happen, node=COMMAND), 180))
    folder = tmp_path / "runs" / of.name
    manifest = seal(folder)
    assert manifest.failure == ""
    (record,) = manifest.audit_starts
    assert (record.place, record.left) == (manifest.endpoints["publishers"], "")
    assert record.found == "its process has ended with exit code 137"
    (accident,) = manifest.process_ends
    assert (accident.place, accident.cause) == (record.place, Cause.OUTSIDE)
    assert record.issued_ns is not None
    assert accident.until_ns is not None
    assert accident.at_ns < record.issued_ns <= accident.until_ns
    assert record.answered_ns is not None
    role, _, read = record.detail.partition("; ")
    assert role == "master of orders (no mirror)"
    assert read.startswith("orders was read then, and could not be drained before (")
    (end,) = manifest.queues
    assert (end.drained, end.undrained_reason, end.unreadable) == (True, "", ())
    assert manifest.facts is not None
    findings = judge(Facts.from_json(manifest.facts), rows_of(folder))
    counted = {(row.measure, row.detail): row.count for row in findings.counts}
    confirmed = counted["state", "acknowledged"]
    missing = {name: n for (name, _), n in counted.items() if name in NOT_DELIVERED}
    assert missing == {"stranded": confirmed}


def test_interrupt_during_a_local_audit_start_leaves_nothing(
    tmp_path: Path,
) -> None:
    of = unconsumed()
    clusters = []

    def happen(cluster: LocalCluster, saved: Manifest, interrupt: Interrupt) -> None:
        kill_for_good(cluster, saved)
        clusters.append(cluster.site.cluster)
        if saved.audit_starts and not interrupt.is_set():
            interrupt.ask()

    asyncio.run(asyncio.wait_for(performed(of, tmp_path, happen=happen, node=COMMAND), 180))
    manifest = seal(tmp_path / "runs" / of.name)
    assert manifest.interrupted
    (record,) = manifest.audit_starts
    assert record.issued_ns is not None
    assert processes.of(clusters[0]) == ()


def test_full_disk_ends_a_run_with_reason_and_recordings(
    tmp_path: Path,
) -> None:
    """Real workers stop before they send what no log has; the load ends, the fault is undone."""
    held = plan(fault("hang"), lasts_s=60.0)
    of = replace(held, layout=UNMIRRORED, deployment="local")
    with disk(tmp_path / "results", 30_000) as small:

        def happen(_: LocalCluster, saved: Manifest, __: asyncio.Event) -> None:
            if any(window.unverified_reason == "not verified active" for window in saved.windows):
                small.fill()

        began_s = time.monotonic()
        with contextlib.suppress(DeployError):  # nor is there room for the nodes' logs
            asyncio.run(asyncio.wait_for(performed(of, small.path, happen=happen), 180))
        took_s = time.monotonic() - began_s
        small.free()
        folder = small.path / "runs" / of.name
        manifest = seal(folder)
        assert took_s < 60, "the window was cut short"
        recorded = rows_of(folder)
        sent = {(row["producer"], row["sequence"]) for row in recorded["attempts"]}
        assert sent >= {(row["producer"], row["sequence"]) for row in recorded["deliveries"]}
        assert {row["event"] for row in recorded["faults"]} >= {"issued", "returned"}
        assert manifest.facts is not None
        assert manifest.facts["clock_problem"] != ""
