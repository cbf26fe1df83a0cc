"""Connections through the embedded proxy, on real sockets: what its toxics' own tests cannot see.

What both it and the real server do is the contract's matter (tests/contract); here stands what it
does where the real one breaks, and what it costs.
"""

import contextlib
import hashlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.faults.proxy.rig import Live, live

pytestmark = pytest.mark.slow

MANY = 120


@pytest.fixture(scope="module")
def proxy() -> Iterator[Live]:
    with live() as started:
        yield started


def test_bytes_arrive_intact_while_toxics_come_and_go(proxy: Live) -> None:
    """One side sends as fast as it can; a receiver that rests now and then makes it wait."""
    draws = Random(11)
    upstream = proxy.listen()
    client, server = proxy.pair(proxy.proxy("storm", upstream), upstream)
    over = threading.Event()
    sent, received = hashlib.sha256(), hashlib.sha256()

    def send() -> None:
        octets = Random(12)
        while not over.is_set():
            piece = octets.randbytes(octets.choice([1, 100, 5_000, 70_000]))
            sent.update(piece)
            client.sendall(piece)
        client.close()

    def receive() -> None:
        while piece := server.recv(1 << 16):
            received.update(piece)

    threads = [threading.Thread(target=send), threading.Thread(target=receive)]
    for thread in threads:
        thread.start()
    kinds = [
        ("latency", {"latency": 5, "jitter": 5}),
        ("bandwidth", {"rate": 5_000}),
        ("bandwidth", {"rate": 0}),
        ("slicer", {"average_size": 3_000, "size_variation": 900, "delay": 10}),
        ("slow_close", {"delay": 5}),
    ]
    for number in range(60):
        kind, attributes = draws.choice(kinds)
        body = {"name": "t", "type": kind, "stream": "upstream", "attributes": attributes}
        proxy.ask("POST", "/proxies/storm/toxics", body)
        if number % 3 == 0:
            proxy.ask("POST", "/proxies/storm/toxics/t", {"toxicity": draws.choice([0, 1])})
        proxy.ask("DELETE", "/proxies/storm/toxics/t")
    over.set()
    for thread in threads:
        thread.join(30.0)
        assert not thread.is_alive()
    assert sent.digest() == received.digest()


def test_many_connections_carry_many_small_messages_at_once(proxy: Live) -> None:
    upstream = proxy.listen()
    address = proxy.proxy("many", upstream)
    pairs = [proxy.pair(address, upstream) for _ in range(MANY)]
    for turn in range(20):
        for number, (client, _) in enumerate(pairs):
            client.sendall(b"%06d.%03d" % (number, turn))
        for number, (client, server) in enumerate(pairs):
            server.sendall(_exactly(server, 10))
            assert _exactly(client, 10) == b"%06d.%03d" % (number, turn)


def test_a_slow_receiver_holds_the_sender_back_with_little_memory(proxy: Live) -> None:
    upstream = proxy.listen()
    client, server = proxy.pair(proxy.proxy("slow", upstream), upstream)
    before_kb = _memory_kb(proxy)
    sent = _fill(client)
    assert sent < 1 << 28
    assert _memory_kb(proxy) - before_kb < 20_000
    assert _exactly(server, sent) == bytes(sent)


def test_data_held_by_a_toxic_reaches_a_slow_receiver_completely(proxy: Live) -> None:
    """Far more than the kernel takes at once: every write but the last is a part."""
    upstream = proxy.listen()
    client, server = proxy.pair(proxy.proxy("held", upstream), upstream)
    latency = {"type": "latency", "stream": "upstream", "attributes": {"latency": 600_000}}
    proxy.ask("POST", "/proxies/held/toxics", {"name": "t", **latency})
    octets = Random(13).randbytes(12_000_007)
    client.sendall(octets)
    client.close()
    proxy.ask("DELETE", "/proxies/held/toxics/t")
    assert _exactly(server, len(octets)) == octets
    assert server.recv(1) == b""


def test_removing_a_stall_whose_client_has_gone_takes_no_time(proxy: Live) -> None:
    """The real server waits here until its write limit of 5 s has passed."""
    upstream = proxy.listen()
    client, server = proxy.pair(proxy.proxy("gone", upstream), upstream)
    stall = {"name": "s", "type": "bandwidth", "attributes": {"rate": 0}}
    proxy.ask("POST", "/proxies/gone/toxics", stall)
    server.sendall(b"held")
    client.close()
    assert server.recv(10) == b""
    began = time.monotonic()
    proxy.ask("DELETE", "/proxies/gone/toxics/s")
    assert time.monotonic() - began < 2.0


