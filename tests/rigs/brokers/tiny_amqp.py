"""A small AMQP 0-9-1 peer for tests of clients: one process, one vhost, queues in memory.

1. It serves what pika needs: handshake, one channel or more, confirms, queues, consumers, acks.
2. It misbehaves on demand, as the switches of TinyBroker say.
3. A queue in `streams` is a stream: consumers read it by offset, and nothing is removed.
4. `published` and `acknowledged` are what really arrived, in order: tests compare logs with it.

`python -m tests.rigs.brokers.tiny_amqp [PORT]` runs it alone, for benchmarks.
"""

import asyncio
import itertools
import struct
import sys
from collections import deque
from dataclasses import dataclass, field

from pika import frame, spec

_FRAME = struct.Struct(">BHI")
_PUBLISH = spec.Basic.Publish.INDEX
_CAPABILITIES = {"publisher_confirms": True, "basic.nack": True, "consumer_cancel_notify": True}


@dataclass
class Message:
    body: bytes
    redelivered: bool = False


@dataclass
class TinyBroker:
    """Switches may be turned at any time."""

    hold: bool = False  # no confirms until release()
    nack: bool = False  # every publish is nacked
    unroutable: bool = False  # every mandatory publish is returned, then acked or committed
    silent: bool = False  # new connections are accepted and never answered
    missing: bool = False  # passive declares and consumes are answered with 404
    answers_gets: bool = True  # False: a basic.get gets no answer
    deaf: bool = False  # new connections are not read from once they may publish, until hear()
    keep: bool = True  # remember bodies and queue them
    published: list[bytes] = field(default_factory=list)
    priorities: list[int | None] = field(default_factory=list)  # of publishes
    acknowledged: list[tuple[int, bool]] = field(default_factory=list)
    queues: dict[str, deque[Message]] = field(default_factory=dict)
    streams: dict[str, list[bytes]] = field(default_factory=dict)
    chunk: int = 3  # so many messages are the last chunk of a stream
    rewinds: bool = False  # every subscription to a stream begins at its start
    counts: int | None = None  # so many messages a stream has by its leader's count; None: as many
    lags: int = 0  # so many of a stream's last messages no consumer gets
    declared: dict[str, dict[str, object]] = field(default_factory=dict)  # queue -> arguments
    connections: list["Connection"] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    opened: int = 0
    gets: int = 0  # that were answered
    commits: list[int] = field(default_factory=list)  # how many messages each transaction had
    host: str = "127.0.0.1"
    port: int = 0
    _server: asyncio.Server | None = None

    async def __aenter__(self) -> "TinyBroker":
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.refuse()

    async def listen(self) -> None:
        """Starts, or starts again on the same port."""
        loop = asyncio.get_running_loop()
        make = lambda: Connection(self)  # noqa: E731
        self._server = await loop.create_server(make, self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def refuse(self) -> None:
        """No new connections, and the old ones are cut."""
        if self._server is not None:
            self._server.close()
        self.drop()

    def drop(self) -> None:
        for connection in list(self.connections):
            connection.transport.abort()

    def release(self) -> None:
        """Sends the held confirms."""
        self.hold = False
        for channel in self.channels():
            channel.confirm()

    def hear(self) -> None:
        self.deaf = False
        for connection in self.connections:
            connection.transport.resume_reading()

    def cancel_consumers(self) -> None:
        for channel in self.channels():
            tags, channel.consumers = channel.consumers, {}
            for tag in tags:
                channel.send(spec.Basic.Cancel(tag, nowait=True))

    def put(self, queue: str, body: bytes, redelivered: bool = False) -> None:
        if queue in self.streams:
            self.streams[queue].append(body)
        else:
            self.queues.setdefault(queue, deque()).append(Message(body, redelivered))
        self.deliver()

    def deliver(self) -> None:
        for channel in self.channels():
            channel.deliver()

    def channels(self) -> list["Channel"]:
        return [channel for each in self.connections for channel in each.channels.values()]


class Connection(asyncio.Protocol):
    """One client's connection; reads frames, answers for channel 0."""

    def __init__(self, broker: TinyBroker) -> None:
        self.broker = broker
        self.channels: dict[int, Channel] = {}
        self.exclusive: set[str] = set()
        self.name = ""
        self._buffer = b""
        self._greeted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.broker.connections.append(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.broker.connections.remove(self)
        for channel in self.channels.values():
            channel.requeue()
        for queue in self.exclusive:
            self.broker.queues.pop(queue, None)
        self.broker.deliver()

    def data_received(self, data: bytes) -> None:
        if self.broker.silent and not self._greeted:
            return
        self._buffer += data
        position = 0
        if not self._greeted and len(self._buffer) >= 8:
            self._greeted, position = True, 8
            server = {"product": "tiny", "capabilities": _CAPABILITIES}
            self.send(0, spec.Connection.Start(server_properties=server))
        while position + 7 <= len(self._buffer):
            kind, channel, size = _FRAME.unpack_from(self._buffer, position)
            end = position + 7 + size
            if end >= len(self._buffer):
                break
            self._frame(kind, channel, self._buffer[position + 7 : end])
            position = end + 1
        self._buffer = self._buffer[position:]
        for each in self.channels.values():
            each.confirm()

    def send(self, channel: int, method: object) -> None:
        if not self.transport.is_closing():
            self.transport.write(frame.Method(channel, method).marshal())

    def _frame(self, kind: int, number: int, payload: bytes) -> None:
        channel = self.channels.get(number)
        if kind == spec.FRAME_HEADER and channel:
            properties = spec.BasicProperties()
            properties.decode(payload[12:])
            self.broker.priorities.append(properties.priority)
            channel.expect(struct.unpack_from(">Q", payload, 4)[0])
        elif kind == spec.FRAME_BODY and channel:
            channel.body(payload)
        elif kind == spec.FRAME_METHOD:
            index = int.from_bytes(payload[:4], "big")
            if index == _PUBLISH and channel:
                channel.publish(payload)
                return
            method = spec.methods[index]()
            method.decode(payload, 4)
            if channel:
                channel.method(method)
            else:
                self._method(number, method)

    def _method(self, number: int, method: object) -> None:
        match method:
            case spec.Connection.StartOk():
                self.name = method.client_properties.get("connection_name", "")
                self.broker.names.append(self.name)
                self.send(0, spec.Connection.Tune(2047, 131072, 60))
            case spec.Connection.Open():
                self.broker.opened += 1
                self.send(0, spec.Connection.OpenOk())
            case spec.Connection.Close():
                self.send(0, spec.Connection.CloseOk())
                self.transport.close()
            case spec.Channel.Open():
                self.channels[number] = Channel(self, number)
                self.send(number, spec.Channel.OpenOk())


class Channel:
    """One channel: its publishes, confirms, consumers and unacknowledged deliveries."""

    def __init__(self, connection: Connection, number: int) -> None:
        self.connection = connection
        self.broker = connection.broker
        self.number = number
        self.consumers: dict[str, tuple[str, bool]] = {}
        self._confirming = False
        # Queue, whether it is mandatory, and body of each; None: there are no transactions.
        self._transaction: list[tuple[str, bool, bytes]] | None = None
        self._count = 0  # publishes since confirm.select
        self._confirmed = 0
        self._prefetch = 0
        self._unacked: dict[int, tuple[str, Message]] = {}
        self._tags = itertools.count(1)
        self._offsets: dict[str, int] = {}  # of consumers of streams: what each gets next
        self._uncredited: dict[int, str] = {}  # tag -> such a consumer
        self._queue, self._mandatory = "", False
        self._left, self._parts = 0, b""

    def send(self, method: object) -> None:
        self.connection.send(self.number, method)

    def publish(self, payload: bytes) -> None:
        exchange = payload[6]
        start = 7 + exchange
        length = payload[start]
        self._queue = payload[start + 1 : start + 1 + length].decode()
        self._mandatory = bool(payload[start + 1 + length] & 1)

    def expect(self, size: int) -> None:
        self._left, self._parts = size, b""

    def body(self, part: bytes) -> None:
        self._parts += part
        self._left -= len(part)
        if self._left:
            return
        broker, body = self.broker, self._parts
        self._count += 1
        if not broker.keep:
            return
        broker.published.append(body)
        if self._transaction is not None:
            self._transaction.append((self._queue, self._mandatory, body))
        else:
            self._take(self._queue, self._mandatory, body)

    def _take(self, queue: str, mandatory: bool, body: bytes) -> None:
        if self.broker.unroutable and mandatory:
            self._content(spec.Basic.Return(312, "NO_ROUTE", "", queue), body)
        elif not self.broker.nack:
            self.broker.put(queue, body)

    def confirm(self) -> None:
        """One cumulative confirm for all that is not confirmed."""
        if not self._confirming or self.broker.hold or self._count == self._confirmed:
            return
        multiple = self._count - self._confirmed > 1
        self._confirmed = self._count
        kind = spec.Basic.Nack if self.broker.nack else spec.Basic.Ack
        self.send(kind(self._count, multiple))

    def method(self, method: object) -> None:
        match method:
            case spec.Tx.Select() | spec.Tx.Commit():
                self._transact()
            case spec.Confirm.Select():
                self._confirming, self._count = True, 0
                self.send(spec.Confirm.SelectOk())
                if self.broker.deaf:
                    self.connection.transport.pause_reading()
            case spec.Exchange.Declare():
                self.send(spec.Exchange.DeclareOk())
            case spec.Basic.Qos():
                self._prefetch = method.prefetch_count
                self.send(spec.Basic.QosOk())
            case spec.Queue.Declare() | spec.Basic.Consume() | spec.Basic.Get() if (
                self.broker.missing
            ):
                self.send(spec.Channel.Close(404, "NOT_FOUND", 50, 10))
            case spec.Queue.Declare() if method.queue in self.broker.streams:
                count = len(self.broker.streams[method.queue])
                count = count if self.broker.counts is None else self.broker.counts
                self.send(spec.Queue.DeclareOk(method.queue, count, len(self.consumers)))
            case spec.Basic.Consume() if method.queue in self.broker.streams and (
                method.no_ack or not self._prefetch
            ):
                self.send(spec.Channel.Close(540, "NOT_IMPLEMENTED", 60, 20))
            case spec.Queue.Declare():
                self.broker.declared[method.queue] = method.arguments or {}
                ready = self.broker.queues.setdefault(method.queue, deque())
                if method.exclusive:
                    self.connection.exclusive.add(method.queue)
                self.send(spec.Queue.DeclareOk(method.queue, len(ready), len(self.consumers)))
            case spec.Basic.Consume():
                if method.queue in self.broker.streams:
                    self._offsets[method.consumer_tag] = self._first_offset(method)
                self.consumers[method.consumer_tag] = (method.queue, method.no_ack)
                self.send(spec.Basic.ConsumeOk(method.consumer_tag))
                self.deliver()
            case spec.Basic.Get() if self.broker.answers_gets:
                self._give(method.queue, method.no_ack)
            case spec.Basic.Cancel():
                self.consumers.pop(method.consumer_tag, None)
                if not method.nowait:
                    self.send(spec.Basic.CancelOk(method.consumer_tag))
            case spec.Basic.Ack():
                self._ack(method.delivery_tag, method.multiple)
            case spec.Channel.Close():
                self.send(spec.Channel.CloseOk())
                self.requeue()
                del self.connection.channels[self.number]

    def _transact(self) -> None:
        taken, self._transaction = self._transaction, []
        if taken is None:
            self.send(spec.Tx.SelectOk())
        elif self.broker.nack:
            self.send(spec.Channel.Close(406, "PRECONDITION_FAILED", 90, 20))
        elif not self.broker.hold:
            self.broker.commits.append(len(taken))
            for each in taken:
                self._take(*each)
            self.send(spec.Tx.CommitOk())

    def _first_offset(self, consume: spec.Basic.Consume) -> int:
        end = len(self.broker.streams[consume.queue]) - self.broker.lags
        wanted = (consume.arguments or {}).get("x-stream-offset", "next")
        words = {"first": 0, "last": max(0, end - self.broker.chunk), "next": end}
        return 0 if self.broker.rewinds else int(words.get(wanted, wanted))

    def _deliver_stream(self, consumer: str, queue: str) -> None:
        bodies = self.broker.streams[queue]
        while self._offsets[consumer] < len(bodies) - self.broker.lags:
            if list(self._uncredited.values()).count(consumer) >= self._prefetch:
                return
            offset, tag = self._offsets[consumer], next(self._tags)
            self._offsets[consumer] += 1
            self._uncredited[tag] = consumer
            headers = {"x-stream-offset": offset}
            self._content(
                spec.Basic.Deliver(consumer, tag, False, "", queue), bodies[offset], headers
            )

    def deliver(self) -> None:
        for consumer, (queue, forgetful) in self.consumers.items():
            if consumer in self._offsets:
                self._deliver_stream(consumer, queue)
                continue
            ready = self.broker.queues.setdefault(queue, deque())
            while ready and (forgetful or len(self._unacked) < (self._prefetch or 1 << 30)):
                message, tag = ready.popleft(), next(self._tags)
                if not forgetful:
                    self._unacked[tag] = (queue, message)
                deliver = spec.Basic.Deliver(consumer, tag, message.redelivered, "", queue)
                self._content(deliver, message.body)

    def _give(self, queue: str, forgetful: bool) -> None:
        self.broker.gets += 1
        ready = self.broker.queues.setdefault(queue, deque())
        if not ready:
            self.send(spec.Basic.GetEmpty())
            return
        message, tag = ready.popleft(), next(self._tags)
        if not forgetful:
            self._unacked[tag] = (queue, message)
        answer = spec.Basic.GetOk(tag, message.redelivered, "", queue, len(ready))
        self._content(answer, message.body)

    def requeue(self) -> None:
        for queue, message in reversed(self._unacked.values()):
            self.broker.queues[queue].appendleft(Message(message.body, redelivered=True))
        self._unacked.clear()

    def _ack(self, tag: int, multiple: bool) -> None:
        self.broker.acknowledged.append((tag, multiple))
        tags = [each for each in self._unacked if each <= tag] if multiple else [tag]
        for each in tags:
            self._unacked.pop(each, None)
        for each in [one for one in self._uncredited if one <= tag] if multiple else [tag]:
            self._uncredited.pop(each, None)
        self.deliver()

    def _content(self, method: object, body: bytes, headers: dict[str, int] | None = None) -> None:
        properties = spec.BasicProperties(headers=headers)
        frames = frame.Header(self.number, len(body), properties).marshal()
        frames += frame.Body(self.number, body).marshal() if body else b""
        self.send(method)
        if not self.connection.transport.is_closing():
            self.connection.transport.write(frames)


async def _alone(port: int) -> None:
    async with TinyBroker(port=port, keep=False) as broker:
        print(broker.port, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_alone(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
