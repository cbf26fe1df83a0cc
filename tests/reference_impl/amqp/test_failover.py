"""What a channel does when the master of a queue goes (items 38 to 44)."""

from typing import Any

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.methods import method_frame
from reference_impl.amqp.settings import Settings
from reference_impl.metadata.commands import PutPolicy
from reference_impl.metadata.tables import Policy
from reference_impl.process import CRASH, NO_CONNECTION, SHUTDOWN
from reference_impl.protocol.queues import (
    Ack,
    Cancel,
    Confirm,
    Consume,
    Delete,
    Done,
    Look,
    Looked,
    Message,
    QueueDelivery,
)
from tests.reference_impl.amqp.client import (
    NO_PROPERTIES,
    Client,
    Recorder,
    consume,
    declare,
    published,
    record,
)
from tests.reference_impl.amqp.fake_node import FakeNode

CANCEL = {"x-cancel-on-ha-failover": True}


class Mirrored:
    """A mirrored queue "q"; its master and mirror say what a test makes them say."""

    def __init__(self, retries_max: int = 2_000, **tuned: object) -> None:
        self.node = FakeNode(Settings(retries_max=retries_max))
        self.node.commit(PutPolicy(Policy("ha", "^q$", {"ha-mode": "all"}, 0, "queues")))
        self.master, self.mirror = Recorder(), Recorder()
        self.master_pid, self.mirror_pid = (
            self.node.add(process) for process in (self.master, self.mirror)
        )
        self.node.put(record("q", self.master_pid, self.mirror_pid))
        self.client = Client(self.node, **tuned)

    def says(self, *bodies: object) -> list[Any]:
        """A replica says this to the channel; what the client hears."""
        for body in bodies:
            self.node.post(self.client.channel, body)
        return self.client.hear()

    def done(self, replica: Recorder, count: int = 0) -> list[Any]:
        """The replica carries out what it was asked last."""
        return self.says(Done(replica.heard[-1].request, count))

    def consumes(self, tag: str = "c", **arguments: object) -> None:
        self.client.say(consume("q", tag, arguments=arguments))
        assert self.done(self.master) == [q.BasicConsumeOk(tag)]

    def lose_master(self, reason: str = NO_CONNECTION) -> list[Any]:
        self.node.end(self.master_pid, reason)
        return self.client.hear()

    def promote(self) -> list[Any]:
        self.node.put(record("q", self.mirror_pid))
        self.node.fire("pause")
        return self.client.hear()


def delivery(there: Mirrored, number: int, redelivered: bool = False) -> QueueDelivery:
    message = Message(b"id", "", "q", NO_PROPERTIES, b"%d" % number, False)
    master = there.mirror_pid if redelivered else there.master_pid
    return QueueDelivery("q", master, "c", number, redelivered, message)


def test_a_consumer_resumes_at_the_new_master_without_client_notice() -> None:
    there = Mirrored()
    there.consumes(note="kept")
    first = there.master.heard[0]
    assert there.lose_master() == []
    assert there.mirror.heard == []
    assert there.promote() == []
    (again,) = there.mirror.heard
    assert again == Consume(
        there.client.channel, again.request, "c", False, False, 0, False, {"note": "kept"}
    )
    assert again.request != first.request
    assert there.done(there.mirror) == []
    (content,) = there.says(delivery(there, 1, redelivered=True))
    assert (content.method.tag, content.method.redelivered) == ("c", True)


def test_a_channel_looks_for_a_master_every_30_ms() -> None:
    there = Mirrored()
    there.consumes()
    there.lose_master()
    for _ in range(5):
        assert there.node.armed[there.client.channel, "pause"] == 30
        there.node.fire("pause")
    assert there.mirror.heard == []
    there.promote()
    assert len(there.mirror.heard) == 1


def test_a_consumer_with_the_failover_argument_is_cancelled() -> None:
    there = Mirrored()
    there.consumes("c", **CANCEL)
    assert there.lose_master() == [q.BasicCancel("c", True)]
    there.promote()
    assert there.mirror.heard == []


