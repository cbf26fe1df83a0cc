"""Registrations at a name server, and its answers."""

import json
import struct
import zlib
from typing import Any

import msgspec
import pytest

from reference_impl.rocketmq.registration import DataVersion, Registration, Topic, Topics
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.simulator.world import World
from tests.reference_impl.rocketmq.talking import NS_ADDRESS, Client, name_server


@pytest.fixture
def world() -> World:
    made = World(seed=1)
    name_server(made)
    return made


def _body(*topics: str, counter: int = 1, perm: int = 6) -> bytes:
    table = {name: Topic(name, 4, 4, perm) for name in topics}
    return msgspec.json.encode(Registration(Topics(table, DataVersion(counter, 7))))


def _who(
    number: int = 0, address: str = "a0:10911", name: str = "broker-a", epoch: int = 0
) -> dict[str, object]:
    return {
        **({"masterEpoch": epoch} if epoch else {}),
        "clusterName": "c",
        "brokerName": name,
        "brokerId": number,
        "brokerAddr": address,
        "haServerAddr": address.replace("10911", "10912"),
    }


def _register(client: Client, body: bytes, **who: object) -> Command:
    answer = client.ask(NS_ADDRESS, RequestCode.REGISTER_BROKER, _who(**who), body)  # type: ignore[arg-type]
    assert answer.header.code == Code.SUCCESS, answer.header.remark
    return answer


