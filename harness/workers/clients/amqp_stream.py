"""RabbitMQ's streams over AMQP 0-9-1, by pika: a consumer asks for the offset that it wants next.

1. The client keeps its own place: the offset after the last delivery that is on record. A new
   link, and a new subscription on the same link, go on there.
2. Deliveries of one turn of the loop are handed over together, and acknowledged together. The
   acknowledgements are credit: the broker removes nothing, and gives nothing again.
3. All replicas have the same offsets. So the stream is the place of what load and drain read,
   whichever node gave it. An audit is about one node's replica, and names the node.
4. Nothing is left when two things hold: the last chunk of the asked node's replica is before our
   place; and so is the leader's count, which all nodes report. An audit asks for the first alone.
5. Nothing is discarded, so a count below an offset that is known is not current, and nothing is
   known of the rest. The same holds if no last chunk came of a stream that has messages.
"""

import asyncio
import time
from typing import Any

from harness.workers.clients.amqp import AmqpClient, AmqpOptions, AmqpPublishingLink
from harness.workers.clients.amqp_wire import Wire
from harness.workers.clients.port import (
    ConsumingListener,
    Fetched,
    PublishingListener,
    UnknownBacklog,
)
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema.words import NO_OFFSET

ARGUMENT = "x-stream-offset"  # of a subscription, and the header of each delivery
STREAM = "stream"  # the place of what load and drain read
LAST_CHUNK_S = 1.0  # an empty replica has no last chunk: then nothing comes


class AmqpStreamClient:
    """pika on streams, set up for one worker."""

    library = AmqpClient.library
    answers_every_send = False
    terms = None

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self._amqp = AmqpClient(config)
        self._options = AmqpOptions(**config.own)
        self.next_offset = config.resume_at or 0

    def window(self, wanted: int) -> int:
        return self._amqp.window(wanted)

    async def publisher(
        self, endpoint: Endpoint, listener: PublishingListener
    ) -> AmqpPublishingLink:
        """Raises LinkLost and TimeoutError."""
        return await self._amqp.publisher(endpoint, listener)

    async def consumer(
        self, endpoint: Endpoint, listener: ConsumingListener
    ) -> "AmqpStreamConsumingLink":
        """Raises LinkLost and TimeoutError."""
        audits = self._config.role is Role.AUDITOR
        place = endpoint.host if audits else STREAM

        async def prepare(wire: Wire) -> AmqpStreamConsumingLink:
            link = AmqpStreamConsumingLink(wire, self._config.queue, self, listener, place, audits)
            await link.prepare(self._options.prefetch)
            return link

        return await self._amqp.open_link(endpoint, listener, prepare)


class AmqpStreamConsumingLink:
    """A channel with one consumer of one stream."""

    def __init__(
        self,
        wire: Wire,
        stream: str,
        client: AmqpStreamClient,
        listener: ConsumingListener,
        place: str,
        audits: bool,
    ) -> None:
        self._wire = wire
        self._stream = stream
        self._client = client
        self._listener = listener
        self._place = place
        self._audits = audits
        self._loop = asyncio.get_running_loop()
        self._tag = ""  # of the subscription
        self._subscriptions = 0
        self._batch: list[Fetched] = []
        self._ended = False

    async def prepare(self, prefetch: int) -> None:
        channel = self._wire.channel

        def cancelled(frame: Any) -> None:
            tag = frame.method.consumer_tag
            if tag == self._tag:  # not that of a look, which is over soon anyhow
                self._deliver_batch()
                self._listener.noticed("cancelled", tag)

        channel.add_on_cancel_callback(self._wire.guard(cancelled))
        await self._wire.ask(
            lambda done: channel.basic_qos(prefetch_count=prefetch, callback=done)
        )

    async def consume(self) -> None:
        wanted = self._client.next_offset
        # Chosen here: a cancellation may come with the broker's answer.
        self._tag = self._new_tag()
        await self._subscribe(self._tag, wanted if wanted else "first", self._delivered)

    def acknowledge(self, tag: int) -> None:
        self._wire.channel.basic_ack(tag, multiple=True)

    async def ready_messages(self) -> int:
        """Return how many messages are left, at least, as far as this node knows.

        Raises UnknownBacklog.
        """
        last = await self._last_offset()
        wanted = self._client.next_offset
        known = max(wanted, last + 1)
        if self._audits and last >= 0:
            return known - wanted
        count = await self._count()
        if last < 0 and max(count, wanted):
            raise UnknownBacklog(
                f"nothing of the replica's last chunk came within {LAST_CHUNK_S:g} s, and the "
                f"stream has {max(count, wanted)} messages"
            )
        if count < known == wanted:
            raise UnknownBacklog(
                f"the leader's count of messages, {count}, is not current: {known} are known"
            )
        return max(known, count) - wanted

    async def close(self, limit_s: float) -> None:
        self._deliver_batch()
        self._ended = True
        await self._wire.close(limit_s)

    def abort(self) -> None:
        self._ended = True
        self._wire.abort()

    def _new_tag(self) -> str:
        self._subscriptions += 1
        return f"mqproof-{self._subscriptions}"

    async def _subscribe(self, tag: str, offset: int | str, deliver: Any) -> None:
        """Return when the broker has taken the subscription."""
        channel, wire = self._wire.channel, self._wire
        await wire.ask(
            lambda done: channel.basic_consume(
                self._stream,
                wire.guard(deliver),
                auto_ack=False,
                consumer_tag=tag,
                arguments={ARGUMENT: offset},
                callback=done,
            )
        )

    def _delivered(self, _channel: Any, method: Any, properties: Any, body: bytes) -> None:
        if not self._batch:
            self._loop.call_soon(self._deliver_batch)
        self._batch.append(
            Fetched(
                tag=method.delivery_tag,
                body=body,
                place=self._place,
                offset=_offset_of(properties),
                redelivered=bool(method.redelivered),
                way=None,
                clock_ns=time.monotonic_ns(),
            )
        )

    def _deliver_batch(self) -> None:
        """What a lost link gave and the log does not have is asked for again."""
        batch, self._batch = self._batch, []
        if not batch or self._ended or not self._wire.is_open:
            return
        self._listener.fetched(batch)
        self._client.next_offset = max(self._client.next_offset, batch[-1].offset + 1)

    async def _last_offset(self) -> int:
        """Return the greatest offset that this node's last chunk gave; -1: it gave nothing."""
        found: list[int] = []
        came = asyncio.Event()

        def delivered(_channel: Any, _method: Any, properties: Any, _body: bytes) -> None:
            found.append(_offset_of(properties))
            came.set()

        tag = self._new_tag()
        await self._subscribe(tag, "last", delivered)
        try:
            async with asyncio.timeout(LAST_CHUNK_S):
                await came.wait()
        except TimeoutError:
            pass
        channel = self._wire.channel
        await self._wire.ask(lambda done: channel.basic_cancel(tag, callback=done))
        return max(found, default=-1)

    async def _count(self) -> int:
        channel = self._wire.channel
        frame = await self._wire.ask(
            lambda done: channel.queue_declare(self._stream, passive=True, callback=done)
        )
        return int(frame.method.message_count)


def _offset_of(properties: Any) -> int:
    """Return the offset that a delivery bears; without one its place is unknown."""
    offset = (properties.headers or {}).get(ARGUMENT)
    return int(offset) if isinstance(offset, int) and offset >= 0 else NO_OFFSET
