"""Two groups of RocketMQ to play with: the configuration of each server."""

import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random

import pytest

from reference_impl.rocketmq import configuration
from reference_impl.rocketmq.remoting.command import answer, encode
from reference_impl.rocketmq.remoting.frames import Decoder
from reference_impl.rocketmq.settings import Role
from reference_impl.shell import sendable
from reference_impl.shell.play_rocketmq import (
    BROKER_OFFSET,
    BROKER_STEP,
    Playing,
    configurations,
)

NAME_SERVERS = ["127.0.0.1:9876", "127.0.0.1:9877"]


def test_every_server_understands_its_configuration(tmp_path: Path) -> None:
    files = configurations(Playing(9876, "sync", 10), tmp_path)
    servers = [
        configuration.name_server(text) for word, text in files.values() if word != "broker"
    ]
    brokers = [configuration.broker(text) for word, text in files.values() if word == "broker"]
    assert [f"127.0.0.1:{one.listen_port}" for one in servers] == NAME_SERVERS
    assert [(one.broker_name, one.broker_id, one.broker_role) for one in brokers] == [
        ("broker-a", 0, Role.SYNC_MASTER),
        ("broker-a", 1, Role.SLAVE),
        ("broker-b", 0, Role.SYNC_MASTER),
        ("broker-b", 1, Role.SLAVE),
    ]
    assert all(one.name_servers == NAME_SERVERS for one in brokers)
    assert brokers[0].times.register_name_server_period == 3_000


def test_all_servers_have_their_own_port_on_loopback(tmp_path: Path) -> None:
    files = configurations(Playing(9876, "async", 1), tmp_path)
    brokers = [configuration.broker(text) for word, text in files.values() if word == "broker"]
    ports = [
        port for one in brokers for port in (one.listen_port, one.listen_port - 2, one.copies_port)
    ]
    assert len({*ports, 9876, 9877}) == len(ports) + 2
    assert {one.bind_address for one in brokers} == {"127.0.0.1"}


@pytest.mark.slow
def test_the_first_line_comes_when_clients_can_send() -> None:
    """Each master confirms the first message at once: its slave has reported by then."""
    port = _free_port()
    words = ["reference_impl", "2m2s", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"127.0.0.1:{port};127.0.0.1:{port + 1}\n"
        started_s = time.monotonic()
        for place in (0, 2):  # both masters, as BROKERS has them
            address = ("127.0.0.1", port + BROKER_OFFSET + place * BROKER_STEP)
            sendable._confirms("later", address)
        # No check waited for a slave: each would take 3 s.
        assert time.monotonic() - started_s < 2.5
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
    assert said == ""


def _free_port() -> int:
    """Return one above which the cluster's ports are free; other workers look at the same time."""
    ports = range(21_000, 29_000, 100)
    for port in Random().sample(ports, len(ports)):
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for offset in (0, 1, *range(BROKER_OFFSET - 2, BROKER_OFFSET + 4 * BROKER_STEP)):
                held.enter_context(socket.create_server(("127.0.0.1", port + offset)))
            return port
    raise AssertionError("no free ports")


class _Servers(threading.Thread):
    """Answers one command after another, each with the next code and body."""

    def __init__(self, *answers: tuple[int, bytes]) -> None:
        super().__init__(daemon=True)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._server.getsockname()
        self._answers = answers
        self.start()

    def run(self) -> None:
        for code, body in self._answers:
            link, _ = self._server.accept()
            with link:
                (request,) = Decoder().feed(link.recv(65536))
                link.sendall(encode(answer(request, code, body=body)))


ROUTE = b'{"queueDatas":[{"brokerName":"broker-a"}]}'


def test_a_missing_route_and_a_silent_slave_are_awaited() -> None:
    name_server = _Servers((17, b""), (0, b'{"queueDatas":[]}'), (0, ROUTE))
    master = _Servers((12, b""), (11, b""), (0, b""))
    found = sendable.obstacle([name_server.address], {"broker-a": [master.address]}, 20)
    assert found == ""
    name_server.join(5)
    master.join(5)
    assert not name_server.is_alive() and not master.is_alive()


def test_the_remaining_obstacle_to_sending_is_named_after_the_limit() -> None:
    name_server, master = _Servers((0, ROUTE)), _Servers((12, b""))
    found = sendable.obstacle([name_server.address], {"broker-a": [master.address]}, 0)
    assert found.startswith("broker-a at 127.0.0.1:")
    assert found.endswith("confirms nothing (code 12)")
