"""One connection to a name server or broker: concurrent requests, answers by their number.

1. Every request has its own deadline. A later answer is dropped.
2. When the connection ends, every open question fails at once, with how it ended.
3. Octets that are no commands end it.
4. What the other side requests goes to `heard`, if there is one.
5. How the other side ended it (FIN, RST) is noted when it happens.
6. If this process has an access key, it signs every request.
"""

import asyncio
import itertools
from collections.abc import Callable, Mapping

from faults.core.model import FIN, REFUSED, RST
from faults.self_connections import refuse_self_connection
from harness.workers.credentials import access_keys
from harness.workers.protocol import Endpoint
from harness.workers.remoting.commands import Command, Decoder, encode
from harness.workers.remoting.errors import WireError
from harness.workers.remoting.headers import ONEWAY, Header, Serialisation
from harness.workers.remoting.requests import Request
from harness.workers.remoting.signature import signed

Heard = Callable[["Connection", Command], None]


class Unanswered(Exception):
    """No connection, no answer in time, or nothing that is an answer: says which.

    `ended`: FIN, RST or REFUSED, where the other side ended the connection, or took none.
    """

    def __init__(self, text: str, ended: str = "") -> None:
        super().__init__(text)
        self.ended = ended


class Connection:
    """Made by `connect`. Once `lost` says why, no question is taken any more."""

    def __init__(self, heard: "Heard | None" = None) -> None:
        self._heard = heard
        self.lost = ""
        self.ended = ""  # FIN or RST, where the other side did it
        self.octets = 0  # that came
        self._numbers = itertools.count(1)
        self._access = access_keys()
        self._open: dict[int, asyncio.Future[Command]] = {}
        self._wire = _Wire(self)

    @classmethod
    async def connect(
        cls, endpoint: Endpoint, limit_s: float, heard: "Heard | None" = None
    ) -> "Connection":
        """Raises Unanswered."""
        connection = cls(heard)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(limit_s):
                transport, _ = await loop.create_connection(
                    lambda: connection._wire, endpoint.address, endpoint.port
                )
            refuse_self_connection(transport.get_extra_info("socket"))
        except TimeoutError:
            raise Unanswered(f"no connection within {limit_s:.3g} s") from None
        except OSError as error:
            connection._wire.abort()
            refused = REFUSED if isinstance(error, ConnectionRefusedError) else ""
            raise Unanswered(f"no connection: {error}", refused) from error
        return connection

    async def ask(
        self, request: Request, limit_s: float, form: Serialisation = Serialisation.JSON
    ) -> Command:
        """Raises Unanswered."""
        if self.lost:
            raise Unanswered(self.lost, self.ended)
        number = next(self._numbers)
        answer: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        header = Header(request.code, number, fields=self._fields(request))
        self._wire.write(encode(Command(header, request.body, form)))
        try:
            async with asyncio.timeout(limit_s):
                return await answer
        except TimeoutError:
            raise Unanswered(f"no answer within {limit_s:.3g} s") from None
        finally:
            del self._open[number]

    def send_oneway(self, request: Request) -> None:
        """What is not answered. Raises Unanswered."""
        if self.lost:
            raise Unanswered(self.lost, self.ended)
        header = Header(request.code, next(self._numbers), ONEWAY, fields=self._fields(request))
        self._wire.write(encode(Command(header, request.body)))

    def close(self) -> None:
        """At once: nothing that we ask needs a farewell."""
        self.end("closed by us")

    def _fields(self, request: Request) -> Mapping[str, str]:
        if self._access is None:
            return request.fields
        return signed(request.fields, request.body, *self._access)

    def received(self, command: Command) -> None:
        if not command.answers:
            if self._heard is not None:
                self._heard(self, command)
            return
        question = self._open.get(command.header.opaque)
        if question is not None and not question.done():
            question.set_result(command)

    def end(self, reason: str) -> None:
        self.lost = self.lost or reason
        self._wire.abort()
        for question in self._open.values():
            if not question.done():
                question.set_exception(Unanswered(self.lost, self.ended))


class _Wire(asyncio.Protocol):
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._decoder = Decoder()
        self._transport: asyncio.Transport | None = None

    def write(self, octets: bytes) -> None:
        assert self._transport is not None, "not connected"
        self._transport.write(octets)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, octets: bytes) -> None:
        self._connection.octets += len(octets)
        try:
            commands = self._decoder.feed(octets)
        except WireError as error:
            self._connection.end(f"it does not speak the remoting protocol: {error}")
            return
        for command in commands:
            self._connection.received(command)

    def eof_received(self) -> None:
        self._connection.ended = self._connection.ended or FIN

    def connection_lost(self, error: Exception | None) -> None:
        if isinstance(error, ConnectionResetError):
            self._connection.ended = self._connection.ended or RST
        self._connection.end(f"lost: {error}" if error else "closed by the server")
