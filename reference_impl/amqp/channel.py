"""A channel: a process (docs/behaviour/rabbitmq.md 2.2, 2.3, item 39).

1. A client's frames come by direct call from its connection; everything else by `handle`.
2. While a method waits for an answer (calls.py), what the client sends waits as well; deliveries
   and confirms go on. While it waits for a master to appear, they wait too, as RabbitMQ's channel
   is blocked in its retries.
3. A soft error ends the channel: its queues hear of its end, and the client of the error; what the
   client sends until its close-ok is passed over. A hard error is the connection's.
4. Where a client's octets are wrong, AmqpError is raised; any other exception is our bug.

open --channel.close--> closed
open --soft error--> closing --close-ok--> closed
"""

from collections import deque
from enum import Enum, auto
from typing import Any

import msgspec

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.content import ACK, read_ack
from reference_impl.amqp.codec.methods import decode
from reference_impl.amqp.parts.acknowledging import SWEEP, Acknowledging
from reference_impl.amqp.parts.assembly import Assembly, Published
from reference_impl.amqp.parts.calls import Calls, Steps
from reference_impl.amqp.parts.consuming import Consuming
from reference_impl.amqp.parts.declaring import Declaring
from reference_impl.amqp.parts.exchanging import Exchanging
from reference_impl.amqp.parts.handlers import handlers
from reference_impl.amqp.parts.misbehaving import RELEASE
from reference_impl.amqp.parts.naming import Naming
from reference_impl.amqp.parts.publishing import Publishing
from reference_impl.amqp.parts.transacting import Transacting
from reference_impl.amqp.rules.errors import COMMAND_INVALID, AmqpError
from reference_impl.amqp.session import Outbox, Session
from reference_impl.pid import Pid
from reference_impl.process import NORMAL, Down, Effect, Timeout, World, Written
from reference_impl.protocol.queues import Confirm, Credit, QueueDelivery, Reject, Want

_FLOWING = frozenset({QueueDelivery, Confirm, Credit, Reject, Want, Written})


class Stand(Enum):
    OPEN = auto()
    CLOSING = auto()  # the client has not heard of it yet
    CLOSED = auto()


class ChannelFailed(msgspec.Struct, frozen=True):
    """To the connection of the same node: a hard error came up while no frame was at hand."""

    code: int
    explanation: str
    index: tuple[int, int]


class ChannelShort(msgspec.Struct, frozen=True):
    """To the connection of the same node: whether more than this may come for the channel."""

    number: int
    short: bool


