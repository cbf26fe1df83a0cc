"""Our own client of RocketMQ, against servers of the reference in this process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from harness.workers.clients.port import (
    Answer,
    Fetched,
    LinkLost,
    NoLibrary,
    PublishingListener,
)
from harness.workers.clients.rocketmq import native_group
from harness.workers.clients.rocketmq.core.likeness import LIKENESSES
from harness.workers.clients.rocketmq.core.sharing import share
from harness.workers.clients.rocketmq.own import name_servers
from harness.workers.clients.rocketmq.own.brokers import Brokers
from harness.workers.clients.rocketmq.own.client import OwnClient
from harness.workers.clients.rocketmq.own.name_servers import NameServers
from harness.workers.clients.rocketmq.own.producer import OwnPublisher
from harness.workers.clients.rocketmq.own.routing import Routing
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from harness.workers.remoting import answers, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.requests import Request
from harness.workers.remoting.routes import TopicQueues, View
from harness.workers.rocketmq.connection import Connection, Unanswered
from reference_impl.rocketmq.settings import BrokerTimes
from spark_analysis.schema.body import Identity, encode
from spark_analysis.schema.views import Shown
from spark_analysis.schema.words import Outcome, Strength
from tests.rigs.rocketmq import clusters
from tests.rigs.rocketmq.reference import InProcess, in_process
from tests.rigs.workers import rig

TOPIC, QUEUES = "orders", 4


class Heard:
    """What a link tells."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.messages: list[Fetched] = []
        self.notices: list[tuple[str, str]] = []
        self.consumer: Any = None

    def answered(self, answers: Sequence[Answer]) -> None:
        self.answers += answers

    def all_confirmed(self, tags: Sequence[int], clocks_ns: Sequence[int], raw: str) -> None:
        raise AssertionError(f"each has an answer of its own: {raw} {tags} {clocks_ns}")

    def fetched(self, messages: Sequence[Fetched]) -> None:
        """What was fetched is on record at once."""
        self.messages += messages
        assert self.consumer is not None
        asyncio.get_running_loop().call_soon(self.consumer.acknowledge, messages[-1].tag)

    def noticed(self, kind: str, detail: str) -> None:
        self.notices.append((kind, detail))

    def lost(self, reason: str) -> None:
        raise AssertionError(reason)


def play(
    story: Callable[[InProcess], Coroutine[Any, Any, None]],
    folder: Path,
    masters: int = 1,
    times: BrokerTimes | None = None,
) -> None:
    async def whole() -> None:
        ports = (
            clusters._free(0),
            clusters._free(0),
            *(clusters._free(2) for _ in range(masters)),
        )
        async with in_process(folder, ports, masters, times) as cluster:
            for name in [name for name in cluster.sockets if name.startswith("broker")]:
                await _create(ports[2 + ord(name[-1]) - ord("a")])
            await asyncio.sleep(0.05)
            await story(cluster)

    asyncio.run(whole())


async def _create(port: int) -> None:
    connection = await Connection.connect(Endpoint("b", "127.0.0.1", port), 5)
    request = requests.create_topic(TOPIC, QUEUES)
    answers.taken(request, await connection.ask(request, 5))
    connection.close()


def config(cluster: InProcess, role: Role, folder: Path, **own: object) -> WorkerConfig:
    return rig.config(
        role,
        folder / role.value,
        client="rocketmq-python-4.9.8",
        queue=TOPIC,
        endpoints=cluster.name_servers,
        own=own,
    )


def body(sequence: int) -> bytes:
    return encode(Identity(rig.RUN_NUMBER, 1, sequence, sequence % 2, 0, 5), 100)


@contextlib.asynccontextmanager
async def publisher(settings: WorkerConfig, heard: Any) -> AsyncIterator[Any]:
    link = await OwnClient(settings).publisher(settings.endpoints[0], heard)
    try:
        yield link
    finally:
        link.abort()


@pytest.mark.parametrize("producer", ["async", "sync", "ordered"])
def test_published_messages_are_confirmed_consumed_and_leave_nothing(
    tmp_path: Path, producer: str
) -> None:
    async def story(cluster: InProcess) -> None:
        sent, got = Heard(), Heard()
        reading = config(cluster, Role.CONSUMER, tmp_path)
        consumer: Any = await OwnClient(reading).consumer(reading.endpoints[0], got)  # type: ignore[arg-type]
        got.consumer = consumer
        await consumer.consume()
        settings = config(cluster, Role.PUBLISHER, tmp_path, producer=producer)
        async with publisher(settings, sent) as link:
            for sequence in range(40):
                link.publish(body(sequence))
            await rig.until(lambda: len(sent.answers) == 40)
        assert {(one.outcome, one.raw) for one in sent.answers} == {(Outcome.CONFIRMED, "SEND_OK")}
        await rig.until(lambda: len(got.messages) == 40)
        assert {one.body for one in got.messages} == {body(sequence) for sequence in range(40)}
        assert [one.tag for one in got.messages] == [*range(1, 41)]
        assert {one.place for one in got.messages} <= {f"broker-a/{n}" for n in range(QUEUES)}
        await asyncio.sleep(0.1)
        assert await consumer.ready_messages() == 0
        assert ("rebalanced", "broker-a/0 broker-a/1 broker-a/2 broker-a/3") in got.notices
        await consumer.close(1)

    play(story, tmp_path)


