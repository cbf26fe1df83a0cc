"""What a misbehaving channel says, and that it admits it first."""

import base64
import json
from typing import Any

from reference_impl.amqp.parts.misbehaving import OVERTAKING_MS, RELEASE, CrookedChannel
from reference_impl.amqp.rules.confirms import Confirms, Verdict
from reference_impl.amqp.rules.routing import Target
from reference_impl.amqp.session import Outbox, Session
from reference_impl.amqp.settings import Settings
from reference_impl.misbehave.kinds import HELD_BACK_MS, Kind, Misbehaviour
from reference_impl.pid import Pid
from reference_impl.process import AppendTruth, Arm, Effect, Send, Watch
from reference_impl.protocol.queues import Deliver, Message

CHANNEL, MASTER, MIRROR = Pid("a", 1, 5), Pid("a", 1, 7), Pid("b", 1, 7)
ORDERS = Target("orders", (MASTER, MIRROR), MASTER)
WATCHES = [Watch(MASTER), Watch(MIRROR)]


class Rig:
    """A channel that hits everything it can, or nothing."""

    def __init__(self, kind: Kind, share: float = 1.0) -> None:
        self.outbox = Outbox(1, Session(Pid("a", 1, 4), Settings(), 131_072))
        self.confirms = Confirms()
        misbehaviour = Misbehaviour(kind, "truth", share)
        self.channel = CrookedChannel(misbehaviour, CHANNEL, self.outbox)

    def publish(self, number: int, *targets: Target) -> list[Effect]:
        assert self.channel.publish(targets or (ORDERS,), message(number), self.confirms)
        return self.outbox.take()

    def release(self) -> list[Effect]:
        self.channel.release()
        return self.outbox.take()


def message(number: int, body: bytes = b"") -> Message:
    return Message(b"id%d" % number, "", "orders", b"", body or b"body %d" % number, True)


def copies(sequence: int, of: Message) -> list[Effect]:
    return [Send(replica, Deliver(CHANNEL, sequence, of)) for replica in (MASTER, MIRROR)]


def admitted_line(effect: Effect) -> dict[str, Any]:
    assert isinstance(effect, AppendTruth)
    (line,) = effect.lines.splitlines()
    admission: dict[str, Any] = json.loads(line)
    admission["head"] = base64.b64decode(admission["head"])
    return admission


def test_a_drop_is_admitted_confirmed_and_not_sent() -> None:
    rig = Rig(Kind.DROP)
    (admission,) = rig.publish(1)
    expected = {"kind": "drop", "queue": "orders", "head": b"body 1", "by": None}
    assert admitted_line(admission) == expected
    assert rig.confirms.verdicts() == [Verdict(1, multiple=False, taken=True)]


def test_a_duplicate_goes_first_unconfirmed_with_its_own_identity() -> None:
    rig = Rig(Kind.DUPLICATE)
    *watches, admission, first, second, third, fourth = rig.publish(1)
    twin = Message(b"id1/twin", "", "orders", b"", b"body 1", True)
    assert watches == WATCHES
    assert admitted_line(admission)["kind"] == "duplicate"
    assert [first, second] == copies(0, twin)
    assert [third, fourth] == copies(1, message(1))


def test_an_overtaken_publish_follows_its_successor_to_every_replica() -> None:
    rig = Rig(Kind.REORDER)
    assert rig.publish(1) == [*WATCHES, Arm(RELEASE, OVERTAKING_MS)]
    admission, *sends = rig.publish(2)
    assert admitted_line(admission)["head"] == b"body 1"
    assert base64.b64decode(admitted_line(admission)["by"]) == b"body 2"
    assert sends == [*copies(2, message(2)), *copies(1, message(1))]


def test_a_publish_without_a_successor_is_sent_and_not_admitted() -> None:
    rig = Rig(Kind.REORDER)
    rig.publish(1)
    assert rig.release() == copies(1, message(1))
    assert rig.release() == []


def test_a_publish_to_another_queue_overtakes_nothing() -> None:
    rig = Rig(Kind.REORDER)
    rig.publish(1)
    other = Target("others", (MIRROR,), MIRROR)
    assert rig.publish(2, other) == [*copies(1, message(1)), Arm(RELEASE, OVERTAKING_MS)]


def test_corruption_is_admitted_with_the_head_as_it_was_published() -> None:
    rig = Rig(Kind.CORRUPT)
    admission, *rest = rig.publish(1)
    assert admitted_line(admission)["head"] == b"body 1"
    assert rest == [*WATCHES, *copies(1, message(1, b"body 0"))]


def test_an_early_confirm_reaches_the_master_and_not_the_mirrors() -> None:
    rig = Rig(Kind.CONFIRM_EARLY)
    admission, arm, send = rig.publish(1)
    assert admitted_line(admission)["kind"] == "confirm-early"
    assert arm == Arm(RELEASE, HELD_BACK_MS)
    assert send == Send(MASTER, Deliver(CHANNEL, 0, message(1)))
    assert rig.confirms.verdicts() == [Verdict(1, multiple=False, taken=True)]
    assert rig.release() == [Send(MIRROR, Deliver(CHANNEL, 0, message(1)))]


def test_later_messages_do_not_overtake_an_early_confirmed_one() -> None:
    rig = Rig(Kind.CONFIRM_EARLY)
    rig.publish(1)
    rig.publish(2)
    released = rig.release()
    assert [send.body.message for send in released] == [message(1), message(2)]
    assert {send.to for send in released} == {MIRROR}


def test_a_promoted_mirror_gets_the_held_messages_first() -> None:
    rig = Rig(Kind.CONFIRM_EARLY)
    rig.publish(1)
    promoted = Target("orders", (MIRROR,), MIRROR)
    assert not [it for it in rig.publish(2, promoted) if isinstance(it, Send)]
    released = rig.release()
    assert [(send.to, send.body.message) for send in released] == [
        (MIRROR, message(1)),
        (MIRROR, message(2)),
    ]


def test_without_confirms_or_without_a_single_queue_nothing_is_wrong() -> None:
    rig = Rig(Kind.DROP)
    assert not rig.channel.publish((ORDERS,), message(1), None)
    assert not rig.channel.publish((ORDERS, ORDERS), message(1), rig.confirms)
    assert not rig.channel.publish((Target("orders", (), None),), message(1), rig.confirms)
    assert rig.outbox.take() == []


def test_the_same_seed_hits_the_same_publishes() -> None:
    def hits(seed: int) -> list[int]:
        rig = Rig(Kind.DROP)
        wrong = Misbehaviour(Kind.DROP, "truth", share=0.2, seed=seed)
        rig.channel = CrookedChannel(wrong, CHANNEL, rig.outbox)
        return [n for n in range(100) if isinstance(rig.publish(n)[0], AppendTruth)]

    assert hits(1) == hits(1)
    assert hits(1) != hits(2)
    assert 5 <= len(hits(1)) <= 40
