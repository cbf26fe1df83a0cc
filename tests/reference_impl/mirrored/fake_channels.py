"""Channels that publish, confirm, consume and acknowledge as real ones do, and note what happened.

1. What is settled, and how, a real channel's own part decides (confirms.py): "ack", "nack",
   or it stays open.
2. A consumer whose master is gone looks for the next one every 30 ms.
3. What was unacknowledged when a master went is not acknowledged at the next one.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from reference_impl.amqp.rules.confirms import Confirms
from reference_impl.amqp.rules.routing import Target
from reference_impl.metadata.records import replicas
from reference_impl.pid import Pid
from reference_impl.process import Arm, Down, Effect, Send, Timeout, Watch
from reference_impl.protocol.queues import (
    Ack,
    Cancel,
    Confirm,
    Consume,
    Credit,
    Deliver,
    Done,
    Get,
    Got,
    Grant,
    Looked,
    Message,
    QueueDelivery,
    Refused,
    Reject,
    Requeue,
    Sent,
    Started,
    Want,
)
from tests.reference_impl.mirrored.simulated_node import SimulatedNode

RETRY_MS = 30
SAID_AFTER = 50  # deliveries
QUEUE = "q"


@dataclass(frozen=True)
class Publish:
    count: int = 1
    persistent: bool = True
    lives_ms: int = -1
    priority: int = 0


@dataclass(frozen=True)
class Subscribe:
    """`hold`: so many deliveries stay unacknowledged."""

    prefetch: int = 0
    no_ack: bool = False
    hold: int = 0
    exclusive: bool = False
    shared: bool = False


@dataclass(frozen=True)
class AckSome:
    count: int


@dataclass(frozen=True)
class RequeueSome:
    count: int


@dataclass(frozen=True)
class Ask:
    """Any request to the master of the moment: made with own pid and request number."""

    make: Any
    supervisor: bool = False


@dataclass
class _Subscription:
    wish: Subscribe
    master: Pid | None = None


@dataclass(frozen=True)
class Seen:
    identity: bytes
    redelivered: bool
    master: Pid


@dataclass
class FakeChannel:
    pid: Pid
    node: SimulatedNode
    published: list[bytes] = field(default_factory=list)
    outcomes: dict[bytes, str] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    acked: set[bytes] = field(default_factory=set)
    answers: list[Any] = field(default_factory=list)
    held: list[tuple[Pid, int, bytes]] = field(default_factory=list)
    credited: Counter[Pid] = field(default_factory=Counter)
    _confirms: Confirms = field(default_factory=Confirms)
    _confirmed_by: set[tuple[Pid, int]] = field(default_factory=set)
    _request: int = 0
    _unreported: Counter[Pid] = field(default_factory=Counter)
    _subscription: _Subscription | None = None
    _out: list[Effect] = field(default_factory=list)

    def handle(self, event: Any) -> list[Effect]:
        out = self._out = []
        match event:
            case Publish():
                for _ in range(event.count):
                    self._publish(event)
            case Confirm(replica=replica, sequences=sequences):
                self._confirmed(replica, sequences)
            case Reject(sequences=sequences):
                self._confirms.reject(sequences)
            case Down(pid=pid, reason=reason):
                self._down(pid, reason)
            case Subscribe():
                self._subscription = _Subscription(event)
                self._look_for_master()
            case QueueDelivery():
                self._delivered(event)
            case Credit(replica=replica, deliveries=deliveries):
                self.credited[replica] += deliveries
            case Want(master=master):
                out.append(Send(master, Grant(self.pid, 1)))
            case Timeout(name="look"):
                self._look_for_master()
            case AckSome(count=count):
                for _ in range(min(count, len(self.held))):
                    self._ack(self.held.pop(0))
            case RequeueSome(count=count):
                for _ in range(min(count, len(self.held))):
                    master, number, _ = self.held.pop(0)
                    out.append(Send(master, Requeue(self.pid, (number,))))
            case Ask(make=make, supervisor=supervisor):
                self._ask(make, supervisor)
            case Got() | Done() | Looked() | Refused() | Started():
                self.answers.append(event)
            case _:
                raise AssertionError(event)
        self._settle()
        return out

    # --- publishing

    def _publish(self, order: Publish) -> None:
        number = len(self.published) + 1
        identity = f"{self.pid.node}{self.pid.boot}.{self.pid.number}/{number}".encode()
        self.published.append(identity)
        record = self.node.tables.queues.get(QUEUE)
        if record is None:
            self._confirms.expect([])
            self.outcomes[identity] = "unroutable"
            return
        target = Target(QUEUE, replicas(record), record.master)
        assert self._confirms.expect([target]) == number
        terms = order.persistent, order.lives_ms, order.priority
        message = Message(identity, "", QUEUE, b"", identity, *terms)
        for replica in target.replicas:
            self._out.append(Watch(replica))
            self._out.append(Send(replica, Deliver(self.pid, number, message)))

    def _confirmed(self, replica: Pid, sequences: tuple[int, ...]) -> None:
        said = {(replica, sequence) for sequence in sequences}
        assert not said & self._confirmed_by, f"{replica} confirmed twice"
        self._confirmed_by |= said
        self._confirms.confirm(QUEUE, replica, sequences)

    def _settle(self) -> None:
        for verdict in self._confirms.verdicts():
            first = 1 if verdict.multiple else verdict.sequence
            for identity in self.published[first - 1 : verdict.sequence]:
                self.outcomes.setdefault(identity, "ack" if verdict.taken else "nack")

    @property
    def open(self) -> list[bytes]:
        return [identity for identity in self.published if identity not in self.outcomes]

    # --- consuming

    def _look_for_master(self) -> None:
        subscription = self._subscription
        record = self.node.tables.queues.get(QUEUE)
        if subscription is None or subscription.master is not None:
            return
        master = None if record is None else record.master
        if master is None or not self.node.alive(master):
            self._out.append(Arm("look", RETRY_MS))
            return
        subscription.master = master
        wish = subscription.wish
        self._request += 1
        self._out.append(Watch(master))
        consume = Consume(
            channel=self.pid,
            request=self._request,
            tag="t",
            no_ack=wish.no_ack,
            exclusive=wish.exclusive,
            prefetch=wish.prefetch,
            shared=wish.shared,
            arguments={},
        )
        self._out.append(Send(master, consume))

    def _delivered(self, event: QueueDelivery) -> None:
        self._unreported[event.master] += 1
        if self._unreported[event.master] == SAID_AFTER:
            self._out.append(
                Send(event.master, Sent(self.pid, self._unreported.pop(event.master)))
            )
        identity = event.message.identity
        self.seen.append(Seen(identity, event.redelivered, event.master))
        assert self._subscription is not None
        wish = self._subscription.wish
        if wish.no_ack:
            self.acked.add(identity)
            return
        self.held.append((event.master, event.number, identity))
        while len(self.held) > wish.hold:
            self._ack(self.held.pop(0))

    def _ack(self, held: tuple[Pid, int, bytes]) -> None:
        master, number, identity = held
        self.acked.add(identity)
        self._out.append(Send(master, Ack(self.pid, (number,))))

    def _ask(self, make: Any, supervisor: bool) -> None:
        self._request += 1
        record = self.node.tables.queues.get(QUEUE)
        to = self.node.supervisor if supervisor or record is None else record.master
        if to is not None:
            self._out.append(Send(to, make(self.pid, self._request)))

    # --- ends

    def _down(self, pid: Pid, reason: str) -> None:
        self._confirms.down(pid, reason)
        self.held = [it for it in self.held if it[0] != pid]
        if self._subscription is not None and self._subscription.master == pid:
            self._subscription.master = None
            self._out.append(Arm("look", RETRY_MS))


def cancelling(pid: Pid, request: int) -> Cancel:
    return Cancel(pid, request, "t")


def getting(no_ack: bool) -> Any:
    return lambda pid, request: Get(pid, request, no_ack)