class Channel:
    def __init__(self, pid: Pid, number: int, session: Session, world: World) -> None:
        self.pid = pid
        self.number = number
        self.stand = Stand.OPEN
        self._session = session
        self._outbox = Outbox(number, session)
        self._assembly = Assembly(session.settings.message_octets_max)
        self._calls = Calls(pid, world, self._outbox)
        self._publishing = Publishing(pid, world, self._outbox)
        naming = Naming(pid, session.pid)
        self._out = Acknowledging(pid, world, self._outbox)
        self._consuming = Consuming(world, self._outbox, self._calls, naming, self._out)
        self._steps: Steps | None = None
        self._index = (0, 0)  # of the method that is being carried out
        self._held: deque[Any] = deque()
        self._is_short = False  # in the connection's eyes
        self._handlers = handlers(
            self._outbox,
            self._publishing,
            self._out,
            self._consuming,
            Declaring(world, self._outbox, self._calls, naming),
            Exchanging(world, self._outbox, self._calls),
            Transacting(self._outbox, self._publishing, self._out),
        )
        self._outbox.say(s.ChannelOpenOk())

    def frame(self, kind: int, payload: bytes) -> None:
        """From the client. Raises AmqpError where it is the connection's."""
        try:
            command = self._assembly.take(kind, payload)
        except AmqpError as error:
            self._fail(error)
            return
        if command is None:
            return
        if self._steps is not None:
            self._held.append(command)
            return
        try:
            self._command(command)
        except AmqpError as error:
            self._fail(self._blamed(error))

    def handle(self, event: Any) -> list[Effect]:
        try:
            self._receive(event)
        except AmqpError as error:
            try:
                self._fail(self._blamed(error))
            except AmqpError as hard:
                self._close(Stand.CLOSED)
                failed = ChannelFailed(hard.code, hard.explanation, hard.index)
                self._outbox.send(self._session.pid, failed)
                self._outbox.exit(NORMAL)
        return self.take()

    def take(self) -> list[Effect]:
        """Return the effects of the frames since the last call."""
        if self.stand is Stand.OPEN:
            self._out.flush()
            try:
                self._publishing.settle()
            except AmqpError as error:
                self._fail(error)
            else:
                self._report_short(self._publishing.flow.short)
        return self._outbox.take()

    def finish(self) -> list[Effect]:
        """Ends it when all that its client has said is carried out."""
        if self.stand is Stand.OPEN and self._steps is not None:
            self._held.append(Stand.CLOSED)
            return self.take()
        return self.end()

    def end(self) -> list[Effect]:
        """Ends it now."""
        if self.stand is Stand.OPEN:
            self._leave()
        return self._outbox.take()

    # --- events

    def _receive(self, event: Any) -> None:
        if self.stand is not Stand.OPEN:
            return
        if type(event) is Down:
            self._outbox.down(event.pid)
        if self._steps is None:
            self._event(event)
        elif self._calls.is_answer(event):
            self._resume(event)
        elif type(event) in _FLOWING and not self._calls.pausing:
            self._event(event)
        else:
            self._held.append(event)

    def _resume(self, answer: Any) -> None:
        if type(answer) is Down:
            self._held.append(answer)  # others than the call want to know it, too
        elif self._calls.pausing:
            self._let_flow()
        self._advance(answer)
        self._go_on()

    def _let_flow(self) -> None:
        """Deliver first what came for the client during a pause."""
        held, self._held = self._held, deque()
        for event in held:
            if type(event) in _FLOWING:
                self._event(event)
            else:
                self._held.append(event)

    def _go_on(self) -> None:
        while self._held and self._steps is None and self.stand is Stand.OPEN:
            waiting = self._held.popleft()
            if isinstance(waiting, bytes | Published):
                self._command(waiting)
            elif waiting is Stand.CLOSED:
                self._leave()
            else:
                self._event(waiting)

    def _event(self, event: Any) -> None:
        kind = type(event)
        if kind is QueueDelivery:
            self._consuming.deliver(event)
        elif kind is Confirm:
            self._publishing.confirmed(event)
        elif kind is Down:
            self._publishing.down(event.pid, event.reason)
            self._begin(self._consuming.down(event.pid))
        elif kind is Credit:
            self._publishing.credited(event)
        elif kind is Reject:
            self._publishing.rejected(event)
        elif kind is Want:
            self._consuming.want(event)
        elif kind is Written:
            self._consuming.written()
        elif kind is Timeout and event.name == SWEEP:
            self._out.sweep()
        elif kind is Timeout and event.name == RELEASE:
            self._publishing.release()

    # --- what the client wants

    def _command(self, command: bytes | Published) -> None:
        self._publishing.check_idle()
        if type(command) is Published:
            self._index = q.BasicPublish.index
            self._publishing.publish(*command)
        elif command.startswith(ACK):  # type: ignore[union-attr]
            self._index = q.BasicAck.index
            self._out.ack(*read_ack(command))  # type: ignore[arg-type]
        else:
            self._method(command)  # type: ignore[arg-type]

    def _method(self, payload: bytes) -> None:
        method = decode(payload)
        self._index = method.index
        if isinstance(method, s.ChannelClose):
            self._client_closes()
            return
        handler = self._handlers.get(type(method))
        if handler is None:
            raise AmqpError(COMMAND_INVALID, f"method {type(method).__name__} cannot come here")
        self._out.flush()
        self._publishing.release()
        self._begin(handler(method))

    def _begin(self, steps: Steps | None) -> None:
        if steps is not None:
            self._steps = steps
            self._advance(None)

    def _advance(self, answer: Any) -> None:
        assert self._steps is not None, "nothing waits"
        try:
            self._steps.send(answer)
        except StopIteration:
            self._steps = None
        except AmqpError:
            self._steps = None
            raise

    def _report_short(self, short: bool) -> None:
        if short is not self._is_short:
            self._is_short = short
            self._outbox.send(self._session.pid, ChannelShort(self.number, short))

    # --- the end

    def _blamed(self, error: AmqpError) -> AmqpError:
        """With the method that it came of."""
        if error.index == (0, 0):
            error.index = self._index
        return error

    def _fail(self, error: AmqpError) -> None:
        if error.hard:
            raise error
        self._close(Stand.CLOSING)
        self._outbox.say(s.ChannelClose(error.code, error.text, *error.index))
        self._outbox.exit(NORMAL)

    def _close(self, stand: Stand) -> None:
        """Acknowledgements still count; settled publishes are still reported."""
        self._out.flush()
        self._publishing.release()
        self._publishing.settle()
        self._report_short(False)
        self.stand = stand
        self._steps = None
        self._held.clear()

    def _client_closes(self) -> None:
        self._close(Stand.CLOSED)
        self._outbox.say(s.ChannelCloseOk())
        self._outbox.exit(NORMAL)

    def _leave(self) -> None:
        self._close(Stand.CLOSED)
        self._outbox.exit(NORMAL)
