"""Consumers, gets, acknowledgements and limits on one node."""

import pytest

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.method import Method
from reference_impl.amqp.codec.methods import method_frame
from reference_impl.amqp.parts.consuming import MORE_AFTER
from reference_impl.amqp.settings import Settings
from reference_impl.pid import Pid
from reference_impl.protocol.queues import (
    Ack,
    Consume,
    Grant,
    Message,
    QueueDelivery,
    Requeue,
    Sent,
)
from tests.reference_impl.amqp.client import (
    NO_PROPERTIES,
    Client,
    Content,
    consume,
    declare,
    published,
)
from tests.reference_impl.amqp.fake_node import FakeNode
from tests.reference_impl.amqp.fake_queue import FakeQueue


class Shop:
    """A client with a queue "q" and messages b"1", b"2" …"""

    def __init__(self, messages: int = 0, settings: Settings | None = None) -> None:
        self.node = FakeNode(settings or Settings())
        self.client = Client(self.node)
        assert self.client.say(declare("q")) == [q.QueueDeclareOk("q", 0, 0)]
        for number in range(1, messages + 1):
            self.client.publish("q", b"%d" % number)

    @property
    def queue(self) -> FakeQueue:
        return self.node.processes[self.node.tables.queues["q"].master]

    @property
    def ready(self) -> list[bytes]:
        return [message.body for message in self.queue.ready.values()]


def delivered(heard: list[object]) -> list[tuple[int, bytes, bool]]:
    """Tags, bodies and redelivered flags of deliveries and gets."""
    contents = [each for each in heard if isinstance(each, Content)]
    return [(it.method.delivery_tag, it.body, it.method.redelivered) for it in contents]


def get(no_ack: bool = False) -> q.BasicGet:
    return q.BasicGet(0, "q", no_ack)


def test_consume_ok_comes_before_the_first_delivery() -> None:
    shop = Shop(messages=2)
    heard = shop.client.say(consume("q"))
    assert heard == [
        q.BasicConsumeOk("c"),
        Content(q.BasicDeliver("c", 1, False, "", "q"), NO_PROPERTIES, b"1"),
        Content(q.BasicDeliver("c", 2, False, "", "q"), NO_PROPERTIES, b"2"),
    ]


def test_cancel_ok_comes_after_the_last_delivery() -> None:
    shop = Shop()
    shop.client.say(consume("q"))
    said = published("q", b"1") + method_frame(1, q.BasicCancel("c", False)) + published("q", b"2")
    heard = shop.client.send(said)
    assert [type(each) for each in heard] == [Content, q.BasicCancelOk]
    assert shop.ready == [b"2"]
    assert shop.client.say(q.BasicAck(1, False)) == []
    assert not shop.queue.out


def test_a_consumer_without_a_name_gets_one() -> None:
    shop = Shop()
    (first,) = shop.client.say(consume("q", tag=""))
    (second,) = shop.client.say(consume("q", tag=""))
    assert first.tag.startswith("amq.ctag-")
    assert first.tag != second.tag


def test_nowait_is_not_answered() -> None:
    shop = Shop()
    assert shop.client.say(consume("q", nowait=True)) == []
    assert shop.client.say(q.BasicCancel("c", True)) == []
    assert shop.client.say(declare("r", nowait=True)) == []
    assert shop.client.say(q.QueueBind(0, "r", "amq.direct", "k", True, {})) == []
    assert shop.client.say(q.QueuePurge(0, "r", True)) == []
    assert shop.client.say(q.QueueDelete(0, "r", False, False, True)) == []
    assert "r" not in shop.node.tables.queues


def test_reused_consumer_tags_are_530_but_cancelling_unknown_ones_succeeds() -> None:
    shop = Shop()
    assert shop.client.say(q.BasicCancel("c", False)) == [q.BasicCancelOk("c")]
    shop.client.say(consume("q"))
    (closed,) = shop.client.say(consume("q"))
    assert (closed.code, "attempt to reuse consumer tag 'c'" in closed.text) == (530, True)


def test_an_exclusive_consumer_beside_another_is_403() -> None:
    shop = Shop()
    shop.client.say(consume("q"))
    (closed,) = shop.client.say(consume("q", tag="d", exclusive=True))
    assert closed.code == 403
    assert closed.text == "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use"
    assert (closed.class_id, closed.method_id) == (60, 20)


def test_consumer_priorities_reach_the_queue_and_must_be_integers() -> None:
    shop = Shop()
    shop.client.say(consume("q", arguments={"x-priority": 3}))
    assert shop.queue.consumers[0].request.arguments == {"x-priority": 3}
    (closed,) = shop.client.say(consume("q", tag="d", arguments={"x-priority": "high"}))
    assert closed.code == 406


def test_consuming_from_no_queue_is_404() -> None:
    (closed,) = Shop().client.say(consume("missing"))
    assert (closed.code, closed.text) == (404, "NOT_FOUND - no queue 'missing' in vhost '/'")


