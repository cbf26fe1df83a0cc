"""One AMQP 0-9-1 connection spoken by hand over asyncio, with pika's own frame codec.

1. It sends nothing of its own accord: no heartbeats, no I/O loop. It is silent until it is asked.
2. It can be dropped at any moment, in the middle of an unanswered request, too: a blocking
   library would hang in its closing handshake on a link that stands still.
3. A request that ran out of time stays outstanding: the next one waits for its answer first.
4. How the other side ended it (FIN, RST) is noted when it happens, whether or not anybody asks.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from pika import exceptions, frame, spec

from faults.core.model import FIN, RST
from faults.self_connections import refuse_self_connection
from harness.workers.agent_calls import encrypted
from harness.workers.agent_calls.answers import CallError
from harness.workers.agent_calls.ends import NO_ANSWER, PeerClosed
from harness.workers.credentials import login, virtual_host

_HEADER = b"AMQP\x00\x00\x09\x01"
_CHUNK = 65536
_BUFFER_MAX = 1 << 24  # an end is seen behind so many unread bytes
_FRAME_MAX = 131072
_FRAME_OVERHEAD = 8
_ALWAYS_THERE = "amq.direct"


class _Ear(asyncio.StreamReaderProtocol):
    """Notes how the other side ended the connection, first of all."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        super().__init__(reader)
        self.end = ""

    def eof_received(self) -> bool | None:
        self.end = self.end or FIN
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        if isinstance(exc, ConnectionResetError):
            self.end = self.end or RST
        super().connection_lost(exc)


class Conversation:
    """A connection with one channel, one request at a time. Made by `open`."""

    def __init__(
        self, reader: asyncio.StreamReader, transport: asyncio.WriteTransport, ear: _Ear
    ) -> None:
        self._reader = reader
        self._transport = transport
        self._ear = ear
        self._buffer = b""
        self._outstanding = 0
        self._frame_max = _FRAME_MAX
        self.octets = 0  # that were read

    @classmethod
    async def open(cls, host: str, port: int, name: str) -> "Conversation":
        """Raises PeerClosed or OSError; the caller brings the deadline."""
        reader = asyncio.StreamReader(limit=_BUFFER_MAX)
        transport, ear = await asyncio.get_running_loop().create_connection(
            lambda: _Ear(reader), host, port, **encrypted.arguments(host, port)
        )
        conversation = cls(reader, transport, ear)
        try:
            refuse_self_connection(transport.get_extra_info("socket"))
            await conversation._handshake(name)
        except BaseException:
            conversation.drop()
            raise
        return conversation

    @property
    def end(self) -> str:
        """FIN or RST, if the other side has ended the connection."""
        return self._ear.end

    async def request(self, method: Any, expected: type[Any]) -> Any:
        """Sends a method on the channel and returns the answer, of the expected class."""
        while self._outstanding:
            await self._answer()
        self._send(1, method)
        self._outstanding += 1
        answer = await self._answer()
        if not isinstance(answer, expected):
            raise PeerClosed(f"answered {answer!r}")
        return answer

    async def passive_declare(self, queue: str) -> None:
        """Asks for the queue; without a name, for an exchange, which any node answers alone."""
        if queue:
            method: Any = spec.Queue.Declare(queue=queue, passive=True)
            await self.request(method, spec.Queue.DeclareOk)
        else:
            method = spec.Exchange.Declare(exchange=_ALWAYS_THERE, passive=True)
            await self.request(method, spec.Exchange.DeclareOk)

    def publish(self, queue: str, body: bytes) -> None:
        """Writes a message to a queue, and awaits nothing."""
        self._send(1, spec.Basic.Publish(exchange="", routing_key=queue))
        self._transport.write(frame.Header(1, len(body), spec.BasicProperties()).marshal())
        room = self._frame_max - _FRAME_OVERHEAD
        for start in range(0, len(body), room):
            self._transport.write(frame.Body(1, body[start : start + room]).marshal())

    async def confirmed(self) -> None:
        """Wait for the confirm of the one message that is out. Raises PeerClosed."""
        self._outstanding += 1
        answer = await self._answer()
        if not isinstance(answer, spec.Basic.Ack):
            raise PeerClosed(f"answered {answer!r}")

    async def delivered(self) -> bytes:
        """The next body; only for a conversation that asks for nothing any more."""
        size, body = 0, b""
        while True:
            match await self._frame():
                case frame.Header(body_size=size):
                    body = b""
                case frame.Body(fragment=fragment):
                    body += fragment
                case frame.Method(method=spec.Channel.Close() | spec.Connection.Close() as method):
                    raise _closed(method)
                case _:
                    continue
            if len(body) >= size:
                return body

    async def close(self) -> None:
        """Says goodbye, and awaits the answer."""
        self._send(0, spec.Connection.Close(200, "done", 0, 0))
        while not isinstance(await self._method(), spec.Connection.CloseOk):
            pass
        self.drop()

    def drop(self) -> None:
        self._transport.abort()

    async def _handshake(self, name: str) -> None:
        self._transport.write(_HEADER)
        await self._expect(spec.Connection.Start)
        self._send(0, _start_ok(name))
        tune = await self._expect(spec.Connection.Tune)
        self._frame_max = min(tune.frame_max or _FRAME_MAX, _FRAME_MAX)
        no_heartbeats = spec.Connection.TuneOk(tune.channel_max, self._frame_max, 0)
        self._send(0, no_heartbeats)
        self._send(0, spec.Connection.Open(virtual_host()))
        await self._expect(spec.Connection.OpenOk)
        self._send(1, spec.Channel.Open())
        await self._expect(spec.Channel.OpenOk)

    async def _expect(self, expected: type[Any]) -> Any:
        method = await self._method()
        if isinstance(method, spec.Connection.Close):
            raise _closed(method)
        if not isinstance(method, expected):
            raise PeerClosed(f"spoke {method!r}")
        return method

    async def _answer(self) -> Any:
        method = await self._method()
        self._outstanding -= 1
        if isinstance(method, spec.Channel.Close | spec.Connection.Close):
            self.drop()
            raise _closed(method)
        return method

    async def _method(self) -> Any:
        """The next method frame; connection.blocked and heartbeats say nothing that we need."""
        while True:
            decoded = await self._frame()
            if isinstance(decoded, frame.ProtocolHeader):
                raise PeerClosed("the broker speaks another protocol version")
            blocked = spec.Connection.Blocked | spec.Connection.Unblocked
            if isinstance(decoded, frame.Method) and not isinstance(decoded.method, blocked):
                return decoded.method

    async def _frame(self) -> Any:
        while True:
            try:
                consumed, decoded = frame.decode_frame(self._buffer)
            except (exceptions.AMQPError, KeyError) as error:
                raise PeerClosed(f"not AMQP: {error!r}") from error
            if decoded is not None:
                self._buffer = self._buffer[consumed:]
                return decoded
            chunk = await self._reader.read(_CHUNK)
            if not chunk:
                raise PeerClosed("closed", FIN)
            self.octets += len(chunk)
            self._buffer += chunk

    def _send(self, channel: int, method: Any) -> None:
        self._transport.write(frame.Method(channel, method).marshal())


