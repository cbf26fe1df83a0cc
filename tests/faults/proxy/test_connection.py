"""One connection inside the test's own event loop, so that what the proxy has read is known."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from faults.proxy.core.model import Toxic
from faults.proxy.core.registry import Added, Removed
from faults.proxy.core.toxics.bandwidth import Bandwidth
from faults.proxy.core.toxics.latency import Latency
from faults.proxy.link import ProxyConnection

LATENCY = Toxic("t", "latency", "upstream", 1.0, Latency(600_000))
STALL = Toxic("t", "bandwidth", "upstream", 1.0, Bandwidth(0))
TURNS = 200
OCTETS = Random(5).randbytes(150_000)


class Ends:
    """The far ends of both sockets of a connection, which never block."""

    def __init__(self, connection: ProxyConnection, client: socket.socket, server: socket.socket):
        self.connection = connection
        self.client = client
        self.server = server

    async def rest(self) -> None:
        """As many turns of the loop as the connection needs for everything that it can do."""
        for _ in range(TURNS):
            await asyncio.sleep(0)

    async def server_hears(self, count: int) -> bytes:
        octets = b""
        while len(octets) < count:
            await self.rest()
            part = self.server.recv(1 << 16)
            if not part:
                break
            octets += part
        return octets


@contextmanager
def connected(*toxics: Toxic) -> Iterator[Ends]:
    client, near_client = socket.socketpair()
    near_server, server = socket.socketpair()
    near_server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    for each in (client, near_client, near_server, server):
        each.setblocking(False)
    connection = ProxyConnection(
        near_client,
        near_server,
        lambda direction: [one for one in toxics if one.direction is direction],
        lambda _: Random(1),
        lambda _: None,
    )
    try:
        yield Ends(connection, client, server)
    finally:
        connection.abort()
        client.close()
        server.close()


def test_a_held_end_of_connection_follows_the_held_data() -> None:
    async def story() -> None:
        with connected(LATENCY) as ends:
            assert ends.client.send(OCTETS) == len(OCTETS)
            ends.client.close()
            await ends.rest()
            ends.connection.change(Removed(LATENCY))
            assert await ends.server_hears(len(OCTETS) + 1) == OCTETS

    asyncio.run(story())


def test_a_stall_reads_little_and_leaves_the_kernel_the_rest() -> None:
    async def story() -> None:
        with connected(STALL) as ends:
            taken = 0
            for _ in range(100):
                taken += _sent(ends.client, bytes(1 << 16))
                await ends.rest()
            assert taken < 1_000_000
            ends.connection.change(Removed(STALL))
            assert len(await ends.server_hears(taken)) == taken

    asyncio.run(story())


def test_a_new_toxic_affects_the_next_bytes_of_a_connection() -> None:
    async def story() -> None:
        with connected() as ends:
            ends.client.send(b"before")
            assert await ends.server_hears(6) == b"before"
            ends.connection.change(Added(STALL))
            ends.client.send(b"held")
            await ends.rest()
            with pytest.raises(BlockingIOError):
                ends.server.recv(10)
            ends.connection.change(Removed(STALL))
            assert await ends.server_hears(4) == b"held"

    asyncio.run(story())


def test_an_abort_closes_both_sides_whatever_is_held() -> None:
    async def story() -> None:
        with connected(STALL) as ends:
            ends.client.send(b"held")
            await ends.rest()
            ends.connection.abort()
            assert (ends.client.recv(1), ends.server.recv(1)) == (b"", b"")

    asyncio.run(story())


def _sent(side: socket.socket, octets: bytes) -> int:
    try:
        return side.send(octets)
    except BlockingIOError:
        return 0