def test_a_delivery_for_a_consumer_that_is_gone_goes_back() -> None:
    shop = Shop()
    message = Message(b"id", "", "q", NO_PROPERTIES, b"late", False)
    delivery = QueueDelivery("q", shop.queue.pid, "gone", 5, False, message)
    shop.node.post(shop.client.channel, delivery)
    assert shop.client.hear() == []
    assert shop.queue.heard[-1] == Requeue(shop.client.channel, (5,))


# --- get, ack, reject, recover


def test_a_get_is_answered_with_what_is_left_or_empty() -> None:
    shop = Shop(messages=2)
    (first,) = shop.client.say(get())
    assert first.method == q.BasicGetOk(1, False, "", "q", 1)
    (second,) = shop.client.say(get(no_ack=True))
    assert second.method == q.BasicGetOk(2, False, "", "q", 0)
    assert shop.client.say(get()) == [q.BasicGetEmpty()]
    assert list(shop.queue.out) == [1]


def test_acks_that_come_together_leave_as_one_message() -> None:
    shop = Shop(messages=4)
    shop.client.say(consume("q"))
    before = len(shop.queue.heard)
    shop.client.send(b"".join(method_frame(1, q.BasicAck(tag, False)) for tag in (1, 3, 2)))
    assert shop.queue.heard[before:] == [Ack(shop.client.channel, (1, 3, 2))]
    shop.client.say(q.BasicAck(0, True))
    assert not shop.queue.out


def test_an_ack_reaches_the_queue_before_what_follows_it() -> None:
    shop = Shop(messages=1)
    shop.client.say(consume("q"))
    ack, look = method_frame(1, q.BasicAck(1, False)), method_frame(1, declare("q", passive=True))
    shop.client.send(ack + look)
    assert [type(each).__name__ for each in shop.queue.heard[-2:]] == ["Ack", "Look"]


@pytest.mark.parametrize(
    "settle",
    [
        q.BasicAck(1, False),
        q.BasicReject(1, False),
        q.BasicNack(1, False, True),
        q.BasicNack(1, True, True),
    ],
)
def test_settling_twice_is_406(settle: Method) -> None:
    shop = Shop(messages=1)
    shop.client.say(get())
    assert shop.client.say(settle) == []
    (closed,) = shop.client.say(settle)
    assert (closed.code, closed.text) == (406, "PRECONDITION_FAILED - unknown delivery tag 1")
    assert (closed.class_id, closed.method_id) == settle.index


def test_rejected_messages_return_only_if_requeued() -> None:
    shop = Shop(messages=2)
    assert delivered(shop.client.say(get())) == [(1, b"1", False)]
    shop.client.say(q.BasicReject(1, True))
    assert delivered(shop.client.say(get())) == [(2, b"1", True)]
    shop.client.say(q.BasicReject(2, False))
    assert delivered(shop.client.say(get())) == [(3, b"2", False)]


def test_nack_multiple_requeues_all_up_to_its_tag_in_order() -> None:
    shop = Shop(messages=4)
    for _ in range(3):
        shop.client.say(get())
    shop.client.say(q.BasicNack(2, True, True))
    assert shop.ready == [b"1", b"2", b"4"]


def test_recover_gives_everything_back_in_order() -> None:
    shop = Shop(messages=3)
    for _ in range(2):
        shop.client.say(get())
    assert shop.client.say(q.BasicRecover(True)) == [q.BasicRecoverOk()]
    assert delivered(shop.client.say(get())) == [(3, b"1", True)]
    assert shop.client.say(q.BasicRecoverAsync(True)) == []
    assert shop.ready == [b"1", b"2", b"3"]


def test_a_closed_channel_gives_back_what_it_had() -> None:
    shop = Shop(messages=3)
    for _ in range(2):
        shop.client.say(get())
    shop.client.say(s.ChannelClose(200, "", 0, 0))
    assert shop.ready == [b"1", b"2", b"3"]


def test_a_channel_that_fails_still_counts_the_acks_before() -> None:
    shop = Shop(messages=2)
    for _ in range(2):
        shop.client.say(get())
    ack, mistake = (method_frame(1, q.BasicAck(tag, False)) for tag in (1, 9))
    (closed,) = shop.client.send(ack + mistake)
    assert closed.code == 406
    assert shop.ready == [b"2"]


def test_an_unsettled_delivery_closes_the_channel() -> None:
    shop = Shop(messages=1, settings=Settings(sweeps_max=2))
    shop.client.say(get())
    for _ in range(2):
        shop.node.fire("sweep")
    assert shop.client.hear() == []
    shop.node.fire("sweep")
    (closed,) = shop.client.hear()
    assert (closed.code, "timed out. Timeout value used: 120000 ms" in closed.text) == (406, True)
    assert shop.ready == [b"1"]


def test_no_sweep_runs_without_outstanding_deliveries() -> None:
    shop = Shop(messages=1)
    shop.client.say(get())
    shop.client.say(q.BasicAck(1, False))
    shop.node.fire("sweep")
    assert not [name for _, name in shop.node.armed if name == "sweep"]


# --- limits


