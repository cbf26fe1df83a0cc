"""RocketMQ's unmodified Java client through JPype: one JVM in the worker's own process.

1. Thin: it starts the JVM, hands bursts over and passes on what comes back. What an answer means
   is answers.py; how it travels is wire.py; how the library is held is java_object.py; the Java
   side is compose/rocketmq-java.
2. `publish` only collects; the burst crosses into Java in a callback of its own, after the
   publisher's pump has flushed the log and returned to the loop.
3. The library fails over by itself: a link has all name servers, and is never replaced. A JVM
   cannot be started twice, nor with other jars: a worker has one client for its life.
"""

import asyncio
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.plan.clients.rocketmq_terms import fate_of, level_of, terms
from harness.workers.clients.jars import class_path
from harness.workers.clients.port import (
    ConsumingListener,
    Fetched,
    NoLibrary,
    PublishingListener,
    Refill,
    Refilled,
)
from harness.workers.clients.rocketmq.core import answers, wire
from harness.workers.clients.rocketmq.java_object import JavaObject, in_java
from harness.workers.clients.rocketmq.options import LANES_MAX, RocketOptions, reading, window
from harness.workers.host_names import jvm_flags
from harness.workers.protocol import Endpoint, WorkerConfig
from harness.workers.rocketmq.ways import RETRY_TOPIC
from spark_analysis.schema.body import Identity, decode
from spark_analysis.schema.words import Fate

PREFIX = "rocketmq-java-"
PLAIN = (0, wire.NO_STATE)  # status and state of an answer that makes room (Refill.java)
# 4.9.0 does not start on Java 17 without the first; -Xrs leaves signals to Python.
# A worker is not to stand still: JPype calls System.gc() out of Python's collector, a full
# collection on the event loop (40 to 490 ms on two busy cores); and the second compiler took 30 %
# of a worker's processor time (0.6 of 2.0 s in 12 s at 100 messages a second).
FLAGS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:+DisableExplicitGC",
    "-XX:TieredStopAtLevel=1",
    "-Xrs",
    "-Drocketmq.client.logLevel=WARN",
)


class NoJava(NoLibrary):
    """The JVM, JPype or the jars are missing; says how to get them."""


class JavaClient:
    """One version of the Java client, set up for one worker. Raises NoJava."""

    answers_every_send = True

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self._options = RocketOptions.from_json(config.own)
        self.terms = terms(self._options)
        self.library = f"rocketmq-java {config.client.removeprefix(PREFIX)}"
        start_jvm(config)

    def window(self, wanted: int) -> int:
        return window(self._options, wanted)

    async def publisher(
        self, _endpoint: Endpoint, listener: PublishingListener
    ) -> "JavaPublisher":
        """Raises LinkLost where no name server has a route to the topic, NotAttached."""
        link = JavaPublisher(self._config, listener)
        await link.open(self._config.confirm_window)
        return link

    async def consumer(self, _endpoint: Endpoint, listener: ConsumingListener) -> "JavaConsumer":
        link = JavaConsumer(self._config, listener)
        await link.open()
        return link


class JavaPublisher:
    """A producer of one topic."""

    def __init__(self, config: WorkerConfig, listener: PublishingListener) -> None:
        options = self._options = RocketOptions.from_json(config.own)
        self._listener = listener
        fated = options.transactional_percent > 0
        stored = None if fated else self._receive_stored
        enough = gathered(config.confirm_window) if config.rate is None and not fated else 1
        self._java = JavaObject(config, self._receive, listener.noticed, stored, enough)
        self._refills = config.rate is None and not fated and options.producer == "async"
        self._answers = self._failures = 0  # heard in all, and those that were not plain
        self._tag = 0  # of the last message that was handed over
        self._burst: list[bytes] = []
        self._keyed = options.producer == "ordered"
        self._delays = options.delayed_percent > 0
        self._fated = fated
        self._fates: dict[int, Fate] = {}  # by tag, until it is answered
        # A broker asks anybody of a group, and only who sent a half knows what became of it.
        self._group = f"writers_{config.number}" if self._fated else "writers"

    async def open(self, lanes: int) -> None:
        """`lanes`: threads of sends that block."""
        options = self._options
        await self._java.make(
            "Publishing",
            self._group,
            options.producer,
            options.send_timeout_ms,
            self._fated,
            min(lanes, LANES_MAX),
            settings=options.settings + options.producer_settings,
        )
        await self._java.start()

    def publish(self, body: bytes) -> None:
        self.publish_all((body,))

    def publish_all(self, bodies: Sequence[bytes]) -> None:
        if not self._burst:
            asyncio.get_running_loop().call_soon(self._send_burst)
        self._burst += bodies

    def _send_burst(self) -> None:
        burst, self._burst = self._burst, []
        if not burst or not self._java.listened_to:
            return
        if self._tag == 0:
            self._java.must_be_attached()
        first, self._tag = self._tag + 1, self._tag + len(burst)
        keys, fates, levels = array("i", bytes(4 * len(burst))), array("i"), array("i")
        if self._keyed or self._fated or self._delays:
            identities = [_identity(body) for body in burst]
            keys = array("i", [each.key for each in identities])
            if self._fated:
                fates = array("i", [fate_of(self._options, each.sequence) for each in identities])
                self._fates.update(zip(range(first, self._tag + 1), map(Fate, fates), strict=True))
            if self._delays:
                levels = array("i", [level_of(self._options, e.sequence) for e in identities])
        special = _java_ints(fates), _java_ints(levels)
        self._java.object.send(first, _java_bytes(b"".join(burst)), _java_ints(keys), *special)

    def refill(self, load: Refill) -> bool:
        if not self._refills or self._delays or self._burst or not self._tag:
            return False
        numbers = (*load[3:], self._answers, self._failures)
        record, body = _java_bytes(load.record), _java_bytes(load.body)
        return bool(self._java.object.refill(str(load.log), record, body, _java_longs(numbers)))

    def refilled(self) -> Refilled:
        return self._refilled(self._java.object.refilled)

    def halt(self) -> Refilled:
        return self._refilled(self._java.object.halt)

    def _refilled(self, report: Callable[[], Sequence[int]]) -> Refilled:
        import jpype

        try:
            count, crc32 = report()
        except jpype.JException as failure:
            raise OSError(str(failure)) from failure
        self._tag += count
        return Refilled(int(count), int(crc32))

    def _receive(self, entries: Sequence[wire.Entry]) -> None:
        answered = [each for each in entries if isinstance(each, wire.RawAnswer)]
        self._answers += len(answered)
        self._failures += sum((one.status, one.state) != PLAIN for one in answered)
        results = [answers.judge(each, self._fates.pop(each.tag, Fate.NONE)) for each in answered]
        if results:
            self._listener.answered(results)

    def _receive_stored(self, tags: Sequence[int], clocks_ns: Sequence[int]) -> None:
        self._answers += len(tags)
        self._listener.all_confirmed(tags, clocks_ns, answers.STATUSES[0])

    def buffered_bytes(self) -> int:
        """Return 0: only Java's answers show what it holds."""
        return 0

    async def close(self, limit_s: float) -> None:
        await self._java.close(limit_s)

    def abort(self) -> None:
        self._java.abort()


