"""AMQP 0-9-1 by pika's AsyncioConnection: one connection with one channel a link.

1. pika only buffers when it is called, and writes to the socket from the event loop's own writable
   callback; so a log that is flushed before the calling callback returns is ahead of the bytes.
2. Opening has a short limit of its own, CONNECT_LIMIT_S, handshake and channel included; it does
   not depend on pika's own timeouts.
3. Every other wait is the caller's, under his own limit: pika bounds neither confirms nor closing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import pika

from harness.workers import tls
from harness.workers.clients.amqp_polling import Polling
from harness.workers.clients.amqp_transactions import Transactions
from harness.workers.clients.amqp_wire import Wire
from harness.workers.clients.port import ConsumingListener, PublishingListener
from harness.workers.credentials import login, virtual_host
from harness.workers.protocol import Endpoint, Role, WorkerConfig

CONNECT_LIMIT_S = 2.0

L = TypeVar("L")


@dataclass(frozen=True, slots=True)
class AmqpOptions:
    """The options of an AMQP client beyond those of every worker: WorkerConfig.own."""

    mandatory: bool = True
    prefetch: int = 200
    heartbeat_s: int = 60
    cancel_on_ha_failover: bool = False
    consume: str = "push"  # or "get", of consumers that are part of the load
    get_pause_s: float = 0.1
    priorities: int = 0  # levels; 0: messages have none
    transaction_size: int = 0  # most messages of one; 0: publishers use confirms


class AmqpClient:
    """pika, set up for one worker."""

    library = f"pika {pika.__version__}"
    answers_every_send = False
    terms = None

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self._options = AmqpOptions(**config.own)
        # What pika has to say is in our client events; its own lines cost time and say it twice.
        logging.getLogger("pika").setLevel(logging.CRITICAL + 1)

    def window(self, wanted: int) -> int:
        """With transactions: one that is committed, and the next. What is on record as sent is
        not to wait for longer in a queue of ours."""
        size = self._options.transaction_size
        return min(wanted, 2 * size) if size else wanted

    async def publisher(
        self, endpoint: Endpoint, listener: PublishingListener
    ) -> "AmqpPublishingLink":
        """Raises LinkLost, and TimeoutError after CONNECT_LIMIT_S."""

        async def prepare(wire: "Wire") -> "AmqpPublishingLink":
            link = AmqpPublishingLink(wire, self._config, self._options)
            await link.prepare(listener)
            return link

        return await self.open_link(endpoint, listener, prepare)

    async def consumer(
        self, endpoint: Endpoint, listener: ConsumingListener
    ) -> "AmqpConsumingLink":
        """Raises LinkLost, and TimeoutError after CONNECT_LIMIT_S."""

        async def prepare(wire: "Wire") -> "AmqpConsumingLink":
            link = AmqpConsumingLink(wire, self._config, self._options, listener)
            await link.prepare()
            return link

        return await self.open_link(endpoint, listener, prepare)

    async def open_link(
        self,
        endpoint: Endpoint,
        listener: PublishingListener | ConsumingListener,
        prepare: Callable[["Wire"], Awaitable[L]],
    ) -> L:
        """Raises LinkLost, and TimeoutError after CONNECT_LIMIT_S."""
        wire = Wire(self._parameters(endpoint), listener)
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                await wire.open()
                return await prepare(wire)
        except BaseException:
            wire.abort()
            raise

    def _parameters(self, endpoint: Endpoint) -> pika.ConnectionParameters:
        return pika.ConnectionParameters(
            host=endpoint.address,
            port=endpoint.port,
            virtual_host=virtual_host(),
            credentials=pika.PlainCredentials(*login()),
            ssl_options=_ssl_options(endpoint.host),
            heartbeat=self._options.heartbeat_s,
            connection_attempts=1,
            retry_delay=0,
            socket_timeout=CONNECT_LIMIT_S,
            stack_timeout=CONNECT_LIMIT_S,
            client_properties={"connection_name": self._config.connection_name},
        )


def _ssl_options(host: str) -> pika.SSLOptions | None:
    """The broker's own name is checked: a proxy on the way has another one."""
    trust = tls.trust()
    if trust is None:
        return None
    return pika.SSLOptions(tls.context(), trust.hosts[host])


