"""The management API's HTTP: h11 reads and writes it, the node's API process answers."""

import asyncio
import base64
from collections.abc import Callable
from itertools import count
from typing import Protocol

import h11

from reference_impl.process import Asked

_CREDENTIALS = b"Basic " + base64.b64encode(b"guest:guest")


class Manager(Protocol):
    """What a node hears of requests."""

    def asked(self, asked: Asked) -> None: ...


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
        self.node.asked(Asked(number, method, path, query, body))
        self.turn()

    def answer(self, request: int, status: int, body: bytes) -> None:
        socket = self._open.pop(request, None)
        if socket is not None:
            socket.answer(status, body)

    def lost(self, socket: "_Socket") -> None:
        for number in [number for number, one in self._open.items() if one is socket]:
            del self._open[number]


class _Socket(asyncio.Protocol):
    """One connection: one request at a time, as h11 sees to."""

    def __init__(self, sockets: ManagementSockets) -> None:
        self._sockets = sockets
        self._http = h11.Connection(h11.SERVER)
        self._request: h11.Request | None = None
        self._body = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP gives one"
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._http.receive_data(data)
        self._read()

    def connection_lost(self, exc: Exception | None) -> None:
        self._sockets.lost(self)

    def answer(self, status: int, body: bytes) -> None:
        """The response to the request at hand, and on to the next one."""
        headers = [("content-length", str(len(body))), ("content-type", "application/json")]
        if status == 401:
            headers.append(("www-authenticate", 'Basic realm="RabbitMQ Management"'))
        self._send(h11.Response(status_code=status, headers=headers))
        if body:
            self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())
        if self._http.our_state is h11.MUST_CLOSE:
            self._close()
            return
        self._http.start_next_cycle()
        self._read()

    def _read(self) -> None:
        try:
            while True:
                event = self._http.next_event()
                match event:
                    case h11.Request():
                        self._request, self._body = event, b""
                    case h11.Data():
                        self._body += bytes(event.data)
                    case h11.EndOfMessage():
                        self._ask()
                        return
                    case _:  # NEED_DATA, PAUSED, ConnectionClosed
                        return
        except h11.RemoteProtocolError:
            self._close()

    def _ask(self) -> None:
        assert self._request is not None, "its end came after it"
        if dict(self._request.headers).get(b"authorization") != _CREDENTIALS:
            body = b'{"error":"not_authorized","reason":"Login failed"}'
            self.answer(401, body)
            return
        self._sockets.ask(self, self._request, self._body)

    def _send(self, event: h11.Event) -> None:
        octets = self._http.send(event)
        if octets and self._transport is not None:
            self._transport.write(octets)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()
