"""Small clusters of RocketMQ servers: a pair or a group on free ports, and five on known ones.

1. Everything listens on 127.0.0.1. No topic is there, and none is made by sending to it.
2. Every wait has a deadline; a closed cluster leaves nothing behind.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from harness.workers.remoting import answers, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.requests import Request
from harness.workers.remoting.routes import NOWHERE, View
from harness.workers.rocketmq.connection import Connection, Unanswered
from tests.rigs.rocketmq.launcher import HERE, REFERENCE, Server

PORT_BASE = 30000  # of the five, so that what is captured from them is the same again
READY_LIMIT_S = 400.0  # five JVMs on a machine that has other things to do
ASK_LIMIT_S = 30.0
_NOBODYS = range(20_000, PORT_BASE - 1_000)
LOOK_LIMIT_S = 3.0
MEMBERS_BELOW = 3  # a broker's own port, and below what its clients dial: where members dial it
_LOG_MAX = 2_000  # characters of a log


@dataclass
class Cluster:
    """`leader`: of brokers that elect one, the name of the one that they elected."""

    version: str
    servers: dict[str, Server] = field(default_factory=dict)
    leader: str = ""

    @property
    def name_servers(self) -> tuple[Server, ...]:
        return tuple(one for one in self.servers.values() if not one.is_broker)

    @property
    def masters(self) -> tuple[Server, ...]:
        if self.leader:
            return (self.servers[self.leader],)
        return tuple(one for one in self.servers.values() if one.is_master)

    def __getitem__(self, name: str) -> Server:
        return self.servers[name]

    async def start(self) -> None:
        """Until every name server shows every broker."""
        for server in self.servers.values():
            server.start()
        ports = _broker_ports(self)
        for server in self.name_servers:
            await shown(server, ports, self._whole)

    def _whole(self) -> None:
        """Assert that no wait is in vain."""
        for server in self.servers.values():
            assert server.runs(), f"{server.name} has ended: {server.output()[-_LOG_MAX:]}"

    def kill(self) -> None:
        for server in self.servers.values():
            server.kill()

    async def create_topic(self, topic: str, queues: int = 4) -> None:
        """On every master; returns when every name server knows all of them."""
        for server in self.masters:
            connection = await Connection.connect(server.endpoint, ASK_LIMIT_S)
            request = requests.create_topic(topic, queues)
            answers.taken(request, await connection.ask(request, ASK_LIMIT_S))
            connection.close()
        wanted = {one.settings["brokerName"] for one in self.masters}
        for server in self.name_servers:
            await _routed(server, topic, wanted)


@contextlib.contextmanager
def pair(
    version: str, folder: Path, name_servers: int = 1, home: Path | None = None, **more: str
) -> Iterator[Cluster]:
    """Ready: the name server `ns1`, and others where more are asked for, and the master
    `broker-a-0`. `home`: the master's, if it has one of its own. `more`: its settings."""
    ports, broker = [_free(0) for _ in range(name_servers)], _free(2)
    made = Cluster(version)
    for number, port in enumerate(ports, start=1):
        _add(made, folder, f"ns{number}", port, {"listenPort": str(port)})
    _add(made, folder, "broker-a-0", broker, _broker("broker-a", 0, broker, ports) | more)
    made["broker-a-0"].home = home or made["broker-a-0"].home
    try:
        asyncio.run(made.start())
        yield made
    finally:
        made.kill()


@contextlib.contextmanager
def group(folder: Path, members: int = 3, version: str = REFERENCE) -> Iterator[Cluster]:
    """Ready: the name server `ns1`, and a DLedger group, which leads itself."""
    name_server, brokers = _free(0), [_free(MEMBERS_BELOW) for _ in range(members)]
    made = Cluster(version)
    _add(made, folder, "ns1", name_server, {"listenPort": str(name_server)})
    peers = ";".join(
        f"n{number}-{HERE}:{port - MEMBERS_BELOW}" for number, port in enumerate(brokers)
    )
    for number, port in enumerate(brokers):
        own = {
            "enableDLegerCommitLog": "true",
            "dLegerGroup": "broker-a",
            "dLegerPeers": peers,
            "dLegerSelfId": f"n{number}",
        }
        settings = _broker("broker-a", number, port, [name_server]) | own
        del settings["brokerRole"], settings["brokerId"]
        _add(made, folder, f"broker-a-{number}", port, settings)
    try:
        asyncio.run(_start_group(made))
        yield made
    finally:
        made.kill()


@contextlib.contextmanager
def switched(folder: Path) -> Iterator[Cluster]:
    """Ready: three name servers with control nodes, and two brokers of the reference, one of
    which they made the master."""
    ports, votes, brokers = (
        [_free(each) for _ in range(n)] for each, n in ((0, 3), (0, 3), (2, 2))
    )
    made = Cluster(REFERENCE)
    peers = ";".join(f"s{number}-{HERE}:{port}" for number, port in enumerate(votes))
    for number, port in enumerate(ports):
        name = f"ns{number + 1}"
        settings = {
            "listenPort": str(port),
            "controlPeers": peers,
            "controlSelfId": f"s{number}",
            "storePathRootDir": str(folder / f"{name}-store"),
        }
        _add(made, folder, name, port, settings)
    for number, port in enumerate(brokers):
        settings = _broker("broker-a", number + 1, port, ports) | {"enableCtgmq": "true"}
        del settings["brokerRole"]
        _add(made, folder, f"broker-a-{number}", port, settings)
    try:
        asyncio.run(_start_group(made))
        yield made
    finally:
        made.kill()


