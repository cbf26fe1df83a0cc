"""The servers of a layout as plain processes, told what containers would be told.

1. All hosts are this machine: their names mean 127.0.0.1 to the servers' JVMs, and ports differ by
   the layout.
2. The agent is its calls, in this process.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cluster.agent import AgentError
from harness.plan.model import Layout
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.core.layout import own, servers
from harness.workers.agent import call_of, calls
from harness.workers.agent_calls.answers import CallError
from tests.rigs.rocketmq.launcher import HERE, Server
from tests.rigs.rocketmq.systems import CONFIGURATIONS, broker_of


class InProcessAgent:
    """The agent's calls without an agent; failures as its client raises them."""

    def __init__(self) -> None:
        self._calls = calls("127.0.0.1:1")

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        try:
            return await call_of(self._calls, name)(**arguments, timeout_s=timeout_s)
        except CallError as error:
            raise AgentError(error.text) from error


@dataclass
class Running:
    """A layout whose servers run; `kill` and `start` by the layout's words."""

    layout: Layout
    servers: dict[str, list[Server]]  # by host
    agent: InProcessAgent
    broker: RocketBroker

    def start(self, host: str) -> None:
        for server in self.servers[host]:
            server.start()

    def kill(self, host: str) -> None:
        """kill -9 of all processes of a host."""
        for server in self.servers[host]:
            server.kill()

    def outputs(self) -> list[str]:
        """What each server has logged."""
        return [server.output() for own in self.servers.values() for server in own]


@contextlib.asynccontextmanager
async def standing(layout: Layout, folder: Path) -> AsyncIterator[Running]:
    """Its servers are started, not waited for; nothing of them is left afterwards."""
    agent = InProcessAgent()
    broker = broker_of(layout, agent, {host.name: HERE for host in layout.hosts})
    running = Running(layout, _servers(layout, folder), agent, broker)
    try:
        for host in running.servers:
            running.start(host)
            await asyncio.sleep(0)
        yield running
    finally:
        for host in running.servers:
            running.kill(host)


def _servers(layout: Layout, folder: Path) -> dict[str, list[Server]]:
    names = [host.name for host in layout.hosts]
    found: dict[str, list[Server]] = {name: [] for name in names}
    for one in servers(layout.hosts):
        settings = CONFIGURATIONS[layout.system](layout, one.host, one.process)
        where = folder / one.host / one.process
        server = Server(one.process, own(layout).version, one.port, settings, where, names)
        found[one.host].append(server)
    return found
