"""Links between hosts: whether they work before a fault, and a word on them for real."""

import asyncio
import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from faults.core.model import Armed, FaultError, Reply
from faults.core.peers import Mesh, Served, Serving, peer_link
from faults.executors.core import peer_canary
from faults.kinds.network import before
from harness.systems.rabbitmq.core.service_ports import UNKNOWN_TAG
from harness.systems.rocketmq.core.service_ports import TOO_LONG
from tests.rigs.clusters.fault_world import like_erlang
from tests.rigs.clusters.link_world import ANSWERED, CLOSED, SILENT

HOSTS = ("a", "b", "c")
ARMED = Armed(1, "partition", "a", ("a",), "", "proxy", (), (), "mark", HOSTS)
LOOPBACK = "127.0.0.1"


# --- before a fault ---------------------------------------------------------------------------


def reaching(**replies: Reply) -> before.Reach:
    """`a_b`: what host a meets on its link to b; `a`: past every proxy. Others answer."""

    async def reach(host: str, peer: str) -> Reply:
        return replies.get(host if host == peer else f"{host}_{peer}", ANSWERED)

    return reach


def test_a_link_that_is_silent_already_is_named() -> None:
    with pytest.raises(FaultError, match="do not work now: a -> b: silent for"):
        asyncio.run(before.speaking(ARMED, reaching(a_b=SILENT)))


def test_links_to_a_down_host_are_left_out() -> None:
    reach = reaching(b=CLOSED, a_b=CLOSED, c_b=CLOSED)
    found = asyncio.run(before.speaking(ARMED, reach))
    assert sorted(found) == [("a", "c"), ("b", "a"), ("b", "c"), ("c", "a")]


def test_silent_hosts_prove_nothing() -> None:
    with pytest.raises(FaultError, match="none of a, b, c speaks"):
        asyncio.run(before.speaking(ARMED, reaching(a=CLOSED, b=CLOSED, c=CLOSED)))


def test_a_slow_link_is_named_after_a_second_query() -> None:
    late = Reply(True, 0.2, "answered")
    with pytest.raises(FaultError, match=r"slow already: c -> a: answered \(0.200 s\)"):
        asyncio.run(before.quick(ARMED, reaching(c_a=late), 0.1))


def test_a_link_that_was_late_once_is_queried_again() -> None:
    replies = [Reply(True, 0.2, "answered"), ANSWERED]

    async def reach(host: str, peer: str) -> Reply:
        return replies.pop(0) if (host, peer) == ("a", "b") else ANSWERED

    asyncio.run(before.quick(ARMED, reach, 0.1))
    assert not replies


def test_links_of_a_broker_with_two_ports_have_two_names() -> None:
    assert Mesh("toxiproxy", like_erlang("ab")).links("a", "b") == (
        "mqproof-peer.a.b.4369",
        "mqproof-peer.a.b.25672",
    )
    assert Mesh("proxy", None).links("a", "b") == (peer_link("a", "b"),) == ("mqproof-peer.a.b",)


def test_a_host_has_one_link_per_port_of_its_processes() -> None:
    processes = (
        Served((9876,), 9876, "name-server"),
        Served((10909, 10911, 10912), 10911, "broker-a-0"),
    )
    served = Serving(by_host={"b": processes}, renewed=True)
    assert Mesh("toxiproxy", served).links("a", "b") == (
        "mqproof-peer.a.b.9876",
        "mqproof-peer.a.b.10909",
        "mqproof-peer.a.b.10911",
        "mqproof-peer.a.b.10912",
    )
    assert Mesh("toxiproxy", served).ends("a", "b") == ("b:9876", "b:10911")
    assert Mesh("toxiproxy", like_erlang("ab")).ends("a", "b") == ("b",)


@pytest.mark.parametrize("serving", [None, like_erlang("a")])
def test_links_need_declared_listeners(serving: Serving | None) -> None:
    with pytest.raises((AssertionError, KeyError)):
        Mesh("toxiproxy", serving).links("a", "b")


