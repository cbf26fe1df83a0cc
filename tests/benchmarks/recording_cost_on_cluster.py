"""Runs recording_cost.py beside a real broker that it stands up for it, and removes.

usage: python -m tests.benchmarks.recording_cost_on_cluster [recording_cost.py's options]
The queue is not mirrored and lies on one host of three; both loops dial that host from its own
network, without a proxy, as root of the agent's container.
"""

import asyncio
import io
import sys
import tarfile
import tempfile
from pathlib import Path

from harness.deploy import engine, labels
from harness.deploy.compose.cluster import ComposeCluster, FoundContainers
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.systems.catalogue import load_layout
from tests.benchmarks.recording_cost import driver_here

SCRIPT = Path(__file__).with_name("recording_cost.py")
INSIDE = "/opt/mqproof/tests/benchmarks"
QUEUE = "mqproof.cost"


async def main(options: list[str]) -> int:
    layout = load_layout("rabbitmq-mirrored", "unmirrored@T=60")
    with tempfile.TemporaryDirectory() as folder:
        cluster = await ComposeDeployment(equip).up(layout, Path(folder), print)
        try:
            host = cluster.layout.hosts[0]
            await cluster.broker.declare(QUEUE, True, host.name)
            return await asyncio.to_thread(_measure, cluster, host.address, options)
        finally:
            await cluster.down()


def _measure(cluster: ComposeCluster, address: str, options: list[str]) -> int:
    agent = FoundContainers.find(engine.connect(), cluster.project).one(labels.ROLE_AGENT)
    container = cluster.client.containers.get(agent)
    container.exec_run(["mkdir", "-p", INSIDE])
    container.put_archive(INSIDE, archive())
    words = ["python", f"{INSIDE}/{SCRIPT.name}", "--host", address, "--queue", QUEUE]
    words += ["--driver", driver_here(), *options]
    api = cluster.client.api
    running = api.exec_create(agent, words, environment={"PYTHONUNBUFFERED": "1"})["Id"]
    for chunk in api.exec_start(running, stream=True):
        print(chunk.decode(), end="", flush=True)
    return int(api.exec_inspect(running)["ExitCode"])


def archive() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(SCRIPT, SCRIPT.name)
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
