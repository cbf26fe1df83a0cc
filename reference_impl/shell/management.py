"""The management API's HTTP: h11 reads and writes it, the node's API process answers.

1. Credentials are looked at before a body is read, and so is its announced length. A refused
   client is answered, not read any further, and closed.
2. Nothing is held beyond HEADER_OCTETS_MAX and BODY_OCTETS_MAX, nor read while a request waits for
   its answer.
3. A request must be whole in REQUEST_LIMIT_S: the first one from the connection on, others from
   their first octet on.
"""

import asyncio
import base64
import hmac
import json
from collections.abc import Callable
from itertools import count
from typing import Protocol

import h11

from reference_impl.process import ApiRequest

HEADER_OCTETS_MAX = 16 << 10
BODY_OCTETS_MAX = 1 << 20
REQUEST_LIMIT_S = 10.0
LINGER_S = 1.0  # for a refusal to be read: what we have not read would reset the connection
_CREDENTIALS = b"Basic " + base64.b64encode(b"guest:guest")
_LOGIN_FAILED = b'{"error":"not_authorized","reason":"Login failed"}'


class Manager(Protocol):
    """The node, as the management API's connections use it."""

    def api_request(self, request: ApiRequest) -> None: ...


class ManagementSockets:
    """Every HTTP connection of one boot."""

    def __init__(self, node: Manager, turn: Callable[[], None]) -> None:
        self.node = node
        self.turn = turn
        self._numbers = count(1)
        self._open: dict[int, _Socket] = {}

    def socket(self) -> asyncio.Protocol:
        return _Socket(self)

    def ask(self, socket: "_Socket", request: h11.Request, body: bytes) -> None:
        number = next(self._numbers)
        self._open[number] = socket
        path, _, query = request.target.decode("ascii", "replace").partition("?")
        method = request.method.decode("ascii", "replace")
        self.node.api_request(ApiRequest(number, method, path, query, body))
        self.turn()

    def answer(self, request: int, status: int, body: bytes) -> None:
        socket = self._open.pop(request, None)
        if socket is not None:
            socket.answer(status, body)

    def lost(self, socket: "_Socket") -> None:
        for number in [number for number, one in self._open.items() if one is socket]:
            del self._open[number]


class _Refused(Exception):
    """A request that is not read to its end."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


class _Socket(asyncio.Protocol):
    """One connection: one request at a time, as h11 sees to."""

    def __init__(self, sockets: ManagementSockets) -> None:
        self._sockets = sockets
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEADER_OCTETS_MAX)
        self._request: h11.Request | None = None
        self._body = bytearray()
        self._limit: asyncio.TimerHandle | None = None  # until the request is whole
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP gives one"
        self._transport = transport
        self._begin_limit()

    def data_received(self, data: bytes) -> None:
        if self._limit is None:
            self._begin_limit()
        self._http.receive_data(data)
        self._read()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_limit()
        self._sockets.lost(self)

    def answer(self, status: int, body: bytes) -> None:
        """The response to the request at hand, and on to the next one."""
        self._respond(status, body)
        if self._http.our_state is h11.MUST_CLOSE:
            self._close()
            return
        self._http.start_next_cycle()
        assert self._transport is not None, "it was made first"
        self._transport.resume_reading()
        if self._http.trailing_data[0]:
            self._begin_limit()
        self._read()

    def _read(self) -> None:
        try:
            while True:
                event = self._http.next_event()
                match event:
                    case h11.Request():
                        self._begin(event)
                    case h11.Data():
                        self._body += event.data
                        self._check_length(len(self._body))
                    case h11.EndOfMessage():
                        self._ask()
                        return
                    case _:  # NEED_DATA, PAUSED, ConnectionClosed
                        return
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint, _words("bad_request", str(error)))
        except _Refused as refused:
            self._refuse(refused.status, refused.body)

    def _begin(self, request: h11.Request) -> None:
        """Raises _Refused."""
        self._request, self._body = request, bytearray()
        headers = dict(request.headers)
        if not hmac.compare_digest(headers.get(b"authorization", b""), _CREDENTIALS):
            raise _Refused(401, _LOGIN_FAILED)
        self._check_length(int(headers.get(b"content-length", b"0")))

    def _check_length(self, octets: int) -> None:
        if octets > BODY_OCTETS_MAX:
            words = f"a body may have {BODY_OCTETS_MAX} octets"
            raise _Refused(413, _words("payload_too_large", words))

    def _ask(self) -> None:
        assert self._request is not None, "its end came after it"
        assert self._transport is not None, "it was made first"
        self._end_limit()
        # What a client sends before it has its answer waits where it is.
        self._transport.pause_reading()
        self._sockets.ask(self, self._request, bytes(self._body))

    def _respond(self, status: int, body: bytes, *more: tuple[str, str]) -> None:
        headers = [("content-length", str(len(body))), ("content-type", "application/json"), *more]
        self._send(h11.Response(status_code=status, headers=headers))
        wants_body = self._request is None or self._request.method != b"HEAD"
        if body and wants_body:
            self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())

    def _refuse(self, status: int, body: bytes) -> None:
        """The last answer on this connection. What is still to come is not read."""
        self._end_limit()
        assert self._transport is not None, "it was made first"
        if self._transport.is_closing():
            return
        self._transport.pause_reading()
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            challenge = [("www-authenticate", 'Basic realm="RabbitMQ Management"')]
            self._respond(
                status, body, ("connection", "close"), *(challenge if status == 401 else [])
            )
        if self._transport.can_write_eof():
            self._transport.write_eof()
        asyncio.get_running_loop().call_later(LINGER_S, self._transport.abort)

    def _begin_limit(self) -> None:
        loop = asyncio.get_running_loop()
        self._limit = loop.call_later(REQUEST_LIMIT_S, self._refuse_slow)

    def _end_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _refuse_slow(self) -> None:
        words = f"a request must be whole in {REQUEST_LIMIT_S:g} s"
        self._refuse(408, _words("request_timeout", words))

    def _send(self, event: h11.Event) -> None:
        octets = self._http.send(event)
        if octets and self._transport is not None:
            self._transport.write(octets)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _words(error: str, reason: str) -> bytes:
    return json.dumps({"error": error, "reason": reason}).encode()
