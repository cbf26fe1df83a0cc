"""What a broker does with what clients ask of it."""

import json

import pytest

from reference_impl.rocketmq.broker.levels import LEVELS_S
from reference_impl.rocketmq.broker.topics import HALF, SCHEDULED
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.settings import BrokerTimes, Flush
from reference_impl.rocketmq.simulator.world import World
from reference_impl.rocketmq.store import properties
from reference_impl.rocketmq.store.records import Record
from tests.reference_impl.rocketmq.talking import (
    MASTER,
    MASTER_ADDRESS,
    Client,
    broker,
    name_server,
    pulling,
    sending,
)
from tests.reference_impl.rocketmq.test_store import records

GROUP = "consumers"


@pytest.fixture
def world() -> World:
    made = World(seed=1)
    name_server(made)
    broker(made)
    return made


@pytest.fixture
def client(world: World) -> Client:
    one = Client(world)
    topic = {"topic": "t", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
    assert one.ask(MASTER_ADDRESS, RequestCode.UPDATE_AND_CREATE_TOPIC, topic).header.code == 0
    return one


def send(client: Client, body: bytes, topic: str = "t", queue: int = 0, **props: str) -> Command:
    fields = sending(topic, queue, **props)
    return client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, fields, body)


def pull(client: Client, offset: int = 0, topic: str = "t", queue: int = 0) -> list[Record]:
    answer = client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, pulling(topic, queue, offset))
    return records(answer.body)


def heartbeat(
    client: Client,
    *topics: str,
    expression: str = "*",
    group: str = GROUP,
    version: int | str = 1,
) -> None:
    tags = [] if expression == "*" else expression.split("||")
    wants = [
        {
            "topic": topic,
            "subString": expression,
            "tagsSet": tags,
            "codeSet": [properties.tags_code(tag) for tag in tags],
            "subVersion": version,
            "expressionType": "TAG",
            "classFilterMode": False,
        }
        for topic in topics
    ]
    body = {
        "clientID": client.name,
        "producerDataSet": [],
        "consumerDataSet": [
            {
                "groupName": group,
                "consumeType": "CONSUME_PASSIVELY",
                "messageModel": "CLUSTERING",
                "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
                "unitMode": False,
                "subscriptionDataSet": wants,
            }
        ],
    }
    answer = client.ask(MASTER_ADDRESS, RequestCode.HEART_BEAT, {}, json.dumps(body).encode())
    assert answer.header.code == Code.SUCCESS


def test_sent_messages_are_pulled_in_order(client: Client) -> None:
    answers = [send(client, b"%d" % number, KEYS=str(number)) for number in range(3)]
    assert [answer.header.fields["queueOffset"] for answer in answers] == ["0", "1", "2"]
    found = pull(client)
    assert [(one.body, one.offset) for one in found] == [(b"0", 0), (b"1", 1), (b"2", 2)]
    assert found[1].properties == {"KEYS": "1", "CLUSTER": "DefaultCluster"}


def test_both_names_of_a_sends_fields_are_understood(client: Client) -> None:
    fields = {
        "producerGroup": "g",
        "topic": "t",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": 4,
        "queueId": 2,
        "sysFlag": 0,
        "bornTimestamp": 1,
        "flag": 0,
        "properties": "",
        "reconsumeTimes": 0,
    }
    answer = client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE, fields, b"old")
    assert (answer.header.code, answer.header.fields["queueId"]) == (0, "2")
    assert [one.body for one in pull(client, queue=2)] == [b"old"]


def test_a_batch_is_stored_singly_and_answered_with_all_ids(client: Client) -> None:
    one = b"\0\0\0\x1b" + bytes(8) + b"\0\0\0\5\0\0\0\2hi\0\3a\1b"
    fields = {**sending("t"), "m": "true"}
    answer = client.ask(MASTER_ADDRESS, RequestCode.SEND_BATCH_MESSAGE, fields, one * 3)
    assert len(answer.header.fields["msgId"].split(",")) == 3
    assert [(one.body, one.properties["a"]) for one in pull(client)] == [(b"hi", "b")] * 3


def test_a_batch_marked_1_by_native_clients_is_one_message(client: Client) -> None:
    fields = {**sending("t"), "m": "1"}
    client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, fields, b"whole")
    assert [one.body for one in pull(client)] == [b"whole"]


