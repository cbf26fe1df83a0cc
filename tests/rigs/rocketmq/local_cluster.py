"""A layout of RocketMQ that stands as plain processes: port.Cluster without proxy or containers.

1. Every host is an address of loopback's, which is its name, too: a client can dial a broker by
   its name.
2. Links lead straight to the servers: nothing can be broken here. A run without faults is whole.
3. Its witness is asked who answers, as an audit asks; it sees no faults.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from faults.core.model import Reply
from faults.executors.canaries import host_greets
from faults.executors.nothing import NothingExecutor
from faults.executors.ports import Agent
from harness.cluster.agent import AgentError
from harness.cluster.log_tails import LeftOut
from harness.cluster.port import Ended, Health, HostSample, Link
from harness.cluster.started_clients import StartedClients
from harness.deploy.local.channel import PipeChannel
from harness.plan.model import Layout, RunPlan
from harness.systems.rocketmq.core.layout import own, servers
from harness.systems.rocketmq.core.service_ports import service_ports_of
from harness.workers.protocol import Endpoint
from tests.rigs.rocketmq import layouts

ROOT = Path(__file__).parents[3]
READY_LIMIT_S = 400.0  # six JVMs on a machine that has other things to do


def on_loopback(layout: Layout) -> Layout:
    """The same with hosts that all are this machine: 127.0.0.11 and on."""
    hosts = (
        replace(host, name=f"127.0.0.{number}", address=f"127.0.0.{number}")
        for number, host in enumerate(layout.hosts, 11)
    )
    return replace(layout, hosts=tuple(hosts))


class WhoAnswers:
    """What a run without faults asks its witness, done by the code that asks in containers."""

    def __init__(self, running: layouts.Running) -> None:
        self._agent = Agent(running.agent, (AgentError,))
        self._service_ports = service_ports_of(running.layout.hosts)

    async def greets(self, place: str) -> Reply:
        return await host_greets(self._agent, place, self._service_ports)


class LocalCluster:
    """port.Cluster, as far as a run without faults and operations asks it. Made by `standing`."""

    operator: Any = None  # no operator here

    def __init__(self, running: layouts.Running) -> None:
        self.layout = running.layout
        self.broker = running.broker
        self.witness: Any = WhoAnswers(running)
        self.executor = NothingExecutor()
        self.started_clients = StartedClients(self.broker.connections, ())

    async def spawn(self, worker: str) -> PipeChannel:
        command = [sys.executable, "-m", "harness.workers", worker]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return await PipeChannel.start(worker, command, environment, ROOT)

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        return tuple(
            Link(
                worker,
                one.host,
                f"mqproof.{run.name}.{worker}.{one.host}.{one.process}",
                Endpoint(one.host, one.host, one.port),
                one.process,
            )
            for one in servers(self.layout.hosts)
        )

    async def unlink(self, run: RunPlan) -> None:
        """Nothing was made."""

    async def direct(self, host: str) -> Endpoint:
        brokers = (one for one in servers(self.layout.hosts) if one.host == host and one.is_broker)
        return Endpoint(host, host, next(brokers).port)

    async def entered(self) -> tuple[str, ...]:
        return ()

    async def health(self, limit_s: float) -> Health:
        return await self.broker.health(limit_s)

    def log_folder(self, run_folder: Path, worker: str) -> str:
        return str(run_folder / "logs" / worker)

    async def fetch_logs(self, run_folder: Path) -> LeftOut:
        """They are there."""
        return {}

    async def resources(self) -> AsyncIterator[HostSample]:
        """Hosts are not distinguished here."""
        await asyncio.Event().wait()
        yield HostSample("", 0, 0, 0, 0, 0, 0, 0)

    async def process_ends(self) -> AsyncIterator[Ended]:
        """Watch nothing here."""
        for never in tuple[Ended, ...]():
            yield never

    def versions(self) -> dict[str, str]:
        return {"rocketmq": own(self.layout).version}

    async def down(self) -> None:
        """`standing` ends its servers."""


@asynccontextmanager
async def standing(layout: Layout, folder: Path) -> AsyncIterator[LocalCluster]:
    """Healthy; nothing is left of it afterwards."""
    async with layouts.standing(layout, folder) as running:
        cluster = LocalCluster(running)
        health = await cluster.health(READY_LIMIT_S)
        assert health.clean, health.doubts
        yield cluster
