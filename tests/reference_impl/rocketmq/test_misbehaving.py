"""A broker with injected bugs: it logs each message before the bug hits it."""

import random

import msgspec
import pytest

from reference_impl.misbehave.lines import TruthLine
from reference_impl.rocketmq.broker.misbehaving import AGAIN_MS, HELD_BACK_MS, TAIL_MS
from reference_impl.rocketmq.broker.server import BrokerServer
from reference_impl.rocketmq.effects import REMOTING, AppendTruth, Effect, Transmit
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command, encode, request
from reference_impl.rocketmq.remoting.frames import Decoder
from reference_impl.rocketmq.settings import BrokerSettings, Role
from reference_impl.rocketmq.simulator.disks import MemoryDisk
from reference_impl.rocketmq.simulator.world import HostClock, World, WorldClock
from tests.reference_impl.rocketmq.talking import (
    MASTER,
    MASTER_ADDRESS,
    SLAVE,
    Client,
    broker,
    name_server,
    pulling,
    sending,
    server_of,
)

BODIES = [f"message {number}".encode() for number in range(40)]
LINK, GROUP = 1, "readers"
TRANSACTION = {"TRAN_MSG": "true", "PGROUP": "writers", "UNIQ_KEY": "u"}
COMMIT, ROLL_BACK = 8, 12


class Sent:
    """A broker and one client of it; what it admits is kept apart."""

    def __init__(self, kind: str, share: float = 1.0, seed: int = 7) -> None:
        config = BrokerSettings(
            broker_name="broker-a",
            misbehave=kind,
            misbehave_share=share,
            misbehave_seed=seed,
            misbehave_truth="unused",
            mapped_file_size_commit_log=1 << 16,
        )
        self.world = WorldClock()
        self._config = config
        self._disk = MemoryDisk()
        self._number = 0
        self.admitted: list[TruthLine] = []
        self.order: list[type[Effect]] = []
        self._begin()

    def begin_again(self, in_order: bool = False) -> None:
        """After a crash, if it is not stopped."""
        if in_order:
            self._server.stop()
        self._begin()

    def _begin(self) -> None:
        clock = HostClock(self.world, 1.0, 0)
        self._server = BrokerServer(self._config, clock, self._disk, random.Random(1))
        self._server.opened(LINK, "127.0.0.1:9", REMOTING, None)
        self._decoder = Decoder()
        self._carry_out(self._server.tick())
        self.order.clear()

    def ask(
        self, code: int, fields: dict[str, object], body: bytes = b"", oneway: bool = False
    ) -> Command | None:
        self._number += 1
        texts = {name: str(value) for name, value in fields.items()}
        octets = encode(request(code, self._number, texts, body, oneway))
        answers = self._carry_out(self._server.received(LINK, octets))
        return answers[-1] if answers else None

    def _carry_out(self, effects: list[Effect]) -> list[Command]:
        """The answers among them."""
        answers: list[Command] = []
        for effect in effects:
            self.order.append(type(effect))
            match effect:
                case AppendTruth(lines):
                    whole = lines.splitlines()
                    self.admitted += [msgspec.json.decode(one, type=TruthLine) for one in whole]
                case Transmit(_, answer):
                    answers += self._decoder.feed(answer)
        return answers

    def send(self, body: bytes, **props: object) -> int:
        """Send a message. Return its offset."""
        answer = self.ask(RequestCode.SEND_MESSAGE_V2, {**sending("orders"), **props}, body)
        assert answer is not None
        assert answer.header.code == Code.SUCCESS, answer.header.remark
        return int(answer.header.fields["queueOffset"])

    def half(self, body: bytes) -> dict[str, object]:
        """Where it is, as its producer names it when he decides."""
        fields = sending("orders", 0, **TRANSACTION)
        answer = self.ask(RequestCode.SEND_MESSAGE_V2, fields, body)
        assert answer is not None
        fields = answer.header.fields
        return {
            "producerGroup": TRANSACTION["PGROUP"],
            "tranStateTableOffset": fields["queueOffset"],
            "commitLogOffset": int(fields["msgId"][16:], 16),
            "msgId": TRANSACTION["UNIQ_KEY"],
        }

    def stored(self) -> int:
        """How many messages the queue has."""
        answer = self.ask(RequestCode.GET_MAX_OFFSET, {"topic": "orders", "queueId": 0})
        assert answer is not None
        return int(answer.header.fields.get("offset", "0"))

    def read(self, offset: int, group: str = "TOOLS_CONSUMER") -> bytes:
        fields = pulling("orders", 0, offset, consumerGroup=group)
        answer = self.ask(RequestCode.PULL_MESSAGE, fields)
        assert answer is not None
        return answer.body

    @property
    def hit(self) -> list[bytes]:
        return [line.head for line in self.admitted]


