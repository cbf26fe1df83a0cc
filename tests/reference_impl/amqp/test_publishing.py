"""What a channel makes of a publish: copies, returns, acks, nacks, or nothing for ever."""

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.methods import method_frame
from reference_impl.metadata.commands import DeclareExchange, PutPolicy
from reference_impl.metadata.tables import Exchange, Policy
from reference_impl.pid import Pid
from reference_impl.process import CRASH, NO_CONNECTION, NORMAL, SHUTDOWN
from reference_impl.protocol.queues import Confirm, Deliver, Message, Reject
from tests.reference_impl.amqp.client import (
    PERSISTENT,
    Client,
    Content,
    Recorder,
    declare,
    published,
    record,
)
from tests.reference_impl.amqp.fake_node import FakeNode

CONFIRM = s.ConfirmSelect(nowait=False)


class Mirrored:
    """A queue of a master and two mirrors that say what a test makes them say."""

    def __init__(self) -> None:
        self.node = FakeNode()
        self.replicas = [Recorder(), Recorder(), Recorder()]
        self.pids = [self.node.add(replica) for replica in self.replicas]
        self.node.put(record("q", *self.pids))
        self.client = Client(self.node)
        assert self.client.say(CONFIRM) == [s.ConfirmSelectOk()]

    def confirm(self, place: int, *sequences: int) -> list[object]:
        confirm = Confirm("q", self.pids[place], sequences)
        self.node.post(self.client.channel, confirm)
        return self.client.hear()

    def end(self, place: int, reason: str) -> list[object]:
        self.node.end(self.pids[place], reason)
        return self.client.hear()


def test_master_and_mirrors_receive_the_message_as_published() -> None:
    there = Mirrored()
    there.client.publish("q", b"body", properties=PERSISTENT)
    there.client.publish("q", b"")
    first, second = there.replicas[0].take()
    assert there.replicas[1].take() == there.replicas[2].take() == [first, second]
    channel = there.client.channel
    assert first == Deliver(channel, 1, first.message)
    identity = first.message.identity
    assert first.message == Message(identity, "", "q", PERSISTENT, b"body", True)
    assert (second.sequence, second.message.persistent) == (2, False)
    assert second.message.identity != identity


def test_without_confirms_the_sequence_is_zero() -> None:
    node = FakeNode()
    replica = Recorder()
    node.put(record("q", node.add(replica)))
    client = Client(node)
    client.publish("q")
    assert [each.sequence for each in replica.heard] == [0]


def test_sequences_count_from_the_select_on() -> None:
    node = FakeNode()
    replica = Recorder()
    node.put(record("q", node.add(replica)))
    client = Client(node)
    client.publish("q")
    client.say(s.ConfirmSelect(nowait=True))
    client.say(CONFIRM)
    client.publish("q")
    assert [each.sequence for each in replica.heard] == [0, 1]


def test_acked_when_every_replica_has_confirmed() -> None:
    there = Mirrored()
    there.client.publish("q")
    assert there.confirm(0, 1) == there.confirm(1, 1) == []
    assert there.confirm(2, 1) == [q.BasicAck(1, False)]


def test_confirms_of_one_message_are_coalesced() -> None:
    there = Mirrored()
    there.client.send(published("q") * 5)
    there.confirm(0, 1, 2, 3, 5)
    there.confirm(1, 1, 2, 3, 5)
    assert there.confirm(2, 1, 2, 3, 5) == [q.BasicAck(3, True), q.BasicAck(5, False)]


def test_a_mirror_that_stops_is_waited_for_no_more() -> None:
    there = Mirrored()
    there.client.publish("q")
    there.confirm(0, 1)
    there.confirm(1, 1)
    assert there.end(2, SHUTDOWN) == [q.BasicAck(1, False)]


def test_a_replica_that_crashes_nacks_at_once() -> None:
    there = Mirrored()
    there.client.publish("q")
    assert there.end(1, CRASH) == [q.BasicNack(1, False, False)]
    there.confirm(0, 1)
    assert there.confirm(2, 1) == []


def test_a_deleted_queue_acks() -> None:
    there = Mirrored()
    there.client.publish("q")
    assert there.end(0, NORMAL) == [q.BasicAck(1, False)]


def test_mirrors_that_refuse_promotion_after_master_loss_cause_a_nack() -> None:
    there = Mirrored()
    there.client.publish("q")
    assert there.end(0, NO_CONNECTION) == there.end(1, NORMAL) == []
    assert there.end(2, NORMAL) == [q.BasicNack(1, False, False)]


def test_a_hung_mirror_gets_neither_ack_nor_nack() -> None:
    there = Mirrored()
    there.client.publish("q")
    there.confirm(0, 1)
    assert there.confirm(1, 1) == []


