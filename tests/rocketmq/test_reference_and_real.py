"""Our servers beside the real ones: each copies the other's log, and clients take both alike."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.workers.remoting import answers, requests
from harness.workers.remoting.requests import TopicQueue
from harness.workers.rocketmq.connection import Connection
from tests.rigs.rocketmq import clusters, sending
from tests.rigs.rocketmq.clusters import Cluster
from tests.rigs.rocketmq.launcher import REFERENCE, Server
from tests.rigs.rocketmq.needs import require_servers

pytestmark = pytest.mark.slow

REAL = "4.9.7"
TOPIC, QUEUES, MESSAGES = "orders", 4, 300
COPIED_LIMIT_S = 120.0


@asynccontextmanager
async def mixed(folder: Path, master: str, slave: str) -> AsyncIterator[Cluster]:
    """Two name servers and broker-a's two brokers, each of a kind of its own."""
    made = clusters.Cluster(master)
    try:
        clusters.pair_of(made, folder, master, slave)
        await made.start()
        yield made
    finally:
        made.kill()


@pytest.mark.parametrize(
    ("master", "slave"),
    [(REFERENCE, REAL), pytest.param(REAL, REFERENCE, marks=pytest.mark.nightly)],
)
def test_slave_and_master_logs_are_identical_in_any_implementation(
    tmp_path: Path, master: str, slave: str
) -> None:
    require_servers(REAL)

    async def story() -> None:
        async with mixed(tmp_path, master, slave) as cluster:
            await cluster.create_topic(TOPIC, QUEUES)
            await _fill(cluster["broker-a-0"])
            end = await _copied(cluster["broker-a-0"], cluster["broker-a-1"])
            assert await _held(cluster["broker-a-1"]) == MESSAGES
            logs = [_log(cluster[name], end) for name in ("broker-a-0", "broker-a-1")]
            assert logs[0] == logs[1]
            assert len(logs[0]) == end

    asyncio.run(story())


async def _fill(master: Server) -> None:
    connection = await Connection.connect(master.endpoint, sending.LIMIT_S)
    for number in range(MESSAGES):
        body = b"%d " % number * 50
        await sending.send(connection, TopicQueue(TOPIC, number % QUEUES), body, {"TAGS": "a"})
    connection.close()


async def _copied(master: Server, slave: Server) -> int:
    """Where both logs end."""
    async with asyncio.timeout(COPIED_LIMIT_S):
        while True:
            # A real one whose log is empty answers with an error.
            if await _held(slave) == MESSAGES:
                ends = [await _end(server) for server in (master, slave)]
                if ends[0] == ends[1]:
                    return ends[0]
            await asyncio.sleep(0.2)


async def _end(server: Server) -> int:
    request = requests.runtime_info()
    connection = await Connection.connect(server.endpoint, sending.LIMIT_S)
    end = answers.log(request, await connection.ask(request, sending.LIMIT_S))[1]
    connection.close()
    return end


async def _held(server: Server) -> int:
    connection = await Connection.connect(server.endpoint, sending.LIMIT_S)
    count = 0
    for number in range(QUEUES):
        request = requests.max_offset(TopicQueue(TOPIC, number))
        count += answers.offset(request, await connection.ask(request, sending.LIMIT_S))
    connection.close()
    return count


def _log(server: Server, end: int) -> bytes:
    files = sorted((server.folder / "store" / "commitlog").iterdir())
    return b"".join(file.read_bytes() for file in files)[:end]


@pytest.mark.nightly
def test_reference_and_real_broker_read_each_others_store(tmp_path: Path) -> None:
    """A broker dies by kill -9, and the other kind starts on what it left."""
    require_servers(REAL)

    async def story(first: str, then: str, folder: Path) -> None:
        async with mixed(folder / "first", first, first) as cluster:
            await cluster.create_topic(TOPIC, QUEUES)
            await _fill(cluster["broker-a-0"])
            cluster.kill()
        left = folder / "first" / "broker-a-0" / "store"
        shutil.copytree(left, folder / "then" / "broker-a-0" / "store")
        async with mixed(folder / "then", then, then) as cluster:
            assert await _held(cluster["broker-a-0"]) == MESSAGES
            connection = await Connection.connect(cluster["broker-a-0"].endpoint, sending.LIMIT_S)
            request = requests.pull(TopicQueue(TOPIC, 1), 0)
            pulled = answers.pulled(request, await connection.ask(request, sending.LIMIT_S))
            connection.close()
            assert pulled.messages[0].body == b"1 " * 50
            assert all(one.body_ok for one in pulled.messages)

    asyncio.run(story(REAL, REFERENCE, tmp_path / "ours"))
    asyncio.run(story(REFERENCE, REAL, tmp_path / "theirs"))