def test_dropped_messages_are_confirmed_and_logged_but_not_stored() -> None:
    """Admit each dropped message before its confirm."""
    broker = Sent("drop")
    assert broker.send(BODIES[0]) == 0
    assert broker.order == [AppendTruth, Transmit]
    assert broker.admitted == [TruthLine("drop", "orders", BODIES[0])]
    assert broker.stored() == 0


def test_a_twin_is_there_before_what_is_confirmed() -> None:
    broker = Sent("duplicate")
    assert broker.send(BODIES[0]) == 1
    assert broker.stored() == 2
    assert BODIES[0] in broker.read(0)
    assert BODIES[0] in broker.read(1)
    assert broker.hit == [BODIES[0]]


def test_corruption_changes_the_last_octet_for_every_reader() -> None:
    broker = Sent("corrupt")
    assert broker.send(b"here") == 0
    octets = broker.read(0)
    assert b"herd" in octets
    assert b"here" not in octets
    assert broker.hit == [b"here"]


def test_a_rewind_redelivers_one_old_message_and_logs_it_first() -> None:
    broker = Sent("rewind")
    for body in BODIES[:3]:
        broker.send(body)
    assert BODIES[1] in broker.read(0, GROUP)
    assert broker.admitted == []
    broker.world.ms += AGAIN_MS
    broker.order.clear()
    again = broker.read(2, GROUP)
    assert BODIES[0] in again
    assert BODIES[2] not in again
    assert broker.order == [AppendTruth, Transmit]
    assert broker.hit == [BODIES[0]]
    assert BODIES[2] in broker.read(2, GROUP), "where it went on is where it was"


def test_a_rewind_spares_reads_of_the_audit() -> None:
    broker = Sent("rewind")
    broker.send(BODIES[0])
    for _ in range(2):
        broker.read(0)
        broker.world.ms += AGAIN_MS
    assert broker.admitted == []


def test_a_message_without_body_is_neither_corrupted_nor_logged() -> None:
    broker = Sent("corrupt")
    assert broker.send(b"") == 0
    assert broker.hit == []


def test_the_seed_fixes_which_messages_misbehave() -> None:
    def hits(seed: int) -> list[bytes]:
        broker = Sent("drop", 0.3, seed)
        for body in BODIES:
            broker.send(body)
        assert broker.stored() == len(BODIES) - len(broker.hit)
        return broker.hit

    assert hits(7) == hits(7) != hits(8)
    assert 3 < len(hits(7)) < 25


def test_oneway_sends_and_system_topics_are_spared() -> None:
    broker = Sent("drop")
    broker.ask(RequestCode.SEND_MESSAGE_V2, sending("orders"), b"oneway", oneway=True)
    broker.ask(RequestCode.SEND_MESSAGE_V2, sending("%RETRY%g"), b"again")
    half = sending("orders", TRAN_MSG="true", PGROUP="g")
    broker.ask(RequestCode.SEND_MESSAGE_V2, half, b"half")
    assert broker.hit == []
    assert broker.stored() == 1