class JavaConsumer:
    """A consumer of one topic."""

    def __init__(self, config: WorkerConfig, listener: ConsumingListener) -> None:
        self._options = RocketOptions.from_json(config.own)
        self._members = config.members
        self._whose = reading(config.group)
        self._listener = listener
        self._java = JavaObject(config, self._receive, listener.noticed)
        self._places: dict[tuple[str, int, bool], str] = {}

    async def open(self) -> None:
        options = self._options
        how = options.consumer, options.threads, options.batch
        await self._java.make("Consuming", self._whose, *how, settings=options.settings)

    async def consume(self) -> None:
        if not self._java.listened_to:
            await self._java.start()
            await in_java(partial(self._java.object.awaitQueues, self._members))

    def acknowledge(self, tag: int) -> None:
        self._java.object.acknowledge(tag)

    async def ready_messages(self) -> int:
        return int(await in_java(self._java.object.remaining))

    def _receive(self, entries: Sequence[wire.Entry]) -> None:
        results = [self._fetched(each) for each in entries if isinstance(each, wire.RawMessage)]
        if results:
            self._listener.fetched(results)

    def _fetched(self, message: wire.RawMessage) -> Fetched:
        where = (message.broker, message.queue, message.retried)
        place = self._places.get(where)
        if place is None:
            middle = "/retry/" if message.retried else "/"
            place = self._places[where] = f"{message.broker}{middle}{message.queue}"
        again, way = message.reconsumed > 0, RETRY_TOPIC.number if message.retried else None
        return Fetched(message.tag, message.body, place, message.offset, again, way, message.at_ns)

    async def close(self, limit_s: float) -> None:
        await self._java.close(limit_s)

    def abort(self) -> None:
        """The group is free again when the library has ended."""
        self._java.abort()


def gathered(window: int) -> int:
    """How many answers a publisher at maximum rate takes at once: two thirds of its window.

    Each time that Python is woken costs as much as some dozens of answers, and takes it from the
    broker (results/published/2026-11-23-recording-cost.md).
    """
    return max(1, window * 2 // 3)


def start_jvm(config: WorkerConfig) -> None:
    """Raises NoJava."""
    try:
        import jpype
    except ImportError as missing:
        raise NoJava("JPype is missing: pip install 'mqproof[rocketmq-java]'") from missing
    jars = class_path(config.client)
    if not jars:
        raise NoJava(
            f"the jars of {config.client} are missing: "
            f"`python -m harness.deploy.jars {config.client}`"
        )
    home = Path(f"{config.log}.java")  # its own logs, beside ours
    places_of_its_own = (f"-Duser.home={home}", f"-Drocketmq.client.logRoot={home}")
    own = RocketOptions.from_json(config.own).jvm
    flags = (*FLAGS, *places_of_its_own, *jvm_flags(), *own)
    try:
        jpype.startJVM(*flags, classpath=jars, convertStrings=True)
    except (OSError, RuntimeError, jpype.JVMNotFoundException) as failure:
        raise NoJava(f"no JVM: {failure}; install Java 17 or set JAVA_HOME") from failure


def _identity(body: bytes) -> Identity:
    identity = decode(body).identity
    assert identity is not None, "a body that we made ourselves"
    return identity


def _java_bytes(content: bytes) -> Any:
    import jpype

    return jpype.JArray(jpype.JByte)(content)


def _java_longs(numbers: Sequence[int]) -> Any:
    import jpype

    return jpype.JArray(jpype.JLong)(numbers)


def _java_ints(numbers: "array[int]") -> Any:
    import jpype

    return jpype.JArray(jpype.JInt)(numbers)
