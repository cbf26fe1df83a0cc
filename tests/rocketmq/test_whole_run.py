"""A whole run on real RocketMQ servers, from start to Spark's verdict; no containers."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from harness.judging.exits import Judge
from harness.pipeline import stages
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq_section import RocketWorkload
from harness.plan.model import RunPlan, Schedule
from harness.run import drain_and_audit, preparing
from harness.run.interrupts import Interrupt
from harness.run.live import load
from harness.run.live.live_run import LiveRun, Outside
from harness.run.preparing import Preparing
from harness.run.run_group import alone
from harness.run_folder.manifest import Manifest
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rocketmq.core import layout as rocketmq_layout
from harness.systems.rocketmq.core.layout import own
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome, Strength, Via
from tests.rigs.rocketmq.local_cluster import on_loopback, standing
from tests.rigs.rocketmq.needs import require_java_clients, require_servers
from tests.rigs.runs.displays import Heard
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import plan
from tests.rigs.runs.stored import stored

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
LIMIT_S = 1800.0  # nine JVMs on a machine that has other things to do
PATIENCE_S = 300.0
LOAD_S, SETTLE_S, DRAIN_LIMIT_S = 8.0, 10.0, PATIENCE_S
SEND_TIMEOUT_MS = 30_000  # the library's own 3 s are over before a busy machine has sent anything
SCHEDULE = Schedule(LOAD_S, (), 1.0, SETTLE_S, DRAIN_LIMIT_S)


@pytest.fixture(autouse=True)
def _ports_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the usual ones to other processes of this machine."""
    monkeypatch.setattr(rocketmq_layout, "_NAME_SERVER_PORT", 31876)
    monkeypatch.setattr(rocketmq_layout, "_BROKER_PORT", 31911)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM that waits for a processor is not what is under test."""
    monkeypatch.setattr(preparing, "READY_LIMIT_S", PATIENCE_S)
    for module in (drain_and_audit, load):
        monkeypatch.setattr(module, "CLOSE_LIMIT_S", PATIENCE_S)


def calm(client: str, layout: str, **changes: object) -> RunPlan:
    """A load and its end, as a scenario without a fault has them."""
    of = plan(rate=20.0, deadline_s=60.0, **changes)
    system = load_system("rocketmq-2m2s")
    chosen = on_loopback(load_layout("rocketmq-2m2s", layout))
    return replace(
        of, system=system, layout=chosen, client=chosen_client(client), schedule=SCHEDULE
    )


async def performed(of: RunPlan, folder: Path, servers: Path) -> Manifest:
    manifest = Manifest.of(of)
    async with asyncio.timeout(LIMIT_S), standing(of.layout, servers) as cluster:
        prepared = await Preparing(of, cluster, folder, BOOT_ID, lambda _: None, alone()).begin()
        outside = Outside(Interrupt(), lambda _: None, lambda m: m.save(folder), print)
        await LiveRun(prepared, manifest, outside).perform()
    return manifest


@pytest.mark.parametrize(
    ("client", "layout", "own", "strength"),
    [
        ("rocketmq-java-4.9.8", "colocated", RocketWorkload(), Strength.REPLICATED),
        (
            "rocketmq-java-5.3.3",
            "colocated-async-v5",
            RocketWorkload(
                consume="pull",
                delayed_percent=10,
                delay_level=1,
                transactional_percent=10,
                fates=("commit", "rollback"),
            ),
            Strength.BUFFERED,
        ),
    ],
)
def test_steady_run_is_drained_audited_and_judged_without_loss(
    tmp_path: Path, client: str, layout: str, own: RocketWorkload, strength: Strength
) -> None:
    of = calm(client, layout, rocketmq=replace(own, send_timeout_ms=SEND_TIMEOUT_MS))
    require_servers(_version(of))
    require_java_clients(client)
    experiment = stored(tmp_path / "calm", [(of.name, of.cell)])
    folder = experiment / "runs" / of.name
    (folder / "logs").mkdir(parents=True)
    manifest = asyncio.run(performed(of, folder, tmp_path / "servers"))
    assert manifest.failure == ""
    assert [(end.drained, end.undrained_reason, end.unreadable) for end in manifest.queues] == [
        (True, "", ())
    ]
    _every_log_holds_what_was_confirmed(folder, strength)
    _name_servers_were_watched(folder)
    made = stages.analyse([experiment], experiment, Judge.CLAIMS, Heard())
    (run,) = made.runs
    assert run.failure == ""
    assert run.summary is not None
    assert run.summary.confirmed > 0
    counted = set(pq.read_table(experiment / "marts" / "counts")["measure"].to_pylist())
    assert not {"lost", "stranded", "loss_unknown", "unexpected", "corrupt"} & counted


def _version(of: RunPlan) -> str:
    return own(of.layout).version


def _every_log_holds_what_was_confirmed(folder: Path, strength: Strength) -> None:
    """On a master, and on its slave."""
    settled = read_rows(folder / "logs" / "publisher-1", tables.SETTLEMENTS)
    confirmed = [row for row in settled if row["outcome"] == Outcome.CONFIRMED]
    # A slave that waits for a processor answers too late, and the master says so.
    weaker = {Strength.FLUSH_SLAVE_TIMEOUT} if strength is Strength.REPLICATED else set()
    assert {row["strength"] for row in confirmed} - weaker == {strength}
    read: dict[str, set[tuple[object, object]]] = {}
    for log in folder.glob("logs/audit-*"):
        found = [row for row in read_rows(log, tables.DELIVERIES) if row["via"] == Via.AUDIT]
        read[log.name] = {(row["producer"], row["sequence"]) for row in found}
    wanted = {(row["producer"], row["sequence"]) for row in confirmed}
    groups = [
        set().union(*(found for name, found in read.items() if name.endswith(f"-{number}")))
        for number in (0, 1)  # masters, slaves
    ]
    assert len(read) == 4
    assert wanted - groups[0] == set()
    assert wanted - groups[1] == set()


def _name_servers_were_watched(folder: Path) -> None:
    looks = list(read_rows(folder / "logs" / "prober-orders", tables.PROBES))
    answered = {(row["target"], row["kind"]) for row in looks if row["ok"]}
    assert answered == {
        (host, kind) for host in ("127.0.0.11", "127.0.0.12") for kind in ("route", "cluster")
    }
