"""The servers of a layout as plain Java processes, told what containers would be told.

1. All hosts are this machine: their names mean 127.0.0.1 to the servers' JVMs, and ports differ by
   the layout. Every process is in a session of its own.
2. Jars are those of `python -m harness.deploy.jars`; nothing is fetched here.
3. The agent is its calls, in this process.
"""

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cluster.agent import AgentError
from harness.deploy import jars
from harness.plan.model import Layout
from harness.plan.rocketmq_layout import Server, servers
from harness.systems.files import compose_folder
from harness.systems.rocketmq import settings as rocketmq_settings
from harness.systems.rocketmq.broker import RocketBroker
from harness.workers.agent import calls
from harness.workers.agent_calls.answers import CallError
from harness.workers.clients.rocketmq.places import jars_folder

HERE = "127.0.0.1"
STOP_LIMIT_S = 20.0
_OPENED = tuple(
    f"--add-{how}={module}=ALL-UNNAMED"
    for how, module in (
        ("exports", "java.base/jdk.internal.ref"),
        ("opens", "java.base/jdk.internal.ref"),
        ("opens", "java.base/java.nio"),
        ("opens", "java.base/sun.nio.ch"),
        ("exports", "java.base/sun.nio.ch"),
    )
)
_MAINS = {
    True: ("org.apache.rocketmq.broker.BrokerStartup", "-Xmx256m", "-XX:MaxDirectMemorySize=256m"),
    False: ("org.apache.rocketmq.namesrv.NamesrvStartup", "-Xmx128m", "-Xms32m"),
}


def why_not(version: str) -> str:
    """Why this version cannot be run here; "" where it can."""
    if shutil.which("java") is None:
        return "there is no java; Debian's openjdk-17-jre-headless has it"
    return jars.why_not(f"rocketmq-server-{version}")


class InProcessAgent:
    """The agent's calls without an agent; failures as its client raises them."""

    def __init__(self) -> None:
        self._calls = calls("127.0.0.1:1")

    async def call(self, name: str, /, timeout_s: float, **told: Any) -> dict[str, Any]:
        try:
            return await self._calls[name](**told, timeout_s=timeout_s)
        except CallError as error:
            raise AgentError(error.text) from error


@dataclass
class Running:
    """A layout whose servers run; `kill` and `start` by the layout's words."""

    layout: Layout
    folder: Path
    processes: dict[Server, subprocess.Popen[bytes]]
    broker: RocketBroker

    def start(self, server: Server) -> None:
        folder = self.folder / server.host / server.process
        (folder / "conf").mkdir(parents=True, exist_ok=True)
        with (folder / "output.txt").open("ab") as output:
            self.processes[server] = subprocess.Popen(
                _command(self.layout, server, folder),
                stdout=output,
                stderr=output,
                cwd=folder,
                env={**os.environ, "ROCKETMQ_HOME": str(compose_folder() / "rocketmq-2m2s")},
                start_new_session=True,
            )

    def kill(self, host: str) -> None:
        """kill -9 of all processes of a host."""
        for server in [one for one in self.processes if one.host == host]:
            process = self.processes.pop(server)
            process.kill()
            process.wait(STOP_LIMIT_S)

    def output(self, server: Server) -> str:
        return (self.folder / server.host / server.process / "output.txt").read_text()


@contextlib.asynccontextmanager
async def standing(layout: Layout, folder: Path) -> AsyncIterator[Running]:
    """Its servers are started, not waited for; nothing of them is left afterwards."""
    addresses = {host.name: HERE for host in layout.hosts}
    broker = RocketBroker(layout, InProcessAgent(), addresses)
    running = Running(layout, folder, {}, broker)
    try:
        for server in servers(layout.hosts):
            running.start(server)
            await asyncio.sleep(0)
        yield running
    finally:
        for host in addresses:
            running.kill(host)


def _command(layout: Layout, server: Server, folder: Path) -> list[str]:
    assert layout.rocketmq is not None
    settings = rocketmq_settings.configuration(layout, server.host, server.process)
    file, names = folder / "server.conf", folder / "hosts"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    names.write_text("".join(f"{HERE} {host.name}\n" for host in layout.hosts))
    main, *memory = _MAINS[server.is_broker]
    conf = compose_folder() / "rocketmq-2m2s" / "conf"
    told = (
        f"-Duser.home={folder}",
        f"-Djdk.net.hosts.file={names}",
        f"-Drmq.logback.configurationFile={conf}/logback.xml",
        "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
    )
    path = f"{jars_folder() / f'rocketmq-server-{layout.rocketmq.version}'}/*"
    small = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    return ["java", *memory, *small, *_OPENED, *told, "-cp", path, main, "-c", str(file)]
