"""Brokers that name servers replace, as a client sees them."""

import json
from random import Random

import pytest

from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from tests.reference_impl.rocketmq.ctgmq.brokers import NAME_SERVERS, SwitchedBrokers
from tests.reference_impl.rocketmq.dledger.brokers import records_in
from tests.reference_impl.rocketmq.talking import pulling, sending


@pytest.fixture
def brokers() -> SwitchedBrokers:
    """A group that took a message, whose slave knows the topic."""
    group = SwitchedBrokers()
    master = group.whole()
    assert group.send(master, b"first").header.code == Code.SUCCESS
    group.world.run(14_000)
    return group


def _other(name: str) -> str:
    return "b2" if name == "b1" else "b1"


def test_a_dead_master_is_replaced_and_nothing_is_lost(brokers: SwitchedBrokers) -> None:
    old = brokers.whole()
    sent = [b"%d" % number for number in range(5)]
    assert {brokers.send(old, body).header.code for body in sent} == {Code.SUCCESS}
    brokers.world.crash(old)
    new = brokers.master(but=old)
    assert brokers.send(new, b"last").header.code == Code.SUCCESS
    assert brokers.bodies(new) == [b"first", *sent, b"last"]
    brokers.world.start(old)
    assert brokers.whole() == new
    brokers.world.run(3_000)
    assert brokers.bodies(old) == [b"first", *sent, b"last"]


def test_every_route_shows_the_new_master_alone(brokers: SwitchedBrokers) -> None:
    old = brokers.whole()
    brokers.world.freeze(old)
    new = brokers.master(but=old)
    brokers.world.run(500)
    for name in NAME_SERVERS:
        assert brokers.route(name)["0"] == f"{new}:10911"
    brokers.world.thaw(old)
    brokers.world.run(10_000)
    number = old[1:]
    for name in NAME_SERVERS:
        assert brokers.route(name) == {"0": f"{new}:10911", number: f"{old}:10911"}


def test_a_slave_refuses_with_a_code_that_clients_send_again(brokers: SwitchedBrokers) -> None:
    answer = brokers.send(_other(brokers.whole()), b"x")
    assert answer.header.code == Code.SERVICE_NOT_AVAILABLE


def test_a_stopped_master_hands_over_within_seconds(brokers: SwitchedBrokers) -> None:
    old = brokers.whole()
    world = brokers.world
    world.call(old, lambda server: server.stop())
    world.run(20)
    world.crash(old)
    assert brokers.master(3_000, but=old) == _other(old)


def test_an_undelivered_message_would_wait_for_its_old_master(brokers: SwitchedBrokers) -> None:
    """A delayed message is delivered by the new master, and by it alone."""
    old = brokers.whole()
    assert brokers.send(old, b"later", DELAY="5").header.code == Code.SUCCESS
    brokers.world.run(1_000)
    brokers.world.freeze(old)
    new = brokers.master(but=old)
    brokers.world.thaw(old)
    brokers.world.run(70_000)
    assert brokers.bodies(new) == [b"first", b"later"]
    assert brokers.whole() == new
    assert brokers.bodies(old) == [b"first", b"later"]


def test_a_half_message_would_be_forgotten_with_its_master(brokers: SwitchedBrokers) -> None:
    """The new master asks the producer what became of it."""
    old = brokers.whole()
    properties = {"TRAN_MSG": "true", "PGROUP": "p", "UNIQ_KEY": "u"}
    assert brokers.send(old, b"half", **properties).header.code == Code.SUCCESS
    brokers.world.crash(old)
    new = brokers.master(but=old)
    body = b'{"clientID": "c", "producerDataSet": [{"groupName": "p"}], "consumerDataSet": []}'
    brokers.client.ask(f"{new}:10911", RequestCode.HEART_BEAT, body=body)
    for _ in range(8):
        brokers.world.run(20_000)
        brokers.client.ask(f"{new}:10911", RequestCode.HEART_BEAT, body=body)
    codes = [one.header.code for one in brokers.client.requests]
    assert RequestCode.CHECK_TRANSACTION_STATE in codes


def test_tools_of_rocketmq_5_see_the_set(brokers: SwitchedBrokers) -> None:
    old = brokers.whole()
    new = _other(old)
    leaders = {name: brokers.controllers(name) for name in NAME_SERVERS}
    (control,) = (name for name, each in leaders.items() if each.leads)
    assert {each.leader for each in leaders.values()} == {control}
    state = brokers.sync_state(control)
    assert (state.master, state.epoch) == (f"{old}:10911", 1)
    assert [(one.address, one.id) for one in state.in_sync] == [("b1:10911", 1), ("b2:10911", 2)]
    brokers.world.crash(old)
    assert brokers.master(but=old) == new
    state = brokers.sync_state(control)
    assert (state.master, state.epoch) == (f"{new}:10911", 2)
    assert [one.address for one in state.in_sync] == [f"{new}:10911"]
    assert [one.address for one in state.others] == [f"{old}:10911"]


