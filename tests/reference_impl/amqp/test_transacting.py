"""Transactions: what waits for a commit, what a commit waits for, and what a rollback leaves."""

import pytest

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.methods import method_frame
from reference_impl.process import CRASH
from reference_impl.protocol.queues import Confirm, Deliver, Reject
from tests.reference_impl.amqp.client import (
    Client,
    Content,
    Recorder,
    declare,
    published,
    record,
)
from tests.reference_impl.amqp.fake_node import FakeNode

SELECT, COMMIT, ROLLBACK = s.TxSelect(), s.TxCommit(), s.TxRollback()
GET = q.BasicGet(0, "q", False)


class Mirrored:
    """A queue of a master and a mirror, and a client in a transaction."""

    def __init__(self) -> None:
        self.node = FakeNode()
        self.replicas = [Recorder(), Recorder()]
        self.pids = [self.node.add(replica) for replica in self.replicas]
        self.node.put(record("q", *self.pids))
        self.client = Client(self.node)
        assert self.client.say(SELECT) == [s.TxSelectOk()]

    def delivered(self) -> list[tuple[int, bytes]]:
        """What the master and the mirror have, alike."""
        first, second = (
            [(one.sequence, one.message.body) for one in each.take() if isinstance(one, Deliver)]
            for each in self.replicas
        )
        assert first == second
        return first

    def confirm(self, place: int, *sequences: int) -> list[object]:
        self.node.post(self.client.channel, Confirm("q", self.pids[place], sequences))
        return self.client.hear()


def test_a_commit_releases_all_messages_in_order() -> None:
    there = Mirrored()
    there.client.send(published("q", b"one") + published("q", b"two"))
    assert there.delivered() == []
    assert there.client.say(COMMIT) == []
    assert there.delivered() == [(1, b"one"), (2, b"two")]


def test_a_commit_is_answered_when_every_replica_holds_every_message() -> None:
    there = Mirrored()
    there.client.send(published("q") * 2)
    there.client.say(COMMIT)
    assert there.confirm(0, 1, 2) == there.confirm(1, 1) == []
    assert there.confirm(1, 2) == [s.TxCommitOk()]


def test_an_empty_commit_is_answered_before_the_next_command() -> None:
    there = Mirrored()
    twice = method_frame(1, COMMIT) + method_frame(1, COMMIT)
    assert there.client.send(twice) == [s.TxCommitOk(), s.TxCommitOk()]


def test_the_next_transaction_waits_for_its_own_messages() -> None:
    there = Mirrored()
    for sequence in (1, 2):
        there.client.publish("q")
        there.client.say(COMMIT)
        assert there.confirm(0, sequence) == []
        assert there.confirm(1, sequence) == [s.TxCommitOk()]


def test_rolled_back_messages_are_never_delivered() -> None:
    there = Mirrored()
    there.client.publish("q", b"gone")
    assert there.client.say(ROLLBACK) == [s.TxRollbackOk()]
    assert there.client.say(COMMIT) == [s.TxCommitOk()]
    assert there.delivered() == []


@pytest.mark.parametrize("how", ["rejected", "crashed"])
def test_one_refused_message_ends_the_transaction_channel_with_406(how: str) -> None:
    there = Mirrored()
    there.client.send(published("q") * 2)
    there.client.say(COMMIT)
    there.confirm(0, 1)
    there.confirm(1, 1)
    if how == "rejected":
        there.node.post(there.client.channel, Reject("q", there.pids[0], (2,)))
    else:
        there.node.end(there.pids[0], CRASH)
    (closed,) = there.client.hear()
    text = "PRECONDITION_FAILED - partial tx completion"
    assert closed == s.ChannelClose(406, text, 90, 20)


def test_a_method_during_an_open_commit_is_504() -> None:
    there = Mirrored()
    there.client.publish("q")
    there.client.say(COMMIT)
    (closed,) = there.client.say(ROLLBACK)
    assert isinstance(closed, s.ConnectionClose)
    assert closed.code == 504


def test_a_commit_returns_an_unroutable_mandatory_message() -> None:
    there = Mirrored()
    assert there.client.send(published("missing", b"x", mandatory=True)) == []
    returned, answer = there.client.say(COMMIT)
    assert isinstance(returned, Content)
    assert isinstance(returned.method, q.BasicReturn)
    assert answer == s.TxCommitOk()


def test_an_unknown_exchange_is_refused_at_once() -> None:
    there = Mirrored()
    (closed,) = there.client.send(published("q", exchange="nowhere"))
    assert closed.code == 404


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (SELECT, s.ConfirmSelect(False), "cannot switch from tx to confirm mode"),
        (s.ConfirmSelect(False), SELECT, "cannot switch from confirm to tx mode"),
        (None, COMMIT, "channel is not transactional"),
        (None, ROLLBACK, "channel is not transactional"),
    ],
)
def test_a_channel_has_one_mode(first: object, second: object, text: str) -> None:
    client = Client(FakeNode())
    if first is not None:
        client.say(first)
    (closed,) = client.say(second)
    assert (closed.code, closed.text) == (406, f"PRECONDITION_FAILED - {text}")


# --- what is acknowledged ------------------------------------------------------------------------


class Shop:
    """A queue with three messages, all of them with a client in a transaction."""

    def __init__(self) -> None:
        self.node = FakeNode()
        self.client, self.other = Client(self.node), Client(self.node)
        self.other.say(declare("q"))
        self.other.send(published("q") * 3)
        self.client.say(SELECT)
        for _ in range(3):
            self.client.say(GET)

    @property
    def left(self) -> int:
        """Return how many messages remain after this client has gone."""
        self.client.say(s.ChannelClose(200, "bye", 0, 0))
        (found,) = self.other.say(q.QueuePurge(0, "q", False))
        assert isinstance(found, q.QueuePurgeOk)
        return found.messages


def test_an_acknowledgement_counts_from_the_commit_on() -> None:
    shop = Shop()
    shop.client.say(q.BasicAck(2, True))
    assert shop.client.say(COMMIT) == [s.TxCommitOk()]
    assert shop.left == 1


def test_one_that_was_never_committed_did_not_happen() -> None:
    shop = Shop()
    shop.client.say(q.BasicAck(3, True))
    assert shop.left == 3


def test_a_rollback_has_the_deliveries_out_again_and_requeues_none() -> None:
    shop = Shop()
    shop.client.say(q.BasicAck(2, True))
    shop.client.say(q.BasicNack(3, False, True))
    assert shop.client.say(ROLLBACK) == [s.TxRollbackOk()]
    assert shop.client.say(GET) == [q.BasicGetEmpty()]
    shop.client.say(q.BasicAck(3, True))
    assert shop.client.say(COMMIT) == [s.TxCommitOk()]
    assert shop.left == 0


def test_messages_rejected_in_a_transaction_return_after_its_commit() -> None:
    shop = Shop()
    shop.client.say(q.BasicReject(1, True))
    assert shop.client.say(GET) == [q.BasicGetEmpty()]
    shop.client.say(COMMIT)
    (again,) = shop.client.say(GET)
    assert isinstance(again, Content)


def test_an_unknown_delivery_tag_is_refused_at_once() -> None:
    shop = Shop()
    shop.client.say(q.BasicAck(1, False))
    (closed,) = shop.client.say(q.BasicAck(1, False))
    assert closed.code == 406
