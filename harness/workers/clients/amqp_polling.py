"""Polling by basic.get: one request after another on a link's channel.

1. After a message the next get follows at once; after `empty` it waits for the pause.
2. If a get has no answer within the limit, the connection is taken for dead, as a publisher does
   whose confirm is overdue: pika itself would wait for ever.
3. The prefetch count does not apply: the broker sends nothing without a get.
"""

import asyncio
from contextlib import suppress
from typing import Any

import pika
from pika import spec

from harness.workers.clients.amqp_wire import Wire
from harness.workers.clients.port import ConsumingListener


class Polling:
    """The gets of one link; `begin` once, after which it lasts as long as its wire."""

    def __init__(
        self,
        wire: Wire,
        listener: ConsumingListener,
        queue: str,
        forgetful: bool,
        pause_s: float,
        limit_s: float,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._wire = wire
        self._listener = listener
        self._queue = queue
        self._forgetful = forgetful
        self._pause_s = pause_s
        self._limit_s = limit_s
        self._timer: asyncio.TimerHandle | None = None  # of the next get, or of an overdue answer

    def begin(self) -> None:
        channel = self._wire.channel
        channel.add_callback(self._wire.guard(self._on_empty), [spec.Basic.GetEmpty], False)
        self._get()

    def end(self) -> None:
        """Ask for nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _get(self) -> None:
        self.end()
        if not self._wire.is_open:
            return
        self._timer = self._loop.call_later(self._limit_s, self._on_overdue)
        # If pika refuses, the channel is ending, and the wire reports that.
        with suppress(pika.exceptions.AMQPError):
            self._wire.channel.basic_get(
                self._queue, self._wire.guard(self._on_message), auto_ack=self._forgetful
            )

    def _on_message(self, _channel: Any, method: Any, _properties: Any, body: bytes) -> None:
        self.end()
        self._listener.delivered(method.delivery_tag, method.redelivered, body)
        # Not at once: the listener's acknowledgements leave first, and others get a turn.
        self._timer = self._loop.call_later(0, self._get)

    def _on_empty(self, _frame: Any) -> None:
        self.end()
        self._timer = self._loop.call_later(self._pause_s, self._get)

    def _on_overdue(self) -> None:
        self._timer = None
        if self._wire.is_open:
            self._wire.abort()
            self._listener.lost(f"no answer to basic.get for {self._limit_s:g} s: taken for dead")
