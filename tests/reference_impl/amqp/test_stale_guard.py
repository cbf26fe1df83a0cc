"""A stale guard confirms what a count would withhold, by what its channel saw before: on a channel
that first has something to tell when its node has just lost its last peer."""

import msgspec
import pytest

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.parts.misbehaving import StaleGuard
from reference_impl.amqp.rules.confirms import Verdict
from reference_impl.amqp.rules.routing import Target
from reference_impl.amqp.session import Outbox, Session
from reference_impl.amqp.settings import Settings
from reference_impl.misbehave.kinds import Kind, Misbehaviour
from reference_impl.misbehave.lines import TruthLine
from reference_impl.pid import Pid
from reference_impl.process import NO_CONNECTION, AppendTruth
from reference_impl.protocol.queues import Confirm, Message
from tests.reference_impl.amqp.client import Client, Recorder, record
from tests.reference_impl.amqp.fake_node import FakeNode

PEERS = frozenset({"ref2", "ref3"})
NO_PEERS = frozenset[str]()
ORDERS = Target("orders", (Pid("ref1", 1, 7),), Pid("ref1", 1, 7))


class Rig:
    """The guard of one channel, of a node that sees these peers of `total` nodes."""

    def __init__(self, linked: frozenset[str] = PEERS, total: int = 3) -> None:
        self.linked = linked
        self.total = total
        self.outbox = Outbox(1, Session(Pid("ref1", 1, 4), Settings(), 131_072))
        self.guard = StaleGuard(lambda: self.linked, self.outbox)

    @property
    def minority(self) -> bool:
        return 2 * (1 + len(self.linked)) <= self.total

    def withholds(self) -> bool:
        return self.guard.withholds(self.minority)

    def publish(self, sequence: int, *targets: Target) -> None:
        text = b"body %d" % sequence
        message = Message(b"id%d" % sequence, "", "orders", b"", text, True)
        self.guard.published(sequence, targets or (ORDERS,), message)

    def report(self, verdict: Verdict) -> list[tuple[str, str, bytes]]:
        """What is admitted before: kind, queue and head."""
        self.guard.reported(verdict, self.minority)
        return [line for effect in self.outbox.take() for line in lines(effect)]


def lines(effect: object) -> list[tuple[str, str, bytes]]:
    assert isinstance(effect, AppendTruth)
    read = [msgspec.json.decode(line, type=TruthLine) for line in effect.lines.splitlines()]
    return [(line.kind, line.queue, line.head) for line in read]


# --- what it answers


def test_a_stale_guard_confirms_after_losing_the_last_peer() -> None:
    """Let a channel without earlier confirms through after its node lost the last peer."""
    rig = Rig()
    rig.linked = NO_PEERS
    assert rig.minority
    assert not rig.withholds()
    assert not rig.withholds(), "it confirms again: it still saw no peer"


def test_a_channel_with_earlier_confirms_remembers_its_peers_and_withholds() -> None:
    rig = Rig()
    assert not rig.withholds()
    rig.linked = NO_PEERS
    assert rig.withholds()
    assert rig.withholds()


def test_a_stale_guard_counts_when_one_peer_is_still_linked() -> None:
    """Two of five nodes on the cut side."""
    rig = Rig(frozenset({"ref2"}), total=5)
    assert rig.withholds()


def test_a_withholding_channel_confirms_when_its_peers_return() -> None:
    rig = Rig()
    rig.withholds()
    rig.linked = NO_PEERS
    assert rig.withholds()
    rig.linked = PEERS
    assert not rig.withholds()


# --- what it admits


def test_messages_confirmed_in_a_minority_are_admitted_one_by_one() -> None:
    rig = Rig(NO_PEERS)
    for sequence in (1, 2, 3):
        rig.publish(sequence)
    admitted = [("stale-guard", "orders", b"body %d" % sequence) for sequence in (1, 2)]
    assert rig.report(Verdict(2, multiple=True, taken=True)) == admitted
    assert rig.report(Verdict(3, multiple=False, taken=True)) == [
        ("stale-guard", "orders", b"body 3")
    ]


def test_a_confirm_that_counting_allows_is_not_admitted() -> None:
    rig = Rig()
    rig.publish(1)
    assert rig.report(Verdict(1, multiple=False, taken=True)) == []


def test_a_confirm_with_a_majority_is_not_admitted_later() -> None:
    rig = Rig()
    rig.publish(1)
    rig.publish(2)
    rig.report(Verdict(1, multiple=False, taken=True))
    rig.linked = NO_PEERS
    assert rig.report(Verdict(2, multiple=True, taken=True)) == [
        ("stale-guard", "orders", b"body 2")
    ]


def test_nacks_and_acks_of_unroutable_messages_admit_nothing() -> None:
    rig = Rig(NO_PEERS)
    rig.publish(1)
    rig.guard.published(2, (), Message(b"id", "", "missing", b"", b"", False))
    assert rig.report(Verdict(1, multiple=False, taken=False)) == []
    assert rig.report(Verdict(2, multiple=False, taken=True)) == []


# --- in a channel


class Cut:
    """A node that masters a queue, and is cut off from the mirror on its only peers."""

    def __init__(self, kind: Kind | None) -> None:
        self.linked = PEERS
        wrong = None if kind is None else Misbehaviour(kind, "truth", 1.0)
        self.node = FakeNode(Settings(misbehaviour=wrong, linked=lambda: self.linked))
        self.master, self.mirror = (self.node.add(Recorder()) for _ in range(2))
        self.node.put(record("q", self.master, self.mirror))
        self.client = Client(self.node)
        self.client.say(s.ConfirmSelect(nowait=True))

    def confirmed(self, pid: Pid, *sequences: int) -> list[object]:
        self.node.post(self.client.channel, Confirm("q", pid, sequences))
        return self.client.hear()

    def give_up(self) -> list[object]:
        """The node's tick has given its peers up, and with them the mirror."""
        self.linked, self.node.is_guarded = NO_PEERS, True
        self.node.end(self.mirror, NO_CONNECTION)
        return self.client.hear()


@pytest.mark.parametrize("kind", [None, Kind.STALE_GUARD])
def test_a_channel_with_earlier_confirms_withholds_under_either_guard(kind: Kind | None) -> None:
    cut = Cut(kind)
    cut.client.publish("q")
    cut.confirmed(cut.master, 1)
    assert cut.confirmed(cut.mirror, 1) == [q.BasicAck(1, False)]
    cut.client.publish("q")
    assert cut.confirmed(cut.master, 2) == cut.give_up() == []
    cut.node.fire("guard")
    assert cut.client.hear() == []
    assert cut.node.admitted == b""


def test_a_new_channel_withholds_without_the_stale_guard() -> None:
    cut = Cut(None)
    cut.client.publish("q")
    assert cut.confirmed(cut.master, 1) == cut.give_up() == []


def test_a_new_channel_confirms_without_lost_mirrors_and_admits_it() -> None:
    cut = Cut(Kind.STALE_GUARD)
    cut.client.publish("q", b"one")
    cut.client.publish("q", b"two")
    assert cut.confirmed(cut.master, 1, 2) == []
    assert cut.give_up() == [q.BasicAck(2, True)]
    heads = [line[2] for line in lines(AppendTruth(cut.node.admitted))]
    assert heads == [b"one", b"two"]
