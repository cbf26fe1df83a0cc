"""Acknowledgements, rejects and recovers of a channel's client (docs/behaviour/rabbitmq.md 2.3,
items 40, 42).

1. An acknowledgement goes to the queue's master of that moment; if there is none, it is lost, and
   the message will come again.
2. Acknowledgements of one event of the connection leave as one message a queue, before anything
   that the client requested after them.
3. A delivery that is not settled for too long closes the channel (consumer_timeout).
4. In a transaction all of this waits for the commit (transacting.py).
"""

from collections.abc import Iterable

from reference_impl.amqp.codec.queue_methods import (
    BasicNack,
    BasicRecover,
    BasicRecoverAsync,
    BasicRecoverOk,
    BasicReject,
)
from reference_impl.amqp.rules.errors import PRECONDITION_FAILED, AmqpError, not_implemented
from reference_impl.amqp.rules.sharing import SharedLimit
from reference_impl.amqp.rules.unacknowledged import Held, Unacknowledged, by_queue
from reference_impl.amqp.session import Outbox
from reference_impl.pid import Pid
from reference_impl.process import Arm, World
from reference_impl.protocol.queues import Ack, Discard, Grant, Requeue

SWEEP = "sweep"

_Kind = type[Ack] | type[Requeue] | type[Discard]


class Acknowledging:
    """Deliveries that are out, and the limit that consumers share."""

    def __init__(self, pid: Pid, world: World, outbox: Outbox) -> None:
        self._pid = pid
        self._world = world
        self._outbox = outbox
        self._settings = outbox.session.settings
        self._out = Unacknowledged()
        self._acked: list[Held] = []
        self._uncommitted: list[tuple[_Kind, list[Held]]] | None = None  # None: no transactions
        self._sweeping = False
        self.shared = SharedLimit()

    def add_delivery(self, queue: str, number: int, no_ack: bool, shared: bool) -> int:
        """The tag of a delivery that goes to the client now."""
        if no_ack:
            return self._out.next_tag()
        if not self._sweeping:
            self._sweeping = True
            self._outbox.add(Arm(SWEEP, self._settings.sweep_ms))
        return self._out.add(queue, number, shared)

    def ack(self, tag: int, multiple: bool) -> None:
        held = self._out.take(tag, multiple)
        if self._uncommitted is not None:
            self._uncommitted.append((Ack, held))
            return
        self._acked += held
        self._free(held)

    def reject(self, method: BasicReject) -> None:
        self._refuse(self._out.take(method.delivery_tag, False), method.requeue)

    def nack(self, method: BasicNack) -> None:
        self._refuse(self._out.take(method.delivery_tag, method.multiple), method.requeue)

    def recover(self, method: BasicRecover | BasicRecoverAsync) -> None:
        if not method.requeue:
            raise not_implemented("recover with requeue=false")
        self._settle(Requeue, self._out.take_all())
        if isinstance(method, BasicRecover):
            self._outbox.say(BasicRecoverOk())

    def transact(self) -> None:
        self._uncommitted = []

    def commit(self) -> None:
        assert self._uncommitted is not None, "there are no transactions"
        waiting, self._uncommitted = self._uncommitted, []
        for kind, held in waiting:
            self._settle(kind, held)

    def roll_back(self) -> None:
        assert self._uncommitted is not None, "there are no transactions"
        waiting, self._uncommitted = self._uncommitted, []
        self._out.put_back(each for _, held in waiting for each in held)

    def flush(self) -> None:
        """Sends what was acknowledged."""
        if self._acked:
            held, self._acked = self._acked, []
            self._send_to_masters(held, Ack)

    def grant(self, masters: Iterable[Pid]) -> None:
        for master in masters:
            self._outbox.send(master, Grant(self._pid, 1))

    def sweep(self) -> None:
        """Raises AmqpError where a delivery has been out for too long."""
        if self._out.sweep(self._settings.sweeps_max):
            timeout_ms = self._settings.sweep_ms * self._settings.sweeps_max
            text = (
                f"delivery acknowledgement on channel {self._outbox.number} timed out. "
                f"Timeout value used: {timeout_ms} ms."
            )
            raise AmqpError(PRECONDITION_FAILED, text)
        self._sweeping = len(self._out) > 0
        if self._sweeping:
            self._outbox.add(Arm(SWEEP, self._settings.sweep_ms))

    def _refuse(self, held: list[Held], requeue: bool) -> None:
        kind: _Kind = Requeue if requeue else Discard
        if self._uncommitted is not None:
            self._uncommitted.append((kind, held))
        else:
            self._settle(kind, held)

    def _settle(self, kind: _Kind, held: list[Held]) -> None:
        self._send_to_masters(held, kind)
        self._free(held)

    def _send_to_masters(self, held: list[Held], kind: _Kind) -> None:
        queues = self._world.tables.queues
        for queue, numbers in by_queue(held).items():
            record = queues.get(queue)
            if record is not None and record.master is not None:
                self._outbox.send(record.master, kind(self._pid, tuple(numbers)))

    def _free(self, held: list[Held]) -> None:
        shared = sum(1 for each in held if each.shared)
        if shared:
            self.grant(self.shared.settled(shared))
