"""Which name server a silent client asks, by its process's own connections."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import pytest

from harness.workers.clients.rocketmq.native_attached import Attached, connected, first
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Endpoint, Role
from tests.rigs.workers.rig import config


@pytest.fixture
def servers() -> Iterator[list[Endpoint]]:
    """Two that listen, host1 and host2."""
    with ExitStack() as open_still:
        found = []
        for host in ("host1", "host2"):
            server = open_still.enter_context(socket.create_server(("127.0.0.1", 0)))
            found.append(Endpoint(host, "127.0.0.1", server.getsockname()[1]))
        yield found


def to(server: Endpoint) -> socket.socket:
    return socket.create_connection((server.address, server.port))


def test_the_connected_name_server_is_reported(servers: list[Endpoint]) -> None:
    events: list[tuple[str, str]] = []
    attached = Attached(servers, lambda kind, detail: events.append((kind, detail)))
    attached.look()
    with to(servers[1]):
        assert (servers[1].address, servers[1].port) in set(connected())
        attached.look()
        attached.look()
        with to(servers[0]):  # it is connected to both, and which one it asks is unknown
            attached.look()
    attached.look()
    assert events == [("attached", "host2"), ("attached", "")]


def test_another_processes_connections_and_other_servers_are_none_of_its(
    servers: list[Endpoint],
) -> None:
    events: list[tuple[str, str]] = []
    only = Attached(servers[:1], lambda kind, detail: events.append((kind, detail)))
    with to(servers[1]):
        only.look()
    assert events == []


def test_client_assigned_the_second_name_server_lists_it_first(
    servers: list[Endpoint], tmp_path: Path
) -> None:
    options = RocketOptions(publishers_attach=("host2", "host1"))

    def hosts(role: Role, index: int) -> list[str]:
        settings = config(
            role, tmp_path, own=asdict(options), endpoints=tuple(servers), index=index
        )
        return [one.host for one in first(settings)]

    assert hosts(Role.PUBLISHER, 0) == ["host2", "host1"]
    assert hosts(Role.PUBLISHER, 1) == hosts(Role.CONSUMER, 0) == ["host1", "host2"]
