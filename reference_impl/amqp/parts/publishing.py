"""The publishes of a channel's client (docs/behaviour/rabbitmq.md 2.3, 3.7; items
1, 16, 19, 35).

1. A copy goes to the master and to each mirror of every queue, directly; all queues share one
   identity of the message, which is unique in the cluster.
2. With confirms on, publishes count from 1; a mandatory message that has no queue is returned
   before its ack.
3. The client learns what is settled at the end of each event, in as few frames as can be; nothing
   while the node may be in a minority (3.8). The node counts the peers it sees each time; a stale
   guard does not (misbehaving.py).
4. A publish never fails because a replica is gone: its Down settles its part.
5. A client that publishes faster than copies of queues can take it waits (sharing.py).
6. In a transaction a publish is routed at once, and goes out with the commit (transacting.py).
"""

from typing import NamedTuple

from reference_impl.amqp.codec.content import ack_frame, nack_frame, return_frames
from reference_impl.amqp.codec.methods import decode
from reference_impl.amqp.codec.properties import wishes
from reference_impl.amqp.codec.queue_methods import BasicPublish, BasicReturn
from reference_impl.amqp.codec.session_methods import (
    ConfirmSelect,
    ConfirmSelectOk,
    TxCommit,
    TxCommitOk,
)
from reference_impl.amqp.parts.misbehaving import CrookedChannel, StaleGuard
from reference_impl.amqp.rules.confirms import Confirms
from reference_impl.amqp.rules.errors import (
    ACCESS_REFUSED,
    CHANNEL_ERROR,
    NO_ROUTE,
    PRECONDITION_FAILED,
    AmqpError,
    not_implemented,
)
from reference_impl.amqp.rules.routing import Router, Target, held_by
from reference_impl.amqp.rules.sharing import Flow
from reference_impl.amqp.session import Outbox
from reference_impl.amqp.settings import Settings
from reference_impl.metadata.tables import Tables
from reference_impl.misbehave.kinds import Kind
from reference_impl.pid import Pid
from reference_impl.process import Arm, Send, World
from reference_impl.protocol.queues import Confirm, Credit, Deliver, Message, Reject

GUARD = "guard"


class _Uncommitted(NamedTuple):
    """A publish of a transaction."""

    method: BasicPublish
    queues: tuple[str, ...]
    message: Message


