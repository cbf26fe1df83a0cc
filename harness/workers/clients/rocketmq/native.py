"""RocketMQ's C++ client through the ctypes API of the module `rocketmq`, whichever has it.

1. Sends that block have a thread each, as many as the confirm window; C++ lets go of Python while
   it waits. A failure is a text, and inner attempts cannot be switched off: it is always unknown.
2. `publish` only collects; the burst goes to the threads in a callback of its own, after the
   publisher's pump has flushed the log and returned to the loop.
3. The first send goes alone: it fetches the topic's route, and the library fails whatever is sent
   meanwhile for want of one.
4. A message's thread waits until it is on record; only then is it consumed, for the library.
5. What the package is called by is native_package's: its names differ by version.
6. A consumer is ready when brokers list its whole group (native_group.py), for the library does
   not report its queues.
"""

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from harness.plan.clients.rocketmq_terms import NO_DELAY, level_of, terms
from harness.workers.clients.port import (
    ConsumingListener,
    Fetched,
    LinkLost,
    NoLibrary,
    PublishingListener,
    UnknownBacklog,
)
from harness.workers.clients.rocketmq.core import answers, wire
from harness.workers.clients.rocketmq.native_attached import PERIOD_S, Attached
from harness.workers.clients.rocketmq.native_found import NativeLibrary, look
from harness.workers.clients.rocketmq.native_group import wait_for_members
from harness.workers.clients.rocketmq.native_package import AsyncSends, Package
from harness.workers.clients.rocketmq.options import LANES_MAX, RocketOptions, window
from harness.workers.host_names import libc_obstacle
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from harness.workers.rocketmq.ways import RETRY_TOPIC
from spark_analysis.schema.body import Identity, decode

NAME = "rocketmq-native"
CONSUMED = 0  # CONSUME_SUCCESS
_Send = tuple[int, bytes, int]  # tag, body, key
ASYNC_FAILED = "ProducerSendAsyncFailed"  # as 0.4.4 calls it


class NoNative(NoLibrary):
    """The native client cannot be used, or not for this workload; says why."""


class NativeClient:
    """The C++ client, set up for one worker. Raises NoNative."""

    answers_every_send = True

    def __init__(self, config: WorkerConfig, looks: Callable[[], NativeLibrary] = look) -> None:
        home = f"{config.log}.native"  # its own logs, beside ours
        os.makedirs(home, exist_ok=True)  # noqa: PTH103
        os.environ["HOME"] = home
        found = looks()
        if refused := found.refused or lack(found, config) or libc_obstacle():
            raise NoNative(refused)
        self._config = config
        self._options = RocketOptions.from_json(config.own)
        self.terms = terms(self._options)
        self.library = found.package

    def window(self, wanted: int) -> int:
        return window(self._options, wanted)

    async def publisher(
        self, _endpoint: Endpoint, listener: PublishingListener
    ) -> "NativePublisher":
        link = NativePublisher(self._config, listener)
        await link.open()
        return link

    async def consumer(self, _endpoint: Endpoint, listener: ConsumingListener) -> "NativeConsumer":
        return NativeConsumer(self._config, listener)


def lack(found: NativeLibrary, config: WorkerConfig) -> str:
    """What this workload wants and the library has not; empty where it has all."""
    options = RocketOptions.from_json(config.own)
    wanted = {options.consumer: True}
    if config.role is Role.PUBLISHER:
        wanted = {
            options.producer: True,
            "delayed": options.delayed_percent > 0,
            "transaction": options.transactional_percent > 0,
        }
    missing = [
        name for name, is_wanted in wanted.items() if is_wanted and name not in found.features
    ]
    has = ", ".join(found.features)
    return f"{found.package} cannot do {', '.join(missing)}; it can do {has}" if missing else ""


