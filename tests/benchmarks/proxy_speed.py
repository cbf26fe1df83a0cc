"""What the embedded proxy costs, beside the real Toxiproxy and beside no proxy at all.

usage: python -m tests.benchmarks.proxy_speed TOXIPROXY [--seconds 4] [--rounds 3]
TOXIPROXY is the real server's binary (tests/contract/generate.py says where to get it).

All three carry the same load in turns, so that a busy machine is busy for all of them:
- small: 100 connections, each sends 200 bytes and waits until they come back;
- bulk: one connection, as much as it takes, one way.
The load is one process on its own core. Prints the median of the rounds and the ratios; `cpu` is
what the proxy itself used: the only difference that remains when the load is the bottleneck.
"""

import argparse
import json
import os
import select
import socket
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.contract import servers
from tests.contract.servers import HOST

CONNECTIONS = 100
MESSAGE = b"x" * 200
BULK = bytes(1 << 18)
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Way:
    """How a load reaches its upstream: the address to dial, and whose CPU it costs."""

    name: str
    address: tuple[str, int]
    process_id: int | None


@dataclass(frozen=True, slots=True)
class Measured:
    rate: float  # round trips or megabytes a second
    cpu_us: float  # of the proxy, for each of them


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("toxiproxy")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with ExitStack() as stack:
        upstream = stack.enter_context(socket.create_server((HOST, 0), backlog=256))
        ways = [Way("none", upstream.getsockname(), None)]
        for name, server in (
            ("toxiproxy", servers.real(options.toxiproxy)),
            ("embedded", servers.embedded()),
        ):
            ways.append(_way(name, stack.enter_context(server), upstream))
        print(f"{'load':6} {'proxy':10} {'rate':>10} {'of toxiproxy':>13} {'cpu us':>8}")
        for load, measure in (("small", _small), ("bulk", _bulk)):
            _report(load, _rounds(measure, ways, upstream, options.seconds, options.rounds))


Measure = Callable[[Way, socket.socket, float], Measured]


def _way(name: str, server: servers.Server, upstream: socket.socket) -> Way:
    host, port = upstream.getsockname()
    body = f'{{"name":"p","listen":"{HOST}:0","upstream":"{host}:{port}"}}'
    listen = json.loads(server.ask("POST", "/proxies", body).body)["listen"]
    return Way(name, (HOST, int(listen.rpartition(":")[2])), server.process_id)


def _rounds(
    measure: Measure, ways: list[Way], upstream: socket.socket, seconds: float, rounds: int
) -> dict[str, Measured]:
    measured: dict[str, list[Measured]] = {way.name: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            measured[way.name].append(measure(way, upstream, seconds))
    return {
        name: Measured(
            statistics.median(one.rate for one in each),
            statistics.median(one.cpu_us for one in each),
        )
        for name, each in measured.items()
    }


def _report(load: str, measured: dict[str, Measured]) -> None:
    for name, one in measured.items():
        ratio = one.rate / measured["toxiproxy"].rate
        print(f"{load:6} {name:10} {one.rate:10.0f} {ratio:13.2f} {one.cpu_us:8.1f}")


def _small(way: Way, upstream: socket.socket, seconds: float) -> Measured:
    """Both ends of every connection in one loop: each returns what it receives."""
    with ExitStack() as stack:
        poller = select.epoll()
        stack.callback(poller.close)
        answers: dict[int, socket.socket] = {}
        clients = set()
        for _ in range(CONNECTIONS):
            client = stack.enter_context(socket.create_connection(way.address))
            server = stack.enter_context(upstream.accept()[0])
            clients.add(client.fileno())
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                poller.register(end, select.EPOLLIN)
                answers[end.fileno()] = end
            client.sendall(MESSAGE)
        began, cpu_began_s, trips = time.monotonic(), _cpu_s(way), 0
        while time.monotonic() - began < seconds:
            for number, _ in poller.poll():
                end = answers[number]
                end.send(end.recv(4096))
                trips += number in clients
        return _measured(trips, time.monotonic() - began, _cpu_s(way) - cpu_began_s)


def _bulk(way: Way, upstream: socket.socket, seconds: float) -> Measured:
    with ExitStack() as stack:
        client = stack.enter_context(socket.create_connection(way.address))
        server = stack.enter_context(upstream.accept()[0])
        octets = 0

        def drink() -> None:
            nonlocal octets
            buffer = bytearray(1 << 18)
            while count := server.recv_into(buffer):
                octets += count

        drinker = threading.Thread(target=drink)
        drinker.start()
        began, cpu_began_s = time.monotonic(), _cpu_s(way)
        while time.monotonic() - began < seconds:
            client.sendall(BULK)
        measured = _measured(
            octets // 1_000_000, time.monotonic() - began, _cpu_s(way) - cpu_began_s
        )
        client.close()
        drinker.join()
        return measured


def _measured(count: int, took_s: float, cpu_s: float) -> Measured:
    return Measured(count / took_s, cpu_s * 1e6 / max(1, count))


def _cpu_s(way: Way) -> float:
    if way.process_id is None:
        return 0.0
    fields = Path(f"/proc/{way.process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND


if __name__ == "__main__":
    main()