class Publishing:
    def __init__(self, pid: Pid, world: World, outbox: Outbox) -> None:
        self._pid = pid
        self._world = world
        self._outbox = outbox
        self._session = outbox.session
        self._router = Router(self._session.settings.routes_max)
        self.flow = Flow()
        self._confirms: Confirms | None = None
        self._uncommitted: list[_Uncommitted] | None = None  # None: there are no transactions
        self._committing = False
        self._published = 0
        self._identity = f"{pid.node}/{pid.boot}/{pid.number}/".encode()
        self._methods: dict[bytes, BasicPublish] = {}
        misbehaviour = self._session.settings.misbehaviour
        self._crooked = None if misbehaviour is None else CrookedChannel(misbehaviour, pid, outbox)
        self._stale = _stale_guard(self._session.settings, outbox)

    def select(self, method: ConfirmSelect) -> None:
        if self._uncommitted is not None:
            raise AmqpError(PRECONDITION_FAILED, "cannot switch from tx to confirm mode")
        if self._confirms is None:
            self._confirms = Confirms()
        if not method.nowait:
            self._outbox.say(ConfirmSelectOk())

    def transact(self) -> None:
        """From now on nothing goes out without a commit."""
        if self._confirms is not None:
            raise AmqpError(PRECONDITION_FAILED, "cannot switch from confirm to tx mode")
        self._confirms, self._uncommitted = Confirms(), []

    def commit(self) -> None:
        """Sends what waits; `settle` tells when all of it is held."""
        assert self._uncommitted is not None, "there are no transactions"
        waiting, self._uncommitted = self._uncommitted, []
        self._committing = True
        for each in waiting:
            targets = held_by(self._world.tables, each.queues)
            self._send(each.method, targets, each.message)

    def roll_back(self) -> None:
        self._uncommitted = []

    def check_idle(self) -> None:
        """Raises AmqpError while a commit is not answered yet."""
        if self._committing:
            raise AmqpError(CHANNEL_ERROR, "unexpected command while processing 'tx.commit'")

    def publish(self, payload: bytes, properties: bytes, body: bytes) -> None:
        """`payload` is the method's. Raises AmqpError."""
        method = self._methods.get(payload) or self._decoded(payload)
        exchange, key = method.exchange, method.key
        tables = self._world.tables
        targets = self._router.targets(tables, exchange, key, properties)
        wanted = wishes(properties, self._session.user)
        if exchange:
            _check_open(tables, exchange)
        self._published += 1
        identity = self._identity + self._published.to_bytes(8, "big")
        message = Message(identity, exchange, key, properties, body, *wanted)
        if self._uncommitted is None:
            self._send(method, targets, message)
        else:
            queues = tuple(target.queue for target in targets)
            self._uncommitted.append(_Uncommitted(method, queues, message))

    def _send(self, method: BasicPublish, targets: tuple[Target, ...], message: Message) -> None:
        if self._crooked is not None and self._crooked.publish(targets, message, self._confirms):
            return
        sequence = 0
        if self._confirms is not None:
            sequence = self._confirms.expect(targets)
            if self._stale is not None:
                self._stale.published(sequence, targets, message)
        if not targets:
            if method.mandatory:
                self._return(method, message)
            return
        self._watch(targets)
        deliver = Deliver(self._pid, sequence, message)
        for target in targets:
            for replica in target.replicas:
                self._outbox.add(Send(replica, deliver))
                self.flow.sent(replica)

    def release(self) -> None:
        """Nothing may be held any longer."""
        if self._crooked is not None:
            self._crooked.release()

    def confirmed(self, event: Confirm) -> None:
        if self._confirms is not None:
            self._confirms.confirm(event.queue, event.replica, event.sequences)

    def credited(self, event: Credit) -> None:
        self.flow.credited(event.replica, event.deliveries)

    def rejected(self, event: Reject) -> None:
        if self._confirms is not None:
            self._confirms.reject(event.sequences)

    def down(self, replica: Pid, reason: str) -> None:
        self.flow.gone(replica)
        if self._confirms is not None:
            self._confirms.down(replica, reason)

    def settle(self) -> None:
        """Tells the client what is settled. Raises AmqpError: a commit was not taken whole."""
        if self._confirms is None:
            return
        if self._uncommitted is not None:
            settled = self._committing and not self._confirms.outstanding
        else:
            settled = self._confirms.settled
        if not settled:
            return
        minority = self._world.guarded()
        if minority if self._stale is None else self._stale.withholds(minority):
            self._outbox.add(Arm(GUARD, self._session.settings.guard_ms))
            return
        if self._uncommitted is not None:
            self._committed(self._confirms)
            return
        number = self._outbox.number
        for verdict in self._confirms.verdicts():
            if self._stale is not None:
                self._stale.reported(verdict, minority)
            write = ack_frame if verdict.taken else nack_frame
            self._outbox.transmit(write(number, verdict.sequence, verdict.multiple))

    def _committed(self, confirms: Confirms) -> None:
        self._committing = False
        if not all(verdict.taken for verdict in confirms.verdicts()):
            raise AmqpError(PRECONDITION_FAILED, "partial tx completion", TxCommit.index)
        self._outbox.say(TxCommitOk())

    def _decoded(self, payload: bytes) -> BasicPublish:
        method = decode(payload)
        assert isinstance(method, BasicPublish), method
        if method.immediate:
            raise not_implemented("immediate=true")
        if len(self._methods) >= self._session.settings.routes_max:
            self._methods.clear()
        self._methods[payload] = method
        return method

    def _watch(self, targets: tuple[Target, ...]) -> None:
        """Watched once; after its Down, a process that is still listed says Down again."""
        for target in targets:
            for replica in target.replicas:
                self._outbox.watch(replica)

    def _return(self, method: BasicPublish, message: Message) -> None:
        returned = BasicReturn(NO_ROUTE, "NO_ROUTE", method.exchange, method.key)
        frame_max = self._session.frame_max
        content = message.header, message.body
        self._outbox.transmit(return_frames(self._outbox.number, returned, *content, frame_max))


def _stale_guard(settings: Settings, outbox: Outbox) -> StaleGuard | None:
    """Return the stale guard if the node is configured for it."""
    misbehaviour = settings.misbehaviour
    if misbehaviour is None or misbehaviour.kind is not Kind.STALE_GUARD:
        return None
    assert settings.linked is not None, "a stale guard asks whom its node sees"
    return StaleGuard(settings.linked, outbox)


def _check_open(tables: Tables, exchange: str) -> None:
    if tables.exchanges[exchange].internal:
        text = f"cannot publish to internal exchange '{exchange}' in vhost '/'"
        raise AmqpError(ACCESS_REFUSED, text)