def test_each_consumer_resumes_or_is_cancelled_in_order_of_tags() -> None:
    there = Mirrored()
    for tag, arguments in (("c", {}), ("b", CANCEL), ("a", {})):
        there.consumes(tag, **arguments)
    there.lose_master()
    assert there.promote() == []
    assert [each.tag for each in there.mirror.heard] == ["a"]
    assert there.done(there.mirror) == [q.BasicCancel("b", True)]
    assert [each.tag for each in there.mirror.heard] == ["a", "c"]
    assert there.done(there.mirror) == []


def test_a_consumer_is_cancelled_when_no_master_appears_in_time() -> None:
    there = Mirrored(retries_max=3)
    there.consumes()
    assert there.lose_master() == []
    for _ in range(2):
        there.node.fire("pause")
        assert there.client.hear() == []
    there.node.fire("pause")
    assert there.client.hear() == [q.BasicCancel("c", True)]


def test_a_client_without_cancel_capability_is_resumed_as_well() -> None:
    there = Mirrored(capabilities={})
    there.consumes()
    there.lose_master()
    there.promote()
    assert len(there.mirror.heard) == 1


def test_the_next_master_answers_the_request_of_a_dead_one() -> None:
    there = Mirrored()
    there.client.say(consume("q"))
    assert there.lose_master() == []
    there.promote()
    assert there.done(there.mirror) == [q.BasicConsumeOk("c")]


def test_the_new_master_gets_acks_of_old_delivery_tags() -> None:
    there = Mirrored()
    there.consumes()
    there.says(delivery(there, 7))
    there.lose_master()
    there.promote()
    there.done(there.mirror)
    there.mirror.take()
    assert there.client.say(q.BasicAck(1, False)) == []
    assert there.mirror.take() == [Ack(there.client.channel, (7,))]


def test_the_channel_does_nothing_else_while_it_seeks_a_master() -> None:
    there = Mirrored()
    other = Recorder()
    other_pid = there.node.add(other)
    there.node.put(record("r", other_pid))
    there.client.say(s.ConfirmSelect(True))
    there.client.publish("r", b"1")
    there.consumes()
    there.lose_master()
    assert there.says(Confirm("r", other_pid, (1,))) == []
    assert there.client.send(published("r", b"2") + method_frame(1, q.BasicQos(0, 1, False))) == []
    assert [each.message.body for each in other.heard] == [b"1"]
    assert there.promote() == [q.BasicAck(1, False)]
    assert there.done(there.mirror) == [q.BasicQosOk()]
    assert [each.message.body for each in other.heard] == [b"1", b"2"]


def test_deliveries_that_arrive_during_a_pause_keep_their_order() -> None:
    there = Mirrored()
    other = Recorder()
    other_pid = there.node.add(other)
    there.node.put(record("r", other_pid))
    there.client.say(consume("r", "d"))
    there.done(other)
    there.consumes()
    there.lose_master()
    message = Message(b"id", "", "r", NO_PROPERTIES, b"x", False)
    first, second = (QueueDelivery("r", other_pid, "d", it, False, message) for it in (1, 2))
    assert there.says(first) == []
    (content,) = there.promote()
    assert content.method.delivery_tag == 1
    (content,) = there.says(second)  # while the new master is asked
    assert content.method.delivery_tag == 2


def test_another_timer_does_not_end_a_pause() -> None:
    there = Mirrored()
    there.consumes()
    there.says(delivery(there, 1))
    there.lose_master()
    there.node.put(record("q", there.mirror_pid))
    there.node.fire("sweep")
    assert there.mirror.heard == []
    there.node.fire("pause")
    assert len(there.mirror.heard) == 1


