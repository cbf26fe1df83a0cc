"""The consumer: records every delivery, and acknowledges what is on record.

1. A delivery is flushed to the log before its acknowledgement is handed to the client library.
2. Acknowledgements are cumulative: one each `batch` deliveries, and the rest each tick.
3. With batch 0 the broker forgets when it sends: nothing is acknowledged.
4. A cancelled subscription is renewed on the same link, a lost link is replaced.
5. A library that holds its messages back until each is acknowledged gets that for all it handed
   over at once, whatever `batch` says; it fails over by itself, and its link is never given up.
6. Draining and auditing read the same way; only `via`, and the host as `broker`, differ.
7. If it keeps its own place in a log (`resume_at`), its status has the next offset that it wants.
8. A slow consumer (`processing_s`) processes one message after another. An acknowledgement is due
   when the last of its messages is processed. If a link is lost, its messages are given up. A
   nice close acknowledges all that is on record, processed or not.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.workers.clients.port import Client, ConsumingLink, Fetched, LinkLost
from harness.workers.dialling import Dialler, ways
from harness.workers.protocol import Endpoint, WorkerConfig
from harness.workers.recorder import Recorder
from spark_analysis.schema.body import decode
from spark_analysis.schema.words import Redelivered, Via

CLOSE_LIMIT_S = 2.0
PATIENCE_S = 120.0  # for a library that asks broker after broker, a hung one for seconds each
LOOK_LIMIT_S = 5.0


class DueAcknowledgement(NamedTuple):
    """An acknowledgement of these tags, and when it is due, by the loop's clock."""

    first_tag: int
    last_tag: int
    due_s: float


