"""Unmodified Java clients in worker processes, against a real name server and broker."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema import tables
from spark_analysis.schema.words import NEVER_SENT, Fate, Outcome, Redelivered, Strength, Via
from tests.harness.workers.rig import Process, config, rows
from tests.harness.workers.rocketmq.servers import Servers, require, servers

pytestmark = pytest.mark.slow

LIMIT_S = 180.0  # a JVM starts in seconds, unless the machine is busy
CLIENTS = {"4.9.7": ("4.9.8", "4.9.0", "5.2.0"), "5.3.3": ("5.3.3",)}  # by version of the servers
each_client = pytest.mark.parametrize(
    ("standing", "client"),
    [(server, client) for server, clients in CLIENTS.items() for client in clients],
    indirect=["standing"],
)
# How it is sent and read. Clients after the first of a line: what they may differ in.
FEW_WAYS = [("async", "concurrent"), ("ordered", "orderly")]
WAYS = [*FEW_WAYS, ("sync", "concurrent"), ("ordered", "pull"), ("oneway", "orderly")]
each_way = pytest.mark.parametrize(
    ("standing", "client", "send", "receive"),
    [
        (server, client, *way)
        for server, clients in CLIENTS.items()
        for client in clients
        for way in (WAYS if client == clients[0] else FEW_WAYS)
    ],
    indirect=["standing"],
)
_topics = itertools.count(1)


@dataclass
class World:
    servers: Servers
    client: str
    folder: Path
    topic: str

    def settings(self, role: Role, options: RocketOptions, **rest: Any) -> WorkerConfig:
        way = (Endpoint("host1", "127.0.0.1", self.servers.name_server),)
        values = {"client": self.client, "queue": self.topic, "endpoints": way}
        values |= {"deadline_s": 30.0, "rocketmq": options, "limit_s": 60.0}
        return config(role, self.folder, **{**values, **rest})


@pytest.fixture(scope="module")
def standing(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Servers]:
    """One name server and broker of a version, for all stories about it."""
    require(f"rocketmq-server-{request.param}")
    with servers(request.param, tmp_path_factory.mktemp("rocketmq") / "servers") as made:
        yield made


async def world(standing: Servers, client: str, folder: Path) -> World:
    require(f"rocketmq-java-{client}")
    topic = f"orders{next(_topics)}"
    await standing.create_topic(topic)
    return World(standing, f"rocketmq-java-{client}", folder, topic)


@contextlib.asynccontextmanager
async def worker(settings: WorkerConfig) -> AsyncIterator[Process]:
    """Ready; closed in good order at the end."""
    process = await Process.spawn(limit_s=LIMIT_S)

    async def ping() -> None:
        while True:
            process.say(do="ping")
            await asyncio.sleep(1.0)

    pinging = asyncio.create_task(ping())
    try:
        process.say(do="configure", config=settings.to_json())
        await process.hear("ready", LIMIT_S)
        yield process
        process.say(do="close")
        await process.hear("closed", LIMIT_S)
    finally:
        pinging.cancel()
        with contextlib.suppress(ProcessLookupError):
            process.process.kill()


async def publish(settings: WorkerConfig, least: int) -> None:
    """Sends at its rate until so many are settled, and waits for what is out."""
    async with worker(settings) as process:
        process.say(do="start", at_ns=time.monotonic_ns())
        while (await process.hear("status", LIMIT_S))["sent"] < least:
            pass
        process.say(do="stop_load")
        while (await process.hear("status", LIMIT_S))["outstanding"]:
            pass


async def drain(settings: WorkerConfig) -> dict[str, Any]:
    async with worker(settings) as process:
        return await process.hear("drained", LIMIT_S)


def sequences(settings: WorkerConfig) -> list[int]:
    return sorted(row["sequence"] for row in rows(settings, tables.DELIVERIES))


@each_way
def test_what_is_sent_is_read_back_once_from_where_the_record_says(
    tmp_path: Path, standing: Servers, client: str, send: str, receive: str
) -> None:
    async def story() -> None:
        here = await world(standing, client, tmp_path)
        options = RocketOptions(producer=send, send_timeout_ms=20_000)
        load = {"rate": 50.0, "keys": 3, "confirm_window": 8, "confirms": send != "oneway"}
        sending = here.settings(Role.PUBLISHER, options, **load)
        await publish(sending, 40)
        reading = here.settings(Role.DRAINER, RocketOptions(consumer=receive))
        assert (await drain(reading))["doubt"] == ""
        attempts, settled = rows(sending, tables.ATTEMPTS), rows(sending, tables.SETTLEMENTS)
        answers = {(row["outcome"], row["strength"], row["raw"]) for row in settled}
        assert answers == {_ANSWERS.get(send, _STORED)}
        # On a busy machine some may have come too late to be sent at all.
        sent = [row for row in attempts if row["sent_ns"] != NEVER_SENT]
        sent_ns = {row["sequence"]: row["sent_ns"] for row in sent}
        # Java's clock is ours: an answer comes after its sending, and not long after.
        waits = [row["settled_ns"] - sent_ns[row["sequence"]] for row in settled]
        assert all(0 < wait < LIMIT_S * 1e9 for wait in waits)
        assert sequences(reading) == sorted(sent_ns)
        deliveries = rows(reading, tables.DELIVERIES)
        offsets = {(row["broker"], row["offset"]) for row in deliveries}
        assert len(offsets) == len(deliveries)
        assert {row["broker"] for row in deliveries} <= {f"broker-a/{queue}" for queue in range(4)}
        facts = {(row["redelivered"], row["via"], row["payload_ok"]) for row in deliveries}
        assert facts == {(Redelivered.NOT_TOLD, Via.DRAIN, 1)}
        for settings in (sending, reading):
            events = [(row["kind"], row["detail"]) for row in rows(settings, tables.CLIENT_EVENTS)]
            assert ("attached", "host1") in events
        if send == "ordered":
            places = {(row["key"], row["broker"]) for row in deliveries}
            assert len(places) == 3
            _in_order(deliveries)

    asyncio.run(story())


_STORED = (Outcome.CONFIRMED, Strength.STORED, "SEND_OK")
_ANSWERS = {"oneway": (Outcome.UNCONFIRMED, 0, "handed over")}


def _in_order(deliveries: list[dict[str, Any]]) -> None:
    for key in range(3):
        read = [row["sequence"] for row in deliveries if row["key"] == key]
        assert read == sorted(read)


@each_client
def test_what_is_rolled_back_is_refused_and_never_delivered_among_others_that_are(
    tmp_path: Path, standing: Servers, client: str
) -> None:
    async def story() -> None:
        here = await world(standing, client, tmp_path)
        options = RocketOptions(
            transactional_percent=60, fates=("commit", "rollback"), send_timeout_ms=20_000
        )
        sending = here.settings(Role.PUBLISHER, options, rate=20.0, confirm_window=4)
        await publish(sending, 20)
        reading = here.settings(Role.DRAINER, RocketOptions())
        await drain(reading)
        fates = {row["sequence"]: row["fate"] for row in rows(sending, tables.TERMS)}
        settled = {row["sequence"]: row["outcome"] for row in rows(sending, tables.SETTLEMENTS)}
        assert set(fates.values()) == {Fate.COMMIT, Fate.ROLLBACK}
        assert fates.keys() < settled.keys()
        rolled_back = {each for each, fate in fates.items() if fate == Fate.ROLLBACK}
        for sequence, outcome in settled.items():
            wanted = Outcome.REFUSED if sequence in rolled_back else Outcome.CONFIRMED
            assert outcome == wanted, sequence
        assert sequences(reading) == sorted(settled.keys() - rolled_back)

    asyncio.run(story())


@each_client
def test_what_is_delayed_comes_when_it_is_due_and_the_others_before(
    tmp_path: Path, standing: Servers, client: str
) -> None:
    async def story() -> None:
        here = await world(standing, client, tmp_path)
        options = RocketOptions(delayed_percent=50, delay_level=2, send_timeout_ms=20_000)
        sending = here.settings(Role.PUBLISHER, options, rate=20.0, confirm_window=4)
        # One origin: their times can be compared.
        reading = here.settings(
            Role.CONSUMER, RocketOptions(), origin_ns=sending.origin_ns, acknowledge=1
        )
        async with worker(reading) as consuming:
            await publish(sending, 10)
            sent = len(rows(sending, tables.SETTLEMENTS))
            while (await consuming.hear("status", LIMIT_S))["delivered"] < sent:
                pass
        due_ns = {row["sequence"]: row["due_ns"] for row in rows(sending, tables.TERMS)}
        deliveries = rows(reading, tables.DELIVERIES)
        came_ns = {row["sequence"]: row["received_ns"] for row in deliveries}
        assert len(deliveries) == len(came_ns) == sent
        assert due_ns.keys() < came_ns.keys()
        assert all(came_ns[sequence] >= at_ns for sequence, at_ns in due_ns.items())

    asyncio.run(story())
