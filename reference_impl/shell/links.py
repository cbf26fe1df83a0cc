"""Links to peers: one TCP connection a pair of nodes, whichever of them dialled.

1. Who accepts greets at once; who dialled greets back; who accepted takes the link (Welcome) or
   closes it. Only then it stands on both sides, so nothing is sent on a link that is given up.
2. Where both dial at the same time, the link of the smaller name is taken.
3. A peer that dials has no link any more: one that stands here to it is dropped first.
4. What is sent in one turn of the node goes out as one write.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from reference_impl.node.wire import (
    Hello,
    Packet,
    Reader,
    Tick,
    Welcome,
    WireError,
    encode,
)

DIAL_LIMIT_S = 2.0
PING_LIMIT_S = 2.0  # only a peer that closed its link is pinged


class Peer(Protocol):
    """What a node hears of its links."""

    def hello(self) -> Hello: ...

    def linked(self, hello: Hello) -> None: ...

    def unlinked(self, node: str) -> None: ...

    def heard(self, node: str, packet: Packet) -> None: ...

    def pinged(self, node: str, answered: bool) -> None: ...


class PeerLinks:
    """node.outside.Links. `turn` is called when the node has something to do."""

    def __init__(
        self, name: str, addresses: dict[str, tuple[str, int]], turn: Callable[[], None]
    ) -> None:
        self.name = name
        self.node: Peer | None = None
        self._addresses = addresses
        self._turn = turn
        self._loop = asyncio.get_running_loop()
        self._standing: dict[str, _Link] = {}
        self._accepted: set[_Link] = set()  # not standing yet
        self._dialling: dict[str, asyncio.Task[None]] = {}
        self._pings: set[asyncio.Task[None]] = set()
        self._heard: set[str] = set()

    async def listen(self, host: str, port: int) -> asyncio.Server:
        return await self._loop.create_server(lambda: _Link(self), host, port, reuse_address=True)

    # --- node.outside.Links

    def send(self, node: str, packet: Packet) -> None:
        link = self._standing.get(node)
        if link is not None:
            link.send(packet)

    def dial(self, node: str) -> None:
        if node not in self._dialling and node not in self._standing:
            self._dialling[node] = self._loop.create_task(self._dial(node))

    def drop(self, node: str) -> None:
        """No `unlinked` comes of it: the node knows. What it told the peer last goes out first."""
        link = self._standing.pop(node, None)
        if link is not None:
            link.flush()
            link.abort()

    def ping(self, node: str) -> None:
        task = self._loop.create_task(self._ping(node))
        self._pings.add(task)
        task.add_done_callback(self._pings.discard)

    # --- the shell's

    def flush(self) -> None:
        for link in self._standing.values():
            link.flush()

    def tick(self) -> frozenset[str]:
        """A sign of life to every peer; from whom one came since the last tick."""
        for link in self._standing.values():
            link.send(Tick())
            link.flush()
        heard, self._heard = frozenset(self._heard), set()
        return heard

    def close(self) -> None:
        """Drops every link and gives every attempt up."""
        for task in [*self._dialling.values(), *self._pings]:
            task.cancel()
        self._dialling.clear()
        for link in [*self._standing.values(), *self._accepted]:
            link.abort()
        self._standing.clear()
        self._accepted.clear()

    # --- links

    def _peer(self) -> Peer:
        assert self.node is not None, "links are made when the node is there"
        return self.node

    async def _dial(self, node: str) -> None:
        link: _Link | None = None
        try:
            async with asyncio.timeout(DIAL_LIMIT_S):
                host, port = self._addresses[node]
                made = await self._loop.create_connection(
                    lambda: _Link(self, node), host, port, happy_eyeballs_delay=None
                )
                link = made[1]
                hello = await link.welcomed
        except (OSError, TimeoutError, WireError):
            hello = None
        except asyncio.CancelledError:
            if link is not None:
                link.abort()
            raise
        self._dialling.pop(node, None)
        if hello is None:
            if link is not None:
                link.abort()
            if node not in self._standing:
                self._peer().unlinked(node)
        else:
            assert link is not None, "it was welcomed"
            self._stand(link, hello)
        self._turn()

    async def _ping(self, node: str) -> None:
        answered = False
        try:
            async with asyncio.timeout(PING_LIMIT_S):
                reader, writer = await asyncio.open_connection(*self._addresses[node])
                answered = bool(await reader.read(1))
                writer.transport.abort()
        except (OSError, TimeoutError):
            pass
        self._peer().pinged(node, answered)
        self._turn()

    def made(self, link: "_Link") -> None:
        if not link.dialled:
            self._accepted.add(link)
            link.send(self._peer().hello())
            link.flush()

    def greeted(self, link: "_Link", hello: Hello) -> None:
        if link.dialled:
            link.send(self._peer().hello())
            link.flush()
            return
        self._accepted.discard(link)
        if hello.node in self._dialling and self.name < hello.node:
            link.abort()
            return
        dialling = self._dialling.pop(hello.node, None)
        if dialling is not None:
            dialling.cancel()
        if hello.node in self._standing:
            self.drop(hello.node)
            self._peer().unlinked(hello.node)
        link.send(Welcome())
        self._stand(link, hello)
        self._turn()

    def _stand(self, link: "_Link", hello: Hello) -> None:
        link.node = hello.node
        self._standing[hello.node] = link
        self._heard.add(hello.node)
        self._peer().linked(hello)
        link.deliver_held()

    def received(self, link: "_Link", packet: Packet) -> None:
        assert link.node is not None, "it stands"
        if self._standing.get(link.node) is link:
            self._heard.add(link.node)
            self._peer().heard(link.node, packet)
            self._turn()

    def lost(self, link: "_Link") -> None:
        self._accepted.discard(link)
        if link.node is not None and self._standing.get(link.node) is link:
            del self._standing[link.node]
            self._peer().unlinked(link.node)
            self._turn()


class _Link(asyncio.Protocol):
    """One connection. `node` is set once it stands."""

    def __init__(self, links: PeerLinks, dialled: str = "") -> None:
        self.dialled = dialled
        self.node: str | None = None
        self.welcomed: asyncio.Future[Hello] = asyncio.get_running_loop().create_future()
        self._links = links
        self._reader = Reader()
        self._hello: Hello | None = None
        self._held: list[Packet] = []  # came with the welcome, before the link stood
        self._out: list[bytes] = []
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP gives one"
        self._transport = transport
        self._links.made(self)

    def data_received(self, data: bytes) -> None:
        try:
            for packet in self._reader.read(data):
                self._take(packet)
        except WireError as error:
            self._fail(error)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.welcomed.done():
            self.welcomed.set_exception(ConnectionResetError("closed before it stood"))
            self.welcomed.exception()  # where nobody waits for it, it is no news
        self._links.lost(self)

    def send(self, packet: Packet) -> None:
        self._out.append(encode(packet))

    def flush(self) -> None:
        if self._out and self._transport is not None:
            out, self._out = self._out, []
            self._transport.write(b"".join(out))

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def deliver_held(self) -> None:
        held, self._held = self._held, []
        for packet in held:
            self._links.received(self, packet)

    def _take(self, packet: Packet) -> None:
        if self.node is not None:
            self._links.received(self, packet)
        elif isinstance(packet, Hello) and self._hello is None:
            self._hello = packet
            self._links.greeted(self, packet)
        elif isinstance(packet, Welcome) and self._hello is not None and self.dialled:
            if not self.welcomed.done():
                self.welcomed.set_result(self._hello)
        elif self.welcomed.done():
            self._held.append(packet)
        else:
            self._fail(WireError(f"{type(packet).__name__} before the link stands"))

    def _fail(self, error: WireError) -> None:
        if not self.welcomed.done():
            self.welcomed.set_exception(error)
            self.welcomed.exception()
        self.abort()