def test_an_unknown_topic_is_made_after_the_template(
    client: Client,
) -> None:
    assert send(client, b"x", topic="new", queue=3).header.code == 0
    table = json.loads(client.ask(MASTER_ADDRESS, RequestCode.GET_ALL_TOPIC_CONFIG).body)
    assert table["topicConfigTable"]["new"]["writeQueueNums"] == 4
    assert table["topicConfigTable"]["new"]["perm"] == 6


def test_a_topic_is_not_made_where_that_is_forbidden() -> None:
    world = World(seed=1)
    broker(world, auto_create_topic_enable=False)
    answer = send(Client(world), b"x", topic="new")
    assert answer.header.code == Code.TOPIC_NOT_EXIST
    assert answer.header.fields["MSG_REGION"] == "DefaultRegion"


@pytest.mark.parametrize(
    ("fields", "body", "code"),
    [
        ({"b": "with blanks "}, b"", Code.SYSTEM_ERROR),
        ({"b": ""}, b"", Code.SYSTEM_ERROR),
        ({"b": "x" * 128}, b"", Code.SYSTEM_ERROR),
        ({"b": SCHEDULED}, b"", Code.NO_PERMISSION),
        ({"e": 4}, b"", Code.SYSTEM_ERROR),
        ({"e": "many"}, b"", Code.SYSTEM_ERROR),
        ({"f": 2**31}, b"", Code.SYSTEM_ERROR),  # no Integer of Java: it ended the broker
        ({"g": 2**63}, b"", Code.SYSTEM_ERROR),
        ({}, bytes(5 << 20), Code.MESSAGE_ILLEGAL),
        ({"i": "a\x01" + "x" * 40_000}, b"", Code.MESSAGE_ILLEGAL),
        ({"m": "true"}, b"no batch", Code.MESSAGE_ILLEGAL),
        ({"m": "true"}, b"", Code.MESSAGE_ILLEGAL),
    ],
)
def test_invalid_sends_are_refused_with_their_code(
    client: Client, fields: dict[str, object], body: bytes, code: Code
) -> None:
    merged = {**sending("t"), **fields}
    answer = client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, merged, body)
    assert answer.header.code == code
    assert answer.header.remark
    assert pull(client) == []


def test_a_queue_is_chosen_for_who_has_no_wish(client: Client) -> None:
    answer = send(client, b"x", queue=-1)
    assert answer.header.fields["queueId"] in {"0", "1", "2", "3"}


def test_a_topic_without_writable_queues_does_not_end_the_broker(client: Client) -> None:
    topic = {"topic": "narrow", "readQueueNums": 4, "writeQueueNums": 0, "perm": 6}
    client.ask(MASTER_ADDRESS, RequestCode.UPDATE_AND_CREATE_TOPIC, topic)
    refused = send(client, b"x", "narrow", queue=-1)
    assert refused.header.code == Code.SYSTEM_ERROR
    assert "no queue to write to" in refused.header.remark


def test_a_pull_waits_until_a_message_arrives(world: World, client: Client) -> None:
    waiting = client.send(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, pulling("t", 0, 0, sysFlag=6))
    world.run(2_000)
    assert client.answer(waiting) is None
    send(client, b"x")
    answer = client.answer(waiting, 50)
    assert answer is not None
    assert [one.body for one in records(answer.body)] == [b"x"]


def test_an_unwanted_message_wakes_no_pull(world: World, client: Client) -> None:
    wants = pulling("t", 0, 0, sysFlag=6, subscription="b || c")
    waiting = client.send(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, wants)
    world.run(100)
    send(client, b"x", TAGS="a")
    assert client.answer(waiting, 100) is None
    send(client, b"y", TAGS="b")
    answer = client.answer(waiting, 100)
    assert answer is not None
    assert [one.body for one in records(answer.body)] == [b"y"]


def test_a_wait_ends_with_the_five_seconds_after_its_time(world: World, client: Client) -> None:
    wants = pulling("t", 0, 0, sysFlag=6, suspendTimeoutMillis=6_000)
    waiting = client.send(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, wants)
    world.run(6_500)
    assert client.answer(waiting) is None
    answer = client.answer(waiting, 5_000)
    assert answer is not None
    assert answer.header.code == Code.PULL_NOT_FOUND
    assert answer.header.fields["nextBeginOffset"] == "0"


