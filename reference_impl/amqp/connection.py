"""A client's connection: a process (docs/behaviour/rabbitmq.md 2.1, 2.2, item 41).

1. The handshake takes `handshake_ms` at most, or the client is hung up on; so it is on an error
   before it is known.
2. Channels are processes of their own: the connection hands them their frames by direct call.
3. However it ends, its channels end first, and carry out before what the client had said; before
   a close or close-ok of ours goes out, the connection's exclusive queues are deleted. After a
   close of ours everything but close-ok (or the client's own close) is passed over. All of this
   takes `closing_ms` or a heartbeat's interval at most.
4. A client's mistake ends the connection at worst, never the node.
5. A client that publishes more than can be taken is not read for a while (blocking.py).

opening --all steps of opening.py--> running
running --close, hard error, CloseConnection, HungUp--> ending --channels over--> clearing
clearing --exclusive queues gone--> closing: our close is sent
clearing --exclusive queues gone--> over: close-ok is sent, or the client is gone
closing --close-ok, close--> over
any --silent client, time-out--> over
"""

from collections.abc import Iterable
from enum import Enum, auto
from typing import Any

from reference_impl.amqp import handshake
from reference_impl.amqp.blocking import Blocking
from reference_impl.amqp.channel import ChannelFailed, ChannelShort
from reference_impl.amqp.channels import Channels
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.frames import (
    FRAME_MIN,
    HEADER,
    HEARTBEAT,
    HEARTBEAT_FRAME,
    METHOD,
    Frame,
    FrameReader,
)
from reference_impl.amqp.codec.method import Method
from reference_impl.amqp.codec.methods import decode, method_frame
from reference_impl.amqp.opening import HandshakeStep, Opening
from reference_impl.amqp.rules.errors import (
    COMMAND_INVALID,
    CONNECTION_FORCED,
    UNEXPECTED_FRAME,
    AmqpError,
)
from reference_impl.amqp.session import Session
from reference_impl.amqp.settings import Settings
from reference_impl.pid import Pid
from reference_impl.process import (
    NORMAL,
    AlarmsChanged,
    Arm,
    Disarm,
    Down,
    Effect,
    Exit,
    Hangup,
    HungUp,
    Octets,
    Send,
    Timeout,
    Transmit,
    Watch,
    World,
)
from reference_impl.protocol.connections import CloseConnection, Described
from reference_impl.protocol.queues import Delete, Done, Refused

# --- Heartbeats of one connection, both ways (docs/behaviour/rabbitmq.md 2.1) --------------------
# 1. Half an interval in which nothing went out is ended with a heartbeat.
# 2. The client is looked for once an interval; two looks in a row that find no octet since the one
#    before are its end: 2 to 3 intervals after its last sign of life. Any octet counts.
# 3. Interval 0: none of this.


SPEAK, LISTEN = "heartbeat speak", "heartbeat listen"
_SILENT_LOOKS_MAX = 2


