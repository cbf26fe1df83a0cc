"""Whatever anybody says to a name server or a broker, it goes on, and who behaves is served."""

from collections.abc import Callable

import pytest

from reference_impl.rocketmq.effects import COPIES, REMOTING, Server
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.settings import Role
from reference_impl.rocketmq.simulator.world import World
from tests.reference_impl.rocketmq.fuzzing import Fuzzer
from tests.reference_impl.rocketmq.talking import (
    MASTER,
    MASTER_ADDRESS,
    NAME_SERVER,
    NS_ADDRESS,
    Client,
    broker,
    name_server,
    pulling,
    sending,
    server_of,
)

PIECES = 30  # of a peer at most
AT_A_TIME = 20  # of them, and then one looks whether it is served
STRANGERS = [200, pytest.param(40_000, marks=pytest.mark.nightly)]
LATER_MS, TICK_MS = 10_000, 500  # so that what waits for its time has it
FIRST = 1_000_000  # of their connections: the world's own are fewer


class Door:
    """A server that strangers come to, past the network: its own errors are the test's."""

    def __init__(self, world: World, name: str, door: str) -> None:
        self._world = world
        self._name = name
        self._door = door
        self._last = FIRST

    @property
    def _server(self) -> Server:
        server = self._world.hosts[self._name].server
        assert server is not None
        return server

    def visited(self, pieces: list[bytes]) -> None:
        """By one who hangs up in the end, if he is not sent away before."""
        self._last += 1
        number, server = self._last, self._server
        server.opened(number, "127.0.0.1:9", self._door, None)
        for octets in pieces:
            server.received(number, octets)
        server.closed(number)
        server.tick()


@pytest.mark.parametrize("strangers", STRANGERS)
def test_a_broker_serves_on_whatever_clients_say(strangers: int) -> None:
    world = World(tick_ms=TICK_MS, seed=1)
    name_server(world)
    broker(world)
    client, fuzzer, door = Client(world), Fuzzer(2), Door(world, MASTER, REMOTING)
    for number in range(strangers):
        door.visited(fuzzer.client(PIECES))
        if number % AT_A_TIME == 0:
            world.run(LATER_MS)
            is_served(client, "canary")
    is_served(client, "canary")


@pytest.mark.parametrize("strangers", STRANGERS)
def test_a_name_server_serves_on_whatever_brokers_and_clients_say(strangers: int) -> None:
    world = World(tick_ms=TICK_MS, seed=3)
    name_server(world)
    client, fuzzer, door = Client(world), Fuzzer(4), Door(world, NAME_SERVER, REMOTING)
    for number in range(strangers):
        door.visited(fuzzer.client(PIECES))
        if number % AT_A_TIME == 0:
            world.run(LATER_MS)
            fields = {"brokerName": "canary", "brokerAddr": "c0:10911", "brokerId": 0}
            fields |= {"clusterName": "c", "haServerAddr": "c0:10912", "compressed": "false"}
            assert client.ask(NS_ADDRESS, RequestCode.REGISTER_BROKER, fields).header.code == 0
            reply = client.ask(NS_ADDRESS, RequestCode.GET_BROKER_CLUSTER_INFO)
            assert b"canary" in reply.body


@pytest.mark.parametrize("strangers", STRANGERS)
@pytest.mark.parametrize("say", [Fuzzer.slave, Fuzzer.client])
def test_a_master_serves_on_whatever_slaves_say(
    say: Callable[[Fuzzer, int], list[bytes]], strangers: int
) -> None:
    world = World(tick_ms=TICK_MS, seed=5)
    name_server(world)
    broker(world)
    client, fuzzer, door = Client(world), Fuzzer(6), Door(world, MASTER, COPIES)
    for number in range(strangers):
        door.visited(say(fuzzer, PIECES))
        if number % AT_A_TIME == 0:
            world.run(LATER_MS)
            is_served(client, "canary")


@pytest.mark.parametrize("strangers", STRANGERS)
def test_a_slave_serves_on_whatever_its_master_says(strangers: int) -> None:
    """Each slave has a few masters only: past what is no record it lists nothing any more."""
    fuzzer, copied, listed = Fuzzer(8), 0, 0
    for seed in range(strangers // AT_A_TIME):
        world, client = following(seed)
        server = server_of(world, MASTER)
        for number in range(AT_A_TIME):
            connection = FIRST + number
            server.opened(connection, "127.0.0.1:9", COPIES, "m0:10912")
            for octets in fuzzer.master(PIECES, server.store.log.end):
                server.received(connection, octets)
            server.closed(connection)
            server.tick()
        world.run(LATER_MS)
        answer = client.ask(MASTER_ADDRESS, RequestCode.GET_BROKER_RUNTIME_INFO)
        assert answer.header.code == Code.SUCCESS
        copied += server.store.log.end
        listed += server.store.ends("orders", 0)[1]
    assert copied > 1_000, "little of it came as far as the log"
    assert listed > strangers / 10, "few were records"


def following(seed: int) -> tuple[World, Client]:
    """A slave that knows of a master that does not exist."""
    world = World(tick_ms=TICK_MS, seed=seed)
    name_server(world)
    broker(world, broker_id=1, broker_role=Role.SLAVE)
    client = Client(world)
    fields = {"brokerName": "broker-a", "brokerAddr": "m0:10911", "brokerId": 0}
    fields |= {"clusterName": "DefaultCluster", "haServerAddr": "m0:10912"}
    client.ask(NS_ADDRESS, RequestCode.REGISTER_BROKER, fields)
    world.run(40_000)  # it registers again, and learns of that master
    return world, client


@pytest.mark.parametrize(
    "code",
    [
        RequestCode.HEART_BEAT,
        RequestCode.LOCK_BATCH_MQ,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP,
    ],
)
def test_a_document_that_is_no_text_does_not_end_servers(code: RequestCode) -> None:
    """It ended the broker: a fuzzer's find."""
    world = World(seed=9)
    name_server(world)
    broker(world)
    client = Client(world)
    body = b'{"clientID":"\xd1","clientId":"\xd1","groupName":"\xd1","consumerGroup":"g"}'
    assert client.ask(MASTER_ADDRESS, code, body=body).header.code == Code.SYSTEM_ERROR
    is_served(client, "canary")


def is_served(client: Client, topic: str) -> None:
    sent = client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, sending(topic), b"here")
    assert sent.header.code == Code.SUCCESS, sent.header.remark
    offset = int(sent.header.fields["queueOffset"])
    pulled = client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, pulling(topic, 0, offset))
    assert pulled.header.code == Code.SUCCESS
    assert b"here" in pulled.body