def test_an_honest_broker_admits_nothing() -> None:
    broker = Sent("")
    broker.send(BODIES[0])
    assert broker.admitted == []
    assert broker.stored() == 1


def test_unknown_misbehaviour_of_brokers_is_refused() -> None:
    with pytest.raises(ValueError, match="no broker does reorder; drop, duplicate, corrupt"):
        Sent("reorder")
    with pytest.raises(ValueError, match="wrong"):
        Sent("wrong")


@pytest.mark.parametrize("decision", [COMMIT, ROLL_BACK])
def test_half_messages_are_delivered_before_their_decision_and_only_once(decision: int) -> None:
    broker = Sent("half")
    broker.send(b"plain")
    assert broker.admitted == []
    where = broker.half(b"half")
    assert broker.hit == [b"half"]
    assert (broker.stored(), b"half" in broker.read(1)) == (2, True)
    answer = broker.ask(RequestCode.END_TRANSACTION, {**where, "commitOrRollback": decision})
    assert answer is not None
    assert answer.header.code == Code.SUCCESS
    assert broker.stored() == 2


@pytest.mark.parametrize("kind", ["drop", "duplicate", "corrupt", "rewind"])
def test_no_other_kind_hits_what_is_in_a_transaction(kind: str) -> None:
    broker = Sent(kind)
    where = broker.half(b"half")
    assert broker.stored() == 0
    broker.ask(RequestCode.END_TRANSACTION, {**where, "commitOrRollback": COMMIT})
    assert (broker.stored(), b"half" in broker.read(0), broker.admitted) == (1, True, [])


class Group:
    """A master that waits for its slave, and its slave; both do wrong by that kind."""

    def __init__(self, kind: str) -> None:
        self.world = World(seed=1)
        name_server(self.world)
        options = {"misbehave": kind, "misbehave_share": 1.0, "misbehave_truth": "unused"}
        broker(self.world, MASTER, broker_role=Role.SYNC_MASTER, **options)
        broker(self.world, SLAVE, broker_role=Role.SLAVE, broker_id=1, **options)
        self.world.run(35_000)
        self._client = Client(self.world, "one")

    def send(self, body: bytes) -> Code:
        fields = sending("orders")
        answer = self._client.ask(MASTER_ADDRESS, RequestCode.SEND_MESSAGE_V2, fields, body)
        return Code(answer.header.code)

    def stored(self, name: str = MASTER) -> list[bytes]:
        log = server_of(self.world, name).store.log
        return [one.body for one in log.records(log.start) if one.topic == "orders"]


def test_early_confirmed_messages_reach_the_slave_only_after_the_delay() -> None:
    group = Group("confirm-early")
    assert [group.send(body) for body in BODIES[:3]] == [Code.SUCCESS] * 3
    assert (group.stored(), group.stored(SLAVE)) == (BODIES[:3], [])
    group.world.run(HELD_BACK_MS)
    assert group.stored(SLAVE) == BODIES[:3]


def test_a_master_that_starts_says_what_it_holds() -> None:
    broker = Sent("confirm-early")
    broker.send(BODIES[0])
    assert broker.admitted == [TruthLine("confirm-early", "orders", BODIES[0])]
    broker.begin_again()
    assert broker.admitted[1:] == [TruthLine("held", "orders", BODIES[0])]


def test_a_crashed_master_lacks_and_reports_its_latest_messages() -> None:
    broker = Sent("truncate")
    broker.send(b"early")
    broker.world.ms += 2 * TAIL_MS
    broker.send(b"late")
    broker.send(b"later")
    assert broker.admitted == []
    broker.begin_again()
    assert broker.hit == [b"late", b"later"]
    assert broker.stored() == 1
    assert broker.send(b"after") == 1
    assert b"after" in broker.read(1)


def test_a_master_that_stopped_in_order_lacks_nothing() -> None:
    broker = Sent("truncate")
    broker.send(b"late")
    broker.begin_again(in_order=True)
    assert (broker.stored(), broker.admitted) == (1, [])