class Consumer:
    """One consumer of one queue. `ready` is called once, when it is first subscribed.

    `connections`: how many connections its worker has opened before it.
    """

    def __init__(
        self,
        config: WorkerConfig,
        recorder: Recorder,
        client: Client,
        ready: Callable[[], None],
        via: Via = Via.LOAD,
        connections: int = 0,
    ) -> None:
        self._recorder = recorder
        self._client = client
        self._ready = ready
        self._via = via
        self._batch = config.acknowledge
        self._processing_s = config.processing_s
        self._patient = client.answers_every_send
        self._subscribe_limit_s = PATIENCE_S if self._patient else config.deadline_s
        # A look that is given up goes on in a library's threads: another would only be in its way.
        self.look_limit_s = PATIENCE_S if self._patient else LOOK_LIMIT_S
        self._dialler = Dialler(ways(config, client), recorder, client.library, connections)
        self._next_offset = config.resume_at
        self._loop = asyncio.get_running_loop()
        self._lost = asyncio.Event()
        self._broker = -1
        self._received = 0
        self._subscriptions = 0
        self._first_tag = 1  # of what is to be acknowledged
        self._last_tag = 0
        self._acknowledgements: list[DueAcknowledgement] = []  # in the order in which they are due
        self._busy_until_s = 0.0  # with the messages that were received
        self._wake: asyncio.TimerHandle | None = None  # when the next acknowledgement is due
        self._soon = False  # a settlement is on its way
        self._cancelled = asyncio.Event()
        self.subscribed = False
        self.link: ConsumingLink | None = None
        self.stirred = asyncio.Event()  # set by each delivery and by each change of the link

    @property
    def marks(self) -> tuple[int, int]:
        """Changes with each delivery and each subscription."""
        return self._received, self._subscriptions

    @property
    def connections(self) -> int:
        """How many connections its worker has opened."""
        return self._dialler.connection

    @property
    def trouble(self) -> str:
        """Why it is not subscribed, as far as known."""
        if self.subscribed:
            return ""
        failure = self._dialler.failure
        return f"{failure.endpoint.host}: {failure.reason}" if failure else "not subscribed"

    async def run(self) -> None:
        """Stays subscribed until it is cancelled."""
        while True:
            link = await self._dialler.dial(self._open)
            if self._lost.is_set():
                continue
            self._ready()
            await self._stay_subscribed(link)

    def start(self, at_ns: int) -> None:
        """Consumers begin as soon as they can."""

    def stop_load(self) -> None:
        """Consumers go on until they are closed."""

    def tick(self) -> None:
        """Ten times a second: acknowledges what no batch was filled with."""
        self._fill_batch()
        self._settle()

    def status(self) -> dict[str, int]:
        counts = dict.fromkeys(("sent", "confirmed", "unknown", "missed", "outstanding"), 0)
        place = {} if self._next_offset is None else {"next_offset": self._next_offset}
        return {**counts, "delivered": self._received, **place}

    async def close(self, nicely: bool) -> None:
        """Acknowledges what is on record; the caller closes the log. `run` must have ended."""
        if nicely:
            self._fill_batch()
            self._settle(every=True)
        self._forget_tags()
        link, self.link = self.link, None
        if link is None:
            return
        if nicely:
            await link.close(CLOSE_LIMIT_S)
        else:
            link.abort()
        self._recorder.event("closed", self._dialler.connection)

    def give_up_link(self, reason: str) -> None:
        """The link does not answer: taken for dead, and replaced."""
        if self.link is not None and not self._patient:
            self._dialler.shun()
            self._give_up(self.link, reason)

    # What the link tells us.

    def delivered(self, tag: int, redelivered: bool, body: bytes, way: int | None = None) -> None:
        recorder = self._recorder
        received_ns = recorder.now_ns()
        flag = Redelivered.YES if redelivered else Redelivered.NO
        via = self._via if way is None else recorder.own_way(way)
        connection = self._dialler.connection
        recorder.delivery(decode(body), received_ns, self._broker, flag, via, connection, tag)
        self._received += 1
        self._last_tag = tag
        self._process(1)
        if self._batch and tag - self._first_tag + 1 >= self._batch:
            self._fill_batch()
        if not self._soon:
            self._soon = True
            self._loop.call_soon(self._settle)
        self.stirred.set()

    def fetched(self, messages: Sequence[Fetched]) -> None:
        recorder, connection, via = self._recorder, self._dialler.connection, self._via
        for tag, body, place, offset, redelivered, way, clock_ns in messages:
            recorder.delivery(
                decode(body),
                recorder.run_ns(clock_ns),
                recorder.text(place),
                Redelivered.YES if redelivered else Redelivered.NOT_REPORTED,
                via if way is None else recorder.own_way(way),
                connection,
                tag,
                offset,
            )
        self._received += len(messages)
        self._last_tag = messages[-1].tag
        if self._next_offset is not None:
            self._next_offset = max(self._next_offset, messages[-1].offset + 1)
        self._process(len(messages))
        self._add_acknowledgement()
        self._settle()
        self.stirred.set()

    def lost(self, reason: str) -> None:
        self.link = None
        self.subscribed = False
        self._forget_tags()
        self._lost.set()
        self._cancelled.set()
        self.stirred.set()
        self._recorder.event("lost", self._dialler.connection, reason)
        self._recorder.flush()

    def noticed(self, kind: str, detail: str) -> None:
        self._recorder.event(kind, self._dialler.connection, detail)
        if kind == "cancelled":
            self.subscribed = False
            self._cancelled.set()
            self.stirred.set()

    async def _open(self, endpoint: Endpoint) -> ConsumingLink:
        self._lost.clear()
        self._cancelled.clear()
        self._forget_tags()
        self._broker = -1 if self._via is Via.LOAD else self._recorder.text(endpoint.host)
        link = self.link = await self._client.consumer(endpoint, self)
        self._dialler.connected()
        try:
            await self._subscribe(link)
        except TimeoutError:
            self._give_up(link, "no answer to the subscription: taken for dead")
            raise
        except BaseException:
            self.link = None
            link.abort()
            raise
        return link

    async def _stay_subscribed(self, link: ConsumingLink) -> None:
        """Returns when the link is lost."""
        while not self._lost.is_set():
            await self._cancelled.wait()
            if self._lost.is_set():
                return
            self._cancelled.clear()
            try:
                await self._subscribe(link)
            except TimeoutError:
                self.give_up_link("no answer to a new subscription: taken for dead")
            except LinkLost:
                await self._lost.wait()

    async def _subscribe(self, link: ConsumingLink) -> None:
        async with asyncio.timeout(self._subscribe_limit_s):
            await link.consume()
        self._subscriptions += 1
        self.subscribed = True
        self._recorder.event("consuming", self._dialler.connection)
        self.stirred.set()

    def _give_up(self, link: ConsumingLink, reason: str) -> None:
        link.abort()
        self.lost(reason)

    def _process(self, count: int) -> None:
        """Be busy with so many messages more, after those that were received before."""
        if self._processing_s:
            begun_s = max(self._loop.time(), self._busy_until_s)
            self._busy_until_s = begun_s + count * self._processing_s

    def _fill_batch(self) -> None:
        if self._batch and self._last_tag >= self._first_tag:
            self._add_acknowledgement()

    def _add_acknowledgement(self) -> None:
        """Acknowledge what was received since the last one, as soon as all of it is processed."""
        tags = self._first_tag, self._last_tag
        self._acknowledgements.append(DueAcknowledgement(*tags, self._busy_until_s))
        self._first_tag = self._last_tag + 1

    def _forget_tags(self) -> None:
        """Give up what a link gave: its messages are not processed any further."""
        self._acknowledgements.clear()
        self._first_tag, self._last_tag = 1, 0
        self._busy_until_s = 0.0
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None

    def _settle(self, every: bool = False) -> None:
        """Flush what was received, with the acknowledgements that are then handed over: those that
        are due, or every one."""
        self._soon = False
        frames = self._take_due(every)
        if frames:
            written_ns, connection = self._recorder.now_ns(), self._dialler.connection
            for first_tag, last_tag, _ in frames:
                self._recorder.acknowledgement(connection, first_tag, last_tag, written_ns)
        self._recorder.flush()
        for _, last_tag, _ in frames:
            assert self.link is not None
            self.link.acknowledge(last_tag)

    def _take_due(self, every: bool) -> Sequence[DueAcknowledgement]:
        """Return the acknowledgements that are to be handed over; wake up when the next is due."""
        waiting, self._acknowledgements = self._acknowledgements, []
        if self.link is None:
            return ()
        if every or not self._processing_s:
            return waiting
        now_s = self._loop.time()
        due = bisect_right(waiting, now_s, key=lambda one: one.due_s)
        self._acknowledgements = waiting[due:]
        if self._acknowledgements and self._wake is None:
            self._wake = self._loop.call_at(self._acknowledgements[0].due_s, self._on_due)
        return waiting[:due]

    def _on_due(self) -> None:
        self._wake = None
        self._settle()
