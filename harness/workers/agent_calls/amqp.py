"""One AMQP 0-9-1 connection spoken by hand over asyncio, with pika's own frame codec.

1. It sends nothing of its own accord: no heartbeats, no I/O loop. It is silent until it is asked.
2. It can be dropped at any moment, in the middle of an unanswered request, too: a blocking
   library would hang in its closing handshake on a link that stands still.
3. A request that ran out of time stays outstanding: the next one waits for its answer first.
"""

import asyncio
from typing import Any

from pika import exceptions, frame, spec

_HEADER = b"AMQP\x00\x00\x09\x01"
_FIRST_FRAME = b"\x01"  # a method frame: Connection.Start
_CHUNK = 65536
_FRAME_MAX = 131072
_ALWAYS_THERE = "amq.direct"


class Closed(Exception):
    """The other side closed the connection or the channel, or spoke something else."""


async def greeted(host: str, port: int) -> None:
    """Sends the protocol header and awaits the first frame. Raises Closed or OSError."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(_HEADER)
        first = await reader.read(1)
        if first != _FIRST_FRAME:
            raise Closed("closed" if not first else f"first byte {first!r}, not a frame")
    finally:
        writer.transport.abort()


class Conversation:
    """A connection with one channel, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._buffer = b""
        self._outstanding = 0

    @classmethod
    async def open(cls, host: str, port: int, name: str) -> "Conversation":
        """Raises Closed or OSError; the caller brings the deadline."""
        conversation = cls(*await asyncio.open_connection(host, port))
        try:
            await conversation._shake_hands(name)
        except BaseException:
            conversation.drop()
            raise
        return conversation

    async def request(self, method: Any, expected: type[Any]) -> Any:
        """Sends a method on the channel and returns the answer, of the expected class."""
        while self._outstanding:
            await self._answer()
        self._send(1, method)
        self._outstanding += 1
        answer = await self._answer()
        if not isinstance(answer, expected):
            raise Closed(f"answered {answer!r}")
        return answer

    async def passive_declare(self, queue: str) -> None:
        """Asks for the queue; without a name, for an exchange, which any node answers alone."""
        if queue:
            asked: Any = spec.Queue.Declare(queue=queue, passive=True)
            await self.request(asked, spec.Queue.DeclareOk)
        else:
            asked = spec.Exchange.Declare(exchange=_ALWAYS_THERE, passive=True)
            await self.request(asked, spec.Exchange.DeclareOk)

    async def close(self) -> None:
        """Says goodbye, and awaits the answer."""
        self._send(0, spec.Connection.Close(200, "done", 0, 0))
        while not isinstance(await self._method(), spec.Connection.CloseOk):
            pass
        self.drop()

    def drop(self) -> None:
        self._writer.transport.abort()

    async def _shake_hands(self, name: str) -> None:
        self._writer.write(_HEADER)
        await self._expect(spec.Connection.Start)
        self._send(0, _start_ok(name))
        tune = await self._expect(spec.Connection.Tune)
        frame_max = min(tune.frame_max or _FRAME_MAX, _FRAME_MAX)
        self._send(0, spec.Connection.TuneOk(tune.channel_max, frame_max, 0))  # no heartbeats
        self._send(0, spec.Connection.Open("/"))
        await self._expect(spec.Connection.OpenOk)
        self._send(1, spec.Channel.Open())
        await self._expect(spec.Channel.OpenOk)

    async def _expect(self, expected: type[Any]) -> Any:
        method = await self._method()
        if not isinstance(method, expected):
            raise Closed(f"spoke {method!r}")
        return method

    async def _answer(self) -> Any:
        method = await self._method()
        self._outstanding -= 1
        if isinstance(method, spec.Channel.Close | spec.Connection.Close):
            self.drop()
            raise Closed(f"closed by the broker: {method.reply_code} {method.reply_text}")
        return method

    async def _method(self) -> Any:
        """The next method frame; connection.blocked and heartbeats say nothing that we need."""
        while True:
            decoded = await self._frame()
            if isinstance(decoded, frame.ProtocolHeader):
                raise Closed("the broker speaks another protocol version")
            blocked = spec.Connection.Blocked | spec.Connection.Unblocked
            if isinstance(decoded, frame.Method) and not isinstance(decoded.method, blocked):
                return decoded.method

    async def _frame(self) -> Any:
        while True:
            try:
                consumed, decoded = frame.decode_frame(self._buffer)
            except (exceptions.AMQPError, KeyError) as error:
                raise Closed(f"not AMQP: {error!r}") from error
            if decoded is not None:
                self._buffer = self._buffer[consumed:]
                return decoded
            chunk = await self._reader.read(_CHUNK)
            if not chunk:
                raise Closed("closed")
            self._buffer += chunk

    def _send(self, channel: int, method: Any) -> None:
        self._writer.write(frame.Method(channel, method).marshal())


def _start_ok(name: str) -> Any:
    properties = {"product": "mqproof agent", "connection_name": name}
    return spec.Connection.StartOk(properties, "PLAIN", b"\0guest\0guest", "en_US")
