"""Strangers at the ports of real nodes: what they forge, pile up or draw out does no harm."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic

import pika
import pytest

from reference_impl.node.gossip import Greeting
from reference_impl.node.wire import Hello, Mail, Packet, encode
from reference_impl.pid import Pid
from reference_impl.protocol.queues import Deliver, Message
from reference_impl.shell.links import ACCEPT_LIMIT_S
from tests.reference_impl.management import Management
from tests.reference_impl.nodes import Nodes, until

pytestmark = pytest.mark.slow

NAMES = ("ref1", "ref2", "ref3")
AS_REF3 = Hello("ref3", 99, Greeting(NAMES))
API_PORT, PEER_PORT = 15672, 25672
LIMIT_S = 3.0


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    with Nodes(tmp_path) as nodes:
        until(lambda: all(is_whole(nodes, name) for name in NAMES))
        yield nodes


def is_whole(nodes: Nodes, name: str) -> bool:
    """Whether all three run in that node's eyes, and it is not partitioned."""
    listed = Management(nodes.addresses[name]).call("GET", "/api/nodes")
    return len(listed) == 3 and all(it["running"] and not it["partitions"] for it in listed)


@contextmanager
def stranger(nodes: Nodes, port: int, limit_s: float = LIMIT_S) -> Iterator[socket.socket]:
    with socket.create_connection((nodes.addresses["ref1"], port), limit_s) as connection:
        yield connection


def says(connection: socket.socket, octets: bytes) -> None:
    """As far as it is taken."""
    with suppress(OSError):  # The caller checks whether it was closed.
        connection.sendall(octets)


def heard(connection: socket.socket) -> bytes:
    """All that comes until the node ends it; fails where it does not."""
    octets = bytearray()
    try:
        while more := connection.recv(65536):
            octets += more
    except ConnectionError:
        pass
    except TimeoutError:
        pytest.fail(f"the node left it open, and said {bytes(octets)!r}")
    return bytes(octets)


def forged(nodes: Nodes, *packets: Packet) -> None:
    """Said by a stranger who waits for the node's first word, and for the end."""
    with stranger(nodes, PEER_PORT) as connection:
        connection.recv(65536)
        says(connection, b"".join(map(encode, packets)))
        heard(connection)


def resident_octets(nodes: Nodes) -> int:
    status = Path(f"/proc/{nodes.processes['ref1'].pid}/status").read_text().splitlines()
    line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def log_lines(nodes: Nodes, text: str) -> list[str]:
    lines = (nodes.folder / "ref1.log").read_text().splitlines()
    return [line for line in lines if text in line]


def test_a_forged_greeting_replaces_no_connection(nodes: Nodes) -> None:
    forged(nodes, AS_REF3)
    assert all(is_whole(nodes, name) for name in NAMES)
    assert not log_lines(nodes, "is lost")
    assert len(log_lines(nodes, "link with a stranger")) == 1


def test_a_forged_message_comes_into_no_queue(nodes: Nodes) -> None:
    with pika.BlockingConnection(pika.ConnectionParameters(nodes.addresses["ref1"])) as client:
        channel = client.channel()
        channel.queue_declare("orders")
        message = Message(b"forged", "", "orders", b"\0\0", b"I owe you", False)
        lie = Deliver(Pid("ref3", 99, 7), 0, message)
        forged(nodes, AS_REF3, *(Mail(Pid("ref1", 1, number), lie) for number in range(200)))
        channel.basic_publish("", "orders", b"mine")
        _, _, body = until(lambda: found if (found := channel.basic_get("orders"))[0] else None)
        assert body == b"mine"


def test_a_stranger_cannot_have_a_node_hold_what_it_announces(nodes: Nodes) -> None:
    before = resident_octets(nodes)
    with stranger(nodes, PEER_PORT) as connection:
        connection.recv(65536)
        says(connection, (1 << 29).to_bytes(4, "big") + bytes(64 << 20))
        grown = resident_octets(nodes) - before
        heard(connection)
    assert grown < 16 << 20
    assert all(is_whole(nodes, name) for name in NAMES)


def test_a_stranger_that_sends_slowly_is_closed_in_time(nodes: Nodes) -> None:
    began = monotonic()
    with stranger(nodes, PEER_PORT, limit_s=0.2) as connection:
        while monotonic() - began < ACCEPT_LIMIT_S + LIMIT_S:
            try:
                connection.send(b"\1")  # what it announces is never whole
                if connection.recv(65536) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            pytest.fail("it was left open")
    assert all(is_whole(nodes, name) for name in NAMES)


def test_missing_credentials_are_refused_before_the_body(nodes: Nodes) -> None:
    head = b"PUT /api/policies/%2F/p HTTP/1.1\r\nhost: a\r\ncontent-length: 314572800\r\n\r\n"
    with stranger(nodes, API_PORT) as connection:
        connection.sendall(head)
        assert heard(connection).startswith(b"HTTP/1.1 401 ")


def test_a_strangers_large_body_costs_neither_time_nor_memory(nodes: Nodes) -> None:
    before = resident_octets(nodes)
    head = b"PUT /api/policies/%2F/p HTTP/1.1\r\nhost: a\r\ncontent-length: 67108864\r\n\r\n"
    with stranger(nodes, API_PORT) as connection:
        says(connection, head + bytes(64 << 20))
        grown = resident_octets(nodes) - before
    assert grown < 16 << 20
    assert is_whole(nodes, "ref1")
