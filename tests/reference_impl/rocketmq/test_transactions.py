"""Halves of transactions, and what becomes of them."""

import json

import pytest

from reference_impl.rocketmq.broker.topics import GIVEN_UP
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.settings import BrokerTimes
from reference_impl.rocketmq.simulator.world import World
from reference_impl.rocketmq.store.records import Record, read
from tests.reference_impl.rocketmq.talking import (
    MASTER,
    MASTER_ADDRESS,
    Client,
    broker,
    pulling,
    sending,
)
from tests.reference_impl.rocketmq.test_store import records

COMMIT, ROLL_BACK, UNKNOWN = 8, 12, 0
TIMES = BrokerTimes(transaction_check_interval=10_000, transaction_time_out=6_000)


@pytest.fixture
def world() -> World:
    made = World(seed=1)
    broker(made, times=TIMES, transaction_check_max=2)
    return made


@pytest.fixture
def producer(world: World) -> Client:
    one = Client(world, "producer")
    topic = {"topic": "t", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}
    one.ask(MASTER_ADDRESS, RequestCode.UPDATE_AND_CREATE_TOPIC, topic)
    body = {"clientID": "p", "producerDataSet": [{"groupName": "g"}], "consumerDataSet": []}
    one.ask(MASTER_ADDRESS, RequestCode.HEART_BEAT, {}, json.dumps(body).encode())
    return one


def half(producer: Client, body: bytes = b"x", **more: str) -> dict[str, object]:
    """Where it is, as its producer names it when he decides."""
    fields = sending("t", 2, TRAN_MSG="true", PGROUP="g", UNIQ_KEY="u", TAGS="a", **more)
    placed = producer.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, fields, body).header.fields
    return {
        "producerGroup": "g",
        "tranStateTableOffset": placed["queueOffset"],
        "commitLogOffset": int(placed["msgId"][16:], 16),
        "msgId": "u",
    }


def decide(producer: Client, where: dict[str, object], decision: int) -> Command:
    decided = {**where, "commitOrRollback": decision}
    return producer.ask(MASTER_ADDRESS, RequestCode.END_TRANSACTION, decided)


def seen(client: Client, topic: str = "t", queue: int = 2) -> list[Record]:
    answer = client.ask(MASTER_ADDRESS, RequestCode.PULL_MESSAGE, pulling(topic, queue, 0))
    return records(answer.body)


def test_a_committed_message_is_in_its_real_queue_as_sent(producer: Client) -> None:
    where = half(producer)
    assert seen(producer) == []
    assert decide(producer, where, COMMIT).header.code == Code.SUCCESS
    (found,) = seen(producer)
    assert (found.body, found.properties["TAGS"]) == (b"x", "a")
    assert not {"TRAN_MSG", "REAL_TOPIC", "REAL_QID"} & found.properties.keys()
    assert found.prepared == where["commitLogOffset"]


def test_a_rollback_is_neither_visible_nor_checked(world: World, producer: Client) -> None:
    assert decide(producer, half(producer), ROLL_BACK).header.code == Code.SUCCESS
    world.run(60_000)
    assert (seen(producer), producer.requests) == ([], [])


@pytest.mark.parametrize(
    "wrong", [{"producerGroup": "other"}, {"tranStateTableOffset": 7}, {"commitLogOffset": 1}]
)
def test_a_decision_about_something_else_is_refused(
    producer: Client, wrong: dict[str, object]
) -> None:
    answer = decide(producer, {**half(producer), **wrong}, COMMIT)
    assert (answer.header.code, seen(producer)) == (Code.SYSTEM_ERROR, [])


def test_an_undecided_half_is_checked_at_its_group(world: World, producer: Client) -> None:
    half(producer)
    world.run(11_000)
    (check,) = producer.requests
    assert check.header.code == RequestCode.CHECK_TRANSACTION_STATE
    record = read(check.body)
    assert isinstance(record, Record)
    assert (record.topic, record.queue, record.body) == ("t", 2, b"x")
    where = {"producerGroup": "g", **check.header.fields}
    assert decide(producer, where, COMMIT).header.code == Code.SUCCESS
    assert [one.body for one in seen(producer)] == [b"x"]
    world.run(60_000)
    assert len(producer.requests) == 1


def test_a_forged_check_count_does_not_stop_checks(world: World, producer: Client) -> None:
    half(producer, TRANSACTION_CHECK_TIMES="many")
    world.run(11_000)
    assert [it.header.code for it in producer.requests] == [RequestCode.CHECK_TRANSACTION_STATE]


def test_an_undecided_transaction_is_given_up_after_the_last_check(
    world: World, producer: Client
) -> None:
    half(producer)
    world.run(70_000)
    assert len(producer.requests) == 2
    assert [one.body for one in seen(producer, GIVEN_UP, 0)] == [b"x"]


def test_halves_and_decisions_outlive_a_crash(world: World, producer: Client) -> None:
    decide(producer, half(producer, b"decided"), ROLL_BACK)
    half(producer, b"open")
    world.crash(MASTER)
    world.run(20)
    world.start(MASTER)
    world.run(20)
    again = Client(world, "again")
    body = {"clientID": "q", "producerDataSet": [{"groupName": "g"}], "consumerDataSet": []}
    again.ask(MASTER_ADDRESS, RequestCode.HEART_BEAT, {}, json.dumps(body).encode())
    world.run(11_000)
    (check,) = again.requests
    record = read(check.body)
    assert isinstance(record, Record)
    assert record.body == b"open"
