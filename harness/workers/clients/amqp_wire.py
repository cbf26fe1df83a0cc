"""One pika connection and its channel: opening, asking, closing, and being lost once.

1. Whatever ends the channel ends the wire: the listener hears `lost` once, with pika's reason.
2. After `close` or `abort` the listener hears nothing more; failures while opening go to the
   caller.
3. pika swallows what its callbacks raise; an exception of ours goes to the event loop's handler.
4. pika's private parts are touched in `abort`, `buffered_bytes` and `_Connection`, which say why.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pika
from pika.adapters.asyncio_connection import AsyncioConnection

from harness.workers.clients.port import ConsumingListener, LinkLost, PublishingListener

Callback = Callable[..., None]


class _Connection(AsyncioConnection):  # type: ignore[misc]  # pika tells no types
    def _on_connection_workflow_done(self, result: Any) -> None:
        # Given up in the middle of a handshake, pika 1.4.4 hands over the exception's class where
        # its own code wants an instance, and fails an assertion in a callback of the loop.
        super()._on_connection_workflow_done(result() if isinstance(result, type) else result)

    def _adapter_connect_stream(self) -> None:
        # pika 1.4.4 may report an abandoned attempt again when its socket is reset. Its workflow
        # is cleaned up by then: the report would fail in a callback of the loop.
        super()._adapter_connect_stream()
        workflow = self._connection_workflow
        report = workflow._on_connector_done

        def reported(result: Any) -> None:
            if workflow._state != workflow._STATE_DONE:
                report(result)

        workflow._on_connector_done = reported


class Wire:
    """One pika connection and its channel: opening, asking, closing, and being lost once."""

    def __init__(
        self,
        parameters: pika.ConnectionParameters,
        listener: PublishingListener | ConsumingListener,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._deaf = True  # until it is open, failures belong to who opens it
        self._reason: str | None = None
        self._waiting: set[asyncio.Future[Any]] = set()
        self._gone = asyncio.Event()
        self._parameters = parameters
        self._connection: Any = None
        self.channel: Any = None

    async def open(self) -> None:
        def connect(done: Callback) -> None:
            self._connection = _Connection(
                self._parameters,
                on_open_callback=done,
                on_open_error_callback=self.guard(self._on_end),
                on_close_callback=self.guard(self._on_end),
                custom_ioloop=self._loop,
            )

        await self.ask(connect)
        for kind in ("blocked", "unblocked"):
            add = getattr(self._connection, f"add_on_connection_{kind}_callback")
            add(self.guard(self._noticer(kind)))
        await self.ask(self._open_channel)
        self._deaf = False

    def _open_channel(self, done: Callback) -> None:
        self.channel = self._connection.channel(on_open_callback=done)
        self.channel.add_on_close_callback(self.guard(self._on_channel_end))

    async def ask(self, start: Callable[[Callback], object]) -> Any:
        """Calls `start` with the callback that takes the answer. Raises LinkLost."""
        if self._reason is not None:
            raise LinkLost(self._reason)
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.add(answer)

        def done(frame: Any) -> None:
            if not answer.done():
                answer.set_result(frame)

        try:
            start(done)
            return await answer
        except pika.exceptions.AMQPError as error:
            raise LinkLost(repr(error)) from error
        finally:
            self._waiting.discard(answer)

    def guard(self, work: Callback) -> Callback:
        """`work` as a callback of pika's: what it raises is our bug, and must not be swallowed."""

        def guarded(*frames: Any) -> None:
            try:
                work(*frames)
            except Exception as bug:
                context = {"message": f"a bug in {work.__qualname__}", "exception": bug}
                self._loop.call_exception_handler(context)

        return guarded

    @property
    def is_open(self) -> bool:
        """Whether it was neither lost nor ended by us."""
        return self._reason is None and not self._deaf

    def buffered_bytes(self) -> int:
        # pika offers no public look at its output buffer.
        transport = self._connection._transport
        return 0 if transport is None else int(transport.get_write_buffer_size())

    def abort(self) -> None:
        """Closes the socket at once; the listener hears nothing of it."""
        self._deaf = True
        self._end("aborted")
        connection = self._connection
        if connection is None or connection.is_closed:
            return
        if connection._opened:
            # pika has no public way to end a connection without waiting for the peer.
            connection._terminate_stream(pika.exceptions.ConnectionClosedByClient(200, "aborted"))
        elif not connection.is_closing:
            connection.close()

    async def close(self, limit_s: float) -> None:
        self._deaf = True
        try:
            if self._connection.is_open:
                self._connection.close()
                async with asyncio.timeout(limit_s):
                    await self._gone.wait()
        except (TimeoutError, pika.exceptions.AMQPError):
            self.abort()

    def _noticer(self, kind: str) -> Callback:
        def noticed(_connection: Any, frame: Any) -> None:
            if not self._deaf:
                self._listener.noticed(kind, getattr(frame.method, "reason", None) or "")

        return noticed

    def _on_channel_end(self, _channel: Any, error: Exception) -> None:
        if self._deaf and self._connection.is_closing:
            return  # we are closing, and this is the first half of it
        self._lose(error)
        if self._connection.is_open:
            self.abort()

    def _on_end(self, _connection: Any, error: Exception) -> None:
        self._lose(error)
        self._gone.set()

    def _lose(self, error: Exception) -> None:
        if self._reason is not None:
            return
        self._end(repr(error))
        if not self._deaf:
            self._deaf = True
            self._listener.lost(repr(error))

    def _end(self, reason: str) -> None:
        if self._reason is None:
            self._reason = reason
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(LinkLost(self._reason))
                answer.exception()  # seen, even if who asked has given up in the meantime
