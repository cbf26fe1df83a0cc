"""The reference against real RabbitMQ: the same bare pika loop, in pairs, three nodes each.

usage: python -m tests.benchmarks.reference_speed [--pairs 10] [--windows 1,100,1000] [--seconds 5]
Both clusters stand side by side under Compose (all-automatic, T=60); one idles while the other
is measured. The loop (recording_cost.py's) publishes persistent messages of 256 bytes with
confirms to the master's own node, without a proxy. A pair's figure is reference / RabbitMQ; the
median comes with a distribution-free interval.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from harness.deploy import engine, labels
from harness.deploy.compose.cluster import ComposeCluster, FoundContainers
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.systems.catalogue import load_layout
from tests.benchmarks.recording_cost import Setup, interval
from tests.benchmarks.recording_cost_on_cluster import INSIDE, SCRIPT, archive

LAYOUT = "all-automatic@T=60"
REAL, REFERENCE = "rabbitmq-mirrored", "reference-mirrored"
QUEUE = "mqproof.speed"


class Bench:
    """One system that stands, and a place beside it to measure from."""

    def __init__(self, cluster: ComposeCluster) -> None:
        self.cluster = cluster
        agent = FoundContainers.find(engine.connect(), cluster.project).one(labels.ROLE_AGENT)
        self._agent = cluster.client.containers.get(agent)
        self._agent.exec_run(["mkdir", "-p", INSIDE])
        self._agent.put_archive(INSIDE, archive())

    def rate(self, window: int, seconds: float) -> float:
        """Confirms a second on a fresh queue."""
        host = self.cluster.layout.hosts[0]
        setup = Setup(host.address, 5672, QUEUE, window, seconds)
        words = ["python", f"{INSIDE}/{SCRIPT.name}", "--bare", json.dumps(asdict(setup))]
        result = self._agent.exec_run(words)
        text = result.output.decode(errors="replace")
        assert result.exit_code == 0, text
        return float(text)


async def stand(system: str, folder: Path) -> Bench:
    cluster = await ComposeDeployment(equip).up(load_layout(system, LAYOUT), folder, print)
    return Bench(cluster)


async def measure(bench: Bench, window: int, seconds: float) -> float:
    broker = bench.cluster.broker
    await broker.declare(QUEUE, True, bench.cluster.layout.hosts[0].name)
    rate = await asyncio.to_thread(bench.rate, window, seconds)
    await broker.delete(QUEUE)
    return rate


async def compare(benches: dict[str, Bench], window: int, pairs: int, seconds: float) -> None:
    rates: dict[str, list[float]] = {REAL: [], REFERENCE: []}
    for pair in range(pairs):
        for system in (REAL, REFERENCE) if pair % 2 else (REFERENCE, REAL):
            rates[system].append(await measure(benches[system], window, seconds))
    ratios = [ours / real for ours, real in zip(rates[REFERENCE], rates[REAL], strict=True)]
    low, high, sure = interval(ratios)
    print(
        f"window {window:5}: reference/RabbitMQ median {statistics.median(ratios):.3f}"
        f" [{low:.3f}, {high:.3f}] ({sure:.0%}, {pairs} pairs);"
        f" RabbitMQ {statistics.median(rates[REAL]):.0f}/s,"
        f" reference {statistics.median(rates[REFERENCE]):.0f}/s",
        flush=True,
    )


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--windows", default="1,100,1000")
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    benches: dict[str, Bench] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for system in (REAL, REFERENCE):
                benches[system] = await stand(system, Path(folder))
            for window in options.windows.split(","):
                await compare(benches, int(window), options.pairs, options.seconds)
        finally:
            for bench in benches.values():
                await bench.cluster.down()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
