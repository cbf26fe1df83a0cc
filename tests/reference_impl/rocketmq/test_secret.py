"""A secret that name servers and brokers share: with it all is as without, and strangers are none
of them."""

import random

import pytest

from reference_impl.rocketmq import configuration
from reference_impl.rocketmq.broker.copies import REPORT
from reference_impl.rocketmq.broker.server import BrokerServer
from reference_impl.rocketmq.effects import COPIES, Close, Transmit
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import request
from reference_impl.rocketmq.remoting.proofs import NONCE, PROOF, is_proven, proven
from reference_impl.rocketmq.settings import BrokerSettings, Role
from reference_impl.rocketmq.simulator.disks import MemoryDisk
from reference_impl.rocketmq.simulator.world import HostClock, World, WorldClock
from reference_impl.rocketmq.store.log import CommitLog
from tests.reference_impl.rocketmq.talking import (
    MASTER,
    MASTER_ADDRESS,
    NS_ADDRESS,
    SLAVE,
    Client,
    broker,
    name_server,
    sending,
)
from tests.reference_impl.rocketmq.test_copies import log_of

SECRET, OTHER = "a secret of sixteen octets", "another secret of as many"
STRANGER = 99
WHO = {"brokerName": "broker-a", "brokerAddr": "x:1", "clusterName": "c", "brokerId": "0"}


def is_listed(world: World) -> bool:
    """Whether the name server knows the topic of broker-a."""
    client = Client(world, "asking")
    answer = client.ask(NS_ADDRESS, RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "TBW102"})
    return answer.header.code == Code.SUCCESS


def group(master: str, slave: str, names: str = SECRET) -> World:
    """A name server, a master and a slave, with these secrets."""
    world = World(seed=1)
    name_server(world, secret=names)
    broker(world, MASTER, broker_role=Role.SYNC_MASTER, peer_secret=master)
    broker(world, SLAVE, broker_role=Role.SLAVE, broker_id=1, peer_secret=slave)
    world.run(35_000)
    return world


def send(world: World) -> Code:
    answer = Client(world, "one").ask(
        MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, sending("t"), b"a message"
    )
    return Code(answer.header.code)


def test_brokers_with_one_secret_work_as_without() -> None:
    world = group(SECRET, SECRET)
    assert is_listed(world)
    assert [send(world) for _ in range(1)] == [Code.SUCCESS]
    world.run(1_000)
    assert log_of(world, SLAVE) == log_of(world, MASTER) != b""


@pytest.mark.parametrize("slave", ["", OTHER], ids=["none", "another"])
def test_a_slave_without_the_secret_gets_nothing_and_is_ignored(slave: str) -> None:
    world = group(SECRET, slave)
    assert send(world) is Code.SLAVE_NOT_AVAILABLE
    world.run(11_000)
    assert log_of(world, SLAVE) == b""


def test_a_master_without_the_secret_has_no_slave_or_route() -> None:
    world = group(OTHER, SECRET)
    assert not is_listed(world)
    assert log_of(world, SLAVE) == b""


def test_a_stranger_can_neither_register_nor_take_a_broker_off() -> None:
    world = group(SECRET, SECRET)
    stranger = Client(world, "stranger")
    for code in (
        RequestCode.REGISTER_BROKER,
        RequestCode.UNREGISTER_BROKER,
        RequestCode.QUERY_DATA_VERSION,
    ):
        assert stranger.ask(NS_ADDRESS, code, WHO).header.code == Code.NO_PERMISSION
    nonce = stranger.ask(NS_ADDRESS, RequestCode.PEER_CHALLENGE).header.fields[NONCE]
    guessed = proven(OTHER, nonce, RequestCode.UNREGISTER_BROKER, 7, WHO).header.fields
    answer = stranger.ask(NS_ADDRESS, RequestCode.UNREGISTER_BROKER, guessed)
    assert answer.header.code == Code.NO_PERMISSION
    assert is_listed(world)


def test_a_proof_covers_one_connection_one_request_and_its_content() -> None:
    command = proven(SECRET, "nonce", RequestCode.REGISTER_BROKER, 7, WHO, b"body")
    assert is_proven(SECRET, "nonce", command)
    assert not is_proven(SECRET, "another connection's", command)
    assert not is_proven(OTHER, "nonce", command)
    fields = dict(command.header.fields)
    for others in (
        request(RequestCode.REGISTER_BROKER, 8, fields, b"body"),
        request(RequestCode.UNREGISTER_BROKER, 7, fields, b"body"),
        request(RequestCode.REGISTER_BROKER, 7, fields, b"bodY"),
        request(RequestCode.REGISTER_BROKER, 7, {**fields, "brokerId": "1"}, b"body"),
        request(RequestCode.REGISTER_BROKER, 7, {**fields, PROOF: ""}, b"body"),
    ):
        assert not is_proven(SECRET, "nonce", others)


def test_a_proof_needs_a_drawn_number() -> None:
    command = proven(SECRET, "", RequestCode.REGISTER_BROKER, 7, WHO)
    assert not is_proven(SECRET, "", command)


@pytest.mark.parametrize(
    "octets", [REPORT.pack(0), b"\xff" * 400, b""], ids=["a report", "noise", "silence"]
)
def test_a_stranger_at_the_slaves_door_is_no_slave(octets: bytes) -> None:
    clock = HostClock(WorldClock(), 1.0, 0)
    config = BrokerSettings(
        broker_name="broker-a", broker_role=Role.SYNC_MASTER, peer_secret=SECRET
    )
    server = BrokerServer(config, clock, MemoryDisk(), random.Random(1))
    assert isinstance(server.store.log, CommitLog)
    server.store.log.append_copy(b"what a stranger must not read")
    challenge = server.opened(STRANGER, "x:1", COPIES, None)
    assert [type(effect) for effect in challenge] == [Transmit]
    effects = server.received(STRANGER, octets)
    assert not [effect for effect in effects if isinstance(effect, Transmit)]
    assert any(isinstance(effect, Close) for effect in effects) is bool(octets)


def test_a_secret_is_long_enough_or_none() -> None:
    assert configuration.broker("brokerName=a\npeerSecret=").peer_secret == ""
    assert configuration.name_server(f"peerSecret={SECRET}").peer_secret == SECRET
    with pytest.raises(ValueError, match="peerSecret"):
        configuration.broker("brokerName=a\npeerSecret=short")