async def declare(
    host: str,
    port: int,
    queue: str,
    durable: bool,
    arguments: dict[str, Any],
    timeout_s: float,
) -> dict[str, Any]:
    """Declares a queue and returns when the broker said that it is there."""
    method: Any = spec.Queue.Declare(queue=queue, durable=durable, arguments=arguments)
    wanted = [(method, spec.Queue.DeclareOk)]
    return await _in_turn(f"declare {queue} at {host}:{port}", (host, port), wanted, timeout_s)


async def fan_out(
    host: str, port: int, exchange: str, queues: list[str], durable: bool, timeout_s: float
) -> dict[str, Any]:
    """Declares a fan-out exchange, binds these queues to it, and returns when that is done."""
    made: Any = spec.Exchange.Declare(exchange=exchange, type="fanout", durable=durable)
    bound = [spec.Queue.Bind(queue=queue, exchange=exchange, routing_key="") for queue in queues]
    wanted = [(made, spec.Exchange.DeclareOk), *((one, spec.Queue.BindOk) for one in bound)]
    what = f"bind {len(queues)} queues to {exchange} at {host}:{port}"
    return await _in_turn(what, (host, port), wanted, timeout_s)


async def remove_exchange(host: str, port: int, exchange: str, timeout_s: float) -> dict[str, Any]:
    """Deletes an exchange; one that is not there (any more) is no error."""
    wanted = [(spec.Exchange.Delete(exchange=exchange), spec.Exchange.DeleteOk)]
    return await _in_turn(f"delete {exchange} at {host}:{port}", (host, port), wanted, timeout_s)


async def _in_turn(
    what: str,
    way: tuple[str, int],
    wanted: Sequence[tuple[Any, type[Any]]],
    timeout_s: float,
) -> dict[str, Any]:
    """Sends each method on one connection, and awaits its answer of the expected class."""
    try:
        async with asyncio.timeout(timeout_s):
            conversation = await Conversation.open(*way, "mqproof.agent")
            try:
                for method, expected in wanted:
                    await conversation.request(method, expected)
                await conversation.close()
            finally:
                conversation.drop()
    except TimeoutError:
        raise CallError("timeout", f"{what}: no answer in {timeout_s:g} s") from None
    except NO_ANSWER as error:
        raise CallError("refused", f"{what}: {error}") from error
    return {}


def _closed(method: Any) -> PeerClosed:
    return PeerClosed(f"closed by the broker: {method.reply_code} {method.reply_text}")


def _start_ok(name: str) -> Any:
    properties = {"product": "mqproof agent", "connection_name": name}
    user, password = login()
    response = f"\0{user}\0{password}".encode()
    return spec.Connection.StartOk(properties, "PLAIN", response, "en_US")
