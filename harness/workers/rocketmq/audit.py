"""The audit of one broker's log: every queue that may hold messages of the topic, read whole.

1. Each queue is read from its least to its greatest offset, as they are when its turn comes; the
   load has ended by then. Nothing is committed: consumers find everything as they left it.
2. A message is on record as a delivery by audit, with its offset and the place where it was found.
3. Each queue is a row of `probes`, and so is each group's offset against the queue's greatest one.
4. What could not be read is told, queue by queue: it may hold anything.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from harness.workers.protocol import Endpoint, WorkerConfig
from harness.workers.recorder import Recorder
from harness.workers.remoting import answers, records, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import Refused, WireError
from harness.workers.remoting.reading import Reading
from harness.workers.remoting.records import Message
from harness.workers.remoting.requests import Queue, Request
from harness.workers.rocketmq.connection import Unanswered
from harness.workers.rocketmq.holdings import belongs, queues_to_read
from harness.workers.rocketmq.line import Line
from spark_analysis.schema.body import Body, decode
from spark_analysis.schema.words import Redelivered, Via

QUEUE_READ, CONSUMER_OFFSET = "queue read", "consumer offset"  # kinds of probes' rows
ASK_LIMIT_S = 5.0
TRIES = 3  # of one question, each on a connection that lives
SIDE_BY_SIDE = 8  # queues that are read at a time

T = TypeVar("T")


class LogAuditor:
    """Reads the broker at `config.endpoints[0]`; `say` is told the end once."""

    def __init__(
        self,
        config: WorkerConfig,
        recorder: Recorder,
        ready: Callable[[], None],
        say: Callable[[dict[str, Any]], None],
    ) -> None:
        self._config = config
        self._recorder = recorder
        self._ready = ready
        self._say = say
        self._line = Line(config.endpoints[0])
        self._found = 0

    async def run(self) -> None:
        """Returns when all is read and told."""
        doubts: Sequence[str] = ()
        try:
            async with asyncio.timeout(self._config.limit_s):
                doubts = await self._audit()
        except TimeoutError:
            doubts = (f"not read to its end within {self._config.limit_s:g} s",)
        except (Unanswered, Refused, WireError) as error:
            doubts = (str(error),)
        self._recorder.flush()
        queue, doubt = self._config.queue_word, "; ".join(doubts)
        self._say({"say": "drained", "queue": queue, "complete": not doubt, "doubt": doubt})

    def start(self, at_ns: int) -> None:
        """Reading begins with the configuration."""

    def stop_load(self) -> None:
        """There is no load."""

    def tick(self) -> None:
        """Nothing is acknowledged."""

    def status(self) -> dict[str, int]:
        counts = dict.fromkeys(("sent", "confirmed", "unknown", "missed", "outstanding"), 0)
        return {**counts, "delivered": self._found}

    async def close(self, nicely: bool) -> None:  # noqa: ARG002  (the port's)
        """The same either way: nothing that was asked needs a farewell."""
        self._line.close()

    async def _audit(self) -> Sequence[str]:
        """What stands against the audit being whole."""
        topics = await self._ask(requests.topic_configs(), answers.topics)
        self._ready()
        turns = asyncio.Semaphore(SIDE_BY_SIDE)
        queues = queues_to_read(topics, self._config.queue)
        readings = await asyncio.gather(*(self._read(queue, turns) for queue in queues))
        await self._compare_offsets(readings)
        doubts = [f"{_word(one.queue)}: {one.doubt}" for one in readings if one.doubt]
        if not any(queue.topic == self._config.queue for queue in queues):
            doubts.insert(0, f"the broker has no topic {self._config.queue}")
        return doubts

    async def _read(self, queue: Queue, turns: asyncio.Semaphore) -> Reading:
        reading = Reading(queue)
        async with turns:
            started_ns = self._recorder.now_ns()
            while (request := reading.request) is not None:
                try:
                    answer = await self._answer(request)
                except Unanswered as error:
                    reading.doubt = str(error)
                else:
                    self._note(queue, reading.hear(answer))
            self._probe(QUEUE_READ, queue, "", started_ns, not reading.doubt, _summary(reading))
        return reading

    def _note(self, queue: Queue, messages: Iterable[Message]) -> None:
        recorder = self._recorder
        place = recorder.text(f"{self._endpoint.host} {_word(queue)}")
        received_ns = recorder.now_ns()
        for message in messages:
            if belongs(message, self._config.queue):
                self._found += 1
                recorder.delivery(
                    _body(message),
                    received_ns,
                    place,
                    Redelivered.NOT_TOLD,
                    Via.AUDIT,
                    self._line.connects,
                    self._found,
                    message.offset,
                )
        recorder.flush()

    async def _compare_offsets(self, readings: Sequence[Reading]) -> None:
        """A consumer's offset is the next that it would be given: at the end, all is consumed."""
        started_ns = self._recorder.now_ns()
        offsets = await self._ask(requests.consumer_offsets(), answers.offsets)
        ends = {reading.queue: reading.end for reading in readings}
        for (group, queue), offset in sorted(offsets.items()):
            if (end := ends.get(queue)) is not None:
                behind = end - offset
                detail = f"committed {offset} of {end}, {behind} behind"
                self._probe(CONSUMER_OFFSET, queue, group, started_ns, not behind, detail)

    def _probe(
        self, kind: str, queue: Queue, group: str, started_ns: int, ok: bool, detail: str
    ) -> None:
        target = " ".join(filter(None, (self._endpoint.host, _word(queue), group)))
        self._recorder.probe(kind, target, started_ns, self._recorder.now_ns(), ok, detail)

    async def _ask(self, request: Request, read: Callable[[Request, Command], T]) -> T:
        """Raises Unanswered, Refused, WireError."""
        return read(request, await self._answer(request))

    async def _answer(self, request: Request) -> Command:
        """Asked again where nothing came: reading twice changes nothing. Raises Unanswered."""
        for _ in range(TRIES - 1):
            try:
                return await self._line.ask(request, ASK_LIMIT_S)
            except Unanswered:
                continue
        return await self._line.ask(request, ASK_LIMIT_S)

    @property
    def _endpoint(self) -> Endpoint:
        return self._line.endpoint


def _body(message: Message) -> Body:
    try:
        return decode(records.content(message))
    except WireError:
        return Body(None, False)  # what cannot be unpacked identifies nothing


def _word(queue: Queue) -> str:
    return f"{queue.topic}/{queue.number}"


def _summary(reading: Reading) -> str:
    if reading.end is None:
        return reading.doubt
    skipped = f", {reading.skipped} offsets without any" if reading.skipped else ""
    doubt = f": {reading.doubt}" if reading.doubt else ""
    span = f"offsets {reading.first} to {reading.end}"
    return f"{span}: {reading.messages} messages{skipped}{doubt}"
