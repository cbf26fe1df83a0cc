"""What a channel does with what its client publishes (docs/behaviour/rabbitmq.md 2.3, 3.7; items
1, 16, 19, 35).

1. A copy goes to the master and to each mirror of every queue, directly; all queues share one
   identity of the message, which is unique in the cluster.
2. With confirms on, publishes count from 1; a mandatory message that has no queue is returned
   before its ack.
3. The client is told what is settled at the end of each event, in as few frames as can be; nothing
   while the node may be in a minority (3.8). The node counts whom it sees each time; a stale guard
   does not (stale_guard.py).
4. A publish never fails because a replica is gone: its Down settles what it owed.
"""

from reference_impl.amqp.confirms import Confirms
from reference_impl.amqp.content import ack_frame, nack_frame, persistent, return_frames
from reference_impl.amqp.errors import ACCESS_REFUSED, NO_ROUTE, AmqpError, not_implemented
from reference_impl.amqp.methods import decode
from reference_impl.amqp.misbehaving import CrookedChannel
from reference_impl.amqp.queue_methods import BasicPublish, BasicReturn
from reference_impl.amqp.routing import Router, Target
from reference_impl.amqp.session import Outbox
from reference_impl.amqp.session_methods import ConfirmSelect, ConfirmSelectOk
from reference_impl.amqp.settings import Settings
from reference_impl.amqp.stale_guard import StaleGuard
from reference_impl.metadata.tables import Tables
from reference_impl.misbehave.kinds import Kind
from reference_impl.pid import Pid
from reference_impl.process import Arm, Send, World
from reference_impl.protocol.queues import Confirm, Deliver, Message, Reject

GUARD = "guard"


class Publishing:
    def __init__(self, pid: Pid, world: World, outbox: Outbox) -> None:
        self._pid = pid
        self._world = world
        self._outbox = outbox
        self._session = outbox.session
        self._router = Router(self._session.settings.routes_max)
        self._confirms: Confirms | None = None
        self._published = 0
        self._identity = f"{pid.node}/{pid.boot}/{pid.number}/".encode()
        self._methods: dict[bytes, BasicPublish] = {}
        misbehaviour = self._session.settings.misbehaviour
        self._crooked = None if misbehaviour is None else CrookedChannel(misbehaviour, pid, outbox)
        self._stale = _stale_guard(self._session.settings, outbox)

    def select(self, method: ConfirmSelect) -> None:
        if self._confirms is None:
            self._confirms = Confirms()
        if not method.nowait:
            self._outbox.say(ConfirmSelectOk())

    def publish(self, payload: bytes, properties: bytes, body: bytes) -> None:
        """`payload` is the method's. Raises AmqpError."""
        method = self._methods.get(payload) or self._decoded(payload)
        exchange, key = method.exchange, method.key
        tables = self._world.tables
        targets = self._router.targets(tables, exchange, key)
        lasting = persistent(properties, self._session.user)
        if exchange:
            _check_open(tables, exchange)
        self._published += 1
        identity = self._identity + self._published.to_bytes(8, "big")
        message = Message(identity, exchange, key, properties, body, lasting)
        if self._crooked is not None and self._crooked.publish(targets, message, self._confirms):
            return
        sequence = 0
        if self._confirms is not None:
            sequence = self._confirms.expect(targets)
            self._watch(targets)
            if self._stale is not None:
                self._stale.published(sequence, targets, message)
        if not targets:
            if method.mandatory:
                self._return(method, properties, body)
            return
        deliver = Deliver(self._pid, sequence, message)
        for target in targets:
            for replica in target.replicas:
                self._outbox.add(Send(replica, deliver))

    def release(self) -> None:
        """Nothing may be held any longer."""
        if self._crooked is not None:
            self._crooked.release()

    def confirmed(self, event: Confirm) -> None:
        if self._confirms is not None:
            self._confirms.confirm(event.queue, event.replica, event.sequences)

    def rejected(self, event: Reject) -> None:
        if self._confirms is not None:
            self._confirms.reject(event.sequences)

    def down(self, replica: Pid, reason: str) -> None:
        if self._confirms is not None:
            self._confirms.down(replica, reason)

    def settle(self) -> None:
        """Tells the client what is settled."""
        if self._confirms is None or not self._confirms.settled:
            return
        minority = self._world.guarded()
        if minority if self._stale is None else self._stale.withholds(minority):
            self._outbox.add(Arm(GUARD, self._session.settings.guard_ms))
            return
        number = self._outbox.number
        for verdict in self._confirms.verdicts():
            if self._stale is not None:
                self._stale.told(verdict, minority)
            write = ack_frame if verdict.taken else nack_frame
            self._outbox.transmit(write(number, verdict.sequence, verdict.multiple))

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

    def _return(self, method: BasicPublish, properties: bytes, body: bytes) -> None:
        returned = BasicReturn(NO_ROUTE, "NO_ROUTE", method.exchange, method.key)
        frame_max = self._session.frame_max
        self._outbox.transmit(
            return_frames(self._outbox.number, returned, properties, body, frame_max)
        )


def _stale_guard(settings: Settings, outbox: Outbox) -> StaleGuard | None:
    """Where the node was told to guard so."""
    misbehaviour = settings.misbehaviour
    if misbehaviour is None or misbehaviour.kind is not Kind.STALE_GUARD:
        return None
    assert settings.linked is not None, "a stale guard asks whom its node sees"
    return StaleGuard(settings.linked, outbox)


def _check_open(tables: Tables, exchange: str) -> None:
    if tables.exchanges[exchange].internal:
        text = f"cannot publish to internal exchange '{exchange}' in vhost '/'"
        raise AmqpError(ACCESS_REFUSED, text)
