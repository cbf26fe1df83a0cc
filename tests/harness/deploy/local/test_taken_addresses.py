"""Another process takes an address between the choice of a block and the start of its owner."""

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.executors import local_processes as processes
from harness.cluster.port import DeployError
from harness.deploy.loopback_block import PROXY_PORT, Block, Place
from harness.systems.reference.core.node import AMQP_PORT, API_PORT, PEER_PORT
from tests.rigs.clusters.local import UNMIRRORED, deployment
from tests.rigs.machine.loops import within

pytestmark = pytest.mark.slow

LIMIT_S = 60.0
REF2 = 1  # the number of the host


class Thief:
    """A process that listens at an address of the cluster as soon as the cluster has a plan.

    It accepts connections and never answers, so it looks alive to clients.
    """

    def __init__(self, folder: Path, host: int | None, port: int) -> None:
        self._folder, self._host, self._port = folder, host, port
        self.socket = socket.socket()
        self.place: Place = ("", 0)

    def hear(self, _: str) -> None:
        if self.place[1]:
            return
        (plan,) = self._folder.glob("deployments/*/cluster.json")
        block = Block(**json.loads(plan.read_text())["block"])
        address = block.proxy if self._host is None else block.host(self._host)
        self.place = (address, block.port(self._port))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.place)
        self.socket.listen()


@pytest.fixture(
    params=[
        (REF2, AMQP_PORT, "the node of ref2"),
        (REF2, API_PORT, "the node of ref2"),
        (REF2, PEER_PORT, "the node of ref2"),
        (None, PROXY_PORT, "the proxy"),
    ],
    ids=["amqp", "api", "peer", "proxy"],
)
def taken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Thief, str]]:
    """Return the thief, and what cannot start because of it."""
    host, port, victim = request.param
    thief = Thief(tmp_path, host, port)
    with thief.socket:
        yield thief, victim


@within(LIMIT_S)
async def test_an_address_that_was_taken_meanwhile_is_named(
    taken: tuple[Thief, str], tmp_path: Path
) -> None:
    thief, victim = taken
    with pytest.raises(DeployError) as refused:
        await deployment().up(UNMIRRORED, tmp_path, thief.hear)
    address, port = thief.place
    wanted = rf"{victim} ended with 1: another process has taken {address}:{port} since .*"
    assert re.match(
        rf"{wanted} Expected: this cluster alone uses .* Run again: ", str(refused.value)
    )
    (folder,) = tmp_path.glob("deployments/*")
    assert processes.of(folder.name) == ()
    assert not (folder / "data").exists()
