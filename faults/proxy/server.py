"""The interface on a socket: conversations that send requests, and one registry that answers all.

1. Requests are served one after another, each in one turn of the event loop: a change of toxics
   takes effect on every connection at one moment, before it is answered.
2. A client that does not read its answers is not read.
"""

import asyncio
import secrets
from email.utils import formatdate

from faults.proxy.addresses import join
from faults.proxy.api import Api
from faults.proxy.http_wire import (
    CONTINUE,
    Expecting,
    Malformed,
    ParsedRequest,
    RequestReader,
    render,
    render_malformed,
)
from faults.proxy.listener import Draws, Listeners
from faults.proxy.registry import Registry


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


class _Conversation(asyncio.Protocol):
    def __init__(self, api: Api) -> None:
        self._api = api
        self._reader = RequestReader()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for heard in self._reader.feed(data):
            if self._transport is None or self._transport.is_closing():
                return
            match heard:
                case ParsedRequest(keep_alive=keep_alive):
                    self._answer(heard)
                    if not keep_alive:
                        self._transport.close()
                case Expecting():
                    self._transport.write(CONTINUE)
                case Malformed():
                    self._transport.write(render_malformed(heard))
                    self._transport.close()

    def pause_writing(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None

    def _answer(self, parsed: ParsedRequest) -> None:
        assert self._transport is not None
        response = self._api.handle(parsed.request)
        date = formatdate(usegmt=True)
        self._transport.write(render(parsed, response, secrets.token_hex(10), date))