def _route(client: Client, topic: str = "t") -> dict[str, Any] | None:
    answer = client.ask(NS_ADDRESS, RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
    if answer.header.code == Code.TOPIC_NOT_EXIST:
        return None
    document: dict[str, Any] = json.loads(answer.body)
    return document


def _addresses(client: Client, topic: str = "t") -> dict[str, dict[str, str]]:
    """By broker and number."""
    route = _route(client, topic)
    brokers = [] if route is None else route["brokerDatas"]
    return {one["brokerName"]: one["brokerAddrs"] for one in brokers}


def _perms(client: Client) -> list[int]:
    route = _route(client)
    assert route is not None
    return [one["perm"] for one in route["queueDatas"]]


def test_a_route_lists_a_masters_topic_queues_and_addresses(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t"))
    assert _route(client) == {
        "brokerDatas": [
            {"cluster": "c", "brokerName": "broker-a", "brokerAddrs": {"0": "a0:10911"}}
        ],
        "filterServerTable": {},
        "queueDatas": [
            {
                "brokerName": "broker-a",
                "perm": 6,
                "readQueueNums": 4,
                "writeQueueNums": 4,
                "topicSysFlag": 0,
            }
        ],
    }
    assert _route(client, "other") is None


def test_topics_registered_by_a_slave_are_ignored(world: World) -> None:
    slave, client = Client(world, "a1"), Client(world)
    _register(slave, _body("t"), number=1, address="a1:10911")
    assert _route(client) is None


def test_a_slave_learns_its_master(world: World) -> None:
    master, slave = Client(world, "a0"), Client(world, "a1")
    before = _register(slave, _body(), number=1, address="a1:10911")
    assert dict(before.header.fields) == {}
    _register(master, _body("t"))
    after = _register(slave, _body(), number=1, address="a1:10911")
    assert after.header.fields == {"masterAddr": "a0:10911", "haServerAddr": "a0:10912"}


@pytest.mark.parametrize(("epochs", "shown"), [((1, 2), "a1:10911"), ((0, 0), "a0:10911")])
def test_a_resumed_master_would_take_its_route_back(
    world: World, epochs: tuple[int, int], shown: str
) -> None:
    """As in the real one, if brokers name no epochs."""
    old, new, client = Client(world, "a0"), Client(world, "a1"), Client(world)
    _register(old, _body("t"), epoch=epochs[0])
    _register(new, _body("t"), address="a1:10911", epoch=epochs[1])
    _register(old, _body("t"), epoch=epochs[0])
    assert _addresses(client)["broker-a"] == {"0": shown}


def test_a_route_never_shows_two_masters(world: World) -> None:
    old, new, client = Client(world, "a0"), Client(world, "a1"), Client(world)
    _register(old, _body("t"), epoch=1)
    _register(new, _body("t"), number=1, address="a1:10911", epoch=1)
    _register(new, _body("t"), address="a1:10911", epoch=2)
    assert _addresses(client)["broker-a"] == {"0": "a1:10911"}
    _register(old, _body("t"), number=2, epoch=2)
    assert _addresses(client)["broker-a"] == {"0": "a1:10911", "2": "a0:10911"}


def test_a_slave_of_a_later_master_bars_the_earlier_one(world: World) -> None:
    old, slave, client = Client(world, "a0"), Client(world, "a1"), Client(world)
    _register(slave, _body("t"), number=1, address="a1:10911", epoch=2)
    _register(old, _body("t"), epoch=1)
    assert _route(client) is None
    _register(old, _body("t"), epoch=2)
    assert _addresses(client)["broker-a"] == {"0": "a0:10911", "1": "a1:10911"}


def test_topics_of_a_known_version_are_not_read_again(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t", perm=6))
    _register(broker, _body("t", perm=4))
    assert _perms(client) == [6]
    _register(broker, _body("t", perm=4, counter=2))
    assert _perms(client) == [4]


def test_a_broker_whose_connection_ends_is_gone_at_once(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t"))
    broker.hang_up(NS_ADDRESS)
    assert _route(client) is None


def test_an_older_connection_of_a_broker_may_end_without_harm(world: World) -> None:
    older, newer, client = Client(world, "a0"), Client(world, "a0b"), Client(world)
    _register(older, _body("t"))
    _register(newer, _body("t"))
    older.hang_up(NS_ADDRESS)
    assert _addresses(client) == {"broker-a": {"0": "a0:10911"}}


def test_without_its_master_a_group_lists_its_slave_and_queues(world: World) -> None:
    master, slave, client = Client(world, "a0"), Client(world, "a1"), Client(world)
    _register(master, _body("t"))
    _register(slave, _body(), number=1, address="a1:10911")
    master.hang_up(NS_ADDRESS)
    assert _addresses(client) == {"broker-a": {"1": "a1:10911"}}
    slave.hang_up(NS_ADDRESS)
    assert _route(client) is None


def test_a_frozen_broker_is_removed_after_its_idle_timeout(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t"))
    world.freeze("a0")
    world.run(118_000)
    assert _addresses(client)
    world.run(4_000)
    assert _route(client) is None


def test_a_name_server_that_froze_removes_healthy_brokers(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t"))
    world.freeze("ns1")
    world.run(200_000)
    world.thaw("ns1")
    world.run(20)
    assert _route(client) is None
    _register(broker, _body("t"))
    assert _addresses(client)


def test_an_address_registered_under_another_number_leaves_the_old_one(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body(), number=1)
    _register(broker, _body("t"), number=0)
    assert _addresses(client) == {"broker-a": {"0": "a0:10911"}}


def test_another_address_simply_takes_a_number(world: World) -> None:
    one, other, client = Client(world, "a0"), Client(world, "b0"), Client(world)
    _register(one, _body("t"))
    _register(other, _body("t"), address="b0:10911")
    assert _addresses(client) == {"broker-a": {"0": "b0:10911"}}


def test_an_unregistered_broker_has_no_route(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t"))
    assert (
        broker.ask(NS_ADDRESS, RequestCode.UNREGISTER_BROKER, _who()).header.code == Code.SUCCESS
    )
    assert _route(client) is None


def test_an_operator_removes_and_restores_the_write_permission(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t", "u"))
    reply = client.ask(
        NS_ADDRESS, RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "broker-a"}
    )
    assert (reply.header.fields, _perms(client)) == ({"wipeTopicCount": "2"}, [4])
    reply = client.ask(
        NS_ADDRESS, RequestCode.ADD_WRITE_PERM_OF_BROKER, {"brokerName": "broker-a"}
    )
    assert (reply.header.fields, _perms(client)) == ({"addTopicCount": "2"}, [6])


def test_a_deflated_registration_says_the_same(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    version, filters = b'{"counter":1,"timestamp":7}', b"[]"
    topic = b"t 4 4 6 SINGLE_TAG"
    parts = [_sized(version), struct.pack(">i", 1), _sized(topic), _sized(filters)]
    body = zlib.compress(b"".join(parts), 9)
    fields = {**_who(), "compressed": "true", "bodyCrc32": zlib.crc32(body) & 0x7FFFFFFF}
    answer = broker.ask(NS_ADDRESS, RequestCode.REGISTER_BROKER, fields, body)
    assert (answer.header.code, _perms(client)) == (Code.SUCCESS, [6])


def _sized(octets: bytes) -> bytes:
    return struct.pack(">i", len(octets)) + octets


@pytest.mark.parametrize(
    ("fields", "body", "why"),
    [
        ({"bodyCrc32": 1}, b"{}", "crc32 not match"),
        ({}, b"{", "no registration"),
        ({"compressed": "true"}, b"no", "no registration"),
        ({"compressed": "true"}, zlib.compress(b"\x7f\xff\xff\xff"), "no registration"),
        ({"compressed": "true"}, zlib.compress(bytes(65 << 20)), "more than"),
        ({"brokerId": "one"}, b"{}", "brokerId"),
    ],
)
def test_a_registration_that_is_none_is_refused_and_changes_nothing(
    world: World, fields: dict[str, object], body: bytes, why: str
) -> None:
    broker, client = Client(world, "a0"), Client(world)
    answer = broker.ask(NS_ADDRESS, RequestCode.REGISTER_BROKER, {**_who(), **fields}, body)
    assert answer.header.code == Code.SYSTEM_ERROR
    assert why in answer.header.remark
    assert _addresses(client) == {}


def test_a_registration_without_news_still_renews_the_broker(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t"))
    for counter, changed in ((1, "false"), (2, "true")):
        body = msgspec.json.encode(DataVersion(counter, 7))
        answer = client.ask(NS_ADDRESS, RequestCode.QUERY_DATA_VERSION, _who(), body)
        assert answer.header.fields == {"changed": changed}


def test_the_cluster_is_listed_by_brokers_and_by_clusters(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t"))
    document = json.loads(client.ask(NS_ADDRESS, RequestCode.GET_BROKER_CLUSTER_INFO).body)
    assert document["clusterAddrTable"] == {"c": ["broker-a"]}
    assert document["brokerAddrTable"]["broker-a"]["brokerAddrs"] == {"0": "a0:10911"}


def test_stored_kv_configuration_is_read_back(world: World) -> None:
    client = Client(world)
    place = {"namespace": "n", "key": "k"}
    assert (
        client.ask(NS_ADDRESS, RequestCode.GET_KV_CONFIG, place).header.code
        == Code.QUERY_NOT_FOUND
    )
    client.ask(NS_ADDRESS, RequestCode.PUT_KV_CONFIG, {**place, "value": "v"})
    assert client.ask(NS_ADDRESS, RequestCode.GET_KV_CONFIG, place).header.fields == {"value": "v"}
    listed = client.ask(NS_ADDRESS, RequestCode.GET_KVLIST_BY_NAMESPACE, place)
    assert json.loads(listed.body) == {"table": {"k": "v"}}
    client.ask(NS_ADDRESS, RequestCode.DELETE_KV_CONFIG, place)
    assert (
        client.ask(NS_ADDRESS, RequestCode.GET_KV_CONFIG, place).header.code
        == Code.QUERY_NOT_FOUND
    )


def test_a_topic_is_deleted_on_one_cluster_or_on_all(world: World) -> None:
    broker, client = Client(world, "a0"), Client(world)
    _register(broker, _body("t", "u"))
    client.ask(
        NS_ADDRESS, RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": "t", "clusterName": "other"}
    )
    assert _route(client, "t") is not None
    client.ask(NS_ADDRESS, RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": "t"})
    assert _route(client, "t") is None
    assert _route(client, "u") is not None


def test_an_unknown_code_is_answered(world: World) -> None:
    answer = Client(world).ask(NS_ADDRESS, 9_999)
    assert answer.header.code == Code.REQUEST_CODE_NOT_SUPPORTED


def test_malformed_octets_end_only_their_own_connection(world: World) -> None:
    stranger, broker, client = Client(world, "x"), Client(world, "a0"), Client(world)
    _register(broker, _body("t"))
    stranger.raw(stranger.link(NS_ADDRESS), b"GET / HTTP/1.1\r\n\r\n")
    world.run(20)
    assert stranger.closings == [NS_ADDRESS]
    assert _addresses(client)
