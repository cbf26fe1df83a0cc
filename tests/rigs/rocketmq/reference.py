"""Servers of the reference in this process, on loopback: no other process, no container."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.workers.protocol import Endpoint
from reference_impl.rocketmq.broker.server import BrokerServer
from reference_impl.rocketmq.effects import COPIES, REMOTING
from reference_impl.rocketmq.naming.server import NameServer
from reference_impl.rocketmq.settings import BrokerSettings, BrokerTimes
from reference_impl.shell.log_files import LogFolder
from reference_impl.shell.servers import ServerSockets, SystemClock
from tests.rigs.rocketmq.launcher import HERE


@dataclass
class InProcess:
    """`name_servers`: where they are; `sockets`: of each server, by name."""

    name_servers: tuple[Endpoint, ...]
    sockets: dict[str, ServerSockets] = field(default_factory=dict)

    def stop(self, name: str) -> None:
        """End its connections and accept no new ones."""
        self.sockets.pop(name).close()


@contextlib.asynccontextmanager
async def in_process(
    folder: Path, ports: tuple[int, ...], masters: int = 1, times: BrokerTimes | None = None
) -> AsyncIterator[InProcess]:
    """Two name servers and so many masters, broker-a and on. `ports` are free; a master takes two
    below its own and one above it, too."""
    first, second, *brokers = ports
    names = tuple(Endpoint(f"ns{n}", HERE, port) for n, port in enumerate((first, second), 1))
    cluster = InProcess(names)
    try:
        for endpoint in names:
            await _listen(
                cluster, endpoint.host, NameServer(SystemClock()), {endpoint.port: REMOTING}
            )
        for letter, port in zip("abcd"[:masters], brokers, strict=False):
            await _master(cluster, f"broker-{letter}", port, folder, times or BrokerTimes())
        await asyncio.sleep(0.05)
        yield cluster
    finally:
        for sockets in cluster.sockets.values():
            sockets.close()
        await asyncio.sleep(0)


async def _master(
    cluster: InProcess, name: str, port: int, folder: Path, times: BrokerTimes
) -> None:
    settings = BrokerSettings(
        broker_name=name,
        listen_port=port,
        namesrv_addr=";".join(f"{one.address}:{one.port}" for one in cluster.name_servers),
        mapped_file_size_commit_log=1 << 20,
        times=times,
    )
    server = BrokerServer(settings, SystemClock(), LogFolder(folder / name))
    doors = {port: REMOTING, port - 2: REMOTING, settings.copies_port: COPIES}
    await _listen(cluster, name, server, doors)


async def _listen(cluster: InProcess, name: str, server: object, doors: dict[int, str]) -> None:
    def failed(error: Exception) -> None:
        raise error

    sockets = ServerSockets(server, failed, {})  # type: ignore[arg-type]
    for port, door in doors.items():
        await sockets.listen(HERE, port, door)
    sockets.begin()
    cluster.sockets[name] = sockets
