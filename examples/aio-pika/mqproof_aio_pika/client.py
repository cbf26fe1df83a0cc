"""The port of `harness/workers/clients/port.py`, by aio-pika: one connection and channel a link.

1. A worker imports this module, so it imports nothing of `harness.plan`.
2. `publish` starts a task. It runs when the caller has returned to the loop, and so after the
   attempt has been written to the worker's log.
3. A link ends once: by `lost` told to its listener, or by our `close` or `abort`.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import aio_pika
from aio_pika.abc import AbstractIncomingMessage
from aio_pika.exceptions import AMQPException, DeliveryError, PublishError

from harness.workers.clients.amqp import AmqpOptions
from harness.workers.clients.port import ConsumingListener, LinkLost, PublishingListener
from harness.workers.credentials import login, virtual_host
from harness.workers.protocol import Endpoint, WorkerConfig

CONNECT_LIMIT_S = 2.0
_FAILURES = (AMQPException, RuntimeError, OSError, asyncio.InvalidStateError)


class AioPika:
    """aio-pika, set up for one worker."""

    library = f"aio-pika {aio_pika.__version__}"
    answers_every_send = False
    terms = None

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config

    def window(self, wanted: int) -> int:
        return wanted

    async def publisher(self, endpoint: Endpoint, listener: PublishingListener) -> "Publishing":
        """Raises LinkLost, and TimeoutError after CONNECT_LIMIT_S."""
        link = Publishing(self._config, listener)
        await link.open(endpoint)
        return link

    async def consumer(self, endpoint: Endpoint, listener: ConsumingListener) -> "Consuming":
        """Raises LinkLost, and TimeoutError after CONNECT_LIMIT_S."""
        link = Consuming(self._config, listener)
        await link.open(endpoint)
        return link


class Link:
    """A connection and its channel, until one of them ends."""

    def __init__(
        self, config: WorkerConfig, listener: PublishingListener | ConsumingListener
    ) -> None:
        self.config = config
        self.options = AmqpOptions(**config.own)
        self._listener = listener
        self._connection: Any = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing: asyncio.Task[None] | None = None
        self.channel: Any = None
        self.ended = False

    async def open(self, endpoint: Endpoint) -> None:
        user, password = login()
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                self._connection = await aio_pika.connect(
                    host=endpoint.address,
                    port=endpoint.port,
                    login=user,
                    password=password,
                    virtualhost=virtual_host(),
                    heartbeat=self.options.heartbeat_s,
                    client_properties={"connection_name": self.config.connection_name},
                )
                self._connection.close_callbacks.add(self._lost)
                self.channel = await self._connection.channel(
                    publisher_confirms=self.config.confirms, on_return_raises=True
                )
                self.channel.close_callbacks.add(self._lost)
        except _FAILURES as failure:
            self.abort()
            raise LinkLost(str(failure) or type(failure).__name__) from failure
        except BaseException:
            self.abort()
            raise

    def _lost(self, _sender: Any, failure: BaseException | None = None) -> None:
        if not self.ended:
            self.ended = True
            self._listener.lost(str(failure) or "closed")

    def begin(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, limit_s: float) -> None:
        self.ended = True
        await self._close(limit_s)
        self._cancel()

    def abort(self) -> None:
        """Begin to close, and do not wait: aio-pika cannot drop a connection at once."""
        self.ended = True
        self._cancel()
        self._closing = asyncio.get_running_loop().create_task(self._close(CONNECT_LIMIT_S))

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _close(self, limit_s: float) -> None:
        if self._connection is not None:
            with suppress(TimeoutError, *_FAILURES):
                async with asyncio.timeout(limit_s):
                    await self._connection.close()


class Publishing(Link):
    """Publishes to one queue through the default exchange."""

    def __init__(self, config: WorkerConfig, listener: PublishingListener) -> None:
        super().__init__(config, listener)
        self._hears = listener
        self._tag = 0
        persistent = aio_pika.DeliveryMode.PERSISTENT
        transient = aio_pika.DeliveryMode.NOT_PERSISTENT
        self._mode = persistent if config.persistent else transient

    def publish(self, body: bytes) -> None:
        self._tag += 1
        self.begin(self._publish(self._tag, body))

    async def _publish(self, tag: int, body: bytes) -> None:
        message = aio_pika.Message(body, delivery_mode=self._mode)
        try:
            await self.channel.default_exchange.publish(
                message, self.config.queue, mandatory=self.options.mandatory
            )
        except PublishError as error:  # returned; the broker's ack says that it was handled
            if not self.ended:
                self._hears.returned(body, str(error))
                self._hears.acked(tag, False)
        except DeliveryError:
            if not self.ended:
                self._hears.nacked(tag, False)
        except _FAILURES:
            return  # the connection ended: `lost` says so
        else:
            if not self.ended and self.config.confirms:
                self._hears.acked(tag, False)

    def buffered_bytes(self) -> int:
        return 0


class Consuming(Link):
    """Consumes one queue."""

    def __init__(self, config: WorkerConfig, listener: ConsumingListener) -> None:
        super().__init__(config, listener)
        self._hears = listener
        self._queue: Any = None

    async def open(self, endpoint: Endpoint) -> None:
        await super().open(endpoint)
        try:
            await self.channel.set_qos(prefetch_count=self.options.prefetch)
            self._queue = await self.channel.get_queue(self.config.queue)
        except _FAILURES as failure:
            self.abort()
            raise LinkLost(str(failure) or type(failure).__name__) from failure

    async def consume(self) -> None:
        cancels = self.options.cancel_on_ha_failover
        try:
            await self._queue.consume(
                self._delivered,
                no_ack=self.config.acknowledge == 0,
                arguments={"x-cancel-on-ha-failover": True} if cancels else None,
            )
        except _FAILURES as failure:
            raise LinkLost(str(failure) or type(failure).__name__) from failure

    async def _delivered(self, message: AbstractIncomingMessage) -> None:
        if not self.ended:
            assert message.delivery_tag is not None
            self._hears.delivered(message.delivery_tag, bool(message.redelivered), message.body)

    def acknowledge(self, tag: int) -> None:
        self.begin(self._acknowledge(tag))

    async def _acknowledge(self, tag: int) -> None:
        with suppress(*_FAILURES):
            channel = await self.channel.get_underlay_channel()
            await channel.basic_ack(tag, multiple=True, wait=False)

    async def ready_messages(self) -> int:
        try:
            answer = await self.channel.declare_queue(self.config.queue, passive=True)
        except _FAILURES as failure:
            raise LinkLost(str(failure) or type(failure).__name__) from failure
        return int(answer.declaration_result.message_count or 0)
