"""Prober and audit against real servers: what they tell is what the servers themselves say."""

import asyncio
import contextlib
import re
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from harness.systems.rocketmq.core.layout import VERSIONS
from harness.workers.periodic import every
from harness.workers.protocol import Role, WorkerConfig
from harness.workers.recorder import Recorder
from harness.workers.remoting import answers, requests
from harness.workers.remoting.requests import TopicQueue
from harness.workers.rocketmq.audit import LogAuditor
from harness.workers.rocketmq.connection import Connection
from harness.workers.rocketmq.prober import TICK_NS, Prober
from spark_analysis.schema.body import Identity, encode
from spark_analysis.schema.tables import CLIENT_EVENTS, DELIVERIES, PROBES
from tests.rigs.rocketmq import clusters, sending
from tests.rigs.rocketmq.clusters import Cluster
from tests.rigs.rocketmq.launcher import REFERENCE, Server
from tests.rigs.rocketmq.needs import require_servers
from tests.rigs.workers import rig

pytestmark = pytest.mark.slow

TOPIC, QUEUES, GROUP = "orders", 4, "readers"
MESSAGES = 200  # more than a pull gives, in each of the queues
SEEN_LIMIT_S = 120.0  # a broker that comes back on a busy machine
LOG_SLACK_S = 0.1  # between what a name server does and what it writes of it
SEEN_WITHIN_S = 1.0  # of what its log says
# It drops a broker that it has heard nothing of for so long; brokers register every 10 s.
IDLE = {"serverChannelMaxIdleTimeSeconds": "20"}
_STAMP = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) ")


@pytest.fixture(
    params=[
        pytest.param(REFERENCE, marks=pytest.mark.nightly),
        *(
            pytest.param(version, marks=pytest.mark.nightly if version.startswith("5.") else ())
            for version in VERSIONS
        ),
    ]
)
def version(request: pytest.FixtureRequest) -> str:
    found = str(request.param)
    if found != REFERENCE:
        require_servers(found)
    return found


@dataclass
class Probing:
    """A prober at work, and what it has written."""

    settings: WorkerConfig
    recorder: Recorder

    @property
    def events(self) -> list[dict[str, Any]]:
        self.recorder.flush()
        return rig.rows(self.settings, CLIENT_EVENTS)

    @property
    def looks(self) -> list[dict[str, Any]]:
        self.recorder.flush()
        return rig.rows(self.settings, PROBES)

    async def first_event(self, words: str, after_ns: int = 0) -> dict[str, Any]:
        """The first event with these words since then."""

        def found() -> list[dict[str, Any]]:
            events = (one for one in self.events if one["at_ns"] >= after_ns)
            return [one for one in events if words in f"{one['kind']}: {one['detail']}"]

        await rig.until(found, words, SEEN_LIMIT_S)
        return found()[0]

    def wall_s(self, run_ns: int) -> float:
        """The wall clock's seconds at a run time."""
        ago_ns = time.monotonic_ns() - self.settings.origin_ns - run_ns
        return datetime.now().timestamp() - ago_ns / 1e9


@contextlib.asynccontextmanager
async def probing(cluster: Cluster, folder: Path) -> AsyncIterator[Probing]:
    endpoints = tuple(server.endpoint for server in cluster.name_servers)
    settings = rig.config(Role.PROBER, folder, number=900, queue=TOPIC)
    settings = replace(settings, endpoints=endpoints)
    recorder = Recorder(settings, rig.fail)
    prober = Prober(settings, recorder, lambda: None)
    running = asyncio.create_task(prober.run())
    end_ticks = every(TICK_NS / 1e9, prober.tick)
    try:
        yield Probing(settings, recorder)
    finally:
        running.cancel()
        await asyncio.wait([running])
        end_ticks()
        await prober.close(nicely=True)
        recorder.close()