def test_a_new_rate_releases_a_stall(proxy: Live) -> None:
    """The real server can crash here."""
    upstream = proxy.listen()
    client, server = proxy.pair(proxy.proxy("rate", upstream), upstream)
    stall = {"name": "s", "type": "bandwidth", "attributes": {"rate": 0}}
    proxy.ask("POST", "/proxies/rate/toxics", stall)
    server.sendall(b"held")
    client.settimeout(0.2)
    with pytest.raises(TimeoutError):
        client.recv(10)
    client.settimeout(20.0)
    proxy.ask("POST", "/proxies/rate/toxics/s", {"attributes": {"rate": 1_000}})
    assert _exactly(client, 4) == b"held"


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("slicer", {}),
        ("slicer", {"average_size": 1, "size_variation": 50}),
        ("latency", {"latency": -5, "jitter": -3}),
        ("slow_close", {"delay": -1}),
    ],
)
def test_settings_that_crash_or_puzzle_the_real_server_lose_nothing(
    proxy: Live, kind: str, attributes: dict[str, int]
) -> None:
    upstream = proxy.listen()
    name = f"odd {kind} {len(attributes)}"
    address = proxy.proxy(name, upstream)
    body = {"name": "t", "type": kind, "attributes": attributes}
    proxy.ask("POST", f"/proxies/{name.replace(' ', '%20')}/toxics", body)
    client, server = proxy.pair(address, upstream)
    server.sendall(b"0123456789")
    assert _exactly(client, 10) == b"0123456789"


def test_a_proxy_with_a_silent_upstream_can_be_changed_immediately(proxy: Live) -> None:
    """The upstream's queue is full, so that it is dialled for minutes. The real server's answer
    would wait for that."""
    upstream = proxy.listen()
    with contextlib.ExitStack() as stack:
        deaf = stack.enter_context(socket.socket())
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        address = proxy.proxy("deaf", deaf)
        waiting = [
            stack.enter_context(socket.create_connection(address, timeout=20.0)) for _ in range(4)
        ]
        began = time.monotonic()
        proxy.ask("POST", "/proxies/deaf", {"upstream": "{}:{}".format(*upstream.getsockname())})
        assert [each.recv(1) for each in waiting] == [b""] * 4
        assert time.monotonic() - began < 5.0
        client, server = proxy.pair(address, upstream)
        client.sendall(b"heard")
        assert _exactly(server, 5) == b"heard"


def test_held_data_costs_no_cpu_after_both_sides_have_gone(proxy: Live) -> None:
    upstream = proxy.listen()
    address = proxy.proxy("idle", upstream)
    for stream in ("upstream", "downstream"):
        body = {"type": "bandwidth", "stream": stream, "attributes": {"rate": 0}}
        proxy.ask("POST", "/proxies/idle/toxics", body)
    for _ in range(10):
        client, server = proxy.pair(address, upstream)
        for side in (client, server):
            side.sendall(bytes(300_000))
            side.close()
    watched, _ = proxy.pair(address, upstream)
    watched.settimeout(1.0)
    before_s = _cpu_s(proxy)
    with pytest.raises(TimeoutError):
        watched.recv(1)
    assert _cpu_s(proxy) - before_s < 0.2


def test_the_same_seed_draws_the_same_for_the_same_connections() -> None:
    def passed() -> list[bool]:
        with live() as started:
            upstream = started.listen()
            address = started.proxy("half", upstream)
            body = {"type": "timeout", "toxicity": 0.5, "attributes": {"timeout": 0}}
            started.ask("POST", "/proxies/half/toxics", body)
            seen = []
            for _ in range(16):
                client, server = started.pair(address, upstream)
                server.sendall(b"x")
                client.settimeout(0.1)
                try:
                    seen.append(client.recv(1) == b"x")
                except TimeoutError:
                    seen.append(False)
            return seen

    first = passed()
    assert first == passed()
    assert {True, False} == set(first)


def _fill(client: socket.socket) -> int:
    """How much is taken before nothing more is for half a second."""
    client.settimeout(0.5)
    sent = 0
    with contextlib.suppress(TimeoutError):
        while sent < 1 << 28:
            sent += client.send(bytes(1 << 16))
    return sent


def _exactly(source: socket.socket, count: int) -> bytes:
    octets = bytearray()
    while len(octets) < count:
        part = source.recv(min(1 << 18, count - len(octets)))
        assert part, f"ended after {len(octets)} of {count} bytes"
        octets += part
    return bytes(octets)


def _memory_kb(proxy: Live) -> int:
    status = Path(f"/proc/{proxy.server.process_id}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


def _cpu_s(proxy: Live) -> float:
    stat = Path(f"/proc/{proxy.server.process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
