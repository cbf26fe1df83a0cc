"""Links between nodes of one process, on real sockets: who is let in, and who is not."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from reference_impl.node.config import Config
from reference_impl.node.gossip import Alive, Greeting
from reference_impl.node.wire import (
    GREETING_OCTETS_MAX,
    GossipPacket,
    Hello,
    Packet,
    Tick,
    Welcome,
    encode,
)
from reference_impl.protocol.handshake import NONCE_OCTETS, Handshake
from reference_impl.shell import links
from reference_impl.shell.links import PeerLinks
from tests.rigs.machine.ports import free_port

HOST = "127.0.0.1"
COOKIE = "what only these nodes know"
LIMIT_S = 5.0


@dataclass
class Member:
    """One node's links, and all that came of them."""

    name: str
    addresses: dict[str, tuple[str, int]]
    cookie: str = COOKIE
    octets_max: int = 1 << 20
    came: list[object] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    async def begin(self) -> "Member":
        config = Config(
            self.name,
            HOST,
            "unused",
            self.cookie,
            {name: at for name, at in self.addresses.items() if name != self.name},
            peer_octets_max=self.octets_max,
        )
        self.links = PeerLinks(config, self.turn, self.lines.append)
        self.links.node = self
        self.server = await self.links.listen(*self.addresses[self.name])
        return self

    def turn(self) -> None:
        asyncio.get_running_loop().call_soon(self.links.flush)

    def end(self) -> None:
        self.server.close()
        self.links.close()

    def hello(self) -> Hello:
        return Hello(self.name, 1, Greeting(tuple(self.addresses)))

    def linked(self, hello: Hello) -> None:
        self.came.append(("linked", hello.node))

    def unlinked(self, node: str) -> None:
        self.came.append(("unlinked", node))

    def heard(self, node: str, packet: Packet) -> None:
        self.came.append((node, packet))

    def pinged(self, node: str, answered: bool) -> None:
        self.came.append(("pinged", node, answered))


def free_addresses(*names: str) -> dict[str, tuple[str, int]]:
    ports = list[int]()
    while len(ports) < len(names):
        if (port := free_port()) not in ports:
            ports.append(port)
    return {name: (HOST, port) for name, port in zip(names, ports, strict=True)}


def run_story(story: Callable[[Member, Member], Awaitable[None]], **of_b: object) -> None:
    """A story of two nodes, a and b."""

    async def live() -> None:
        addresses = free_addresses("a", "b")
        a = await Member("a", addresses).begin()
        b = await Member("b", addresses, **of_b).begin()  # type: ignore[arg-type]
        try:
            async with asyncio.timeout(LIMIT_S):
                await story(a, b)
        finally:
            a.end()
            b.end()

    asyncio.run(live())


async def until(look: Callable[[], object]) -> None:
    while not look():
        await asyncio.sleep(0.005)