async def _start_group(cluster: Cluster) -> None:
    """Until a name server shows all members, one of them as the master."""
    await cluster.start()
    name_server = cluster.name_servers[0]
    async with asyncio.timeout(READY_LIMIT_S):
        while not (masters := (await shown(name_server, _broker_ports(cluster))).masters):
            await asyncio.sleep(0.2)
    (address,) = masters.values()
    cluster.leader = next(
        one.name for one in cluster.servers.values() if one.port == port_of(address)
    )


def with_slave(cluster: Cluster, folder: Path) -> Server:
    """Started: a slave of `broker-a-0` of a pair. Who kills it may have another one."""
    port = _free(2)
    name_servers = [one.port for one in cluster.name_servers]
    _add(cluster, folder, "broker-a-1", port, _broker("broker-a", 1, port, name_servers))
    slave = cluster["broker-a-1"]
    slave.start()
    return slave


def pair_of(cluster: Cluster, folder: Path, master: str, slave: str) -> None:
    """Adds a name server and broker-a's master and slave, each of the version that is said."""
    name_server, ports = _free(0), (_free(2), _free(2))
    _add(cluster, folder, "ns1", name_server, {"listenPort": str(name_server)})
    for number, (port, version) in enumerate(zip(ports, (master, slave), strict=True)):
        settings = _broker("broker-a", number, port, [name_server])
        name = f"broker-a-{number}"
        cluster.servers[name] = Server(name, version, port, settings, folder / name)


@contextlib.asynccontextmanager
async def five(
    version: str, folder: Path, name_server: Mapping[str, str] | None = None
) -> AsyncIterator[Cluster]:
    """Ready: two name servers, a master with a slave (broker-a) and a master alone (broker-b).

    `name_server`: more of a name server's configuration."""
    made = Cluster(version)
    name_servers = (PORT_BASE, PORT_BASE + 1)
    for number, port in enumerate(name_servers, start=1):
        settings = {"listenPort": str(port), **(name_server or {})}
        _add(made, folder, f"ns{number}", port, settings)
    for broker, number, offset in (
        ("broker-a", 0, 110),
        ("broker-a", 1, 120),
        ("broker-b", 0, 210),
    ):
        port = PORT_BASE + offset
        _add(made, folder, f"{broker}-{number}", port, _broker(broker, number, port, name_servers))
    try:
        await made.start()
        yield made
    finally:
        made.kill()


async def shown(
    name_server: Server, ports: set[int], whole: Callable[[], None] = lambda: None
) -> View:
    """Waits until a name server shows brokers on exactly these ports. `whole` raises where that
    will not be."""
    view = NOWHERE
    try:
        async with asyncio.timeout(READY_LIMIT_S):
            while _ports(view) != ports:
                whole()
                await asyncio.sleep(0.2)
                view = await _view(name_server, requests.cluster_info(), answers.cluster)
    except TimeoutError:
        raise AssertionError(f"{name_server.name} shows {view}, wanted {sorted(ports)}") from None
    return view


async def _routed(name_server: Server, topic: str, groups: set[str]) -> None:
    view = NOWHERE
    try:
        async with asyncio.timeout(READY_LIMIT_S):
            while {one.broker for one in view.queues} != groups:
                await asyncio.sleep(0.1)
                view = await _view(name_server, requests.route(topic), answers.route)
    except TimeoutError:
        raise AssertionError(f"{name_server.name} shows {topic} at {view}") from None


async def _view(
    name_server: Server, request: Request, read: Callable[[Request, Command], View]
) -> View:
    try:
        connection = await Connection.connect(name_server.endpoint, LOOK_LIMIT_S)
    except Unanswered:
        return NOWHERE
    try:
        return read(request, await connection.ask(request, LOOK_LIMIT_S))
    except Unanswered:
        return NOWHERE
    finally:
        connection.close()


def _ports(view: View) -> set[int]:
    return {port_of(one.address) for one in view.brokers}


def _broker_ports(cluster: Cluster) -> set[int]:
    return {one.port for one in cluster.servers.values() if one.is_broker}


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def _add(
    cluster: Cluster, folder: Path, name: str, port: int, settings: Mapping[str, str]
) -> None:
    server = Server(name, cluster.version, port, settings, folder / name)
    cluster.servers[name] = server


def _broker(name: str, number: int, port: int, name_servers: Sequence[int]) -> dict[str, str]:
    return {
        "brokerClusterName": "DefaultCluster",
        "brokerName": name,
        "brokerId": str(number),
        "brokerRole": "SLAVE" if number else "ASYNC_MASTER",
        "flushDiskType": "ASYNC_FLUSH",
        "namesrvAddr": ";".join(f"{HERE}:{each}" for each in name_servers),
        "brokerIP1": HERE,
        "brokerIP2": HERE,
        "listenPort": str(port),
        "storePathRootDir": "store",
        "storePathCommitLog": "store/commitlog",
        "mappedFileSizeCommitLog": "16777216",
        "mappedFileSizeConsumeQueue": "600000",
        "maxIndexNum": "40000",
        "maxHashSlotNum": "10000",
        "diskMaxUsedSpaceRatio": "95",
        "waitTimeMillsInSendQueue": "5000",
        "osPageCacheBusyTimeOutMills": "5000",
        "registerNameServerPeriod": "10000",
        "autoCreateTopicEnable": "false",
        "autoCreateSubscriptionGroup": "true",
        "transactionCheckInterval": "5000",  # the topic of halves is not there before the first
    }


def _free(reach: int) -> int:
    """A port whose neighbours are free, too: a broker takes its own, the next, and two below.

    None that the kernel gives to a dialling socket: between here and the broker it might."""
    while True:
        port = Random().choice(_NOBODYS)
        with contextlib.ExitStack() as stack:
            try:
                for each in range(port - reach, port + reach + 1):
                    stack.enter_context(socket.create_server((HERE, each)))
            except OSError:
                continue
            return port