def queues(heard: Heard) -> str:
    return next((text for kind, text in reversed(heard.notices) if kind == "rebalanced"), "")


def test_consumer_is_ready_with_its_share_when_all_joined(tmp_path: Path) -> None:
    """The first of two takes every queue, and is not ready before the second has come."""

    async def story(cluster: InProcess) -> None:
        first, second = [
            replace(
                config(cluster, Role.CONSUMER, tmp_path / name), connection_name=name, members=2
            )
            for name in ("one", "two")
        ]
        alone = Heard()
        consumer: Any = await OwnClient(first).consumer(first.endpoints[0], alone)  # type: ignore[arg-type]
        waiting = asyncio.create_task(consumer.consume())
        await rig.until(lambda: queues(alone) == "broker-a/0 broker-a/1 broker-a/2 broker-a/3")
        await asyncio.wait([waiting], timeout=0.2)  # it looks every 20 ms
        assert not waiting.done()
        later = Heard()
        other: Any = await OwnClient(second).consumer(second.endpoints[0], later)  # type: ignore[arg-type]
        await asyncio.gather(waiting, other.consume())
        assert queues(alone) == "broker-a/0 broker-a/1"
        assert queues(later) == "broker-a/2 broker-a/3"
        consumer.abort()
        other.abort()

    play(story, tmp_path)


def test_c_client_is_ready_when_each_broker_lists_every_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its library does not report its queues."""
    monkeypatch.setattr(native_group, "SHARED_S", 0.0)
    monkeypatch.setattr(native_group, "LOOK_S", 0.02)

    async def story(cluster: InProcess) -> None:
        reading = config(cluster, Role.CONSUMER, tmp_path)
        await native_group.wait_for_members(reading)  # their number is unknown
        waiting = asyncio.create_task(native_group.wait_for_members(replace(reading, members=2)))
        links = []
        for name in ("one", "two"):
            await asyncio.wait([waiting], timeout=0.2)
            assert not waiting.done()
            member = replace(reading, connection_name=name)
            heard: Any = Heard()
            links.append(await OwnClient(member).consumer(member.endpoints[0], heard))
            await links[-1].consume()
        await asyncio.wait_for(waiting, rig.LIMIT_S)
        for link in links:
            link.abort()

    play(story, tmp_path, masters=2)


def test_only_the_send_to_a_dead_master_is_provably_refused(
    tmp_path: Path,
) -> None:
    async def story(cluster: InProcess) -> None:
        sent = Heard()
        async with publisher(config(cluster, Role.PUBLISHER, tmp_path), sent) as link:
            cluster.stop("broker-b")
            for sequence in range(16):
                link.publish(body(sequence))
            await rig.until(lambda: len(sent.answers) == 16)
        outcomes = [one.outcome for one in sent.answers]
        assert outcomes.count(Outcome.CONFIRMED) == outcomes.count(Outcome.REFUSED) == 8

    play(story, tmp_path, masters=2)


class LateRoute(Routing):
    """A route that shows a slave alone, and its promotion to who asks again."""

    def __init__(self, is_promoted: bool) -> None:
        super().__init__(cast(NameServers, None), TOPIC, 60.0, lambda _: None)
        self.view = View((Shown("broker-a", 2, "b:2"),), (TopicQueues("broker-a", 4, 4, 6),))
        self.looks = 0
        self._is_promoted = is_promoted

    async def look(self) -> str:
        self.looks += 1
        await asyncio.sleep(0.01)
        if self._is_promoted:
            self.view = replace(self.view, brokers=(Shown("broker-a", 0, "b:2"),))
        return ""


class Willing:
    """The broker's connections: every send is stored."""

    async def ask(self, address: str, *_: object, **__: object) -> Command:
        assert address == "b:2"
        return Command(Header(0, 0, RESPONSE, "", {}), b"")

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("is_promoted", "outcome"), [(True, Outcome.CONFIRMED), (False, Outcome.UNKNOWN)]
)
def test_sends_without_a_master_ask_for_the_route_at_once(
    tmp_path: Path, is_promoted: bool, outcome: Outcome
) -> None:
    async def story() -> None:
        settings = rig.config(
            Role.PUBLISHER,
            tmp_path,
            client="rocketmq-python-4.9.8",
            queue=TOPIC,
            endpoints=(Endpoint("ns1", "127.0.0.1", 1),),
            own={},
        )
        sent, routing = Heard(), LateRoute(is_promoted)
        link = OwnPublisher(
            settings,
            cast(PublishingListener, sent),
            cast(NameServers, Willing()),
            routing,
            cast(Brokers, Willing()),
        )
        for sequence in range(8):
            link.publish(body(sequence))
        await rig.until(lambda: len(sent.answers) == 8)
        assert {one.outcome for one in sent.answers} == {outcome}
        assert routing.looks == 1
        link.abort()

    asyncio.run(story())


