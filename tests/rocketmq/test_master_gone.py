"""A master dies for good: what its slave holds is drained without waiting for the dead one.

Servers of 4.9.7: in 5.3.3 a slave gives nothing by itself, and its messages stay where they are.
"""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from harness.workers.clients.rocketmq.options import group
from harness.workers.protocol import Role
from harness.workers.remoting import answers, requests
from harness.workers.remoting.requests import TopicQueue
from harness.workers.rocketmq.connection import Connection
from spark_analysis.schema.body import Identity, encode
from spark_analysis.schema.tables import DELIVERIES
from spark_analysis.schema.words import Via
from tests.rigs.rocketmq import clusters, sending
from tests.rigs.rocketmq.clusters import Cluster
from tests.rigs.rocketmq.launcher import Server
from tests.rigs.rocketmq.needs import require_java_clients, require_servers
from tests.rigs.workers import rig
from tests.rigs.workers.rocketmq_worlds import drain

pytestmark = pytest.mark.nightly

VERSION = "4.9.7"
CLIENTS = ("rocketmq-java-4.9.0", "rocketmq-java-4.9.8", "rocketmq-java-5.3.3")
QUEUES, MESSAGES = 4, 40
AHEAD = "ahead"  # the group is further in it than the slave's log
COPIED_LIMIT_S = 120.0  # a slave asks its master for topics every 10 s
DRAIN_LIMIT_S = 120.0


def test_slave_messages_are_drained_after_permanent_master_loss(
    tmp_path: Path,
) -> None:
    require_servers(VERSION)
    require_java_clients(*CLIENTS)

    async def story() -> None:
        async with clusters.five(VERSION, tmp_path / "servers") as cluster:
            topics = {client: f"orders{number}" for number, client in enumerate(CLIENTS)}
            for topic in (*topics.values(), AHEAD):
                await _fill(cluster, topic)
            await _copied(cluster["broker-a-1"], (*topics.values(), AHEAD))
            cluster["broker-a-0"].kill()
            left = {cluster[name].port for name in ("broker-a-1", "broker-b-0")}
            for server in cluster.name_servers:
                await clusters.shown(server, left)
            for client, topic in topics.items():
                await _drained(cluster, client, topic, tmp_path / client, MESSAGES)
            # What a dead master gave out, its slave may never have got.
            await _given_out(cluster["broker-a-1"], AHEAD, MESSAGES)
            await _drained(cluster, CLIENTS[-1], AHEAD, tmp_path / "ahead", 0)

    asyncio.run(story())


async def _fill(cluster: Cluster, topic: str) -> None:
    """The topic is on both masters; all messages are on the one that will die."""
    await cluster.create_topic(topic, QUEUES)
    connection = await Connection.connect(cluster["broker-a-0"].endpoint, sending.LIMIT_S)
    for sequence in range(MESSAGES):
        body = encode(Identity(rig.RUN_NUMBER, 1, sequence, 1, 0, 5), 100)
        await sending.send(connection, TopicQueue(topic, sequence % QUEUES), body)
    connection.close()


async def _copied(slave: Server, topics: tuple[str, ...]) -> None:
    connection = await Connection.connect(slave.endpoint, sending.LIMIT_S)
    request = requests.topic_configs()
    async with asyncio.timeout(COPIED_LIMIT_S):
        while True:
            topic_list = answers.topics(request, await connection.ask(request, sending.LIMIT_S))
            known = {one.name for one in topic_list}
            held = [await _held(connection, topic) for topic in topics]
            if known >= set(topics) and held == [MESSAGES] * len(topics):
                break
            await asyncio.sleep(0.2)
    connection.close()


async def _held(connection: Connection, topic: str) -> int:
    wanted = [requests.max_offset(TopicQueue(topic, number)) for number in range(QUEUES)]
    said = [await connection.ask(each, sending.LIMIT_S) for each in wanted]
    return sum(answers.offset(*each) for each in zip(wanted, said, strict=True))


async def _given_out(slave: Server, topic: str, offset: int) -> None:
    """The group has got so much of every queue."""
    connection = await Connection.connect(slave.endpoint, sending.LIMIT_S)
    for number in range(QUEUES):
        queue = TopicQueue(topic, number)
        await sending.commit_of_known(connection, group(topic, "readers"), queue, offset)
    connection.close()


async def _drained(cluster: Cluster, client: str, topic: str, folder: Path, messages: int) -> None:
    settings = rig.config(
        Role.DRAINER,
        folder,
        client=client,
        queue=topic,
        limit_s=DRAIN_LIMIT_S,
        deadline_s=30.0,
    )
    ways = tuple(server.endpoint for server in cluster.name_servers)
    drained = await drain(replace(settings, endpoints=ways))
    assert drained["doubt"] == "", client
    rows = rig.rows(settings, DELIVERIES)
    assert sorted(row["sequence"] for row in rows) == list(range(messages)), client
    assert {row["via"] for row in rows} <= {Via.DRAIN}
    print(f"{client}: drained from the slave")
