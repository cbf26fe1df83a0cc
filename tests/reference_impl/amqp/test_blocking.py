"""Publishers while a node runs short of something: not read from, told of it, and not given up."""

import pytest

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.methods import method_frame
from tests.reference_impl.amqp.client import Client, consume, declare, published
from tests.reference_impl.amqp.fake_node import FakeNode

MEMORY, DISK = frozenset({"memory"}), frozenset({"disk"})
CAN_HEAR = {"connection.blocked": True}


def connected(node: FakeNode, **tuned: object) -> Client:
    client = Client(node, capabilities=CAN_HEAR, **tuned)
    client.say(declare("q"))
    return client


def test_a_blocked_publishers_message_is_taken_when_the_alarm_ends() -> None:
    node = FakeNode()
    client = connected(node)
    node.alarm(ref2=MEMORY)
    assert client.hear() == []
    assert client.publish("q", b"one") == [s.ConnectionBlocked("low on memory")]
    assert node.unread == {client.pid}
    other = Client(node)
    assert other.say(declare("q", passive=True)) == [q.QueueDeclareOk("q", 0, 0)]
    node.alarm()
    assert client.hear() == [s.ConnectionUnblocked()]
    assert node.unread == set()
    assert client.say(declare("q", passive=True)) == [q.QueueDeclareOk("q", 1, 0)]


def test_a_blocked_publisher_that_reconnects_gets_no_message_confirmed() -> None:
    """Else publishers that give a silent connection up have one message confirmed each time."""
    node = FakeNode()
    node.alarm(ref2=MEMORY)
    for _ in range(3):
        client = connected(node)
        client.say(s.ConfirmSelect(False))
        assert client.publish("q", b"one") == [s.ConnectionBlocked("low on memory")]
        node.hang_up(client.pid)
    node.alarm()
    assert Client(node).say(declare("q", passive=True)) == [q.QueueDeclareOk("q", 0, 0)]


def test_the_reason_is_the_alarm_of_the_last_notice() -> None:
    node = FakeNode()
    client = connected(node)
    node.alarm(ref2=MEMORY)
    node.alarmed = {}  # it is going to be told
    assert client.publish("q", b"one") == [s.ConnectionBlocked("low on memory")]
    node.alarm()
    assert client.hear() == [s.ConnectionUnblocked()]


def test_clients_that_only_consume_are_not_blocked() -> None:
    node = FakeNode()
    client = connected(node)
    node.alarm(ref1=DISK)
    assert client.say(consume("q")) == [q.BasicConsumeOk("c")]
    assert node.unread == set()


def test_pipelined_commands_behind_a_blocked_publish_run_after_the_alarm() -> None:
    """Run what came behind a blocked publish in its order, once the alarm has ended."""
    node = FakeNode()
    client = connected(node)
    node.alarm(ref1=MEMORY, ref2=DISK)
    together = published("q", b"one") + published("q", b"two") + method_frame(1, declare("r"))
    heard = client.send(together)
    assert heard == [s.ConnectionBlocked("low on disk & memory")]
    node.alarm()
    assert client.hear() == [s.ConnectionUnblocked(), q.QueueDeclareOk("r", 0, 0)]
    assert client.say(declare("q", passive=True)) == [q.QueueDeclareOk("q", 2, 0)]


def test_the_end_of_one_of_two_alarms_unblocks_no_client() -> None:
    node = FakeNode()
    client = connected(node)
    node.alarm(ref1=MEMORY, ref2=MEMORY)
    client.publish("q")
    node.alarm(ref2=MEMORY)
    assert (client.hear(), node.unread) == ([], {client.pid})


def test_an_alarm_that_ended_before_any_publish_blocks_nothing() -> None:
    node = FakeNode()
    client = connected(node)
    node.alarm(ref1=MEMORY)
    node.alarm()
    assert client.publish("q") == []
    assert node.unread == set()


def test_publishers_that_connect_during_an_alarm_are_blocked() -> None:
    node = FakeNode()
    node.alarm(ref1=MEMORY)
    client = connected(node)
    assert client.publish("q") == [s.ConnectionBlocked("low on memory")]


def test_a_client_without_the_capability_gets_no_notice() -> None:
    node = FakeNode()
    client = Client(node)
    client.say(declare("q"))
    node.alarm(ref1=MEMORY)
    assert client.publish("q") == []
    assert node.unread == {client.pid}
    node.alarm()
    assert client.hear() == []


@pytest.mark.parametrize("blocked", [True, False])
def test_the_silence_of_an_unread_client_is_not_its_death(blocked: bool) -> None:
    node = FakeNode()
    client = connected(node, heartbeat_s=10)
    if blocked:
        node.alarm(ref1=MEMORY)
    client.publish("q")
    for _ in range(4):
        node.fire("heartbeat listen")
    assert client.is_hung_up_on is not blocked