# --- a word, said by the script that runs in a host's namespace -------------------------------


class Distribution(socketserver.BaseRequestHandler):
    """As Erlang's: it waits to be spoken to, and ends at once what begins with no tag of its."""

    request: socket.socket

    def handle(self) -> None:
        said = self.request.recv(3)
        assert said == b"\0\1?", said


class Remoting(socketserver.BaseRequestHandler):
    """As RocketMQ's: it ends a connection whose first command is longer than any may be."""

    request: socket.socket

    def handle(self) -> None:
        said = self.request.recv(100)
        assert len(said) >= 13, said  # its second major version looks for a proxy's header first
        assert int.from_bytes(said[:4], signed=True) > 16 << 20, said


class Gone(socketserver.BaseRequestHandler):
    """As a proxy whose upstream is down: what it takes it ends."""


class Held(socketserver.BaseRequestHandler):
    """As a proxy that holds what it is given."""

    request: socket.socket

    def handle(self) -> None:
        while self.request.recv(100):
            pass


class Loud(socketserver.BaseRequestHandler):
    request: socket.socket

    def handle(self) -> None:
        self.request.sendall(b"hello")
        self.request.recv(100)


@contextmanager
def listening(handler: type[socketserver.BaseRequestHandler]) -> Iterator[int]:
    with socketserver.ThreadingTCPServer((LOOPBACK, 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()


def word(port: int, wait_s: float = 5.0, word: str = UNKNOWN_TAG) -> Reply:
    command = peer_canary.command(LOOPBACK, wait_s, port, word)
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return peer_canary.reply_of(said.stdout, "a -> b")


@pytest.mark.slow
@pytest.mark.parametrize(("handler", "said"), [(Distribution, UNKNOWN_TAG), (Remoting, TOO_LONG)])
def test_a_word_that_arrives_is_answered_by_a_closed_connection(
    handler: type[socketserver.BaseRequestHandler], said: str
) -> None:
    with listening(handler) as port:
        reply = word(port, word=said)
    assert reply.answered, reply
    assert reply.seconds < 2.0  # it would wait for five


class Bytes(socketserver.BaseRequestHandler):
    """It ends a connection after the expected bytes, and no other."""

    request: socket.socket
    heard = b""

    def handle(self) -> None:
        Bytes.heard = b""
        while len(Bytes.heard) < 256:
            Bytes.heard += self.request.recv(256)


@pytest.mark.slow
def test_a_word_may_be_of_any_bytes() -> None:
    every = bytes(range(256))
    with listening(Bytes) as port:
        assert word(port, word=every.decode("latin-1")).answered
    assert Bytes.heard == every


@pytest.mark.slow
def test_a_word_that_is_held_is_silence() -> None:
    with listening(Held) as port:
        reply = word(port, wait_s=0.5)
    assert not reply.answered
    assert reply.seconds >= 0.5
    assert reply.detail.startswith("silent for")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("handler", "words"),
    [(Gone, "closed before a word was said"), (Loud, "it spoke first")],
)
def test_an_unexpected_reply_counts_as_no_answer(
    handler: type[socketserver.BaseRequestHandler], words: str
) -> None:
    with listening(handler) as port:
        reply = word(port)
    assert not reply.answered
    assert words in reply.detail


@pytest.mark.slow
def test_a_refusal_is_reported_with_the_shells_words() -> None:
    with socket.socket() as unused:
        unused.bind((LOOPBACK, 0))
        reply = word(unused.getsockname()[1])
    assert not reply.answered
    assert "refused" in reply.detail


@pytest.mark.parametrize("text", ["", "OCI runtime exec failed: no such container", "0 1.0 2.0"])
def test_an_attempt_that_did_not_happen_is_an_error(text: str) -> None:
    with pytest.raises(FaultError, match="a -> b: the attempt said"):
        peer_canary.reply_of(text, "a -> b")
