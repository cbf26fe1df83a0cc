"""RocketMQ's C++ client through the ctypes API of the package `rocketmq`.

1. Sends that block have a thread each, as many as the confirm window; C++ lets go of Python while
   it waits. A failure is a text, and inner attempts cannot be switched off: it is always unknown.
2. `publish` only collects; the burst goes to the threads in a callback of its own, after the
   publisher's pump has flushed the log and returned to the loop.
3. A message's thread waits until it is on record; only then is it consumed, for the library.
4. Bodies hold zero bytes, at which the package's own accessors stop: they are set and read by
   length. The library tells no length of a body, so that of this workload's bodies is read, and no
   more than the record's.
"""

import asyncio
import ctypes
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from harness.workers.clients.port import (
    ConsumingListener,
    Fetched,
    LinkLost,
    PublishingListener,
)
from harness.workers.clients.rocketmq import answers, wire
from harness.workers.clients.rocketmq.native_found import Found, look
from harness.workers.clients.rocketmq.options import LANES_MAX, group, name_servers
from harness.workers.clients.rocketmq.terms import NO_DELAY, level_of
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema.body import Identity, decode

NAME = "rocketmq-native"
CONSUMED = 0  # CONSUME_SUCCESS
_Send = tuple[int, bytes, int]  # tag, body, key
INNER_RETRIES = 1  # of an ordered send: the least with which the library sends at all


class NoNative(Exception):
    """The native client cannot be used, or not for this workload; says why."""


class NativeClient:
    """The C++ client, set up for one worker. Raises NoNative."""

    answers_every_send = True

    def __init__(self, config: WorkerConfig) -> None:
        home = f"{config.log}.native"  # its own logs, beside ours
        os.makedirs(home, exist_ok=True)  # noqa: PTH103
        os.environ["HOME"] = home
        found = look()
        if refused := found.refused or lack(found, config):
            raise NoNative(refused)
        self._config = config
        self.library = found.package

    async def publisher(
        self, _endpoint: Endpoint, listener: PublishingListener
    ) -> "NativePublisher":
        link = NativePublisher(self._config, listener)
        await link.open()
        return link

    async def consumer(self, _endpoint: Endpoint, listener: ConsumingListener) -> "NativeConsumer":
        return NativeConsumer(self._config, listener)


def lack(found: Found, config: WorkerConfig) -> str:
    """What this workload wants and the library has not; empty where it has all."""
    options = config.rocketmq
    wanted = {options.consumer: True}
    if config.role is Role.PUBLISHER:
        wanted = {
            options.producer: True,
            "delayed": options.delayed_percent > 0,
            "transaction": options.transactional_percent > 0,
        }
    missing = [name for name, asked in wanted.items() if asked and name not in found.features]
    has = ", ".join(found.features)
    return f"{found.package} cannot do {', '.join(missing)}; it can do {has}" if missing else ""


class NativePublisher:
    """A producer of one topic."""

    def __init__(self, config: WorkerConfig, listener: PublishingListener) -> None:
        self._config = config
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._ordered = config.rocketmq.producer == "ordered"
        self._lanes = min(config.confirm_window, LANES_MAX)
        # A key keeps to one thread, so that its sends do not overtake each other.
        self._queues = [SimpleQueue[_Send]() for _ in range(self._lanes if self._ordered else 1)]
        self._said: deque[wire.RawAnswer] = deque()
        self._told = False  # the loop, that something was said
        self._producer: Any = None
        self._tag = 0
        self._burst: list[bytes] = []
        self._deaf = False

    async def open(self) -> None:
        from rocketmq.client import Producer

        config, options = self._config, self._config.rocketmq
        self._producer = Producer(group(config.queue, "writers"))
        self._producer.set_namesrv_addr(name_servers(config.endpoints))
        self._producer.set_timeout(options.send_timeout_ms)
        await _native(self._producer.start)
        self._start_lanes()

    def _start_lanes(self) -> None:
        for lane in range(self._lanes):
            queue = self._queues[lane % len(self._queues)]
            threading.Thread(
                target=self._serve, args=(queue,), name="mqproof lane", daemon=True
            ).start()

    def publish(self, body: bytes) -> None:
        if not self._burst:
            self._loop.call_soon(self._hand_over)
        self._burst.append(body)

    def _hand_over(self) -> None:
        burst, self._burst = self._burst, []
        if self._deaf:
            return
        for body in burst:
            self._tag += 1
            key = _identity(body).key if self._ordered else self._tag
            self._queues[key % len(self._queues)].put((self._tag, body, key))

    def _serve(self, queue: SimpleQueue[_Send]) -> None:
        """A lane's thread; it ends with the process."""
        while True:
            self._send(*queue.get())

    def _send(self, tag: int, body: bytes, key: int) -> None:
        options = self._config.rocketmq
        delayed = options.delayed_percent > 0
        level = level_of(options, _identity(body).sequence) if delayed else NO_DELAY
        message = _message(self._config.queue, body, level)
        producer, mode = self._producer, options.producer
        status = wire.HANDED_OVER
        try:
            if mode == "oneway":
                producer.send_oneway(message)
            elif mode == "async":
                self._send_async(tag, message)
                return
            elif mode == "ordered":
                status = int(producer.send_orderly(message, key, INNER_RETRIES).status)
            else:
                status = int(producer.send_sync(message).status)
        except _failures() as failure:
            self._failed(tag, failure)
            return
        self._say(wire.RawAnswer(time.monotonic_ns(), tag, status, wire.NO_STATE, ()))

    def _send_async(self, tag: int, message: Any) -> None:
        def stored(result: Any) -> None:
            status = int(result.status)
            self._say(wire.RawAnswer(time.monotonic_ns(), tag, status, wire.NO_STATE, ()))

        self._producer.send_async(message, stored, lambda failure: self._failed(tag, failure))

    def _failed(self, tag: int, failure: Exception) -> None:
        cause = wire.Cause(type(failure).__name__, -1, _text(failure))
        at_ns = time.monotonic_ns()
        self._say(wire.RawAnswer(at_ns, tag, wire.FAILED, wire.NO_STATE, (cause,)))

    def _say(self, said: wire.RawAnswer) -> None:
        """In any thread: the loop is woken once for all that is said until it hears."""
        self._said.append(said)
        if not self._told:
            self._told = True
            with suppress(RuntimeError):  # a loop that is closed: nobody is left to hear it
                self._loop.call_soon_threadsafe(self._hear)

    def _hear(self) -> None:
        self._told = False  # before it looks: what is said from now on wakes it again
        heard = []
        while self._said:
            heard.append(answers.judge(self._said.popleft()))
        if heard and not self._deaf:
            self._listener.answered(heard)

    def buffered_bytes(self) -> int:
        return 0

    async def close(self, limit_s: float) -> None:
        self._deaf = True
        await _end(self._producer.shutdown, limit_s)

    def abort(self) -> None:
        self._deaf = True