def test_a_pull_that_may_not_wait_is_answered_at_once(client: Client) -> None:
    answer = client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, pulling("t", 0, 0))
    assert answer.header.code == Code.PULL_NOT_FOUND


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"topic": "none"}, Code.TOPIC_NOT_EXIST),
        ({"queueId": 4}, Code.SYSTEM_ERROR),
        ({"queueId": -1}, Code.SYSTEM_ERROR),
        ({"queueOffset": 9}, Code.PULL_OFFSET_MOVED),
        ({"queueOffset": -1}, Code.PULL_OFFSET_MOVED),
        ({"sysFlag": 0}, Code.SUBSCRIPTION_NOT_EXIST),
        ({"expressionType": "SQL92"}, Code.SYSTEM_ERROR),
        ({"subscription": "other"}, Code.PULL_RETRY_IMMEDIATELY),
    ],
)
def test_a_pull_that_finds_nothing_says_why(
    client: Client, fields: dict[str, object], code: Code
) -> None:
    send(client, b"x")
    merged = {**pulling("t", 0, 0), **fields}
    assert client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, merged).header.code == code


def test_a_pull_with_a_newer_subscription_waits_for_the_heartbeat(client: Client) -> None:
    """As a real consumer's whose queues have changed, and whose heartbeat was left out."""
    send(client, b"x")

    def answer_code(version: int) -> Code:
        fields = pulling("t", 0, 0, consumerGroup=GROUP, sysFlag=0, subVersion=version)
        return Code(client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, fields).header.code)

    heartbeat(client, "t", version="5")
    assert (answer_code(5), answer_code(6)) == (Code.SUCCESS, Code.SUBSCRIPTION_NOT_LATEST)
    heartbeat(client, "t", version=6)
    heartbeat(client, "t", version=4)
    assert answer_code(6) == Code.SUCCESS


def test_a_consumer_gets_what_its_heartbeat_subscribed_to(client: Client) -> None:
    heartbeat(client, "t", expression="b")
    send(client, b"x", TAGS="a")
    send(client, b"y", TAGS="b")
    pull = {**pulling("t", 0, 0, sysFlag=0), "consumerGroup": GROUP}
    answer = client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, pull)
    assert [one.body for one in records(answer.body)] == [b"y"]


def test_group_members_get_notice_of_joins_and_leaves(world: World) -> None:
    one, other = Client(world, "one"), Client(world, "other")
    heartbeat(one, "t")
    world.run(20)
    codes = [command.header.code for command in one.requests]
    assert codes == [RequestCode.NOTIFY_CONSUMER_IDS_CHANGED]
    heartbeat(other, "t")
    heartbeat(other, "t")
    world.run(20)
    assert len(one.requests) == 2
    listed = one.ask(
        MASTER_ADDRESS, RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": GROUP}
    )
    assert json.loads(listed.body) == {"consumerIdList": ["one", "other"]}
    other.hang_up(MASTER_ADDRESS)
    assert len(one.requests) == 3


def test_a_group_without_members_has_no_list(client: Client) -> None:
    fields = {"consumerGroup": GROUP}
    answer = client.ask(MASTER_ADDRESS, RequestCode.GET_CONSUMER_LIST_BY_GROUP, fields)
    assert answer.header.code == Code.SYSTEM_ERROR


def test_offsets_are_stored_and_a_young_queue_starts_at_0(world: World, client: Client) -> None:
    where = {"consumerGroup": GROUP, "topic": "t", "queueId": 0}
    reply = client.ask(MASTER_ADDRESS, RequestCode.QUERY_CONSUMER_OFFSET, where)
    assert reply.header.fields == {"offset": "0"}
    client.ask(MASTER_ADDRESS, RequestCode.UPDATE_CONSUMER_OFFSET, {**where, "commitOffset": 7})
    world.run(6_000)
    world.crash(MASTER)
    world.run(20)
    world.start(MASTER)
    world.run(20)
    reply = client.ask(MASTER_ADDRESS, RequestCode.QUERY_CONSUMER_OFFSET, where)
    assert reply.header.fields == {"offset": "7"}


