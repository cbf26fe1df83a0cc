"""A member's connections to the others: it dials each of them, and sends its own requests there.

1. A connection that ends, or on which a request waited too long for its answer, is closed, and
   dialled again ledger_redial later. What waited on it fails at once.
2. If members have a secret, a number is requested first on each connection, and each request
   proven by it (remoting/proofs.py).
3. A request to a member without a connection fails at once.
"""

from collections.abc import Callable

import msgspec

from reference_impl.rocketmq.dledger.messages import MemberCode, written
from reference_impl.rocketmq.dledger.settings import MemberSettings
from reference_impl.rocketmq.effects import MEMBERS, Clock, Effect, Transmit
from reference_impl.rocketmq.effects import Close as CloseIt
from reference_impl.rocketmq.effects import Dial as DialIt
from reference_impl.rocketmq.remoting.calls import Calls
from reference_impl.rocketmq.remoting.codes import RequestCode
from reference_impl.rocketmq.remoting.command import Command, encode, request
from reference_impl.rocketmq.remoting.connections import Connections
from reference_impl.rocketmq.remoting.header import HeaderError
from reference_impl.rocketmq.remoting.proofs import NONCE, proven

Answered = Callable[[bytes | None], None]  # the body of an answer; None: there is none


class _MemberLink(msgspec.Struct):
    address: str
    dial_ms: int | None  # None: connected, or being dialled
    connection: int | None = None
    nonce: str = ""
    is_ready: bool = False


class MemberLinks:
    """`now_open`: a member can be reached from now on."""

    def __init__(
        self, settings: MemberSettings, clock: Clock, now_open: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._now_open = now_open
        self._connections = Connections(settings.times.server_channel_max_idle_time)
        self._calls = Calls()
        now_ms = clock.now_ms()
        self._links = {name: _MemberLink(settings.peers[name], now_ms) for name in settings.others}
        self._effects: list[Effect] = []

    def __contains__(self, connection: int) -> bool:
        return any(link.connection == connection for link in self._links.values())

    def is_open(self, name: str) -> bool:
        return self._links[name].is_ready

    def call(
        self, name: str, code: MemberCode, message: msgspec.Struct, limit_ms: int, heard: Answered
    ) -> None:
        link = self._links[name]
        if not link.is_ready or link.connection is None:
            heard(None)
            return
        self._send(link, link.connection, code, written(message), limit_ms, heard)

    def opened(self, address: str, connection: int, peer: str) -> None:
        link = next((one for one in self._links.values() if one.address == address), None)
        if link is None or link.connection is not None:
            self._effects.append(CloseIt(connection))
            return
        link.connection, link.dial_ms = connection, None
        self._connections.opened(connection, peer, self._clock.now_ms())
        if not self._settings.secret:
            self._ready(link)
            return
        limit_ms = self._settings.times.ledger_call_limit
        number = self._begun(link, connection, limit_ms, lambda answer: self._met(link, answer))
        self._transmit(connection, request(RequestCode.PEER_CHALLENGE, number))

    def refused(self, address: str) -> None:
        for link in self._links.values():
            if link.address == address and link.connection is None:
                self._again(link)

    def received(self, connection: int, octets: bytes) -> None:
        try:
            commands = self._connections.received(connection, octets, self._clock.now_ms())
        except HeaderError:
            self._leave(connection)
            return
        for command in commands:
            if command.is_answer:
                self._calls.answered(connection, command)

    def closed(self, connection: int) -> None:
        for link in self._links.values():
            if link.connection == connection:
                self._again(link)
        self._connections.closed(connection)
        self._calls.closed(connection)

    def tick(self) -> None:
        now_ms = self._clock.now_ms()
        self._calls.overdue(now_ms)
        for link in self._links.values():
            if link.dial_ms is not None and now_ms >= link.dial_ms:
                link.dial_ms = None
                self._effects.append(DialIt(link.address, MEMBERS))

    def take(self) -> list[Effect]:
        effects, self._effects = self._effects, []
        return effects

    def _met(self, link: _MemberLink, answer: Command | None) -> None:
        if answer is None:
            return  # the connection was closed
        link.nonce = answer.header.fields.get(NONCE, "")
        self._ready(link)

    def _ready(self, link: _MemberLink) -> None:
        link.is_ready = True
        self._now_open(next(name for name, one in self._links.items() if one is link))

    def _send(
        self,
        link: _MemberLink,
        connection: int,
        code: MemberCode,
        body: bytes,
        limit_ms: int,
        heard: Answered,
    ) -> None:
        def answered(answer: Command | None) -> None:
            heard(None if answer is None or answer.header.code else answer.body)

        number = self._begun(link, connection, limit_ms, answered)
        if self._settings.secret:
            command = proven(self._settings.secret, link.nonce, code, number, {}, body)
        else:
            command = request(code, number, body=body)
        self._transmit(connection, command)

    def _begun(
        self,
        link: _MemberLink,
        connection: int,
        limit_ms: int,
        heard: Callable[[Command | None], None],
    ) -> int:
        number = self._calls.number()

        def answered(answer: Command | None) -> None:
            if answer is None and link.connection == connection:
                self._leave(connection)
            heard(answer)

        until_ms = self._clock.now_ms() + limit_ms
        self._calls.begun(number, connection, until_ms, answered)
        return number

    def _transmit(self, connection: int, command: Command) -> None:
        self._effects.append(Transmit(connection, encode(command)))

    def _leave(self, connection: int) -> None:
        self._effects.append(CloseIt(connection))
        self.closed(connection)

    def _again(self, link: _MemberLink) -> None:
        link.connection, link.is_ready, link.nonce = None, False, ""
        link.dial_ms = self._clock.now_ms() + self._settings.times.ledger_redial
