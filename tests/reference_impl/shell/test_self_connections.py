"""Sockets that TCP connected with themselves: no dialler of the reference takes one for a peer."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest

from reference_impl.node.config import Config
from reference_impl.rocketmq.effects import MEMBERS, Dial, Effect, Transmit
from reference_impl.shell import sendable
from reference_impl.shell.links import PeerLinks
from reference_impl.shell.self_connections import is_self_connection
from reference_impl.shell.servers import ServerSockets
from tests.rigs.machine.loops import in_a_loop
from tests.rigs.machine.self_connections import (
    HOST,
    can_listen,
    dialled_from_itself,
    until_can_listen,
)


def test_a_socket_may_be_connected_with_itself() -> None:
    with socket.socket() as dialling:
        dialling.bind((HOST, 0))
        address = dialling.getsockname()
        dialling.connect(address)
        dialling.sendall(b"AMQP\0\0\x09\x01")
        assert dialling.recv(8) == b"AMQP\0\0\x09\x01"
        assert not can_listen(address)
        assert is_self_connection(dialling)
    assert can_listen(address)


def test_a_connection_with_a_server_is_not_one() -> None:
    with (
        socket.create_server((HOST, 0)) as server,
        socket.create_connection(server.getsockname()) as client,
        server.accept()[0] as accepted,
    ):
        assert not is_self_connection(client)
        assert not is_self_connection(accepted)


class LonelyNode:
    """A node whose peer is down. `reports`: what its links said of the peer."""

    def __init__(self) -> None:
        self.reports: list[object] = []

    def unlinked(self, node: str) -> None:
        self.reports.append(node)

    def pinged(self, node: str, answered: bool) -> None:
        self.reports.append((node, answered))


@pytest.mark.parametrize(
    ("dial", "report"), [(PeerLinks.dial, "ref2"), (PeerLinks.ping, ("ref2", False))]
)
def test_a_peer_that_is_down_is_not_reached(
    dial: Callable[[PeerLinks, str], None], report: object
) -> None:
    @in_a_loop
    async def story() -> None:
        with dialled_from_itself() as address:
            turned = asyncio.Event()
            links = PeerLinks(
                Config("ref1", HOST, "unused", "cookie", {"ref2": address}), turned.set, print
            )
            node: Any = LonelyNode()
            links.node = node
            dial(links, "ref2")
            async with asyncio.timeout(1.0):  # a silent peer would take 2 s
                await turned.wait()
            assert node.reports == [report]
            await until_can_listen(address)
            links.close()

    story()


class LonelyServer:
    """A server of RocketMQ that says its name to each that it dials. `events`: all that came."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def opened(self, connection: int, peer: str, door: str, dialled: str | None) -> list[Effect]:
        self.events.append(("opened", peer, door, dialled))
        return [Transmit(connection, b"its name")]

    def refused(self, address: str, door: str) -> list[Effect]:
        self.events.append(("refused", address, door))
        return []


@in_a_loop
async def test_a_member_that_is_down_refuses() -> None:
    with dialled_from_itself() as address:
        where, server, failures = f"{HOST}:{address[1]}", LonelyServer(), list[Exception]()
        sockets = ServerSockets(server, failures.append, {})  # type: ignore[arg-type]
        sockets.carry_out([Dial(where, MEMBERS)])
        async with asyncio.timeout(1.0):
            while not server.events:
                await asyncio.sleep(0.005)
        await until_can_listen(address)
        assert server.events == [("refused", where, MEMBERS)]
        assert failures == []
        sockets.close()


def test_a_server_that_is_down_serves_no_clients_yet() -> None:
    with dialled_from_itself() as address:
        with pytest.raises(sendable.NotYet, match="nothing listens there yet"):
            sendable._confirms("broker-a", address)
        assert can_listen(address)