def test_an_unflushed_offset_is_lost_with_its_process(world: World, client: Client) -> None:
    where = {"consumerGroup": GROUP, "topic": "t", "queueId": 0}
    client.ask(MASTER_ADDRESS, RequestCode.UPDATE_CONSUMER_OFFSET, {**where, "commitOffset": 7})
    world.crash(MASTER)
    world.run(20)
    world.start(MASTER)
    world.run(20)
    reply = client.ask(MASTER_ADDRESS, RequestCode.QUERY_CONSUMER_OFFSET, where)
    assert reply.header.fields == {"offset": "0"}


def test_a_pull_commits_where_its_flag_says_so(client: Client) -> None:
    send(client, b"x")
    pull = {**pulling("t", 0, 0, sysFlag=5, commitOffset=4), "consumerGroup": GROUP}
    client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, pull)
    where = {"consumerGroup": GROUP, "topic": "t", "queueId": 0}
    reply = client.ask(MASTER_ADDRESS, RequestCode.QUERY_CONSUMER_OFFSET, where)
    assert reply.header.fields == {"offset": "4"}


def test_messages_outlive_a_crash(world: World, client: Client) -> None:
    for number in range(50):
        send(client, b"%d" % number)
    world.crash(MASTER)
    world.run(20)
    world.start(MASTER)
    world.run(20)
    seen = [int(one.body) for offset in (0, 32) for one in pull(client, offset)]
    assert seen == [*range(50)]


@pytest.mark.parametrize(("flush", "kept"), [(Flush.ASYNC_FLUSH, False), (Flush.SYNC_FLUSH, True)])
def test_with_synchronous_flush_confirmed_messages_survive_a_power_loss(
    flush: Flush, kept: bool
) -> None:
    world = World(seed=1)
    broker(
        world, flush_disk_type=flush, times=BrokerTimes(flush_commit_log_thorough_interval=60_000)
    )
    client = Client(world)
    assert send(client, b"x", topic="new").header.code == 0
    world.lose_power(MASTER)
    world.run(20)
    world.start(MASTER)
    world.run(20)
    assert bool(pull(client, topic="new")) is kept


def test_a_delayed_message_arrives_when_due_and_not_before(world: World, client: Client) -> None:
    send(client, b"later", DELAY="2")
    world.run(LEVELS_S[1] * 1000 - 500)
    assert pull(client) == []
    world.run(1_000)
    (found,) = pull(client)
    assert (found.body, found.topic, found.queue) == (b"later", "t", 0)
    assert found.properties["REAL_TOPIC"] == "t"


def test_delayed_messages_outlive_a_crash_and_come_once(world: World, client: Client) -> None:
    send(client, b"later", DELAY="2")
    world.run(1_000)
    world.crash(MASTER)
    world.run(20)
    world.start(MASTER)
    world.run(20)
    world.run(8_000)
    assert [one.body for one in pull(client)] == [b"later"]


def test_a_message_sent_back_returns_in_the_retry_topic(world: World, client: Client) -> None:
    heartbeat(client, "t")
    send(client, b"x")
    (first,) = pull(client)
    back = {"offset": first.position, "group": GROUP, "delayLevel": 1, "maxReconsumeTimes": 16}
    assert client.ask(MASTER_ADDRESS, RequestCode.CONSUMER_SEND_MSG_BACK, back).header.code == 0
    world.run(3_000)
    (again,) = pull(client, topic=f"%RETRY%{GROUP}")
    assert (again.body, again.reconsumed, again.properties["RETRY_TOPIC"]) == (b"x", 1, "t")
    assert again.properties["ORIGIN_MESSAGE_ID"]


def test_an_overflowing_retry_count_ends_no_broker(client: Client) -> None:
    heartbeat(client, "t")
    merged = {**sending("t"), "j": 2**31 - 1}
    client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, merged, b"x")
    (first,) = pull(client)
    assert first.reconsumed == 2**31 - 1
    back = {"offset": first.position, "group": GROUP, "delayLevel": 0}
    assert client.ask(MASTER_ADDRESS, RequestCode.CONSUMER_SEND_MSG_BACK, back).header.code == 0


