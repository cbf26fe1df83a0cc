"""A layout of RocketMQ stood up as plain processes on loopback: port.Cluster without containers.

1. Servers have the layout's own configuration and ports, and loopback in every host's place.
2. Links lead straight to the servers: nothing can be broken here. A run without faults is whole.
3. What is asked of brokers goes the deployment's own way, with its agent in this process.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from faults.executors.nothing import NothingExecutor
from harness.deploy.agent import AgentRefused, AgentTimeout
from harness.deploy.local_channel import PipeChannel
from harness.deploy.port import Health, HostSample, Link
from harness.deploy.rocketmq import RocketBroker
from harness.deploy.rocketmq_settings import configuration
from harness.deploy.roster import Roster
from harness.plan.model import Layout, RunPlan
from harness.plan.rocketmq_layout import servers
from harness.workers.agent_calls import remoting
from harness.workers.agent_calls.answers import CallError
from harness.workers.protocol import Endpoint
from tests.rocketmq.servers import READY_LIMIT_S, Server, server

ROOT = Path(__file__).parents[2]
HERE = "127.0.0.1"


class _Agent:
    """deploy.rocketmq_api.Agent, without a process of its own."""

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        known = {"remoting_ask": remoting.ask, "remoting_greet": remoting.greet}
        try:
            return await known[name](timeout_s=timeout_s, **arguments)  # type: ignore[operator]
        except CallError as error:
            failure = AgentTimeout if error.kind == "timeout" else AgentRefused
            raise failure(error.text) from error


class LocalCluster:
    """port.Cluster, as far as a run without faults and operations asks it. Made by `standing`."""

    witness: Any = None  # a run without faults looks at nothing
    operator: Any = None

    def __init__(self, layout: Layout, folder: Path) -> None:
        assert layout.rocketmq is not None, layout.label
        self.layout = layout
        self.broker = RocketBroker(layout, _Agent(), {host.name: HERE for host in layout.hosts})
        self.executor = NothingExecutor()
        self.roster = Roster(self.broker.connections, ())
        self.processes: list[Server] = []
        for one in servers(layout.hosts):
            conf = {
                key: _here(layout, value)
                for key, value in configuration(layout, one.host, one.process).items()
            }
            home = folder / f"{one.host}-{one.process}"
            self.processes.append(server(layout.rocketmq.version, home, one.port, conf))

    async def spawn(self, worker: str) -> PipeChannel:
        command = [sys.executable, "-m", "harness.workers", worker]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return await PipeChannel.start(worker, command, environment, ROOT)

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        return tuple(
            Link(worker, one.host, "", Endpoint(one.host, HERE, one.port), one.process)
            for one in servers(self.layout.hosts)
        )

    async def unlink(self, run: RunPlan) -> None:
        """Nobody made any."""

    async def direct(self, host: str) -> Endpoint:
        ports = (one.port for one in servers(self.layout.hosts) if one.host == host)
        return Endpoint(host, HERE, next(ports))

    async def entered(self) -> tuple[str, ...]:
        return ()

    async def health(self, limit_s: float) -> Health:
        return await self.broker.health(limit_s)

    def log_folder(self, run_folder: Path, worker: str) -> str:
        return str(run_folder / "logs" / worker)

    async def fetch_logs(self, run_folder: Path) -> None:
        """They are there."""

    async def resources(self) -> AsyncIterator[HostSample]:
        """No host is told from another here."""
        await asyncio.Event().wait()
        yield HostSample("", 0, 0, 0, 0, 0, 0, 0)

    def versions(self) -> dict[str, str]:
        assert self.layout.rocketmq is not None
        return {"rocketmq": self.layout.rocketmq.version}

    async def down(self) -> None:
        for process in self.processes:
            process.kill()


def _here(layout: Layout, value: str) -> str:
    for host in layout.hosts:
        value = HERE if value == host.name else value.replace(f"{host.name}:", f"{HERE}:")
    return value


@asynccontextmanager
async def standing(layout: Layout, folder: Path) -> AsyncIterator[LocalCluster]:
    """Healthy; nothing is left of it afterwards."""
    cluster = LocalCluster(layout, folder)
    try:
        for process in cluster.processes:
            process.start()
        health = await cluster.health(READY_LIMIT_S)
        assert health.clean, health.doubts
        yield cluster
    finally:
        await cluster.down()
