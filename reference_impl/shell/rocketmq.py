"""A name server or a broker of RocketMQ as an operating system process.

1. Its configuration is a file of the real one's own form (rocketmq.configuration).
2. `ready` is printed as one line of JSON when it can be dialled.
3. SIGTERM stops it in order: a broker unregisters at its name servers, and its data is on disk.
4. With a parent it ends, at once, when its standard input does.
5. A disk that is full ends a broker: nothing is confirmed that could not be written.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from random import SystemRandom
from types import MappingProxyType

from reference_impl.rocketmq.broker.server import BrokerServer
from reference_impl.rocketmq.ctgmq.node import ControlNode
from reference_impl.rocketmq.ctgmq.settings import of_name_server
from reference_impl.rocketmq.effects import COPIES, MEMBERS, REMOTING, Server
from reference_impl.rocketmq.naming.server import NameServer
from reference_impl.rocketmq.settings import BrokerSettings
from reference_impl.rocketmq.settings import NameServer as NameServerSettings
from reference_impl.shell.listening import cannot_listen
from reference_impl.shell.log_files import LogFolder
from reference_impl.shell.servers import ServerSockets, SystemClock

FAST_BELOW = 2  # of a broker's ports: what the real one calls the VIP channel
Door = tuple[int, str]


async def run_name_server(settings: NameServerSettings, with_parent: bool) -> int:
    """Its whole life; its exit status."""
    configured = {"listenPort": str(settings.listen_port)}
    clock, secret, doors = SystemClock(), settings.peer_secret, [(settings.listen_port, REMOTING)]
    if not settings.control_peers:
        server = NameServer(clock, settings.times, configured, secret)
        return await _live(server, settings.bind_address, doors, with_parent)
    disk = LogFolder(Path(settings.store_path_root_dir))
    control, members = of_name_server(settings)
    node = ControlNode(control, members, clock, disk, SystemRandom())
    server = NameServer(clock, settings.times, configured, secret, node=node)
    doors.append((int(members.peers[members.name].rpartition(":")[2]), MEMBERS))
    try:
        return await _live(server, settings.bind_address, doors, with_parent, settings.addresses)
    finally:
        disk.close()


async def run_broker(settings: BrokerSettings, with_parent: bool) -> int:
    """Its whole life; its exit status. Raises OSError where its name or disk are of no use."""
    disk = LogFolder(Path(settings.store_path_root_dir))
    names = settings.addresses
    own_name = names.get(settings.broker_ip1, settings.broker_ip1)
    own = socket.inet_aton(socket.gethostbyname(own_name))
    server = BrokerServer(settings, SystemClock(), disk, store_ip=own)
    port = settings.listen_port
    doors = [(port, REMOTING), (port - FAST_BELOW, REMOTING), _peers_door(settings)]
    try:
        truth = Path(settings.misbehave_truth) if settings.misbehave_truth else None
        return await _live(server, settings.bind_address, doors, with_parent, names, truth)
    finally:
        disk.close()


def _peers_door(settings: BrokerSettings) -> Door:
    """Where other brokers dial it: as a member of a group, or for copies of its log."""
    if settings.enable_d_leger_commit_log:
        return int(settings.members[settings.d_leger_self_id].rpartition(":")[2]), MEMBERS
    return settings.copies_port, COPIES


async def _live(
    server: Server,
    address: str,
    doors: list[Door],
    with_parent: bool,
    names: Mapping[str, str] = MappingProxyType({}),
    truth: Path | None = None,
) -> int:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(status: int) -> None:
        if not ended.done():
            ended.set_result(status)

    def fail(error: Exception) -> None:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        end(1)

    sockets = ServerSockets(server, fail, names, truth)
    loop.add_signal_handler(signal.SIGTERM, end, 0)
    if with_parent:
        loop.add_reader(sys.stdin.fileno(), _end_with_parent)
    for port, door in doors:
        try:
            await sockets.listen(address, port, door)
        except OSError as error:
            print(
                f"This server {cannot_listen(address, port, error)}", file=sys.stderr, flush=True
            )
            return 1
    sockets.begin()
    print(json.dumps({"ready": True}), flush=True)
    status = await ended
    if status == 0:
        sockets.hear(server.stop)
    sockets.close()
    await asyncio.sleep(0)  # what was said last goes out
    return status


def _end_with_parent() -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        os._exit(1)
