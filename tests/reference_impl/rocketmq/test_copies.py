"""A master and its slave: what is copied, what is awaited, and what is not compared."""

import pytest

from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.settings import Role
from reference_impl.rocketmq.simulator.world import World
from reference_impl.rocketmq.store.log import CommitLog
from tests.reference_impl.rocketmq.talking import (
    MASTER,
    MASTER_ADDRESS,
    NAME_SERVER,
    SLAVE,
    SLAVE_ADDRESS,
    Client,
    broker,
    name_server,
    pulling,
    sending,
    server_of,
)
from tests.reference_impl.rocketmq.test_store import records

GROUP = "consumers"


def pair(role: Role, seed: int = 1) -> World:
    """A master and its slave, which know each other."""
    world = World(seed)
    name_server(world)
    broker(world, MASTER, broker_role=role)
    broker(world, SLAVE, broker_role=Role.SLAVE, broker_id=1)
    world.run(35_000)
    return world


def send(client: Client, body: bytes) -> Code:
    answer = client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, sending("t"), body)
    return Code(answer.header.code)


def held(client: Client, address: str) -> list[bytes]:
    seen, offset = list[bytes](), 0
    while True:
        answer = client.ask(address, RequestCode.PULL_MESSAGE, pulling("t", 0, offset))
        if answer.header.code != Code.SUCCESS:
            return seen
        seen += [one.body for one in records(answer.body)]
        offset = int(answer.header.fields["nextBeginOffset"])


def log_of(world: World, name: str) -> bytes:
    log = server_of(world, name).store.log
    parts, at = list[bytes](), log.start
    while octets := log.octets(at, 1 << 16):
        parts.append(octets)
        at += len(octets)
    return b"".join(parts)


@pytest.mark.parametrize("seed", range(5))
def test_a_slaves_log_is_its_masters_octet_for_octet(seed: int) -> None:
    world = pair(Role.ASYNC_MASTER, seed)
    client = Client(world)
    for number in range(800):
        send(client, b"%d" % number * 20)
    world.run(11_000)
    assert log_of(world, SLAVE) == log_of(world, MASTER)
    assert len(log_of(world, MASTER)) > 2 << 16
    assert held(client, SLAVE_ADDRESS) == held(client, MASTER_ADDRESS)


def test_a_slave_that_comes_late_copies_the_last_file_alone() -> None:
    world = World(seed=1)
    name_server(world)
    broker(world, MASTER)
    client = Client(world)
    for number in range(1_500):
        send(client, b"%d" % number * 20)
    broker(world, SLAVE, broker_role=Role.SLAVE, broker_id=1)
    world.run(45_000)
    master, slave = (server_of(world, name).store.log for name in (MASTER, SLAVE))
    assert isinstance(master, CommitLog)
    assert (slave.start, slave.end) == (master.file_of(master.end), master.end)
    assert slave.start > 0


def test_with_synchronous_replication_every_sent_message_is_on_the_slave() -> None:
    world = pair(Role.SYNC_MASTER)
    client = Client(world)
    for number in range(20):
        assert send(client, b"%d" % number) is Code.SUCCESS
    world.run(11_000)  # the slave has to know the topic, too
    world.crash(MASTER)
    world.run(1_000)
    assert held(client, SLAVE_ADDRESS) == [b"%d" % number for number in range(20)]


def test_with_asynchronous_replication_a_sent_message_may_miss_the_slave() -> None:
    world = pair(Role.ASYNC_MASTER)
    client = Client(world)
    send(client, b"first")
    world.run(11_000)
    world.cut(MASTER, SLAVE)
    assert send(client, b"second") is Code.SUCCESS
    world.crash(MASTER)
    world.run(1_000)
    assert held(client, SLAVE_ADDRESS) == [b"first"]


def test_without_a_slave_the_message_is_stored_and_answered_immediately() -> None:
    world = pair(Role.SYNC_MASTER)
    client = Client(world)
    world.crash(SLAVE)
    world.run(100)
    before = world.time.ms
    assert send(client, b"x") is Code.SLAVE_NOT_AVAILABLE
    assert world.time.ms - before < 100
    assert held(client, MASTER_ADDRESS) == [b"x"]


def test_a_frozen_slave_costs_timeouts_until_it_is_dropped() -> None:
    world = pair(Role.SYNC_MASTER)
    client = Client(world)
    world.freeze(SLAVE)
    before = world.time.ms
    assert send(client, b"x") is Code.FLUSH_SLAVE_TIMEOUT
    assert 3_000 <= world.time.ms - before < 3_100
    world.run(20_000)
    assert send(client, b"y") is Code.SLAVE_NOT_AVAILABLE
    world.thaw(SLAVE)
    world.run(15_000)
    assert send(client, b"z") is Code.SUCCESS
    assert held(client, SLAVE_ADDRESS) == [b"x", b"y", b"z"]


def test_a_send_without_wait_needs_no_slave() -> None:
    world = pair(Role.SYNC_MASTER)
    client = Client(world)
    world.freeze(SLAVE)
    fields = sending("t", WAIT="false")
    answer = client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, fields, b"x")
    assert answer.header.code == Code.SUCCESS
    (found,) = records(
        client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, pulling("t", 0, 0)).body
    )
    assert "WAIT" not in found.properties


