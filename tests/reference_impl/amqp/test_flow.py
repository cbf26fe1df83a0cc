"""How far a channel may run ahead of the copies of a queue, and what its connection does then."""

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.rules.sharing import CREDIT, Flow
from reference_impl.pid import Pid
from reference_impl.process import NO_CONNECTION
from reference_impl.protocol.connections import CloseConnection
from reference_impl.protocol.queues import Credit
from tests.reference_impl.amqp.client import Client, Recorder, declare, published, record
from tests.reference_impl.amqp.fake_node import FakeNode

ONE, TWO = Pid("a", 1, 5), Pid("b", 1, 5)


def ahead(*replicas: Pid) -> Flow:
    flow = Flow()
    for replica in replicas:
        for _ in range(CREDIT):
            flow.sent(replica)
    return flow


def test_credit_runs_out_at_the_limit_and_no_sooner() -> None:
    flow = Flow()
    for _ in range(CREDIT - 1):
        flow.sent(ONE)
    assert not flow.short
    flow.sent(ONE)
    assert flow.short
    flow.credited(ONE, 1)
    assert not flow.short


def test_the_slowest_copy_counts() -> None:
    flow = ahead(ONE, TWO)
    flow.credited(ONE, 200)
    assert flow.short
    flow.credited(TWO, 200)
    assert not flow.short


def test_a_copy_that_is_gone_counts_no_more() -> None:
    flow = ahead(ONE)
    flow.gone(ONE)
    assert not flow.short


def test_credit_beyond_the_outstanding_is_dropped() -> None:
    flow = Flow()
    flow.credited(ONE, 200)
    for _ in range(CREDIT):
        flow.sent(ONE)
    assert flow.short


class Slow:
    """A queue of a master and a mirror that carry nothing out before a test says so."""

    def __init__(self) -> None:
        self.node = FakeNode()
        self.pids = [self.node.add(Recorder()) for _ in range(2)]
        self.node.put(record("q", *self.pids))
        self.client = Client(self.node)

    @property
    def is_read(self) -> bool:
        return self.client.pid not in self.node.unread

    def credit(self, place: int, deliveries: int = 200) -> None:
        self.node.post(self.client.channel, Credit(self.pids[place], deliveries))


def test_a_client_is_not_read_until_every_replica_caught_up() -> None:
    there = Slow()
    there.client.send(published("q") * (CREDIT - 1))
    assert there.is_read
    assert there.client.publish("q") == []  # The client gets no notice.
    assert not there.is_read
    there.credit(0)
    assert not there.is_read
    there.credit(1)
    assert there.is_read


def test_a_lost_replica_unblocks_its_publishers_without_confirms() -> None:
    there = Slow()
    there.client.send(published("q") * CREDIT)
    there.credit(0)
    there.node.end(there.pids[1], NO_CONNECTION)
    assert there.is_read


def test_one_channel_without_credit_blocks_its_connection_until_it_closes() -> None:
    there = Slow()
    there.client.open(2)
    there.client.send(published("q", number=2) * CREDIT)
    assert not there.is_read
    closed = there.client.say(s.ChannelClose(200, "bye", 0, 0), 2)
    assert closed == [s.ChannelCloseOk()]
    assert there.is_read


def test_one_that_failed_frees_it_as_well() -> None:
    there = Slow()
    there.client.send(published("q") * CREDIT)
    (closed,) = there.client.say(declare("missing", passive=True))
    assert isinstance(closed, s.ChannelClose)
    assert there.is_read


def test_when_the_connection_ends_the_clients_last_words_are_read() -> None:
    there = Slow()
    there.client.send(published("q") * CREDIT)
    there.node.post(there.client.pid, CloseConnection("enough"))
    (closed,) = there.client.hear()
    assert isinstance(closed, s.ConnectionClose)
    assert there.is_read
    there.client.say(s.ConnectionCloseOk(), 0)
    assert there.client.is_hung_up_on


def test_only_present_alarms_are_reported() -> None:
    there = Slow()
    there.client.send(published("q") * CREDIT)
    there.node.alarm(ref1=frozenset({"memory"}))
    there.node.alarm()
    assert there.client.hear() == []
    assert not there.is_read
    there.credit(0)
    there.credit(1)
    assert there.is_read
    assert there.client.say(q.QueuePurge(0, "missing", False))[0].code == 404