@pytest.mark.parametrize("fields", [{"delayLevel": -1}, {"delayLevel": 0, "maxReconsumeTimes": 0}])
def test_messages_retried_too_often_go_to_the_dlq(
    client: Client, fields: dict[str, object]
) -> None:
    heartbeat(client, "t")
    send(client, b"x")
    (first,) = pull(client)
    back = {"offset": first.position, "group": GROUP, "maxReconsumeTimes": 16, **fields}
    client.ask(MASTER_ADDRESS, RequestCode.CONSUMER_SEND_MSG_BACK, back)
    assert [one.body for one in pull(client, topic=f"%DLQ%{GROUP}")] == [b"x"]


def test_too_many_retries_send_a_message_to_the_dead_letters(client: Client) -> None:
    heartbeat(client, "t")
    fields = {**sending(f"%RETRY%{GROUP}"), "j": 16}
    client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, fields, b"x")
    assert [one.body for one in pull(client, topic=f"%DLQ%{GROUP}")] == [b"x"]


def test_half_of_a_transaction_is_hidden_from_consumers(client: Client) -> None:
    answer = send(client, b"half", TRAN_MSG="true", PGROUP="producers")
    assert answer.header.code == 0
    assert pull(client) == []
    assert send(client, b"x", topic=HALF).header.code == Code.NO_PERMISSION


def test_a_queue_lock_ends_by_release_or_a_silent_minute(world: World, client: Client) -> None:
    def lock(who: str, code: int = RequestCode.LOCK_BATCH_MQ) -> bool:
        queue = {"topic": "t", "brokerName": "broker-a", "queueId": 0}
        body = {"consumerGroup": GROUP, "clientId": who, "mqSet": [queue]}
        answer = client.ask(MASTER_ADDRESS, code, {}, json.dumps(body).encode())
        return bool(answer.body and json.loads(answer.body)["lockOKMQSet"])

    assert lock("one")
    assert lock("one")
    assert not lock("other")
    lock("other", RequestCode.UNLOCK_BATCH_MQ)
    assert not lock("other")
    lock("one", RequestCode.UNLOCK_BATCH_MQ)
    assert lock("other")
    world.run(61_000)
    assert lock("one")


def test_bounds_and_single_messages_are_answered(client: Client) -> None:
    send(client, b"x")
    where = {"topic": "t", "queueId": 0}
    assert (
        client.ask(MASTER_ADDRESS, RequestCode.GET_MAX_OFFSET, where).header.fields["offset"]
        == "1"
    )
    assert (
        client.ask(MASTER_ADDRESS, RequestCode.GET_MIN_OFFSET, where).header.fields["offset"]
        == "0"
    )
    (found,) = pull(client)
    seen = client.ask(MASTER_ADDRESS, RequestCode.VIEW_MESSAGE_BY_ID, {"offset": found.position})
    assert records(seen.body) == [found]
    nothing = client.ask(MASTER_ADDRESS, RequestCode.VIEW_MESSAGE_BY_ID, {"offset": 1 << 40})
    assert nothing.header.code == Code.SYSTEM_ERROR
    late = {**where, "timestamp": found.stored_ms + 1}
    reply = client.ask(MASTER_ADDRESS, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, late)
    assert reply.header.fields["offset"] == "1"


def test_a_deleted_topic_is_gone(client: Client) -> None:
    send(client, b"x")
    client.ask(MASTER_ADDRESS, RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "t"})
    answer = client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, pulling("t", 0, 0))
    assert answer.header.code == Code.TOPIC_NOT_EXIST


def test_a_broker_reports_its_configuration_and_the_log_end(client: Client) -> None:
    send(client, b"x")
    config = client.ask(MASTER_ADDRESS, RequestCode.GET_BROKER_CONFIG).body.decode()
    assert {"brokerName=broker-a", "brokerId=0", "brokerRole=ASYNC_MASTER"} <= {
        *config.split("\n")
    }
    table = json.loads(client.ask(MASTER_ADDRESS, RequestCode.GET_BROKER_RUNTIME_INFO).body)[
        "table"
    ]
    assert int(table["commitLogMaxOffset"]) > int(table["commitLogMinOffset"]) == 0


def test_oneway_requests_get_no_answer(world: World, client: Client) -> None:
    fields = sending("t")
    reply = client.send(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, fields, b"x", oneway=True)
    assert client.answer(reply, 200) is None
    assert [one.body for one in pull(client)] == [b"x"]


def test_a_client_silent_for_two_minutes_is_disconnected(world: World, client: Client) -> None:
    world.run(122_500)
    assert client.closings == [MASTER_ADDRESS]