def test_a_confirm_level_from_the_broker_is_reported(tmp_path: Path) -> None:
    """A SYNC_MASTER without a slave answers with the weaker promise."""

    async def story(cluster: InProcess) -> None:
        server: Any = cluster.sockets["broker-a"].server
        server._parts.committing._is_copied = True
        sent = Heard()
        async with publisher(config(cluster, Role.PUBLISHER, tmp_path), sent) as link:
            link.publish(body(0))
            await rig.until(lambda: sent.answers)
        assert sent.answers[0].strength is Strength.SLAVE_NOT_AVAILABLE

    play(story, tmp_path)


def test_masters_list_a_publisher_until_it_leaves(tmp_path: Path) -> None:
    """A drain waits for every listed client, and a client waits for its replacement."""

    async def story(cluster: InProcess) -> None:
        settings = config(cluster, Role.PUBLISHER, tmp_path)
        lists = [cluster.sockets[name].server for name in ("broker-a", "broker-b")]
        link = await OwnClient(settings).publisher(settings.endpoints[0], Heard())  # type: ignore[arg-type]
        await rig.until(
            lambda: [_publish(one) for one in lists] == [[settings.connection_name]] * 2
        )
        await link.close(1)
        await rig.until(lambda: [_publish(one) for one in lists] == [[], []])

    play(story, tmp_path, masters=2)


def _publish(server: Any) -> list[str]:
    groups = server._parts.clients.producers.values()
    return [client.name for clients in groups for client in clients.values()]


def test_two_members_share_the_queues(tmp_path: Path) -> None:
    queues = [("broker-a", number) for number in range(4)] + [("broker-b", 0)]
    assert share(queues, ["two", "one"], "one") == queues[:3]
    assert share(queues, ["two", "one"], "two") == queues[3:]
    assert share(queues, ["two"], "one") == []
    assert share(queues[:1], ["one", "two"], "two") == []


def test_without_a_route_it_does_not_begin(tmp_path: Path) -> None:
    async def story(cluster: InProcess) -> None:
        settings = config(cluster, Role.PUBLISHER, tmp_path)
        other = rig.config(
            Role.PUBLISHER,
            tmp_path / "other",
            client="rocketmq-python-4.9.0",
            queue="nowhere",
            endpoints=settings.endpoints,
        )
        with pytest.raises(LinkLost, match="no route to nowhere"):
            await OwnClient(other).publisher(other.endpoints[0], Heard())

    play(story, tmp_path)


def test_a_client_attaches_to_the_requested_name_server(tmp_path: Path) -> None:
    async def story(cluster: InProcess) -> None:
        for host in ("ns1", "ns2"):
            heard = Heard()
            own = {"publishers_attach": [host]}
            async with publisher(config(cluster, Role.PUBLISHER, tmp_path, **own), heard):
                assert heard.notices[0] == ("attached", host)

    play(story, tmp_path)


def test_a_setting_that_it_has_not_is_said(tmp_path: Path) -> None:
    own = {"settings": [["pollNameServerInterval", "5000"], ["vipChannelEnabled", "true"]]}
    settings = rig.config(Role.PUBLISHER, tmp_path, client="rocketmq-python-4.9.8", own=own)
    with pytest.raises(NoLibrary, match="vipChannelEnabled"):
        OwnClient(settings)


# --- which name server is asked


class Silent(asyncio.Protocol):
    """Accepts, and says nothing."""


@contextlib.asynccontextmanager
async def two_silent() -> AsyncIterator[tuple[Endpoint, ...]]:
    loop, ports = asyncio.get_running_loop(), [clusters._free(0) for _ in range(2)]
    servers = [await loop.create_server(Silent, "127.0.0.1", port) for port in ports]
    try:
        yield tuple(Endpoint(f"ns{n}", "127.0.0.1", port) for n, port in enumerate(ports, 1))
    finally:
        for server in servers:
            server.close()


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("4.9.0", ["ns1"]),
        ("4.9.8", ["ns1", "ns2", "ns1"]),
        ("5.2.0", ["ns1"]),
        ("5.3.3", ["ns1", "ns2", "ns1"]),
    ],
)
def test_client_turns_to_another_name_server_when_none_answers(
    monkeypatch: pytest.MonkeyPatch, version: str, expected: list[str]
) -> None:
    monkeypatch.setattr(name_servers, "ANSWER_LIMIT_S", 0.05)

    async def story() -> None:
        heard = list[str]()
        async with two_silent() as endpoints:
            servers = NameServers(LIKENESSES[version], endpoints, "ns1", Random(1), heard.append)
            for _ in range(3):
                with pytest.raises(Unanswered):
                    await servers.ask(_anything())
            servers.close()
        assert heard == expected

    asyncio.run(story())


def _anything() -> Request:
    return requests.cluster_info()
