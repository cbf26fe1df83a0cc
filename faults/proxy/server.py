"""The interface on a socket: conversations that send requests, and one registry that answers all.

1. h11 reads and writes HTTP. Requests are served one after another, each in one turn of the event
   loop: a change of toxics takes effect on every connection at one moment, before it is answered.
2. A client that does not read its answers is not read.
3. Nothing is held beyond HEAD_MAX and BODY_MAX, and a request must be whole in REQUEST_LIMIT_S
   from its first byte on. A refused client is answered, not read any further, and closed.
"""

import asyncio
from http import HTTPStatus
from urllib.parse import unquote

import h11

from faults.proxy.core.addresses import join
from faults.proxy.core.api import PLAIN, Api, ApiRequest, Response
from faults.proxy.core.registry import Registry
from faults.proxy.listener import Draws, Listeners

HEAD_MAX = 1 << 16
BODY_MAX = 1 << 24
REQUEST_LIMIT_S = 15.0  # the real server's, too
LINGER_S = 1.0  # for a refusal to be read: what we have not read would reset the connection


class Server:
    """`token`: what each of its callers has to bring; "" where none is asked for."""

    def __init__(self, seed: int, token: str = "") -> None:
        self._listeners = Listeners(Draws(seed))
        self._api = Api(Registry(self._listeners), token)
        self._server: asyncio.Server | None = None

    async def open(self, host: str, port: int) -> str:
        """Returns the real address; raises OSError."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Conversation(self._api), host, port)
        listening_host, listening_port, *_ = self._server.sockets[0].getsockname()
        return join(listening_host, listening_port)

    def close(self) -> None:
        assert self._server is not None, "never opened"
        self._server.close()
        self._listeners.close_all()


class _Refused(Exception):
    """A request that is not read to its end."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.response = Response(status, f"{text}\n", PLAIN)


class _Conversation(asyncio.Protocol):
    def __init__(self, api: Api) -> None:
        self._api = api
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_MAX)
        self._head = h11.Request(method="GET", target="/", headers=[], http_version="1.0")
        self._body = bytearray()
        self._limit: asyncio.TimerHandle | None = None  # until the request is whole
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return  # the last answer has been given
        self._begin_limit()
        self._http.receive_data(data)
        try:
            self._read()
        except h11.RemoteProtocolError as error:
            self._refuse(_Refused(error.error_status_hint, str(error)))
        except _Refused as refused:
            self._refuse(refused)

    def pause_writing(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        self._end_limit()

    def _read(self) -> None:
        """Serve what has come. Raise _Refused or h11.RemoteProtocolError."""
        while True:
            match self._http.next_event():
                case h11.Request() as head:
                    self._begin(head)
                case h11.Data(data=part):
                    self._body += part
                    _check_length(len(self._body))
                case h11.EndOfMessage():
                    if not self._serve():
                        return
                case _:  # NEED_DATA, PAUSED, ConnectionClosed
                    return

    def _begin(self, head: h11.Request) -> None:
        self._head, self._body = head, bytearray()
        _check_length(int(_field(head, b"content-length") or "0"))
        if self._http.they_are_waiting_for_100_continue:
            self._write(h11.InformationalResponse(status_code=100, headers=[]))

    def _serve(self) -> bool:
        """Answer a whole request. Return whether another may follow."""
        self._end_limit()
        self._respond(self._api.handle(_request(self._head, bytes(self._body))))
        if self._http.our_state is h11.MUST_CLOSE:
            if self._transport is not None:
                self._transport.close()
            return False
        self._http.start_next_cycle()
        if self._http.trailing_data[0]:
            self._begin_limit()
        return True

    def _respond(self, response: Response, *more: tuple[str, str]) -> None:
        body = response.body.encode()
        headers = list(more)
        if response.content_type is not None:
            headers.append(("Content-Type", response.content_type))
        if response.status != HTTPStatus.NO_CONTENT:
            headers.append(("Content-Length", str(len(body))))
        reason = HTTPStatus(response.status).phrase
        head = h11.Response(status_code=response.status, headers=headers, reason=reason)
        self._write(head)
        if body and self._head.method != b"HEAD":
            self._write(h11.Data(data=body))
        self._write(h11.EndOfMessage())

    def _refuse(self, refused: _Refused) -> None:
        self._end_limit()
        if self._transport is None or self._transport.is_closing():
            return
        self._transport.pause_reading()
        self._respond(refused.response, ("Connection", "close"))
        self._transport.write_eof()
        asyncio.get_running_loop().call_later(LINGER_S, self._transport.abort)

    def _begin_limit(self) -> None:
        if self._limit is None:
            late = _Refused(
                HTTPStatus.REQUEST_TIMEOUT, f"a request must be whole in {REQUEST_LIMIT_S:g} s"
            )
            loop = asyncio.get_running_loop()
            self._limit = loop.call_later(REQUEST_LIMIT_S, self._refuse, late)

    def _end_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _write(self, event: h11.Event) -> None:
        octets = self._http.send(event)
        if octets and self._transport is not None:
            self._transport.write(octets)


def _check_length(octets: int) -> None:
    if octets > BODY_MAX:
        raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body may have {BODY_MAX} bytes")


def _request(head: h11.Request, body: bytes) -> ApiRequest:
    path = unquote(head.target.partition(b"?")[0].decode("ascii", "replace"))
    who, token = _field(head, b"user-agent"), _field(head, b"authorization")
    return ApiRequest(head.method.decode("ascii", "replace"), path, body, who, token)


def _field(head: h11.Request, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in head.headers if key == name), "")
