"""Captures what real servers answer, frame by frame: the fixtures of the codec's tests.

    python -m tests.rocketmq.capture VERSION

writes `captured/VERSION/*.frame` beside the codec's tests, each an answer as it came.
"""

import asyncio
import socket
import sys
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path

from harness.workers.remoting import answers, requests
from harness.workers.remoting.commands import Command, encode
from harness.workers.remoting.headers import Header, Serialisation
from harness.workers.remoting.records import Flags
from harness.workers.remoting.requests import RemotingAnswer, Request, TopicQueue
from harness.workers.rocketmq.connection import Connection
from spark_analysis.schema import body
from tests.rigs.rocketmq import clusters, sending
from tests.rigs.rocketmq.launcher import Server
from tests.rigs.rocketmq.needs import server_jars, why_not

TOPIC, GROUP = "orders", "readers"
QUEUE = TopicQueue(TOPIC, 0)
DELAYED = TopicQueue("SCHEDULE_TOPIC_XXXX", 17)  # the queue of the longest delay: 2 h
HALVES = TopicQueue("RMQ_SYS_TRANS_HALF_TOPIC", 0)
IDENTITY = body.Identity(run=77, producer=1, sequence=0, attempt=1, key=3, sent_ns=5)
BODY_BYTES = 100
COMMITTED = 2
WAIT_LIMIT_S = 120.0
FOLDER = Path(__file__).parents[1] / "harness" / "workers" / "remoting" / "captured"


def main() -> None:
    version = sys.argv[1]
    if reason := why_not(server_jars(version)):
        sys.exit(reason)
    with tempfile.TemporaryDirectory() as folder:
        frames = asyncio.run(_frames(version, Path(folder)))
    target = FOLDER / version
    target.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        (target / f"{name}.frame").write_bytes(frame)
        print(f"{name}: {len(frame)} octets")


async def _frames(version: str, folder: Path) -> dict[str, bytes]:
    async with clusters.five(version, folder) as cluster:
        master, slave = cluster["broker-a-0"], cluster["broker-a-1"]
        connection = await Connection.connect(master.endpoint, sending.LIMIT_S)
        await connection.ask(requests.create_topic(TOPIC, 4), sending.LIMIT_S)
        await _until(connection, requests.pull(HALVES, 0), RemotingAnswer.PULL_NOT_FOUND)
        await _fill(connection)
        await _until(connection, requests.pull(HALVES, 0), RemotingAnswer.SUCCESS)
        connection.close()
        name_server = cluster["ns1"]
        route = requests.route(TOPIC)
        old = replace(route, fields={"topic": TOPIC})
        said = {
            "route": _said(name_server, route),
            "route_to_an_old_client": _said(name_server, old, version=0),
            "route_in_binary": _said(name_server, route, form=Serialisation.ROCKETMQ),
            "route_of_no_topic": _said(name_server, requests.route("nowhere")),
            "cluster": _said(name_server, requests.cluster_info()),
            "runtime": _said(master, requests.runtime_info()),
            "topics": _said(master, requests.topic_configs()),
            "offsets": _said(master, requests.consumer_offsets()),
            "max_offset": _said(master, requests.max_offset(QUEUE)),
            "min_offset": _said(master, requests.min_offset(QUEUE)),
            "max_offset_of_no_topic": _said(master, requests.max_offset(TopicQueue("nowhere", 0))),
            "min_offset_of_no_topic": _said(master, requests.min_offset(TopicQueue("nowhere", 0))),
            "committed": _said(master, requests.consumer_offset(GROUP, QUEUE)),
            "committed_in_binary": _said(
                master, requests.consumer_offset(GROUP, QUEUE), form=Serialisation.ROCKETMQ
            ),
            "committed_by_nobody": _said(master, requests.consumer_offset("nobody", QUEUE)),
            "messages": _said(master, requests.pull(QUEUE, 0)),
            "messages_in_binary": _said(
                master, requests.pull(QUEUE, 0), form=Serialisation.ROCKETMQ
            ),
            "messages_at_the_end": _said(master, requests.pull(QUEUE, 3)),
            "messages_beyond_the_end": _said(master, requests.pull(QUEUE, 9)),
            "messages_of_an_empty_queue": _said(master, requests.pull(TopicQueue(TOPIC, 1), 0)),
            "messages_of_no_topic": _said(master, requests.pull(TopicQueue("nowhere", 0), 0)),
            "delayed": _said(master, requests.pull(DELAYED, 0)),
            "halves": _said(master, requests.pull(HALVES, 0)),
        }
        connection = await Connection.connect(slave.endpoint, sending.LIMIT_S)
        await _copied(connection)
        connection.close()
        said["messages_of_the_slave"] = _said(slave, requests.pull(QUEUE, 0))
        said["messages_beyond_the_end_of_the_slave"] = _said(slave, requests.pull(QUEUE, 9))
        said["runtime_of_the_slave"] = _said(slave, requests.runtime_info())
        said["record_of_the_slave"] = _said(slave, requests.view(0))
        said["record_beyond_the_end_of_the_slave"] = _said(slave, requests.view(1 << 30))
        return said


async def _fill(connection: Connection) -> None:
    """Three messages in one queue (plain, marked, compressed), one delayed, one half."""
    octets = body.encode(IDENTITY, BODY_BYTES)
    await sending.send(connection, QUEUE, octets)
    marks = {"KEYS": "k1 k2", "TAGS": "red"}
    await sending.send(connection, QUEUE, octets, marks)
    packed = zlib.compress(octets)
    await sending.send(connection, QUEUE, packed, flags=Flags.COMPRESSED | 3 << 8)
    await sending.send(connection, QUEUE, octets, {"DELAY": "18"})
    half = {"TRAN_MSG": "true", "PGROUP": "mqproof_tests", "UNIQ_KEY": "0123"}
    await sending.send(connection, QUEUE, octets, half, flags=Flags.PREPARED)
    await sending.commit(connection, GROUP, QUEUE, COMMITTED)


async def _until(connection: Connection, request: Request, code: int) -> None:
    """Waits until the server answers so."""
    async with asyncio.timeout(WAIT_LIMIT_S):
        while (await connection.ask(request, sending.LIMIT_S)).header.code != code:
            await asyncio.sleep(0.5)


async def _copied(slave: Connection) -> None:
    """Waits until a slave holds the queue and knows its topic."""
    end, topics = requests.max_offset(QUEUE), requests.topic_configs()
    async with asyncio.timeout(WAIT_LIMIT_S):
        while True:
            held = answers.offset(end, await slave.ask(end, sending.LIMIT_S))
            known = answers.topics(topics, await slave.ask(topics, sending.LIMIT_S))
            if held == 3 and any(one.name == TOPIC for one in known):
                return
            await asyncio.sleep(0.5)


def _said(
    server: Server,
    request: Request,
    form: Serialisation = Serialisation.JSON,
    version: int = 409,
) -> bytes:
    """The answer's whole frame."""
    header = Header(request.code, opaque=7, fields=request.fields, version=version)
    place = (server.endpoint.address, server.endpoint.port)
    with socket.create_connection(place, sending.LIMIT_S) as wire, wire.makefile("rb") as stream:
        wire.sendall(encode(Command(header, request.body, form)))
        length = stream.read(4)
        return length + stream.read(int.from_bytes(length))


if __name__ == "__main__":
    main()