def test_a_prober_reports_drops_and_shows_when_they_happen(version: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with clusters.five(version, tmp_path, IDLE) as cluster:
            await cluster.create_topic(TOPIC, QUEUES)
            async with probing(cluster, tmp_path / "log") as prober:
                for name in ("ns1", "ns2"):
                    await prober.first_event(f"route changed: {name} shows broker-b master")
                await _a_killed_master_is_dropped(cluster, prober)
                await _a_frozen_name_server_is_silent(cluster, prober)
                await _a_master_that_returns_is_shown(cluster, prober)
                await _a_frozen_master_is_dropped_and_shown_again(cluster, prober)
                _looks_are_frequent(prober)

    asyncio.run(story())


async def _a_killed_master_is_dropped(cluster: Cluster, prober: Probing) -> None:
    cluster["broker-b-0"].kill()
    for server in cluster.name_servers:
        words = f"route changed: {server.name} dropped broker-b master"
        event = await prober.first_event(words)
        _as_logged(prober, event, server, "because channel destroyed|unregisterBroker, remove")


async def _a_frozen_name_server_is_silent(cluster: Cluster, prober: Probing) -> None:
    frozen = cluster["ns2"]
    frozen.signal(signal.SIGSTOP)
    silent = await prober.first_event("unanswered: ns2 route")
    before = [one for one in prober.looks if one["target"] == "ns1" and one["ok"]]
    await rig.until(
        lambda: (
            len([one for one in prober.looks if one["target"] == "ns1" and one["ok"]])
            >= len(before) + 10
        ),
        "looks at the other name server",
        SEEN_LIMIT_S,
    )
    frozen.signal(signal.SIGCONT)
    await prober.first_event("answered again: ns2 route", silent["at_ns"])


async def _a_master_that_returns_is_shown(cluster: Cluster, prober: Probing) -> None:
    since_ns = prober.recorder.now_ns()
    cluster["broker-b-0"].start()
    for server in cluster.name_servers:
        words = f"cluster changed: {server.name} shows broker-b master"
        event = await prober.first_event(words, since_ns)
        _as_logged(prober, event, server, "new broker registered.*127.0.0.1:30210")


async def _a_frozen_master_is_dropped_and_shown_again(cluster: Cluster, prober: Probing) -> None:
    frozen, since_ns = cluster["broker-a-0"], prober.recorder.now_ns()
    frozen.signal(signal.SIGSTOP)
    for server in cluster.name_servers:
        event = await prober.first_event(
            f"route changed: {server.name} dropped broker-a master", since_ns
        )
        _as_logged(prober, event, server, "because channel destroyed|unregisterBroker, remove")
    frozen.signal(signal.SIGCONT)
    for server in cluster.name_servers:
        words = f"cluster changed: {server.name} shows broker-a master"
        event = await prober.first_event(words, since_ns)
        _as_logged(prober, event, server, "new broker registered.*127.0.0.1:30110")


def _as_logged(prober: Probing, event: dict[str, Any], server: Server, pattern: str) -> None:
    """The name server's own log puts it into the span that the event tells."""
    ended_s = prober.wall_s(event["at_ns"])
    within = re.search(r"\(within ([\d.]+) s\)", event["detail"])
    assert within, event
    began_s = ended_s - float(within[1])
    logged_s = [
        datetime.fromisoformat(stamp[1]).timestamp()
        for line in server.output().splitlines()
        if re.search(pattern, line) and (stamp := _STAMP.match(line))
    ]
    fitting = [one for one in logged_s if began_s - LOG_SLACK_S <= one <= ended_s + LOG_SLACK_S]
    assert fitting, (event, began_s, ended_s, logged_s)
    assert ended_s - fitting[-1] <= SEEN_WITHIN_S, (event, ended_s, logged_s)
    print(f"{event['detail']}: logged {ended_s - fitting[-1]:.3f} s before it was seen")


def _looks_are_frequent(prober: Probing) -> None:
    """Of each name server and kind. The median counts: the machine need not be idle."""
    for name in ("ns1", "ns2"):
        for kind in ("route", "cluster"):
            looks = [row for row in prober.looks if (row["target"], row["kind"]) == (name, kind)]
            starts = sorted(row["started_ns"] for row in looks)
            gap_ns = median(after - before for before, after in pairwise(starts))
            assert gap_ns <= 5e8, (name, kind)
            print(f"{name} {kind}: {len(looks)} looks, median gap {gap_ns / 1e6:.0f} ms")


def test_an_audit_finds_every_message_on_master_and_slave(version: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with clusters.five(version, tmp_path) as cluster:
            await cluster.create_topic(TOPIC, QUEUES)
            master, slave = cluster["broker-a-0"], cluster["broker-a-1"]
            wanted = await _fill(master)
            await _copied(slave)
            for server in (master, slave):
                await _holds(server, wanted, tmp_path)
            cluster["broker-a-0"].kill()
            await _holds(slave, wanted, tmp_path, "-alone")

    asyncio.run(story())


async def _fill(master: Server) -> dict[int, str]:
    """Sequence -> where it must be found. The last one is delayed, for two hours."""
    connection = await Connection.connect(master.endpoint, sending.LIMIT_S)
    wanted = {}
    for sequence in range(MESSAGES):
        queue = TopicQueue(TOPIC, sequence % QUEUES)
        offset = await sending.send(connection, queue, _body(sequence))
        wanted[sequence] = f"{TOPIC}/{queue.number} {offset}"
    await sending.send(connection, TopicQueue(TOPIC, 0), _body(MESSAGES), {"DELAY": "18"})
    wanted[MESSAGES] = "SCHEDULE_TOPIC_XXXX/17 0"
    await sending.commit(connection, GROUP, TopicQueue(TOPIC, 0), 10)
    connection.close()
    return wanted


def _body(sequence: int) -> bytes:
    return encode(Identity(rig.RUN_NUMBER, 1, sequence, 1, 0, 5), 100)


async def _copied(slave: Server) -> None:
    """Waits until the slave holds all, and knows the topic and the offsets."""
    connection = await Connection.connect(slave.endpoint, sending.LIMIT_S)
    delayed = requests.max_offset(TopicQueue("SCHEDULE_TOPIC_XXXX", 17))
    offsets, topics = requests.consumer_offsets(), requests.topic_configs()
    async with asyncio.timeout(SEEN_LIMIT_S):
        while True:
            held = answers.offset(delayed, await connection.ask(delayed, sending.LIMIT_S))
            known_offsets = answers.offsets(
                offsets, await connection.ask(offsets, sending.LIMIT_S)
            )
            known = answers.topics(topics, await connection.ask(topics, sending.LIMIT_S))
            if held and known_offsets and any(one.name == TOPIC for one in known):
                break
            await asyncio.sleep(0.2)
    connection.close()


async def _holds(server: Server, wanted: dict[int, str], folder: Path, word: str = "") -> None:
    """An audit of this one finds all, where it must be, and nothing twice."""
    settings = rig.config(
        Role.AUDITOR,
        folder / f"audit-{server.name}{word}",
        queue=TOPIC,
        client="rocketmq-java-5.3.3",
    )
    settings = replace(settings, endpoints=(server.endpoint,))
    reports: list[dict[str, Any]] = []
    recorder = Recorder(settings, rig.fail)
    auditor = LogAuditor(settings, recorder, lambda: None, reports.append)
    began_s = time.monotonic()
    await auditor.run()
    took_s = time.monotonic() - began_s
    await auditor.close(nicely=True)
    recorder.close()
    whole = {"complete": True, "doubt": "", "doubts": [""]}
    assert reports == [{"say": "drained", "queue": "orders", **whole}]
    rows = rig.rows(settings, DELIVERIES)
    found = {row["sequence"]: f"{row['broker']} {row['offset']}" for row in rows}
    assert len(rows) == len(found)
    assert found == {sequence: f"{server.name} {place}" for sequence, place in wanted.items()}
    probes = {row["target"]: row["detail"] for row in rig.rows(settings, PROBES)}
    assert probes[f"{server.name} {TOPIC}/0 {GROUP}"] == "committed 10 of 50, 40 behind"
    print(f"{server.name}{word}: {len(rows)} messages in {took_s:.2f} s")