def test_a_confirmed_message_would_lose_its_new_topic() -> None:
    """The slave has the topic before the message, however soon its master dies."""
    group = SwitchedBrokers()
    old = group.whole()
    group.client.send(
        f"{old}:10911",
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        {"topic": "t", "readQueueNums": "4", "writeQueueNums": "4", "perm": "6"},
    )
    assert group.send(old, b"first").header.code == Code.SUCCESS
    group.world.crash(old)
    new = group.master(but=old)
    assert group.bodies(new) == [b"first"]
    assert group.send(new, b"second").header.code == Code.SUCCESS
    group.world.start(old)
    assert group.whole() == new
    assert group.server(old)._parts.topics.get("t") == group.server(new)._parts.topics.get("t")


@pytest.mark.parametrize("seed", range(10))
def test_no_confirmed_message_lacks_its_topic_whenever_the_master_dies(seed: int) -> None:
    group = SwitchedBrokers(seed)
    old = group.whole()
    dice, sent = Random(seed), dict[str, int]()
    for number in range(6):
        topic = f"t{number}"
        making = {"topic": topic, "readQueueNums": "1", "writeQueueNums": "1", "perm": "6"}
        code = RequestCode.UPDATE_AND_CREATE_TOPIC
        group.client.send(f"{old}:10911", code, making)
        code, fields = RequestCode.SEND_MESSAGE_V2, sending(topic)
        sent[topic] = group.client.send(f"{old}:10911", code, fields, topic.encode())
        group.world.run(dice.uniform(0, 20))
    group.world.crash(old)
    group.world.run(100)
    answers = {topic: group.client.answer(number) for topic, number in sent.items()}
    confirmed = [
        topic for topic, one in answers.items() if one and one.header.code == Code.SUCCESS
    ]
    assert confirmed
    new = group.master(but=old)
    for topic in confirmed:
        fields = pulling(topic, 0, 0)
        answer = group.client.ask(f"{new}:10911", RequestCode.PULL_MESSAGE, fields)
        assert [one.body for one in records_in(answer.body)] == [topic.encode()], topic


def test_offsets_go_on_where_the_last_master_ended(brokers: SwitchedBrokers) -> None:
    """Also those of messages that it never confirmed are given again, once."""
    old = brokers.whole()
    other = _other(old)
    for pair in ((old, other), (other, old)):
        brokers.world.cut(*pair)
    fields = sending("t", 0)
    brokers.client.send(f"{old}:10911", RequestCode.SEND_MESSAGE_V2, fields, b"cut")
    brokers.world.run(100)
    brokers.world.crash(old)
    new = brokers.master(but=old)
    answer = brokers.send(new, b"second")
    assert (answer.header.code, answer.header.fields["queueOffset"]) == (Code.SUCCESS, "1")
    for pair in ((old, other), (other, old)):
        brokers.world.heal(*pair)
    brokers.world.start(old)
    assert brokers.whole() == new
    brokers.world.run(1_000)
    assert brokers.bodies(old) == brokers.bodies(new) == [b"first", b"second"]


def test_a_consumer_ahead_of_its_queue_would_wait_for_good() -> None:
    """It read what was cut later. The new master says where the queue ends."""
    group = SwitchedBrokers(without="read-confirmed")
    old = group.whole()
    group.send(old, b"first")
    for pair in ((old, _other(old)), (_other(old), old)):
        group.world.cut(*pair)
    group.send(old, b"cut")
    read = group.bodies(old)
    assert read == [b"first", b"cut"]
    group.world.crash(old)
    new = group.master(but=old)
    fields = pulling("t", 0, len(read))
    answer = group.client.ask(f"{new}:10911", RequestCode.PULL_MESSAGE, fields)
    assert answer.header.code == Code.PULL_OFFSET_MOVED
    assert answer.header.fields["nextBeginOffset"] == "1"


def test_a_queue_lock_would_bind_no_one_after_a_switch(brokers: SwitchedBrokers) -> None:
    """Locks are not replicated, as in RocketMQ: for up to 30 s, the lease of clients, two
    consumers may take themselves for the owner. The new master knows one of them."""
    old = brokers.whole()
    assert _locks(brokers, old, "one")
    assert not _locks(brokers, old, "other")
    brokers.world.crash(old)
    new = brokers.master(but=old)
    assert _locks(brokers, new, "other")
    assert not _locks(brokers, new, "one")


def _locks(brokers: SwitchedBrokers, name: str, client: str) -> bool:
    queue = {"topic": "t", "brokerName": "broker-a", "queueId": 0}
    wanted = {"consumerGroup": "g", "clientId": client, "mqSet": [queue]}
    body = json.dumps(wanted).encode()
    answer = brokers.client.ask(f"{name}:10911", RequestCode.LOCK_BATCH_MQ, {}, body)
    return bool(json.loads(answer.body)["lockOKMQSet"])


def test_all_restart_and_the_last_master_goes_on(brokers: SwitchedBrokers) -> None:
    master = brokers.whole()
    for name in (*NAME_SERVERS, "b1", "b2"):
        brokers.world.crash(name)
    for name in (*NAME_SERVERS, _other(master), master):
        brokers.world.start(name)
    assert brokers.whole() == master
    assert brokers.bodies(master) == [b"first"]
