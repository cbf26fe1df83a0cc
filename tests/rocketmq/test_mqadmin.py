"""The real tools, mqadmin of 4.9.7, ask our servers as they ask the real ones."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.workers.remoting import client_requests
from harness.workers.remoting.requests import TopicQueue
from harness.workers.rocketmq.connection import Connection
from tests.rigs.rocketmq import clusters, sending
from tests.rigs.rocketmq.clusters import Cluster
from tests.rigs.rocketmq.launcher import HERE, REFERENCE
from tests.rigs.rocketmq.mqadmin import mqadmin as ask_tool
from tests.rigs.rocketmq.needs import require_servers

pytestmark = pytest.mark.slow

REAL = "4.9.7"
TOPIC, GROUP, QUEUES = "orders", "readers", 4
SENT, READ = 10, 3  # to queue 1, and of it
LIMIT_S = 120.0


GROUP_OF_THREE = "reference-dledger"


@pytest.fixture(
    scope="module",
    params=[REFERENCE, GROUP_OF_THREE, pytest.param(REAL, marks=pytest.mark.nightly)],
)
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    require_servers(REAL)
    folder = tmp_path_factory.mktemp("mqadmin")
    grouped = request.param == GROUP_OF_THREE
    with clusters.group(folder) if grouped else clusters.pair(request.param, folder) as made:
        yield made


def mqadmin(cluster: Cluster, folder: Path, *words: str) -> str:
    (name_server,) = cluster.name_servers
    address_words = ("-n", f"{HERE}:{name_server.port}")
    return ask_tool(REAL, folder, words[0], *address_words, *words[1:])


def address(cluster: Cluster) -> str:
    (master,) = cluster.masters
    return f"{HERE}:{master.port}"


def test_a_topic_is_created_and_its_route_shown(cluster: Cluster, tmp_path: Path) -> None:
    words = ("-b", address(cluster), "-t", TOPIC, "-r", str(QUEUES), "-w", str(QUEUES))
    assert "success" in mqadmin(cluster, tmp_path, "updateTopic", *words)
    route = mqadmin(cluster, tmp_path, "topicRoute", "-t", TOPIC)
    assert re.search(r'"brokerName":\s*"broker-a"', route), route
    assert re.search(rf'"writeQueueNums":\s*{QUEUES}', route), route


def test_a_broker_reports_received_and_delivered_counts(cluster: Cluster, tmp_path: Path) -> None:
    _filled(cluster)
    values = dict(
        re.findall(
            r"^(\w+)\s*:\s*(.*?)\s*$",
            mqadmin(cluster, tmp_path, "brokerStatus", "-b", address(cluster)),
            re.MULTILINE,
        )
    )
    assert int(values["msgPutTotalTodayNow"]) >= SENT
    assert int(values["commitLogMaxOffset"]) > 0
    rates = [float(rate) for rate in values["putTps"].split()]
    assert 1 <= len(rates) <= 3, "the real one tells fewer while it is young"
    listed = mqadmin(cluster, tmp_path, "clusterList")
    rows = [line.split() for line in listed.splitlines() if "broker-a" in line]
    (row,) = [row for row in rows if row[3] == address(cluster)]
    assert row[2] == "0"
    assert row[4].startswith("V4_9_")
    assert len(rows) == len(cluster.servers) - len(cluster.name_servers)


def test_consumer_lag_is_reported_by_queue(cluster: Cluster, tmp_path: Path) -> None:
    _filled(cluster)
    output = mqadmin(cluster, tmp_path, "consumerProgress", "-g", GROUP)
    rows = [line.split() for line in output.splitlines() if line.startswith(TOPIC)]
    assert [row[:5] for row in rows] == [
        [TOPIC, "broker-a", str(number), str(end), str(read)]
        for number in range(QUEUES)
        for end, read in [(SENT, READ) if number == 1 else (0, 0)]
    ]
    assert f"Diff Total: {SENT - READ}" in output


def _filled(cluster: Cluster) -> None:
    """SENT messages in one queue, READ of them consumed by the group; once."""

    async def story() -> None:
        await cluster.create_topic(TOPIC, QUEUES)
        connection = await Connection.connect(cluster.masters[0].endpoint, LIMIT_S)
        beat = client_requests.consumer_heartbeat("mqproof@1", GROUP, TOPIC)
        await connection.ask(beat, LIMIT_S)
        for number in range(SENT):
            await sending.send(connection, TopicQueue(TOPIC, 1), b"%d" % number)
        await sending.commit(connection, GROUP, TopicQueue(TOPIC, 1), READ)
        connection.close()

    if not cluster["ns1"].folder.joinpath("filled").exists():
        asyncio.run(story())
        cluster["ns1"].folder.joinpath("filled").touch()
