"""Links to peers: one TCP connection a pair of nodes, whichever of them dialled.

1. The acceptor speaks first, and at once: an answer of the port proves that the node behind it
   lives. Before anything else both prove that they know the cookie (protocol.handshake). An end
   without a proof is closed, with a line in the log, and the node hears nothing of it.
2. Then the acceptor greets; the dialler greets back; the acceptor takes the link (Welcome) or
   closes it. Only then it stands on both sides, so nothing is sent on a link that is given up. One
   that was accepted and does not stand after ACCEPT_LIMIT_S is closed.
3. Where both dial at the same time, the link of the smaller name is taken.
4. A peer that dials has no link any more: one that stands here to it is dropped first.
5. A peer that came later than the configuration is dialled by its name, at this node's own port.
6. What is sent in one turn of the node goes out as one write.
7. A connection of a socket with itself is no peer (self_connections.py).
"""

import asyncio
import secrets
from collections.abc import Callable
from typing import Protocol

from reference_impl.node.config import Config
from reference_impl.node.wire import (
    GREETING_OCTETS_MAX,
    Hello,
    Packet,
    PacketReader,
    Tick,
    Welcome,
    WireError,
    encode,
)
from reference_impl.protocol.handshake import NONCE_OCTETS, Handshake, HandshakeError
from reference_impl.shell.self_connections import aborted_self_connection

DIAL_LIMIT_S = 2.0  # until the peer has proven itself; again until it takes the link
ACCEPT_LIMIT_S = 5.0
PING_LIMIT_S = 2.0  # only a peer that closed its link is pinged


class Peer(Protocol):
    """The node, as its links use it."""

    def hello(self) -> Hello: ...

    def linked(self, hello: Hello) -> None: ...

    def unlinked(self, node: str) -> None: ...

    def heard(self, node: str, packet: Packet) -> None: ...

    def pinged(self, node: str, answered: bool) -> None: ...


class PeerLinks:
    """node.outside.Links. `turn` is called when the node has something to do."""

    def __init__(
        self, config: Config, turn: Callable[[], None], log: Callable[[str], None]
    ) -> None:
        self.name = config.name
        self.octets_max = config.peer_octets_max
        self.log = log
        self.node: Peer | None = None
        self._cookie = config.cookie
        self._addresses = config.peers
        self._port = config.peer_port
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
            async with asyncio.timeout(DIAL_LIMIT_S) as limit:
                host, port = self._address(node)
                made = await self._loop.create_connection(
                    lambda: _Link(self, node), host, port, happy_eyeballs_delay=None
                )
                link = made[1]
                if aborted_self_connection(made[0]):
                    raise ConnectionRefusedError
                await link.proven
                limit.reschedule(self._loop.time() + DIAL_LIMIT_S)
                hello = await link.welcomed
        except (OSError, TimeoutError, WireError, HandshakeError):
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
                reader, writer = await asyncio.open_connection(*self._address(node))
                try:
                    if not aborted_self_connection(writer.transport):
                        answered = bool(await reader.read(1))
                finally:
                    writer.transport.abort()
        except (OSError, TimeoutError):
            pass
        self._peer().pinged(node, answered)
        self._turn()

    def _address(self, node: str) -> tuple[str, int]:
        return self._addresses.get(node, (node, self._port))

    def handshake(self, dialled: str | None) -> Handshake:
        return Handshake(self._cookie, self.name, secrets.token_bytes(NONCE_OCTETS), dialled)

    def made(self, link: "_Link") -> None:
        if link.dialled is None:
            self._accepted.add(link)
            self._loop.call_later(ACCEPT_LIMIT_S, self._give_up, link)

    def _give_up(self, link: "_Link") -> None:
        if link in self._accepted:
            link.fail(TimeoutError(f"no peer after {ACCEPT_LIMIT_S:g} s"))

    def proven(self, link: "_Link") -> None:
        if link.dialled is None:
            link.send(self._peer().hello())
            link.flush()

    def greeted(self, link: "_Link", hello: Hello) -> None:
        if link.dialled is not None:
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
        link.stand(hello.node)
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
    """One connection. `dialled`: the peer that was; `node` is set once the link stands."""

    def __init__(self, links: PeerLinks, dialled: str | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.dialled = dialled
        self.node: str | None = None
        self.proven: asyncio.Future[None] = loop.create_future()
        self.welcomed: asyncio.Future[Hello] = loop.create_future()
        self._links = links
        self._handshake = links.handshake(dialled)
        self._reader = PacketReader(GREETING_OCTETS_MAX)
        self._hello: Hello | None = None
        self._held: list[Packet] = []  # came with the welcome, before the link stood
        self._out: list[bytes] = []
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP gives one"
        self._transport = transport
        transport.write(self._handshake.begin())
        self._links.made(self)

    def data_received(self, data: bytes) -> None:
        try:
            if self._handshake.peer is None:
                data = self._prove(data)
            for packet in self._reader.read(data):
                self._take(packet)
        except (HandshakeError, WireError) as error:
            self.fail(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(ConnectionResetError("closed before it stood"))
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

    def stand(self, node: str) -> None:
        self.node = node
        self._reader.octets_max = self._links.octets_max

    def deliver_held(self) -> None:
        held, self._held = self._held, []
        for packet in held:
            self._links.received(self, packet)

    def fail(self, error: Exception) -> None:
        """Close it, and log the reason."""
        assert self._transport is not None, "something came from it"
        if not self._transport.is_closing():
            at = self._transport.get_extra_info("peername") or ("nowhere", 0)
            whose = self._handshake.peer or self.dialled or "a stranger"
            self._links.log(f"link with {whose} at {at[0]}:{at[1]} is closed: {error}")
        self._end(error)
        self.abort()

    def _prove(self, octets: bytes) -> bytes:
        """Return what came behind the other end's proof."""
        assert self._transport is not None, "something came from it"
        self._transport.write(self._handshake.read(octets))
        if self._handshake.peer is None:
            return b""
        if not self.proven.done():
            self.proven.set_result(None)
        self._links.proven(self)
        return self._handshake.rest

    def _take(self, packet: Packet) -> None:
        if self.node is not None:
            self._links.received(self, packet)
        elif isinstance(packet, Hello) and self._hello is None:
            if packet.node != self._handshake.peer:
                raise WireError("it greets by another name than it has proven")
            self._hello = packet
            self._links.greeted(self, packet)
        elif isinstance(packet, Welcome) and self._hello is not None and self.dialled is not None:
            if not self.welcomed.done():
                self._reader.octets_max = self._links.octets_max
                self.welcomed.set_result(self._hello)
        elif self.welcomed.done():
            self._held.append(packet)
        else:
            raise WireError(f"{type(packet).__name__} before the link stands")

    def _end(self, error: Exception) -> None:
        for waited in (self.proven, self.welcomed):
            if not waited.done():
                waited.set_exception(error)
                waited.exception()  # if no task waits for it, it is no news