class NativePublisher:
    """A producer of one topic."""

    def __init__(self, config: WorkerConfig, listener: PublishingListener) -> None:
        self._config = config
        self._options = RocketOptions.from_json(config.own)
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._topic = config.queue.encode()
        self._ordered = self._options.producer == "ordered"
        self._delays = self._options.delayed_percent > 0
        self._lanes = min(config.confirm_window, LANES_MAX)
        # A key keeps to one thread, so that its sends do not overtake each other.
        self._queues = [SimpleQueue[_Send]() for _ in range(self._lanes if self._ordered else 1)]
        self._results: deque[wire.RawAnswer] = deque()
        self._woken = False  # the loop, that something was said
        self._package: Any = None
        self._producer: Any = None
        self._async: Any = None
        self._tag = 0
        self._burst: list[bytes] = []
        self._alone = threading.Lock()
        self._routed = False  # the library asked for the topic's route
        self._watch: asyncio.Task[None] | None = None
        self._deaf = False

    async def open(self) -> None:
        self._package = Package()
        try:
            self._producer = self._package.producer(self._config)
        except _failures() as failure:
            raise LinkLost(_text(failure)[: answers.RAW_MAX]) from failure
        if self._options.producer == "async":
            self._async = AsyncSends(self._package, self._producer, self._stored, self._refused)
        await _native(self._producer.start)
        self._watch = _watching(self._config, self._listener.noticed)
        self._start_lanes()

    def _start_lanes(self) -> None:
        for lane in range(self._lanes):
            queue = self._queues[lane % len(self._queues)]
            threading.Thread(
                target=self._serve, args=(queue,), name="mqproof lane", daemon=True
            ).start()

    def publish(self, body: bytes) -> None:
        if not self._burst:
            self._loop.call_soon(self._send_burst)
        self._burst.append(body)

    def _send_burst(self) -> None:
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
            sending = queue.get()
            if self._routed or not self._first(sending):
                self._send(*sending)

    def _first(self, sending: _Send) -> bool:
        """Whether it was the first send, and has been made: others wait meanwhile."""
        with self._alone:
            if self._routed:
                return False
            self._send(*sending)
            self._routed = True
            return True

    def _send(self, tag: int, body: bytes, key: int) -> None:
        messages = self._package.messages
        message = messages.create(self._topic)
        try:
            messages.fill(message, body, self._level(body))
            self._submit(tag, message, key)
        except _failures() as failure:
            self._failed(tag, type(failure).__name__, _text(failure))
        finally:
            messages.free(message)

    def _level(self, body: bytes) -> int:
        return level_of(self._options, _identity(body).sequence) if self._delays else NO_DELAY

    def _submit(self, tag: int, message: int, key: int) -> None:
        """Raises RocketMQException."""
        if self._async:
            self._async.send(tag, message)
        else:
            self._stored(tag, self._call(message, key))

    def _call(self, message: int, key: int) -> int:
        """The status of a send that blocks. Raises RocketMQException."""
        mode = self._options.producer
        if mode == "oneway":
            self._producer.send_oneway(message)
            return wire.HANDED_OVER
        if mode == "ordered":
            return int(self._package.send_ordered(self._producer, message, key).status)
        return int(self._producer.send_sync(message).status)

    def _stored(self, tag: int, status: int) -> None:
        self._say(wire.RawAnswer(time.monotonic_ns(), tag, status, wire.NO_STATE, ()))

    def _refused(self, tag: int, text: bytes) -> None:
        self._failed(tag, ASYNC_FAILED, text.decode(errors="replace"))

    def _failed(self, tag: int, name: str, text: str) -> None:
        cause = wire.Cause(name, -1, text)
        at_ns = time.monotonic_ns()
        self._say(wire.RawAnswer(at_ns, tag, wire.FAILED, wire.NO_STATE, (cause,)))

    def _say(self, result: wire.RawAnswer) -> None:
        """In any thread: the loop is woken once for all that is said until it hears."""
        self._results.append(result)
        if not self._woken:
            self._woken = True
            with suppress(RuntimeError):  # a closed loop takes no calls
                self._loop.call_soon_threadsafe(self._hear)

    def _hear(self) -> None:
        self._woken = False  # before it looks: what is said from now on wakes it again
        results = []
        while self._results:
            results.append(answers.judge(self._results.popleft()))
        if results and not self._deaf:
            self._listener.answered(results)

    def buffered_bytes(self) -> int:
        return 0

    async def close(self, limit_s: float) -> None:
        self.abort()
        await _end(self._producer.shutdown, limit_s)

    def abort(self) -> None:
        self._deaf = True
        if self._watch is not None:
            self._watch.cancel()


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
        self._package: Any = None
        self._consumer: Any = None
        self._watch: asyncio.Task[None] | None = None
        self._deaf = False

    async def consume(self) -> None:
        if self._consumer is not None:
            return
        self._package = Package()
        try:
            self._consumer = self._package.consumer(self._config, self._on_message)
        except _failures() as failure:
            raise LinkLost(_text(failure)[: answers.RAW_MAX]) from failure
        await _native(self._consumer.start)
        await wait_for_members(self._config)
        # Not before: the watch would take our connections for the library's.
        self._watch = _watching(self._config, self._listener.noticed)

    def _on_message(self, _consumer: int, handle: int) -> int:
        """In a thread of the library's; returns when the message is on record."""
        body, offset, again = self._package.read(handle)
        # The library does not name the topic: a former try stands for the retry topic.
        way = RETRY_TOPIC.number if again else None
        fetched = Fetched(0, body, None, offset, again, way, time.monotonic_ns())
        with self._recorded:
            self._tag += 1
            tag = self._tag
            self._came.append(fetched._replace(tag=tag))
            if len(self._came) == 1:
                self._loop.call_soon_threadsafe(self._hear)
        with self._recorded:
            self._recorded.wait_for(lambda: self._acknowledged >= tag)
        return CONSUMED

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
        raise UnknownBacklog(f"{self._config.client} cannot report what its group has left")

    async def close(self, limit_s: float) -> None:
        self.abort()
        if self._consumer is not None:
            await _end(self._consumer.shutdown, limit_s)

    def abort(self) -> None:
        self._deaf = True
        if self._watch is not None:
            self._watch.cancel()


def _watching(config: WorkerConfig, noticed: Callable[[str, str], None]) -> "asyncio.Task[None]":
    """Tells whom the library asks, until it is cancelled."""
    attached = Attached(config.endpoints, noticed)

    async def watch() -> None:
        while True:
            attached.look()
            await asyncio.sleep(PERIOD_S)

    return asyncio.create_task(watch(), name="mqproof watch")


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