class AmqpPublishingLink:
    """A channel that publishes to its worker's queues through the default exchange; with consumer
    groups to exchanges of these names, which give each message to the queue of every group."""

    def __init__(self, wire: "Wire", config: WorkerConfig, options: AmqpOptions) -> None:
        self._wire = wire
        names = [name for name, _ in config.queues]
        # By place the exchange and the routing key; a fan-out exchange looks at no key.
        self._routes = tuple((name, "") if config.fans_out else ("", name) for name in names)
        self._mandatory = options.mandatory
        self._confirms = config.confirms
        self._transaction_size = options.transaction_size
        mode, levels = 2 if config.persistent else 1, options.priorities
        self._properties = [pika.BasicProperties(delivery_mode=mode)]
        if levels:  # a key has one priority, so its order is an order within one priority
            self._properties = [
                pika.BasicProperties(delivery_mode=mode, priority=level) for level in range(levels)
            ]

    async def prepare(self, listener: PublishingListener) -> None:
        channel, guard = self._wire.channel, self._wire.guard

        def settled(frame: Any) -> None:
            method = frame.method
            if method.NAME == "Basic.Ack":
                listener.acked(method.delivery_tag, method.multiple)
            else:
                listener.nacked(method.delivery_tag, method.multiple)

        def returned(_channel: Any, method: Any, _properties: Any, body: bytes) -> None:
            listener.returned(body, f"return {method.reply_code} {method.reply_text}")

        channel.add_on_return_callback(guard(returned))
        self._publish = channel.basic_publish
        if self._transaction_size:
            transactions = Transactions(
                self._wire, self._transaction_size, lambda tag: listener.acked(tag, True)
            )
            self._publish = transactions.publish
            await transactions.select()
        elif self._confirms:
            await self._wire.ask(lambda done: channel.confirm_delivery(guard(settled), done))

    def publish(self, body: bytes) -> None:
        self.publish_to(0, 0, body)

    def publish_to(self, place: int, key: int, body: bytes) -> None:
        properties = self._properties[key // len(self._routes) % len(self._properties)]
        self._publish(*self._routes[place], body, properties, self._mandatory)

    def buffered_bytes(self) -> int:
        return self._wire.buffered_bytes()

    async def close(self, limit_s: float) -> None:
        await self._wire.close(limit_s)

    def abort(self) -> None:
        self._wire.abort()


class AmqpConsumingLink:
    """A channel with one consumer of one queue, or one that polls it."""

    def __init__(
        self,
        wire: "Wire",
        config: WorkerConfig,
        options: AmqpOptions,
        listener: ConsumingListener,
    ) -> None:
        self._wire = wire
        self._queue = config.queue
        self._prefetch = options.prefetch
        self._forgetful = config.acknowledge == 0
        cancels = options.cancel_on_ha_failover
        self._arguments = {"x-cancel-on-ha-failover": True} if cancels else {}
        self._listener = listener
        self._polling: Polling | None = None
        if options.consume == "get" and config.role is Role.CONSUMER:
            pause_s, limit_s = options.get_pause_s, config.deadline_s
            self._polling = Polling(
                wire, listener, config.queue, self._forgetful, pause_s, limit_s
            )

    async def prepare(self) -> None:
        channel = self._wire.channel

        def cancelled(frame: Any) -> None:
            self._listener.noticed("cancelled", frame.method.consumer_tag)

        channel.add_on_cancel_callback(self._wire.guard(cancelled))
        await self._wire.ask(
            lambda done: channel.basic_qos(prefetch_count=self._prefetch, callback=done)
        )

    async def consume(self) -> None:
        if self._polling is not None:
            await self.ready_messages()  # whether there is such a queue
            self._polling.begin()
            return
        channel, deliver = self._wire.channel, self._listener.delivered

        def delivered(_channel: Any, method: Any, _properties: Any, body: bytes) -> None:
            deliver(method.delivery_tag, method.redelivered, body)

        await self._wire.ask(
            lambda done: channel.basic_consume(
                self._queue,
                self._wire.guard(delivered),
                auto_ack=self._forgetful,
                arguments=self._arguments,
                callback=done,
            )
        )

    def acknowledge(self, tag: int) -> None:
        self._wire.channel.basic_ack(tag, multiple=True)

    async def ready_messages(self) -> int:
        channel = self._wire.channel
        frame = await self._wire.ask(
            lambda done: channel.queue_declare(self._queue, passive=True, callback=done)
        )
        return int(frame.method.message_count)

    async def close(self, limit_s: float) -> None:
        self._end_polling()
        await self._wire.close(limit_s)

    def abort(self) -> None:
        self._end_polling()
        self._wire.abort()

    def _end_polling(self) -> None:
        if self._polling is not None:
            self._polling.end()