class Stranger:
    """One who speaks the handshake with b's port by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @staticmethod
    async def at(member: Member) -> "Stranger":
        return Stranger(*await asyncio.open_connection(*member.addresses[member.name]))

    async def prove(self, name: str, cookie: str, dialled: str) -> None:
        handshake = Handshake(cookie, name, bytes(NONCE_OCTETS), dialled)
        while handshake.peer is None:
            octets = await self.reader.read(65536)
            if not octets:
                return
            self.writer.write(handshake.read(octets))

    def say(self, *packets: Packet) -> None:
        self.writer.write(b"".join(map(encode, packets)))

    async def ended(self) -> None:
        with suppress(ConnectionError):
            await self.reader.read()
        self.writer.close()


def test_nodes_with_the_same_cookie_link_and_exchange_packets() -> None:
    async def story(a: Member, b: Member) -> None:
        a.links.dial("b")
        await until(lambda: a.came and b.came)
        assert (a.came, b.came) == ([("linked", "b")], [("linked", "a")])
        a.links.send("b", GossipPacket(Alive("c", 1)))
        a.links.flush()
        await until(lambda: len(b.came) > 1)
        assert b.came[1] == ("a", GossipPacket(Alive("c", 1)))
        assert a.lines == b.lines == []

    run_story(story)


def test_both_may_dial_at_once() -> None:
    async def story(a: Member, b: Member) -> None:
        a.links.dial("b")
        b.links.dial("a")
        await until(lambda: ("linked", "b") in a.came and ("linked", "a") in b.came)
        a.links.send("b", GossipPacket(Alive("c", 1)))
        b.links.send("a", GossipPacket(Alive("d", 1)))
        a.links.flush()
        b.links.flush()
        await until(lambda: a.came[-1] == ("b", GossipPacket(Alive("d", 1))))
        await until(lambda: b.came[-1] == ("a", GossipPacket(Alive("c", 1))))
        assert a.lines == b.lines == []

    run_story(story)


def test_a_node_with_another_cookie_is_refused_in_one_line() -> None:
    async def story(a: Member, b: Member) -> None:
        b.links.dial("a")
        await until(lambda: b.came)
        assert b.came == [("unlinked", "a")]
        assert a.came == []
        assert len(a.lines) == 1 and a.lines[0].endswith("it does not know the cookie")
        assert COOKIE not in a.lines[0]

    run_story(story, cookie="what somebody guesses")


def test_a_stranger_takes_no_standing_link_away() -> None:
    async def story(a: Member, b: Member) -> None:
        a.links.dial("b")
        await until(lambda: a.came and b.came)
        stranger = await Stranger.at(b)
        await stranger.prove("a", "what somebody guesses", "b")
        await stranger.ended()
        other = await Stranger.at(b)
        other.say(Hello("a", 9, Greeting(("a", "b"))))
        await other.ended()
        assert b.came == [("linked", "a")]
        assert len(b.lines) == 2

    run_story(story)


def test_a_peer_greets_by_the_name_that_it_has_proven() -> None:
    async def story(a: Member, b: Member) -> None:
        peer = await Stranger.at(b)
        await peer.prove("c", COOKIE, "b")
        peer.say(Hello("a", 1, Greeting(())))
        await peer.ended()
        assert b.came == []
        assert "another name" in b.lines[0]

    run_story(story)


@pytest.mark.parametrize("packet", [Tick(), Welcome(), GossipPacket(Alive("c", 1))])
def test_only_a_greeting_opens_a_link(packet: Packet) -> None:
    async def story(a: Member, b: Member) -> None:
        peer = await Stranger.at(b)
        await peer.prove("a", COOKIE, "b")
        peer.say(packet)
        await peer.ended()
        assert b.came == []

    run_story(story)


def test_packets_are_small_before_a_link_stands_and_configured_afterwards() -> None:
    large = GossipPacket(Alive("c" * GREETING_OCTETS_MAX, 1))

    async def story(a: Member, b: Member) -> None:
        early = await Stranger.at(b)
        await early.prove("a", COOKIE, "b")
        early.say(large)
        await early.ended()
        assert b.came == [] and "a packet of" in b.lines[0]
        a.links.dial("b")
        await until(lambda: a.came and b.came)
        a.links.send("b", large)
        b.links.send("a", large)
        a.links.flush()
        b.links.flush()
        await until(lambda: a.came[-1] == ("b", large) and b.came[-1] == ("a", large))
        a.links.send("b", GossipPacket(Alive("c" * (1 << 20), 1)))
        a.links.flush()
        await until(lambda: b.came[-1] == ("unlinked", "a"))
        assert "a packet of" in b.lines[1]

    run_story(story)


@pytest.mark.parametrize("is_proven", [False, True])
def test_a_connection_that_completes_no_link_in_time_is_closed(
    is_proven: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "ACCEPT_LIMIT_S", 0.2)

    async def story(a: Member, b: Member) -> None:
        slow = await Stranger.at(b)
        if is_proven:
            await slow.prove("a", COOKIE, "b")
        await slow.ended()
        assert b.came == []
        assert len(b.lines) == 1 and b.lines[0].endswith("no peer after 0.2 s")

    run_story(story)


def test_a_link_that_stands_is_not_closed_for_its_age(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "ACCEPT_LIMIT_S", 0.1)

    async def story(a: Member, b: Member) -> None:
        a.links.dial("b")
        await until(lambda: a.came and b.came)
        over = asyncio.get_running_loop().time() + 3 * links.ACCEPT_LIMIT_S
        await until(lambda: asyncio.get_running_loop().time() > over)
        assert (a.came, b.came) == ([("linked", "b")], [("linked", "a")])

    run_story(story)


def test_a_liveness_probe_needs_no_cookie_and_logs_nothing() -> None:
    """The harness's witness does (faults/executors/local_witness.py), and a peer's ping."""

    async def story(a: Member, b: Member) -> None:
        a.links.ping("b")
        await until(lambda: a.came)
        assert a.came == [("pinged", "b", True)]
        await until(lambda: not b.links._accepted)
        assert b.came == b.lines == []

    run_story(story, cookie="what somebody guesses")