def test_a_slave_takes_no_message_and_says_so() -> None:
    world = pair(Role.ASYNC_MASTER)
    client = Client(world)
    send(client, b"x")
    world.run(11_000)
    answer = client.ask(SLAVE_ADDRESS, RequestCode.SEND_MESSAGE_V2, sending("t"), b"x")
    assert answer.header.code == Code.SERVICE_NOT_AVAILABLE


def test_a_slave_checks_held_pulls_only_every_five_seconds() -> None:
    world = pair(Role.ASYNC_MASTER)
    client = Client(world)
    send(client, b"x")
    world.run(11_000)
    waiting = client.send(SLAVE_ADDRESS, RequestCode.PULL_MESSAGE, pulling("t", 0, 1, sysFlag=6))
    world.run(50)
    send(client, b"y")
    world.run(50)
    assert held(client, SLAVE_ADDRESS) == [b"x", b"y"]
    assert client.answer(waiting) is None
    answer = client.answer(waiting, 5_000)
    assert answer is not None
    assert [one.body for one in records(answer.body)] == [b"y"]


def test_a_slave_without_the_offset_sends_no_consumer_back() -> None:
    world = pair(Role.ASYNC_MASTER)
    client = Client(world)
    send(client, b"x")
    world.run(11_000)
    answer = client.ask(SLAVE_ADDRESS, RequestCode.PULL_MESSAGE, pulling("t", 0, 9))
    assert answer.header.code == Code.PULL_RETRY_IMMEDIATELY
    assert answer.header.fields["nextBeginOffset"] == "9"


def test_a_slaves_offsets_are_stale_and_overwrite_the_masters() -> None:
    """Keep offsets as of the last copy; they go back to old values when the master returns."""
    world = pair(Role.ASYNC_MASTER)
    client = Client(world)
    send(client, b"x")
    where = {"consumerGroup": GROUP, "topic": "t", "queueId": 0}

    def offset(address: str) -> str:
        reply = client.ask(address, RequestCode.QUERY_CONSUMER_OFFSET, where)
        return reply.header.fields["offset"]

    client.ask(MASTER_ADDRESS, RequestCode.UPDATE_CONSUMER_OFFSET, {**where, "commitOffset": 3})
    world.run(11_000)
    assert offset(SLAVE_ADDRESS) == "3"
    world.crash(MASTER)
    client.ask(SLAVE_ADDRESS, RequestCode.UPDATE_CONSUMER_OFFSET, {**where, "commitOffset": 8})
    assert offset(SLAVE_ADDRESS) == "8"
    world.start(MASTER)
    world.run(40_000)
    assert offset(SLAVE_ADDRESS) == "3"


def test_a_connected_slave_confirms_nothing_until_it_was_long_silent() -> None:
    """So does the real one: its master waits for it in vain (docs/behaviour/rocketmq.md 6)."""
    world = pair(Role.SYNC_MASTER)
    client = Client(world)
    assert send(client, b"x") == Code.SUCCESS
    world.crash(SLAVE)
    world.run(1_000)
    assert send(client, b"x") == Code.SLAVE_NOT_AVAILABLE
    world.start(SLAVE)
    world.run(1_500)  # it is connected
    assert send(client, b"x") == Code.FLUSH_SLAVE_TIMEOUT  # 3 s later
    world.run(2_000)
    assert send(client, b"x") == Code.SUCCESS


def test_a_slave_ahead_of_its_master_silently_diverges() -> None:
    """The real one's own gap: nothing is compared (docs/behaviour/rocketmq.md 6)."""
    world = pair(Role.SYNC_MASTER)
    client = Client(world)
    for number in range(5):
        send(client, b"old %d" % number)
    world.run(11_000)
    world.lose_power(MASTER)
    disk = world.hosts[MASTER].disk
    disk.series("commitlog", 1 << 16).truncate(0)
    disk.drop("consumequeue/t")
    world.start(MASTER)
    world.run(11_000)  # it dials again after five seconds, and is silent for as long
    seen = [send(client, b"new %d" % number) for number in range(3)]
    assert seen == [Code.SUCCESS] * 3  # no slave has them
    assert held(client, MASTER_ADDRESS) == [b"new 0", b"new 1", b"new 2"]
    assert held(client, SLAVE_ADDRESS) == [b"old %d" % number for number in range(5)]


def test_a_name_server_that_hangs_costs_the_other_ones_nothing() -> None:
    world = World(seed=1)
    name_server(world)
    name_server(world, "ns2")
    broker(world, MASTER, namesrv_addr="ns1:9876;ns2:9876")
    client = Client(world)
    send(client, b"x")
    world.run(100)
    world.freeze(NAME_SERVER)
    world.run(300_000)
    route = client.ask("ns2:9876", RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "t"})
    assert route.header.code == Code.SUCCESS


def test_a_new_topic_is_known_to_name_servers_at_once() -> None:
    world = World(seed=1)
    name_server(world)
    broker(world, MASTER)
    client = Client(world)
    world.run(12_000)
    send(client, b"x")
    world.run(50)
    route = client.ask("ns1:9876", RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "t"})
    assert route.header.code == Code.SUCCESS


def test_a_broker_that_stops_in_order_says_so() -> None:
    world = World(seed=1)
    name_server(world)
    broker(world, MASTER)
    client = Client(world)
    send(client, b"x")
    world.run(100)
    world.call(MASTER, lambda server: server.stop())
    world.run(50)
    route = client.ask("ns1:9876", RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "t"})
    assert route.header.code == Code.TOPIC_NOT_EXIST
