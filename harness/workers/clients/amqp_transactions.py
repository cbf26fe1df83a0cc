"""Transactions of a channel: tx.select once, then tx.commit after every few publishes.

1. RabbitMQ ends a channel that sends anything while a commit is processed (rabbit_channel,
   "unexpected command while processing 'tx.commit'"). So there is one transaction at a time, and
   what is published meanwhile waits for the next one.
2. A transaction takes what waits when it begins, at most `size` messages. The commit follows at
   once.
3. commit-ok confirms all messages of the transaction: RabbitMQ sends it when each of them was
   confirmed (rabbit_channel, maybe_complete_tx). If one was refused the channel ends with 406,
   and what became of the others is unknown.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import pika

from harness.workers.clients.amqp_wire import Wire


class Parcel(NamedTuple):
    """The arguments of a basic.publish."""

    exchange: str
    queue: str
    body: bytes
    properties: pika.BasicProperties
    mandatory: bool


class Transactions:
    """Of one link. `committed` gets the tag of the last message that is committed."""

    def __init__(self, wire: Wire, size: int, committed: Callable[[int], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._wire = wire
        self._size = size
        self._committed = committed
        self._waiting: deque[Parcel] = deque()
        self._tag = 0  # of the last message that was published
        self._under_way = False  # a transaction was begun, or is about to be

    async def select(self) -> None:
        """Raises LinkLost."""
        await self._wire.ask(self._wire.channel.tx_select)

    def publish(self, *parcel: Any) -> None:
        """Take the arguments of a basic.publish; they leave with the next transaction."""
        self._waiting.append(Parcel(*parcel))
        if not self._under_way:
            self._under_way = True
            self._loop.call_soon(self._begin)  # when all of the burst is here, and on record

    def _begin(self) -> None:
        if not self._wire.is_open:
            return
        # If pika refuses, the channel is ending, and the wire reports that.
        with suppress(pika.exceptions.AMQPError):
            for _ in range(min(self._size, len(self._waiting))):
                self._wire.channel.basic_publish(*self._waiting.popleft())
                self._tag += 1
            self._wire.channel.tx_commit(self._wire.guard(self._end))

    def _end(self, _frame: Any) -> None:
        if not self._wire.is_open:
            return  # the link was ended, and its listener hears nothing more
        committed, self._under_way = self._tag, bool(self._waiting)
        if self._under_way:
            self._begin()
        self._committed(committed)
