"""A harness of its own process over a cluster that another one made: to be killed by tests.

usage: python tests/docker/attached.py PROJECT NETWORK FOLDER FAULT
Prints `armed` when the fault is in force, and goes on until somebody ends it.
"""

import asyncio
import sys
from pathlib import Path

from faults.kinds.network.flap import FlapOptions
from harness.cleanup.guardian import start_guardian
from harness.cluster.agent import AgentClient
from harness.deploy import engine, labels
from harness.deploy.compose.cluster import ComposeCluster, FoundContainers
from harness.deploy.compose.deployment import AGENT_LIMIT_S, with_addresses
from harness.deploy.compose.execs import start
from harness.deploy.compose.faults import equip
from harness.run.core.view import LiveCounts
from harness.run.interrupts import Interrupt
from harness.run.live.live_run import LiveRun, Outside
from harness.run.preparing import Preparing
from harness.run.run_group import alone
from harness.run_folder.manifest import Manifest
from harness.systems.catalogue import load_layout
from spark_analysis.schema.tables import FAULTS
from tests.rigs.clusters.fault_world import REAL_OPTIONS_OF
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, plan

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Each cut is long enough for a probe to see it before it ends.
OPTIONS_OF = {**REAL_OPTIONS_OF, "flap": FlapOptions(down_s=6.0, up_s=1.0)}


async def attach(project: str, network: str, folder: Path) -> ComposeCluster:
    """The cluster of that project, with an agent of this process."""
    client = engine.connect()
    containers = FoundContainers.find(client, project)
    agent_container = containers.one(labels.ROLE_AGENT)
    channel = await start(
        client, agent_container, "the agent", ["python", "-m", "harness.workers.agent"]
    )
    agent = await AgentClient.start(channel, AGENT_LIMIT_S)
    layout = with_addresses(load_layout("rabbitmq-mirrored", "all-automatic@T=60"), network)
    cluster = ComposeCluster(client, project, layout, folder, network, agent, containers, {})
    cluster.executor, cluster.witness = equip(cluster)
    return cluster


async def perform(project: str, network: str, folder: Path, kind: str, name: str) -> None:
    cluster = await attach(project, network, folder)
    run = plan(fault(kind, options=OPTIONS_OF[kind]), lasts_s=600, name=name)
    run_folder = folder / "runs" / run.name
    (run_folder / "logs").mkdir(parents=True)
    # The cluster is not this process's own: it is kept, only faults and workers are ended.
    start_guardian(project, folder, keep=True)
    boot_id = BOOT_ID.read_text().strip()
    prepared = await Preparing(run, cluster, run_folder, boot_id, lambda _: None, alone()).begin()

    def show(view: LiveCounts) -> None:
        rows = read_rows(run_folder / "logs" / "harness", FAULTS) if view.armed else ()
        if any(row["event"] == "verified" and row["ok"] for row in rows):
            print("armed", flush=True)

    outside = Outside(Interrupt(), show, lambda manifest: manifest.save(run_folder), print)
    await LiveRun(prepared, Manifest.of(run), outside).perform()


if __name__ == "__main__":
    project, network, folder, kind, name = sys.argv[1:]
    asyncio.run(perform(project, network, Path(folder), kind, name))