def test_a_prefetch_binds_each_later_consumer_for_itself() -> None:
    shop = Shop(messages=6)
    assert shop.client.say(q.BasicQos(0, 2, False)) == [q.BasicQosOk()]
    assert len(delivered(shop.client.say(consume("q", tag="c")))) == 2
    assert len(delivered(shop.client.say(consume("q", tag="d")))) == 2
    assert delivered(shop.client.say(q.BasicAck(1, False))) == [(5, b"5", False)]


def test_a_prefetch_does_not_bind_no_ack_consumers() -> None:
    shop = Shop(messages=3)
    shop.client.say(q.BasicQos(0, 1, False))
    assert len(delivered(shop.client.say(consume("q", no_ack=True)))) == 3


def test_a_shared_limit_binds_all_consumers_together() -> None:
    shop = Shop(messages=6)
    shop.client.say(declare("r"))
    shop.client.publish("r", b"r1")
    assert shop.client.say(q.BasicQos(0, 3, True)) == [q.BasicQosOk()]
    assert len(delivered(shop.client.say(consume("q", tag="c")))) == 3
    assert delivered(shop.client.say(consume("r", tag="d"))) == []
    # "q" asked first, then "r": each gets one in its turn.
    assert delivered(shop.client.say(q.BasicAck(1, False))) == [(4, b"4", False)]
    assert delivered(shop.client.say(q.BasicAck(2, False))) == [(5, b"r1", False)]


def test_a_shared_limit_may_be_lifted() -> None:
    shop = Shop(messages=4)
    shop.client.say(q.BasicQos(0, 1, True))
    assert len(delivered(shop.client.say(consume("q")))) == 1
    assert len(delivered(shop.client.say(q.BasicQos(0, 0, True)))) == 3


def test_a_shared_prefetch_limit_beside_existing_consumers_is_540() -> None:
    shop = Shop()
    shop.client.say(consume("q"))
    (closed,) = shop.client.say(q.BasicQos(0, 1, True))
    assert (type(closed), closed.code) == (s.ConnectionClose, 540)


def test_a_grant_is_for_one_delivery() -> None:
    shop = Shop(messages=2)
    shop.client.say(q.BasicQos(0, 5, True))
    shop.client.say(consume("q"))
    grants = [each for each in shop.queue.heard if isinstance(each, Grant)]
    assert grants == [Grant(shop.client.channel, 1)] * 2


def test_a_deleted_queue_cancels_its_consumers() -> None:
    shop = Shop()
    shop.client.say(consume("q", tag="d"))
    shop.client.say(consume("q", tag="c"))
    heard = shop.client.say(q.QueueDelete(0, "q", False, False, False))
    assert heard == [q.QueueDeleteOk(0), q.BasicCancel("c", True), q.BasicCancel("d", True)]


def test_a_client_without_the_cancel_capability_gets_no_cancel() -> None:
    node = FakeNode()
    client = Client(node, capabilities={})
    client.say(declare("q"))
    client.say(consume("q"))
    heard = client.say(q.QueueDelete(0, "q", False, False, False))
    assert heard == [q.QueueDeleteOk(0)]
    client.say(declare("q"))
    assert client.say(consume("q")) == [q.BasicConsumeOk("c")]


def test_a_large_body_comes_back_whole() -> None:
    shop = Shop()
    body = bytes(range(256)) * 2_000
    header = b"\0\x3c\0\0" + len(body).to_bytes(8, "big") + NO_PROPERTIES
    pieces = [body[at : at + 100_000] for at in range(0, len(body), 100_000)]
    from reference_impl.amqp.codec.frames import BODY, HEADER, frame

    octets = method_frame(1, q.BasicPublish(0, "", "q", False, False)) + frame(HEADER, 1, header)
    shop.client.send(octets + b"".join(frame(BODY, 1, piece) for piece in pieces))
    assert delivered(shop.client.say(get())) == [(1, body, False)]
    assert isinstance(shop.queue.pid, Pid)


# --- a client that does not read


def sent(shop: Shop) -> list[int]:
    """Return the reports to the queue of deliveries that have gone out."""
    return [it.deliveries for it in shop.queue.heard if isinstance(it, Sent)]


def test_the_queue_gets_reports_of_deliveries_fifty_at_a_time() -> None:
    shop = Shop(messages=120)
    shop.client.say(consume("q"))
    assert sum(sent(shop)) >= 100
    assert all(deliveries >= MORE_AFTER for deliveries in sent(shop))


def test_the_queue_gets_no_report_while_the_client_reads_nothing() -> None:
    shop = Shop(messages=120)
    shop.node.choked = True
    shop.client.say(consume("q"))
    assert sent(shop) == []
    shop.node.relieve()
    assert sent(shop) == [120]


def test_deliveries_to_a_cancelled_consumer_are_reported_as_sent() -> None:
    """Count a late delivery to a cancelled consumer as gone out, so that the queue sends more."""
    shop = Shop()
    shop.client.say(consume("q"))
    shop.client.say(q.BasicCancel("c", False))
    (channel,) = {it.channel for it in shop.queue.heard if isinstance(it, Consume)}
    for number in range(MORE_AFTER):
        late = Message(b"", "", "q", b"", b"", False)
        shop.node.post(channel, QueueDelivery("q", shop.queue.pid, "c", number, False, late))
    assert sent(shop) == [MORE_AFTER]