def test_the_end_of_a_queried_master_settles_publishes_and_consumers() -> None:
    there = Mirrored()
    there.client.say(s.ConfirmSelect(True))
    there.client.publish("q")
    there.consumes()
    there.client.say(declare("q", passive=True))
    there.lose_master()
    there.promote()
    looked = Looked(there.mirror.heard[-1].request, 0, 0, 0)
    assert there.says(looked) == [q.QueueDeclareOk("q", 0, 0)]
    assert isinstance(there.mirror.heard[-1], Consume)
    there.done(there.mirror)
    there.node.end(there.mirror_pid, SHUTDOWN)
    assert there.client.hear() == [q.BasicNack(1, False, False)]


def test_cancelling_a_consumer_succeeds_although_its_master_is_gone() -> None:
    there = Mirrored()
    there.consumes()
    there.client.say(q.BasicCancel("c", False))
    assert isinstance(there.master.heard[-1], Cancel)
    assert there.lose_master() == [q.BasicCancelOk("c")]
    there.promote()
    assert there.mirror.heard == []


def test_a_crash_of_the_master_is_a_failover_too() -> None:
    there = Mirrored()
    there.consumes()
    there.lose_master(CRASH)
    there.promote()
    assert len(there.mirror.heard) == 1


# --- requests that need a master


def test_a_declare_that_finds_no_master_fails_with_rabbitmqs_text() -> None:
    there = Mirrored(retries_max=2_000)
    there.lose_master()
    there.node.put(record("q", None, home="ref2"))
    assert there.client.say(declare("q", passive=True)) == []
    for _ in range(1_999):
        there.node.fire("pause")
    assert there.client.hear() == []
    there.node.fire("pause")
    (closed,) = there.client.hear()
    text = "failed to perform operation on queue 'q' in vhost '/' due to timeout"
    assert (closed.code, closed.text) == (404, f"NOT_FOUND - {text}")


def test_a_declare_is_answered_by_the_master_that_appears() -> None:
    there = Mirrored()
    there.client.say(declare("q", passive=True))
    assert there.lose_master() == []
    there.promote()
    assert isinstance(there.mirror.heard[-1], Look)
    looked = Looked(there.mirror.heard[-1].request, 5, 2, 1)
    assert there.says(looked) == [q.QueueDeclareOk("q", 5, 1)]


def test_a_classic_queue_on_a_down_home_node_is_404() -> None:
    """Answer 404 at once for an unmirrored durable queue whose home node is down."""
    node = FakeNode()
    node.put(record("other", None, home="ref2"))
    text = "home node 'rabbit@ref2' of durable queue 'other' in vhost '/' is down or inaccessible"
    for method in (
        declare("other", passive=True),
        declare("other", durable=True),
        consume("other"),
        q.BasicGet(0, "other", False),
        q.QueuePurge(0, "other", False),
        q.QueueDelete(0, "other", False, False, False),
        q.QueueBind(0, "other", "amq.direct", "", False, {}),
    ):
        (closed,) = Client(node).say(method)
        assert (closed.code, closed.text) == (404, f"NOT_FOUND - {text}"), method


def test_a_queue_without_any_replica_is_deleted_by_force() -> None:
    there = Mirrored()
    there.node.put(record("q", None, home="ref2"))
    (closed,) = there.client.say(q.QueueDelete(0, "q", False, True, False))
    assert (closed.code, closed.text) == (
        406,
        "PRECONDITION_FAILED - queue 'q' in vhost '/' not empty",
    )
    heard = Client(there.node).say(q.QueueDelete(0, "q", False, False, False))
    assert heard == [q.QueueDeleteOk(0)]
    assert "q" not in there.node.tables.queues


def test_a_delete_waits_while_a_mirror_may_take_over() -> None:
    there = Mirrored()
    there.lose_master(SHUTDOWN)
    assert there.client.say(q.QueueDelete(0, "q", False, False, False)) == []
    assert there.node.armed[there.client.channel, "pause"] == 100
    there.promote()
    assert there.mirror.heard[-1] == Delete(
        there.client.channel, there.mirror.heard[-1].request, False, False
    )
    assert there.done(there.mirror, count=3) == [q.QueueDeleteOk(3)]