class Heartbeat:
    def __init__(self, session: Session, interval_s: int) -> None:
        self._session = session
        self._interval_ms = interval_s * 1000
        self._heard = False
        self._silent_looks = 0

    def begin(self) -> list[Effect]:
        if not self._interval_ms:
            return []
        return [self._arm_speaking(), Arm(LISTEN, self._interval_ms)]

    def heard(self) -> None:
        self._heard = True

    def speak(self) -> list[Effect]:
        """Half an interval is over."""
        quiet, self._session.spoke = not self._session.spoke, False
        beat: list[Effect] = [Transmit(HEARTBEAT_FRAME)] if quiet else []
        return [*beat, self._arm_speaking()]

    def listen(self) -> list[Effect] | None:
        """An interval is over. None: the client is gone."""
        self._silent_looks = 0 if self._heard else self._silent_looks + 1
        self._heard = False
        if self._silent_looks >= _SILENT_LOOKS_MAX:
            return None
        return [Arm(LISTEN, self._interval_ms)]

    def _arm_speaking(self) -> Arm:
        return Arm(SPEAK, self._interval_ms // 2)


# --- Farewell ------------------------------------------------------------------------------------
# The deletion of a connection's exclusive queues before its last word
# (docs/behaviour/rabbitmq.md 2.1).
#
# 1. Each of their masters gets a request, and is waited for until it has answered or is gone.
# 2. Queues whose declaration is still under way are not seen here: their masters watch the owner.


class Farewell:
    """A deletion under way. `over` as soon as no master is waited for any more."""

    def __init__(self, owner: Pid, world: World) -> None:
        self._owner = owner
        self._world = world
        self._awaited: dict[int, Pid] = {}  # by request

    @property
    def over(self) -> bool:
        return not self._awaited

    def begin(self) -> list[Effect]:
        effects: list[Effect] = []
        owned = [it for it in self._world.tables.queues.values() if it.owner == self._owner]
        for request, record in enumerate(owned, start=1):
            master = record.master
            if master is not None and self._world.alive(master):
                self._awaited[request] = master
                delete = Delete(self._owner, request, if_unused=False, if_empty=False)
                effects += [Watch(master), Send(master, delete)]
        return effects

    def hear(self, event: Any) -> None:
        if isinstance(event, Done | Refused):
            self._awaited.pop(event.request, None)
        elif isinstance(event, Down):
            for request, master in list(self._awaited.items()):
                if master == event.pid:
                    del self._awaited[request]


# --- The process ---------------------------------------------------------------------------------


_HANDSHAKE, _CLOSING = "handshake", "closing"
_DEFAULTS = Settings()


class Phase(Enum):
    OPENING = auto()
    RUNNING = auto()
    ENDING = auto()
    CLEARING = auto()
    CLOSING = auto()
    OVER = auto()


class Connection:
    """`client_name` as the management API shows it: "client:port -> server:port"."""

    def __init__(
        self, pid: Pid, world: World, client_name: str, settings: Settings = _DEFAULTS
    ) -> None:
        self._pid = pid
        self._world = world
        self._client_name = client_name
        self._settings = settings
        self._phase = Phase.OPENING
        self._session = Session(pid, settings, FRAME_MIN)
        self._opening = Opening(self._session)
        self._reader = FrameReader()
        self._channels = Channels(self._session, world)
        self._heartbeat = Heartbeat(self._session, 0)
        self._blocking = Blocking(self._session, world)
        self._held: list[Frame] = []  # while it is blocked
        self._closing_ms = settings.closing_ms
        self._farewell = Farewell(pid, world)
        self._last_word: Method | None = None  # None: the client is gone
        self._effects: list[Effect] = []

    def begin(self) -> list[Effect]:
        """Before the first event."""
        return [Arm(_HANDSHAKE, self._settings.handshake_ms)]

    def described(self) -> Described | None:
        """None until it is open."""
        if self._opening.step is not HandshakeStep.OPEN:
            return None
        return Described(self._pid, self._client_name, self._opening.given_name)

    def handle(self, event: Any) -> list[Effect]:
        if self._phase is Phase.OVER:
            return []
        match event:
            case Octets(octets=octets):
                self._octets(octets)
            case HungUp():
                self._leave(None)
            case Timeout(name=name):
                self._timeout(name)
            case AlarmsChanged():
                self._notify(self._blocking.alarms_changed())
                held, self._held = self._held, []
                self._frames(held)
            case ChannelShort(number=number, short=short):
                self._blocking.channel_short(number, short)
            case CloseConnection(reason=reason):
                self._effects += self._channels.end()  # an operator does not wait for a client
                self._fail(AmqpError(CONNECTION_FORCED, reason))
            case ChannelFailed(code=code, explanation=explanation, index=index):
                self._fail(AmqpError(code, explanation, index))
            case _:
                self._go_on_leaving(event)
        if self._phase is Phase.RUNNING:
            self._effects += self._channels.take()
            self._effects += self._blocking.reading()
        effects, self._effects = self._effects, []
        return effects

    # --- what comes in

    def _octets(self, octets: bytes) -> None:
        self._heartbeat.heard()
        try:
            if self._opening.step is HandshakeStep.GREETING:
                octets = self._greet(octets)
            self._frames(self._reader.read(octets))
        except AmqpError as error:
            self._fail(error)

    def _frames(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            if self._blocking.holds_frames and self._phase is Phase.RUNNING:
                self._held.append(frame)
            else:
                self._frame(*frame)

    def _frame(self, kind: int, number: int, payload: bytes) -> None:
        try:
            if number and self._phase is Phase.RUNNING:
                self._channels.frame(kind, number, payload)
                if self._blocking.alarmed and kind == HEADER:
                    self._notify(self._blocking.content_came())
            else:
                self._own_frame(kind, number, payload)
        except AmqpError as error:
            self._fail(error)

    def _notify(self, notice: Method | None) -> None:
        if notice is not None:
            self._say(notice)

    def _greet(self, octets: bytes) -> bytes:
        """Return the octets that follow the protocol header."""
        rest = self._opening.greet(octets)
        if rest is None:
            self._effects.append(Transmit(handshake.PROTOCOL_HEADER))
            self._hang_up()
            return b""
        if self._opening.step is HandshakeStep.STARTING:
            self._say(handshake.start(self._world.node))
        return rest

    def _own_frame(self, kind: int, number: int, payload: bytes) -> None:
        if self._phase is Phase.OVER or kind == HEARTBEAT:
            return
        if self._phase in (Phase.ENDING, Phase.CLEARING, Phase.CLOSING):
            self._last_frame(kind, number, payload)
            return
        if kind != METHOD or number:
            raise AmqpError(UNEXPECTED_FRAME, f"frame of type {kind} on channel {number}")
        self._method(decode(payload))

    def _method(self, method: Method) -> None:
        if self._phase is Phase.OPENING:
            self._open(method)
        elif isinstance(method, s.ConnectionClose):
            self._leave(s.ConnectionCloseOk())
        elif isinstance(method, s.ConnectionUpdateSecret):
            self._say(s.ConnectionUpdateSecretOk())
        else:
            text = "unexpected method in connection state running"
            raise AmqpError(COMMAND_INVALID, text, method.index)

    def _open(self, method: Method) -> None:
        answer = self._opening.take(method)
        if isinstance(method, s.ConnectionTuneOk):
            self._tuned(method)
        if self._opening.step is HandshakeStep.OPEN:
            self._phase = Phase.RUNNING
            self._effects.append(Disarm(_HANDSHAKE))
        if answer is not None:
            self._say(answer)

    def _tuned(self, method: s.ConnectionTuneOk) -> None:
        self._reader.frame_max = method.frame_max
        self._channels.channel_max = method.channel_max
        self._heartbeat = Heartbeat(self._session, method.heartbeat_s)
        if method.heartbeat_s:
            self._closing_ms = min(self._closing_ms, method.heartbeat_s * 1000)
        self._effects += self._heartbeat.begin()

    # --- the end

    def _fail(self, error: AmqpError) -> None:
        if self._phase not in (Phase.OPENING, Phase.RUNNING):
            return  # it ends already
        if self._opening.may_hear(error):
            self._leave(s.ConnectionClose(error.code, error.text, *error.index))
        else:
            self._hang_up()

    def _leave(self, last_word: Method | None) -> None:
        """Channels first, then exclusive queues, then the last word."""
        self._last_word = last_word
        if self._phase in (Phase.CLEARING, Phase.CLOSING):
            self._hang_up()
            return
        self._phase = Phase.ENDING
        self._effects += self._blocking.over()
        limit_ms = self._settings.broken_ms if self._reader.broken else self._closing_ms
        self._effects += [Disarm(_HANDSHAKE), Arm(_CLOSING, limit_ms)]
        self._effects += self._channels.finish()
        self._effects += [Watch(pid) for pid in self._channels.unfinished()]
        self._go_on_leaving(None)

    def _go_on_leaving(self, event: Any) -> None:
        if self._phase is Phase.ENDING and not self._channels.unfinished():
            self._phase = Phase.CLEARING
            self._effects += self._farewell.begin()
        if self._phase is Phase.CLEARING:
            self._farewell.hear(event)
            if self._farewell.over:
                self._say_last_word()

    def _say_last_word(self) -> None:
        if self._last_word is not None:
            self._say(self._last_word)
        if isinstance(self._last_word, s.ConnectionClose):
            self._phase = Phase.CLOSING
        else:
            self._hang_up()

    def _last_frame(self, kind: int, number: int, payload: bytes) -> None:
        """After our close, or while channels and exclusive queues go."""
        if kind != METHOD or number or self._phase is not Phase.CLOSING:
            return
        method = decode(payload)
        if isinstance(method, s.ConnectionClose):
            self._say(s.ConnectionCloseOk())
        if isinstance(method, s.ConnectionClose | s.ConnectionCloseOk):
            self._hang_up()

    def _timeout(self, name: str) -> None:
        if name == SPEAK:
            self._effects += self._heartbeat.speak()
        elif name == LISTEN:
            if self._blocking.unread:
                self._heartbeat.heard()
            again = self._heartbeat.listen()
            if again is None:
                self._hang_up()
            else:
                self._effects += again
        else:
            self._hang_up()

    def _hang_up(self) -> None:
        self._effects += self._channels.end()
        self._effects += [Hangup(), Exit(NORMAL)]
        self._phase = Phase.OVER

    def _say(self, method: Method) -> None:
        self._effects.append(Transmit(method_frame(0, method)))
        self._session.spoke = True