def test_a_rejected_publish_is_nacked() -> None:
    there = Mirrored()
    there.client.publish("q")
    there.node.post(there.client.channel, Reject("q", there.pids[0], (1,)))
    assert there.client.hear() == [q.BasicNack(1, False, False)]


def test_replicas_that_are_dead_and_still_listed_nack() -> None:
    there = Mirrored()
    for place in range(3):
        there.end(place, NO_CONNECTION)
    assert there.client.publish("q") == [q.BasicNack(1, False, False)]
    assert there.client.publish("q") == [q.BasicNack(2, False, False)]


def test_after_a_failover_copies_go_to_who_is_listed_then() -> None:
    there = Mirrored()
    there.end(0, NO_CONNECTION)
    there.node.put(record("q", *there.pids[1:]))
    there.client.publish("q")
    assert there.confirm(1, 1) == []
    assert there.confirm(2, 1) == [q.BasicAck(1, False)]


def test_publishes_to_a_mirrored_queue_without_replicas_are_nacked() -> None:
    node = FakeNode()
    node.commit(PutPolicy(Policy("ha", "^q$", {"ha-mode": "all"}, 0, "queues")))
    node.put(record("q", None, home="ref2"))
    client = Client(node)
    client.say(CONFIRM)
    assert client.publish("q", mandatory=True) == [q.BasicNack(1, False, False)]


def test_publishes_to_a_down_unmirrored_queue_are_unroutable_and_acked() -> None:
    node = FakeNode()
    node.put(record("q", None, home="ref2"))
    client = Client(node)
    client.say(CONFIRM)
    assert client.publish("q") == [q.BasicAck(1, False)]
    returned, acked = client.publish("q", b"body", mandatory=True, properties=PERSISTENT)
    assert returned == Content(q.BasicReturn(312, "NO_ROUTE", "", "q"), PERSISTENT, b"body")
    assert acked == q.BasicAck(2, False)


def test_unroutable_messages_are_dropped_unless_mandatory() -> None:
    client = Client(FakeNode())
    assert client.publish("missing") == []
    (returned,) = client.publish("missing", b"x", mandatory=True)
    assert isinstance(returned, Content)


def test_a_node_in_a_possible_minority_confirms_nothing() -> None:
    there = Mirrored()
    there.node.is_guarded = True
    there.client.publish("q")
    assert there.confirm(0, 1) == there.confirm(1, 1) == there.confirm(2, 1) == []
    there.node.fire("guard")
    assert there.client.hear() == []
    there.node.is_guarded = False
    there.node.fire("guard")
    assert there.client.hear() == [q.BasicAck(1, False)]


def test_every_routed_queue_gets_the_message_and_must_take_it() -> None:
    node = FakeNode()
    client = Client(node)
    for name in ("q", "r"):
        client.say(declare(name))
        assert client.say(q.QueueBind(0, name, "amq.fanout", "", False, {})) == [q.QueueBindOk()]
    client.say(CONFIRM)
    assert client.publish("k", b"x", exchange="amq.fanout") == [q.BasicAck(1, False)]
    queues = [node.processes[node.tables.queues[name].master] for name in ("q", "r")]
    assert queues[0].ready[1] is queues[1].ready[1]


def test_an_unknown_exchange_is_404_and_an_internal_one_403() -> None:
    client = Client(FakeNode())
    (closed,) = client.publish("k", exchange="nowhere")
    assert (closed.code, closed.class_id, closed.method_id) == (404, 60, 40)
    node = FakeNode()
    node.commit(DeclareExchange(Exchange("inside", "fanout", False, False, True, {})))
    (closed,) = Client(node).publish("k", exchange="inside")
    assert closed.code == 403


def test_publishes_behind_a_method_that_waits_keep_their_order() -> None:
    node = FakeNode()
    master, replica = Recorder(), Recorder()
    node.put(record("slow", node.add(master)))
    node.put(record("q", node.add(replica)))
    client = Client(node)
    client.send(method_frame(1, declare("slow", passive=True)) + published("q", b"1"))
    client.publish("q", b"2")
    assert replica.heard == []
    node.end(node.tables.queues["slow"].master, NORMAL)
    del node.tables.queues["slow"]
    node.fire("pause")
    (closed,) = client.hear()
    assert closed.code == 404
    assert replica.heard == []  # the channel closed before they were carried out


def test_identities_differ_between_channels() -> None:
    node = FakeNode()
    replica = Recorder()
    node.put(record("q", node.add(replica)))
    client = Client(node)
    client.open(2)
    client.publish("q")
    client.publish("q", number=2)
    first, second = replica.heard
    assert first.message.identity != second.message.identity
    assert isinstance(first.channel, Pid)
