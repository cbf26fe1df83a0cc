"""Unmodified clients in worker processes, against a real name server and broker."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.polling import until as look_until
from harness.plan.clients.registry import named
from harness.plan.clients.rocketmq import CLIENT_PYTHON
from harness.systems.rocketmq.core.cluster_state import producers
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Role, WorkerConfig
from harness.workers.remoting import requests
from harness.workers.rocketmq.connection import Connection
from spark_analysis.schema import tables
from spark_analysis.schema.words import NEVER_SENT, Fate, Outcome, Redelivered, Strength, Via
from tests.rigs.rocketmq.clusters import Cluster, pair
from tests.rigs.rocketmq.needs import require_client, require_servers
from tests.rigs.workers.rig import rows, until
from tests.rigs.workers.rocketmq_worlds import (
    LIMIT_S,
    World,
    delivered,
    drain,
    events,
    publish,
    sequences,
    worker,
)

pytestmark = [pytest.mark.slow, pytest.mark.long]

JAVA = "rocketmq-java-"
NATIVE = "rocketmq-native"
OF_C = (NATIVE, CLIENT_PYTHON.name)
SERVERS = {
    f"{JAVA}4.9.0": "4.9.7",
    f"{JAVA}4.9.8": "4.9.7",
    f"{JAVA}5.2.0": "4.9.7",
    f"{JAVA}5.3.3": "5.3.3",
    NATIVE: "4.9.7",
    CLIENT_PYTHON.name: "4.9.7",
}
# How it is sent and read. Every commit tries each client once, and each way once.
WAYS = [
    ("async", "concurrent"),
    ("ordered", "orderly"),
    ("sync", "concurrent"),
    ("ordered", "pull"),
    ("oneway", "orderly"),
]
EVERY_COMMIT = {
    (f"{JAVA}4.9.0", "async", "concurrent"),
    (f"{JAVA}4.9.8", "ordered", "orderly"),
    (f"{JAVA}5.2.0", "oneway", "orderly"),
    (f"{JAVA}5.3.3", "ordered", "pull"),
    (NATIVE, "sync", "concurrent"),
}


def each_way() -> Iterator[Any]:
    for client in SERVERS:
        for way in WAYS:
            if any(map(named(client).why_not, way)):
                continue
            marks = () if (client, *way) in EVERY_COMMIT else (pytest.mark.nightly,)
            yield pytest.param(client, *way, marks=marks)


def each_client(*every_commit: str, native: bool = False) -> pytest.MarkDecorator:
    """Those of every commit, and the others nightly."""
    found = (client for client in SERVERS if native or client not in OF_C)
    return pytest.mark.parametrize(
        "client",
        [
            pytest.param(each, marks=() if each in every_commit else (pytest.mark.nightly,))
            for each in found
        ],
    )


class Standing:
    """One name server and broker of each version that a story asks for, for all of them."""

    def __init__(self, folder: Path, until_the_end: contextlib.ExitStack) -> None:
        self._folder = folder
        self._until_the_end = until_the_end
        self._made: dict[str, Cluster] = {}

    def of(self, client: str) -> Cluster:
        require_client(client)
        version = SERVERS[client]
        require_servers(version)
        if version not in self._made:
            made = pair(version, self._folder / version)
            self._made[version] = self._until_the_end.enter_context(made)
        return self._made[version]


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with contextlib.ExitStack() as until_the_end:
        yield Standing(tmp_path_factory.mktemp("rocketmq"), until_the_end)


@pytest.mark.parametrize(("client", "send", "receive"), list(each_way()))
def test_sent_message_is_read_back_once_at_its_recorded_place(
    tmp_path: Path, standing: Standing, client: str, send: str, receive: str
) -> None:
    here = World.make(standing.of(client), client, tmp_path)
    options = RocketOptions(producer=send, send_timeout_ms=20_000)
    load = {"rate": 50.0, "keys": 3, "confirm_window": 8, "confirms": send != "oneway"}
    sending = here.settings(Role.PUBLISHER, options, **load)
    # The native client cannot tell when its topic is empty.
    role = Role.CONSUMER if client in OF_C else Role.DRAINER
    reading = here.settings(role, RocketOptions(consumer=receive), acknowledge=1)

    async def story() -> None:
        await publish(sending, 40)
        if role is Role.DRAINER:
            assert (await drain(reading))["doubt"] == ""
        else:
            async with worker(reading) as process:
                await delivered(process, sum(map(_arrives, rows(sending, tables.SETTLEMENTS))))

    asyncio.run(story())
    attempts, settled = rows(sending, tables.ATTEMPTS), rows(sending, tables.SETTLEMENTS)
    answers = {(row["outcome"], row["strength"], row["raw"]) for row in settled}
    assert answers == {_ANSWERS.get(send, _STORED)}
    # On a busy machine some may have come too late to be sent at all.
    sent = [row for row in attempts if row["sent_ns"] != NEVER_SENT]
    sent_ns = {row["sequence"]: row["sent_ns"] for row in sent}
    # The library's clock is ours: an answer comes after its sending, and not long after.
    waits = [row["settled_ns"] - sent_ns[row["sequence"]] for row in settled]
    assert all(0 <= wait < LIMIT_S * 1e9 for wait in waits)
    assert sequences(reading) == sorted(sent_ns)
    deliveries = rows(reading, tables.DELIVERIES)
    facts = {(row["redelivered"], row["via"], row["payload_ok"]) for row in deliveries}
    via = Via.DRAIN if role is Role.DRAINER else Via.LOAD
    assert facts == {(Redelivered.NOT_REPORTED, via, 1)}
    if send == "ordered" and receive != "concurrent":
        _in_order(deliveries)
    if client in OF_C:
        return  # it tells neither places nor where it is attached
    offsets = {(row["broker"], row["offset"]) for row in deliveries}
    assert len(offsets) == len(deliveries)
    assert {row["broker"] for row in deliveries} <= {f"broker-a/{queue}" for queue in range(4)}
    for settings in (sending, reading):
        assert ("attached", "host1") in events(settings)
    if send == "ordered":
        assert len({(row["key"], row["broker"]) for row in deliveries}) == 3


def _arrives(settled: dict[str, Any]) -> bool:
    return settled["outcome"] in (Outcome.CONFIRMED, Outcome.UNCONFIRMED)


_STORED = (Outcome.CONFIRMED, Strength.STORED, "SEND_OK")
_ANSWERS = {"oneway": (Outcome.UNCONFIRMED, 0, "handed over")}


def _in_order(deliveries: list[dict[str, Any]]) -> None:
    for key in range(3):
        read = [row["sequence"] for row in deliveries if row["key"] == key]
        assert read == sorted(read)


@pytest.mark.parametrize(
    ("client", "body_bytes"),
    [
        # Both deflate from 4096 bytes on, each in its own way.
        (NATIVE, 8192),
        pytest.param(f"{JAVA}5.3.3", 8192, marks=pytest.mark.nightly),
        *(
            pytest.param(client, named(client).body_max, marks=pytest.mark.nightly)
            for client in SERVERS
        ),
    ],
)
def test_a_large_body_is_stored_and_read_back_whole(
    tmp_path: Path, standing: Standing, client: str, body_bytes: int
) -> None:
    here = World.make(standing.of(client), client, tmp_path)
    load = {"rate": 5.0, "confirm_window": 2, "body_bytes": body_bytes}
    options = RocketOptions(producer="sync", send_timeout_ms=60_000)
    sending = here.settings(Role.PUBLISHER, options, **load)
    reading = here.settings(Role.CONSUMER, RocketOptions(), acknowledge=1, **load)

    async def story() -> None:
        await publish(sending, 5)
        async with worker(reading) as process:
            await delivered(process, sum(map(_arrives, rows(sending, tables.SETTLEMENTS))))

    asyncio.run(story())
    settled = rows(sending, tables.SETTLEMENTS)
    assert {(row["outcome"], row["raw"]) for row in settled} == {(Outcome.CONFIRMED, "SEND_OK")}
    assert sequences(reading) == sorted(row["sequence"] for row in settled)
    assert {row["payload_ok"] for row in rows(reading, tables.DELIVERIES)} == {1}


@each_client(f"{JAVA}5.3.3")
def test_consumers_are_ready_when_every_queue_is_held_and_served(
    tmp_path: Path, standing: Standing, client: str
) -> None:
    here = World.make(standing.of(client), client, tmp_path)
    readers = [
        here.settings(
            Role.CONSUMER,
            RocketOptions(),
            acknowledge=1,
            members=2,
            log=str(tmp_path / name),
            connection_name=name,
        )
        for name in ("one", "two")
    ]
    first, second = readers

    def queues(one: WorkerConfig) -> list[str]:
        held = [detail for kind, detail in events(one) if kind == "rebalanced"]
        return held[-1].split() if held else []

    async def story() -> None:
        async with contextlib.AsyncExitStack() as both:
            ready = asyncio.create_task(both.enter_async_context(worker(first)))
            await until(lambda: len(queues(first)) == 4, "the first has all", LIMIT_S)
            # It is alone, and two are expected: had it been ready, it would have said so by now.
            await asyncio.wait([ready], timeout=1)
            assert not ready.done()
            await asyncio.gather(ready, both.enter_async_context(worker(second)))
            # Each writes its part when it looks next, which may be after it is ready.
            every = [f"broker-a/{n}" for n in range(4)]
            await until(
                lambda: sorted(queues(first) + queues(second)) == every, "both have parts", LIMIT_S
            )
            assert len(queues(first)) == 2

    asyncio.run(story())


@each_client(native=True)
def test_broker_lists_a_publisher_by_name_while_it_is_connected(
    tmp_path: Path, standing: Standing, client: str
) -> None:
    """By which it is seen whether a client_crash held, and whether a successor came."""
    here = World.make(standing.of(client), client, tmp_path)
    options = RocketOptions(producer="sync", send_timeout_ms=20_000)
    sending = here.settings(Role.PUBLISHER, options, rate=5.0, confirm_window=2)
    way = here.servers["broker-a-0"].endpoint

    async def listed() -> bool:
        connection = await Connection.connect(way, LIMIT_S)
        try:
            answer = await connection.ask(requests.producers(), LIMIT_S)
        finally:
            connection.close()
        assert answer.header.code == 0
        return sending.connection_name in producers(answer.body)

    async def story() -> None:
        seen = []
        with contextlib.suppress(AssertionError):  # it cannot say goodbye
            async with worker(sending) as killed:
                killed.say(do="start", at_ns=time.monotonic_ns())
                seen.append(await look_until(listed, bool, LIMIT_S))
                killed.process.kill()
        assert seen == [True]
        assert not await look_until(listed, lambda found: not found, LIMIT_S)

    asyncio.run(story())


@each_client(f"{JAVA}5.3.3")
def test_only_rolled_back_messages_are_refused_and_never_delivered(
    tmp_path: Path, standing: Standing, client: str
) -> None:
    here = World.make(standing.of(client), client, tmp_path)
    options = RocketOptions(
        transactional_percent=60, fates=("commit", "rollback"), send_timeout_ms=20_000
    )
    sending = here.settings(Role.PUBLISHER, options, rate=20.0, confirm_window=4)
    reading = here.settings(Role.DRAINER, RocketOptions())

    async def story() -> None:
        await publish(sending, 20)
        await drain(reading)

    asyncio.run(story())
    fates = {row["sequence"]: row["fate"] for row in rows(sending, tables.TERMS)}
    settled = {row["sequence"]: row["outcome"] for row in rows(sending, tables.SETTLEMENTS)}
    assert set(fates.values()) == {Fate.COMMIT, Fate.ROLLBACK}
    assert fates.keys() < settled.keys()
    rolled_back = {each for each, fate in fates.items() if fate == Fate.ROLLBACK}
    for sequence, outcome in settled.items():
        wanted = Outcome.REFUSED if sequence in rolled_back else Outcome.CONFIRMED
        assert outcome == wanted, sequence
    assert sequences(reading) == sorted(settled.keys() - rolled_back)


@each_client(f"{JAVA}4.9.8")
def test_a_transaction_check_is_answered_and_recorded(
    tmp_path: Path, standing: Standing, client: str
) -> None:
    here = World.make(standing.of(client), client, tmp_path)
    fates = ("commit when checked", "rollback when checked")
    options = RocketOptions(transactional_percent=50, fates=fates, send_timeout_ms=20_000)
    sending = here.settings(Role.PUBLISHER, options, rate=20.0, confirm_window=4)
    reading = here.settings(Role.DRAINER, RocketOptions())

    def answered() -> set[str]:
        return {detail for kind, detail in events(sending) if kind == "asked"}

    async def story() -> None:
        async with worker(sending) as process:
            process.say(do="start", at_ns=time.monotonic_ns())
            await until(lambda: len(rows(sending, tables.TERMS)) >= 4, "halves", LIMIT_S)
            process.say(do="stop_load")
            await until(
                lambda: len(answered()) >= len(_expected_answers(sending)), "questions", LIMIT_S
            )
        assert (await drain(reading))["doubt"] == ""

    asyncio.run(story())
    assert answered() == _expected_answers(sending)
    halves = {row["sequence"]: row["fate"] for row in rows(sending, tables.TERMS)}
    assert set(halves.values()) == {Fate.COMMIT_WHEN_CHECKED, Fate.ROLLBACK_WHEN_CHECKED}
    sent = {row["sequence"] for row in rows(sending, tables.SETTLEMENTS)}
    withdrawn = {each for each, fate in halves.items() if fate == Fate.ROLLBACK_WHEN_CHECKED}
    assert sequences(reading) == sorted(sent - withdrawn)


def _expected_answers(sending: Any) -> set[str]:
    """What a broker that asks for every half is to be told, as it is to be recorded."""
    tags = {row["sequence"]: row["tag"] for row in rows(sending, tables.ATTEMPTS)}
    states = {
        Fate.COMMIT_WHEN_CHECKED: "COMMIT_MESSAGE",
        Fate.ROLLBACK_WHEN_CHECKED: "ROLLBACK_MESSAGE",
    }
    return {
        f"tag {tags[row['sequence']]}: {states[row['fate']]}"
        for row in rows(sending, tables.TERMS)
    }


@each_client(f"{JAVA}5.3.3", native=True)
def test_delayed_messages_come_when_due_and_the_others_before(
    tmp_path: Path, standing: Standing, client: str
) -> None:
    here = World.make(standing.of(client), client, tmp_path)
    options = RocketOptions(
        producer="sync", delayed_percent=50, delay_level=2, send_timeout_ms=20_000
    )
    sending = here.settings(Role.PUBLISHER, options, rate=20.0, confirm_window=4)
    # One origin: their times can be compared.
    reading = here.settings(
        Role.CONSUMER, RocketOptions(), origin_ns=sending.origin_ns, acknowledge=1
    )

    async def story() -> None:
        async with worker(reading) as consuming:
            await publish(sending, 10)
            await delivered(consuming, len(rows(sending, tables.SETTLEMENTS)))

    asyncio.run(story())
    due_ns = {row["sequence"]: row["due_ns"] for row in rows(sending, tables.TERMS)}
    deliveries = rows(reading, tables.DELIVERIES)
    came_ns = {row["sequence"]: row["received_ns"] for row in deliveries}
    assert len(deliveries) == len(came_ns) == len(rows(sending, tables.SETTLEMENTS))
    assert due_ns.keys() < came_ns.keys()
    assert all(came_ns[sequence] >= at_ns for sequence, at_ns in due_ns.items())


@each_client(native=True)
def test_successor_of_a_killed_consumer_reads_the_remaining_messages(
    tmp_path: Path, standing: Standing, client: str
) -> None:
    here = World.make(standing.of(client), client, tmp_path)
    options = RocketOptions(producer="sync", send_timeout_ms=20_000)
    sending = here.settings(Role.PUBLISHER, options, rate=50.0, confirm_window=4)
    first, second = (
        here.settings(Role.CONSUMER, RocketOptions(), acknowledge=1, log=str(tmp_path / name))
        for name in ("first", "second")
    )

    def read() -> set[int]:
        return {*sequences(first), *sequences(second)}

    async def story() -> None:
        async with worker(sending) as publishing:
            with contextlib.suppress(AssertionError):  # it cannot say goodbye
                async with worker(first) as killed:
                    publishing.say(do="start", at_ns=time.monotonic_ns())
                    await delivered(killed, 20)
                    killed.process.kill()
            async with worker(second) as returned:
                await delivered(returned, 20)
                publishing.say(do="stop_load")
                await until(
                    lambda: (
                        read() >= {row["sequence"] for row in rows(sending, tables.SETTLEMENTS)}
                    ),
                    "all of it",
                    LIMIT_S,
                )

    asyncio.run(story())
    assert len(sequences(first)) >= 20
    assert read() == {row["sequence"] for row in rows(sending, tables.SETTLEMENTS)}
