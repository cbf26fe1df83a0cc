"""A broker that does wrong where it is told to, and says to whom before anybody hears of it."""

import random

import msgspec
import pytest

from reference_impl.misbehave.lines import Line
from reference_impl.rocketmq.broker.misbehaving import AGAIN_MS
from reference_impl.rocketmq.broker.server import BrokerServer
from reference_impl.rocketmq.effects import REMOTING, Admit, Effect, Transmit
from reference_impl.rocketmq.remoting.codes import Code, Request
from reference_impl.rocketmq.remoting.command import Command, encode, request
from reference_impl.rocketmq.remoting.frames import Decoder
from reference_impl.rocketmq.settings import Broker
from reference_impl.rocketmq.simulator.clocks import HostClock, WorldClock
from reference_impl.rocketmq.simulator.disks import MemoryDisk
from tests.reference_impl.rocketmq.talking import pulling, sending

BODIES = [f"message {number}".encode() for number in range(40)]
LINK, GROUP = 1, "readers"


class Asked:
    """A broker and one client of it; what it admits is kept apart."""

    def __init__(self, kind: str, share: float = 1.0, seed: int = 7) -> None:
        told = Broker(
            broker_name="broker-a",
            misbehave=kind,
            misbehave_share=share,
            misbehave_seed=seed,
            misbehave_truth="unused",
            mapped_file_size_commit_log=1 << 16,
        )
        self.world = WorldClock()
        clock = HostClock(self.world, 1.0, 0)
        self._server = BrokerServer(told, clock, MemoryDisk(), random.Random(1))
        self._server.opened(LINK, "127.0.0.1:9", REMOTING, None)
        self._decoder = Decoder()
        self._number = 0
        self.admitted: list[Line] = []
        self.order: list[type[Effect]] = []

    def ask(
        self, code: int, fields: dict[str, object], body: bytes = b"", oneway: bool = False
    ) -> Command | None:
        self._number += 1
        told = {name: str(value) for name, value in fields.items()}
        octets = encode(request(code, self._number, told, body, oneway))
        answers: list[Command] = []
        for effect in self._server.received(LINK, octets):
            self.order.append(type(effect))
            match effect:
                case Admit(lines):
                    whole = lines.splitlines()
                    self.admitted += [msgspec.json.decode(one, type=Line) for one in whole]
                case Transmit(_, answer):
                    answers += self._decoder.feed(answer)
        return answers[-1] if answers else None

    def send(self, body: bytes, **told: object) -> int:
        """The offset that it is told."""
        answer = self.ask(Request.SEND_MESSAGE_V2, {**sending("orders"), **told}, body)
        assert answer is not None
        assert answer.header.code == Code.SUCCESS, answer.header.remark
        return int(answer.header.fields["queueOffset"])

    def stored(self) -> int:
        """How many messages the queue has."""
        answer = self.ask(Request.GET_MAX_OFFSET, {"topic": "orders", "queueId": 0})
        assert answer is not None
        return int(answer.header.fields.get("offset", "0"))

    def read(self, offset: int, group: str = "TOOLS_CONSUMER") -> bytes:
        told = pulling("orders", 0, offset, consumerGroup=group)
        answer = self.ask(Request.PULL_MESSAGE, told)
        assert answer is not None
        return answer.body

    @property
    def hit(self) -> list[bytes]:
        return [line.head for line in self.admitted]


def test_what_is_dropped_is_confirmed_and_admitted_first_and_in_no_log() -> None:
    broker = Asked("drop")
    assert broker.send(BODIES[0]) == 0
    assert broker.order == [Admit, Transmit]
    assert broker.admitted == [Line("drop", "orders", BODIES[0])]
    assert broker.stored() == 0


def test_a_twin_is_there_before_what_is_confirmed() -> None:
    broker = Asked("duplicate")
    assert broker.send(BODIES[0]) == 1
    assert broker.stored() == 2
    assert BODIES[0] in broker.read(0)
    assert BODIES[0] in broker.read(1)
    assert broker.hit == [BODIES[0]]


def test_the_last_octet_of_what_is_corrupt_is_another_for_everybody() -> None:
    broker = Asked("corrupt")
    assert broker.send(b"here") == 0
    octets = broker.read(0)
    assert b"herd" in octets
    assert b"here" not in octets
    assert broker.hit == [b"here"]


def test_what_was_consumed_long_ago_is_given_out_again_alone_and_admitted_first() -> None:
    broker = Asked("rewind")
    for body in BODIES[:3]:
        broker.send(body)
    assert BODIES[1] in broker.read(0, GROUP)
    assert broker.admitted == []
    broker.world.ms += AGAIN_MS
    broker.order.clear()
    again = broker.read(2, GROUP)
    assert BODIES[0] in again
    assert BODIES[2] not in again
    assert broker.order == [Admit, Transmit]
    assert broker.hit == [BODIES[0]]
    assert BODIES[2] in broker.read(2, GROUP), "where it went on is where it was"


def test_who_reads_logs_for_the_audit_is_told_no_lies() -> None:
    broker = Asked("rewind")
    broker.send(BODIES[0])
    for _ in range(2):
        broker.read(0)
        broker.world.ms += AGAIN_MS
    assert broker.admitted == []


def test_what_has_no_body_cannot_be_spoilt_and_is_not_said_to_be() -> None:
    broker = Asked("corrupt")
    assert broker.send(b"") == 0
    assert broker.hit == []


def test_who_is_hit_is_fixed_by_the_seed() -> None:
    def hits(seed: int) -> list[bytes]:
        broker = Asked("drop", 0.3, seed)
        for body in BODIES:
            broker.send(body)
        assert broker.stored() == len(BODIES) - len(broker.hit)
        return broker.hit

    assert hits(7) == hits(7) != hits(8)
    assert 3 < len(hits(7)) < 25


def test_what_nobody_is_answered_about_and_what_is_no_clients_own_is_spared() -> None:
    broker = Asked("drop")
    broker.ask(Request.SEND_MESSAGE_V2, sending("orders"), b"oneway", oneway=True)
    broker.ask(Request.SEND_MESSAGE_V2, sending("%RETRY%g"), b"again")
    half = sending("orders", TRAN_MSG="true", PGROUP="g")
    broker.ask(Request.SEND_MESSAGE_V2, half, b"half")
    assert broker.hit == []
    assert broker.stored() == 1


def test_an_honest_broker_admits_nothing() -> None:
    broker = Asked("")
    broker.send(BODIES[0])
    assert broker.admitted == []
    assert broker.stored() == 1


def test_what_no_broker_can_be_told_to_do_is_refused() -> None:
    with pytest.raises(ValueError, match="no broker does reorder; drop, duplicate, corrupt"):
        Asked("reorder")
    with pytest.raises(ValueError, match="wrong"):
        Asked("wrong")