class NativeConsumer:
    """A push consumer of one topic."""

    def __init__(self, config: WorkerConfig, listener: ConsumingListener) -> None:
        self._config = config
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._recorded = threading.Condition()
        self._acknowledged = 0
        self._tag = 0
        self._came: list[Fetched] = []
        self._consumer: Any = None
        self._deaf = False

    async def consume(self) -> None:
        if self._consumer is None:
            self._consumer = self._subscribed()
            await _native(self._consumer.start)

    def _subscribed(self) -> Any:
        from rocketmq import ffi
        from rocketmq.client import PushConsumer

        config, options = self._config, self._config.rocketmq
        made = PushConsumer(group(config.queue, "readers"), options.consumer == "orderly")
        made.set_namesrv_addr(name_servers(config.endpoints))
        made.set_instance_name(config.connection_name)
        made.set_thread_count(options.threads)
        ffi.dll.Subscribe(made._handle, config.queue.encode(), b"*")
        # Not the package's `subscribe`: it would hand out a body that ends at its first zero byte.
        made._register_callback(self._on_message)
        return made

    def _on_message(self, _consumer: int, handle: int) -> int:
        """In a thread of the library's; returns when the message is on record."""
        fetched = self._read(handle)
        with self._recorded:
            self._tag += 1
            tag = self._tag
            self._came.append(fetched._replace(tag=tag))
            if len(self._came) == 1:
                self._loop.call_soon_threadsafe(self._hear)
        with self._recorded:
            self._recorded.wait_for(lambda: self._acknowledged >= tag)
        return CONSUMED

    def _read(self, handle: int) -> Fetched:
        from rocketmq import ffi
        from rocketmq.client import RecvMessage

        message = RecvMessage(handle)
        length = min(self._config.body_bytes, int(message.store_size))
        body = ctypes.string_at(_body_of(ffi.dll)(handle), length)
        again = int(message.reconsume_times) > 0
        offset = int(message.queue_offset)
        return Fetched(0, body, None, offset, again, again, time.monotonic_ns())

    def _hear(self) -> None:
        with self._recorded:
            came, self._came = self._came, []
        if not self._deaf:
            self._listener.fetched(came)

    def acknowledge(self, tag: int) -> None:
        with self._recorded:
            self._acknowledged = max(self._acknowledged, tag)
            self._recorded.notify_all()

    async def ready_messages(self) -> int:
        raise LinkLost(f"{NAME} cannot tell what its group has left")

    async def close(self, limit_s: float) -> None:
        self._deaf = True
        if self._consumer is not None:
            await _end(self._consumer.shutdown, limit_s)

    def abort(self) -> None:
        self._deaf = True


def _message(topic: str, body: bytes, delay_level: int) -> Any:
    from rocketmq import ffi
    from rocketmq.client import Message

    message = Message(topic)
    ffi.dll.SetByteMessageBody(message._handle, body, len(body))
    if delay_level:
        message.set_delay_time_level(delay_level)
    return message


def _body_of(library: Any) -> Callable[[int], int]:
    """GetMessageBody with the address that it returns, not the text up to its first zero byte."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    return prototype(("GetMessageBody", library))


def _failures() -> type[Exception]:
    from rocketmq.exceptions import RocketMQException

    return RocketMQException  # type: ignore[no-any-return]


def _text(failure: Exception) -> str:
    words = failure.args[0] if failure.args else ""
    return words.decode(errors="replace") if isinstance(words, bytes) else str(words)


def _identity(body: bytes) -> Identity:
    identity = decode(body).identity
    assert identity is not None, "a body that we made ourselves"
    return identity


async def _native(call: Callable[[], Any]) -> None:
    """Raises LinkLost with the library's words."""
    try:
        await asyncio.to_thread(call)
    except _failures() as failure:
        raise LinkLost(_text(failure)[: answers.RAW_MAX]) from failure


async def _end(shutdown: Callable[[], Any], limit_s: float) -> None:
    """The process ends soon in any case."""
    try:
        async with asyncio.timeout(limit_s):
            await _native(shutdown)
    except (TimeoutError, LinkLost):
        return
