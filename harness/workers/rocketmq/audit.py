"""The audit of brokers' logs: all that may be messages of the topic, read from their starts.

1. Queue by queue, each from its least to its greatest offset as they are when its turn comes; the
   load has ended by then. A broker that gives nothing by queue is read record by record instead.
2. Nothing is committed or changed: consumers find everything as they left it.
3. A message is on record as a delivery by audit, with its offset and the place where it was found.
4. What was read is a row of `probes`, and so is each group's offset against the queue's end. The
   run's own readers have a row for each queue of the topic, whether they committed there or not.
5. What could not be read is reported, by broker and place: it may hold anything.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from harness.workers.clients.rocketmq.options import readers
from harness.workers.protocol import WorkerConfig
from harness.workers.recorder import Recorder
from harness.workers.remoting import answers, records, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.holdings import belongs, is_half, queues_to_read
from harness.workers.remoting.reading import Reading
from harness.workers.remoting.records import StoredMessage
from harness.workers.remoting.requests import Request, TopicQueue
from harness.workers.remoting.walking import Walk
from harness.workers.rocketmq.connection import Unanswered
from harness.workers.rocketmq.line import Line
from harness.workers.rocketmq.ways import HALF
from spark_analysis.schema.body import Body, decode
from spark_analysis.schema.words import Redelivered, Via

# Kinds of probes' rows.
QUEUE_READ, LOG_READ, CONSUMER_OFFSET = "queue read", "log read", "consumer offset"
ASK_LIMIT_S = 20.0  # on a machine of load 50 a slave of 5.3.3 thrice said nothing in 5 s
TRIES = 2  # of one question
SIDE_BY_SIDE = 8  # queues that are read at a time

FAILURES = (Unanswered, RequestRefused, WireError)  # of one question

T = TypeVar("T")
Ends = Mapping[TopicQueue, int | None]  # queue -> its greatest offset; None: it is to be asked for


class LogAuditor:
    """Reads the brokers at `config.endpoints`; `say` gets the result once."""

    def __init__(
        self,
        config: WorkerConfig,
        recorder: Recorder,
        ready: Callable[[], None],
        say: Callable[[dict[str, Any]], None],
    ) -> None:
        self._config = config
        self._recorder = recorder
        self._say = say
        self._logs = [
            _BrokersLog(config, place, recorder, ready) for place in range(len(config.endpoints))
        ]

    async def run(self) -> None:
        """Return when all is read and reported."""
        doubts = await asyncio.gather(*(log.read() for log in self._logs))
        self._recorder.flush()
        queue, doubt = self._config.queue_word, "; ".join(filter(None, doubts))
        outcome = {"complete": not doubt, "doubt": doubt, "doubts": doubts}
        self._say({"say": "drained", "queue": queue, **outcome})

    def start(self, at_ns: int) -> None:
        """Reading begins with the configuration."""

    def stop_load(self) -> None:
        """There is no load."""

    def tick(self) -> None:
        """Nothing is acknowledged."""

    def status(self) -> dict[str, int]:
        counts = dict.fromkeys(("sent", "confirmed", "unknown", "missed", "outstanding"), 0)
        return {**counts, "delivered": sum(log.found for log in self._logs)}

    async def close(self, nicely: bool) -> None:  # noqa: ARG002  (the port's)
        """The same either way: nothing that was asked needs a farewell."""
        for log in self._logs:
            log.close()


class _BrokersLog:
    """The log of one broker. `place`: which of the auditor's endpoints."""

    def __init__(
        self, config: WorkerConfig, place: int, recorder: Recorder, ready: Callable[[], None]
    ) -> None:
        self._config = config
        self._place = place
        self._recorder = recorder
        self._ready = ready
        self._line = Line(config.endpoints[place])
        self._host = config.endpoints[place].host
        self.found = 0

    async def read(self) -> str:
        """What stands against it being whole; "" where nothing does."""
        doubts: Sequence[str] = (f"not read to its end within {self._config.limit_s:g} s",)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._config.limit_s):
                try:
                    doubts, ends = await self._audit()
                except FAILURES as error:
                    doubts = (str(error),)
                else:
                    await self._compare_offsets(ends)
        return "; ".join(doubts)

    def close(self) -> None:
        self._line.close()

    @property
    def _connection(self) -> int:
        """Its number among those of all brokers that this auditor reads."""
        return self._line.connects * len(self._config.endpoints) + self._place

    async def _audit(self) -> tuple[Sequence[str], Ends]:
        """Return what stands against the audit being whole, and the ends of the queues that were
        read. Raise what FAILURES lists."""
        topic = self._config.queue
        topics = await self._ask(requests.topic_configs(), answers.topics)
        self._ready()
        queues = queues_to_read(topics, topic)
        pull = await self._answer(requests.pull(TopicQueue(topic, 0), 0))
        if answers.gives_nothing(pull):
            doubts = await self._walk()
            ends: Ends = dict.fromkeys(queues)
        else:
            readings = await self._read_queues(queues)
            doubts = [f"{_word(one.queue)}: {one.doubt}" for one in readings if one.doubt]
            ends = {one.queue: one.end for one in readings if one.end is not None}
        if not any(one.name == topic for one in topics):
            doubts.insert(0, f"the broker has no topic {topic}")
        return doubts, ends

    async def _read_queues(self, queues: Sequence[TopicQueue]) -> list[Reading]:
        turns = asyncio.Semaphore(SIDE_BY_SIDE)

        async def read(queue: TopicQueue) -> Reading:
            async with turns:
                return await self._read(queue)

        return await asyncio.gather(*(read(queue) for queue in queues))

    async def _read(self, queue: TopicQueue) -> Reading:
        reading = Reading(queue)
        started_ns = self._recorder.now_ns()
        while (request := reading.request) is not None:
            try:
                answer = await self._answer(request)
            except Unanswered as error:
                reading.doubt = str(error)
            else:
                self._note(reading.hear(answer))
        target = self._target(_word(queue))
        self._probe(QUEUE_READ, target, started_ns, not reading.doubt, _summary(reading))
        return reading

    async def _walk(self) -> list[str]:
        walk = Walk()
        started_ns = self._recorder.now_ns()
        while (request := walk.request) is not None:
            try:
                answer = await self._answer(request)
            except Unanswered as error:
                walk.doubt = f"the log was read from {walk.first} to {walk.at}: {error}"
            else:
                message = walk.hear(answer)
                self._note((message,) if message is not None else ())
        span = f"positions {walk.first} to {walk.end}: {walk.messages} messages"
        self._probe(LOG_READ, self._host, started_ns, not walk.doubt, walk.doubt or span)
        return [walk.doubt] if walk.doubt else []

    def _note(self, messages: Sequence[StoredMessage]) -> None:
        recorder, topic = self._recorder, self._config.queue
        received_ns = recorder.now_ns()
        for message in messages:
            if belongs(message, topic):
                self.found += 1
                place = self._target(_word(TopicQueue(message.topic, message.queue)))
                recorder.delivery(
                    _body(message),
                    received_ns,
                    recorder.text(place),
                    Redelivered.NOT_REPORTED,
                    recorder.own_way(HALF.number) if is_half(message) else Via.AUDIT,
                    self._connection,
                    self.found,
                    message.offset,
                )
        recorder.flush()

    async def _compare_offsets(self, ends: Ends) -> None:
        """A consumer's offset is the next that it would be given: at the end, all is consumed.

        It is information only: if it fails, the log was still read.
        """
        started_ns = self._recorder.now_ns()
        try:
            known = {queue: await self._end(queue, end) for queue, end in ends.items()}
            offsets = await self._ask(requests.consumer_offsets(), answers.offsets)
        except FAILURES as error:
            self._probe(CONSUMER_OFFSET, self._host, started_ns, False, f"unknown: {error}")
        else:
            self._probe_offsets(known, offsets, started_ns)

    async def _end(self, queue: TopicQueue, end: int | None) -> int:
        if end is not None:
            return end
        return await self._ask(requests.max_offset(queue), answers.offset)

    def _probe_offsets(
        self,
        ends: Mapping[TopicQueue, int],
        offsets: Mapping[tuple[str, TopicQueue], int],
        started_ns: int,
    ) -> None:
        topic = self._config.queue
        own: dict[tuple[str, TopicQueue], int | None] = {
            (readers(self._config), queue): None for queue in ends if queue.topic == topic
        }
        for (whose, queue), offset in sorted({**own, **offsets}.items()):
            if (end := ends.get(queue)) is not None:
                behind = end - (offset or 0)
                # A slave's log may end before what its dead master gave out.
                where = f"{behind} behind" if behind >= 0 else f"{-behind} beyond its end"
                committed = "never committed" if offset is None else f"committed {offset}"
                target = self._target(_word(queue), whose)
                detail = f"{committed} of {end}, {where}"
                self._probe(CONSUMER_OFFSET, target, started_ns, not behind, detail)

    def _target(self, *words: str) -> str:
        return " ".join((self._host, *words))

    def _probe(self, kind: str, target: str, started_ns: int, ok: bool, detail: str) -> None:
        self._recorder.probe(kind, target, started_ns, self._recorder.now_ns(), ok, detail)

    async def _ask(self, request: Request, read: Callable[[Request, Command], T]) -> T:
        """Raises Unanswered, RequestRefused, WireError."""
        return read(request, await self._answer(request))

    async def _answer(self, request: Request) -> Command:
        """Asked again where nothing came: reading twice changes nothing. Raises Unanswered."""
        for _ in range(TRIES - 1):
            try:
                return await self._line.ask(request, ASK_LIMIT_S)
            except Unanswered:
                continue
        return await self._line.ask(request, ASK_LIMIT_S)


def _body(message: StoredMessage) -> Body:
    try:
        return decode(records.content(message))
    except WireError:
        return Body(None, False)  # what cannot be unpacked identifies nothing


def _word(queue: TopicQueue) -> str:
    return f"{queue.topic}/{queue.number}"


def _summary(reading: Reading) -> str:
    if reading.end is None:
        return reading.doubt
    skipped = f", {reading.skipped} offsets without any" if reading.skipped else ""
    doubt = f": {reading.doubt}" if reading.doubt else ""
    span = f"offsets {reading.first} to {reading.end}"
    return f"{span}: {reading.messages} messages{skipped}{doubt}"
