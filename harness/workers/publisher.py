"""The publisher: sends publishes at their intended times, retries, and records what came of them.

1. Open loop: it sends whatever is due, as far as the confirm window has room; what is waiting for
   a retry fills the window, too, so that a queue that refuses everything does not grow a flood.
2. Write ahead: `_pump` flushes attempts before it returns to the loop, and nothing leaves earlier.
   What was settled follows within 10 ms: an attempt whose settlement is not there is unknown.
   Of a load at maximum rate that a link sends by itself, the link does so (refilling.py).
3. It sends at most BURST at a time (PACED_BURST of a paced load), then lets the loop serve what
   came in. Retries wait while the socket takes nothing; first attempts do not.
4. No confirm is waited for without our own watchdog: when the oldest is older than the deadline,
   the connection is taken for dead, aborted, and the next endpoint is tried first. A publisher
   that stood still itself first reads what came in meanwhile.
5. A client that answers every send, and fails over by itself, is never taken for dead: its own
   patience is what is under test, and what it says late still counts.
6. One that serves several queues sends to them in turn, over one link. Each key belongs to one
   queue.
"""

import asyncio
from collections.abc import Callable, Sequence

from harness.workers.clients.port import (
    Answer,
    BulkPublishingLink,
    Client,
    KeyedPublishingLink,
    PublishingLink,
)
from harness.workers.core.pacing import NS_PER_S, Pacing
from harness.workers.core.publishes import Book, Settlement
from harness.workers.core.seconds import Second, Seconds
from harness.workers.dialling import Dialler, ways
from harness.workers.protocol import Endpoint, WorkerConfig
from harness.workers.recorder import Recorder
from harness.workers.refilling import Refilling
from spark_analysis.schema.body import Identity, decode, encode, encode_all
from spark_analysis.schema.words import NO_INTENT, Outcome

BURST = 250  # some milliseconds of work; smaller bursts make more, smaller frames of confirms
# pika writes a message by three calls of the system, all that wait in one turn of the loop: of 500
# retries at once that was a stall of over 100 ms, beside brokers that wanted the processor, too.
PACED_BURST = 50
BUFFER_LIMIT_BYTES = 1 << 20  # fire and forget: what may wait for the socket
BUFFER_PAUSE_S = 0.001
# Of retries: what piles up before a socket that takes nothing (an alarm, a slow broker) would all
# leave in one turn of the loop.
RETRY_BUFFER_BYTES = 32 << 10
CLOGGED_PAUSE_NS = 2_000_000
CLOSE_LIMIT_S = 2.0
OVERDUE_NS = 100_000_000  # a publish that is due for so long waits for room
STANDSTILL_NS = 400_000_000  # ticks come ten times a second


class Publisher:
    """One publisher. `ready` is called once, when it is first connected."""

    def __init__(
        self, config: WorkerConfig, recorder: Recorder, client: Client, ready: Callable[[], None]
    ) -> None:
        self._config = config
        self._recorder = recorder
        self._client = client
        self._ready = ready
        self._patient = client.answers_every_send
        self._places = len(config.queues)
        self._keys = config.keys * self._places  # key modulo places is the place of its queue
        self._awaits = config.confirms or self._patient  # every send is settled by the link
        self._deadline_ns = int(config.deadline_s * NS_PER_S)
        self._pacing = Pacing(config.rate, config.phase, self._deadline_ns)
        self._burst = BURST if config.rate is None else PACED_BURST
        self._terms = client.terms
        ordinary = self._awaits and self._terms is None and self._places == 1
        self._may_bulk = config.rate is None and ordinary
        withdrawn = self._terms.withdrawn if self._terms else None
        self._seconds = Seconds(self._pacing, self._deadline_ns, withdrawn)
        self._book = Book(
            config.confirms and config.retry == "until_confirmed",
            withdrawn or _never,
            self._seconds.in_time,
        )
        self._refilling = Refilling(config, recorder, self._book, self._pacing)
        self._dialler = Dialler(ways(config, client), recorder, client.library)
        self._loop = asyncio.get_running_loop()
        self._link: PublishingLink | None = None
        self._keyed: KeyedPublishingLink | None = None  # the same link, if it can
        self._bulk: BulkPublishingLink | None = None  # likewise, of loads at maximum rate
        self._lost = asyncio.Event()
        self._soon = False  # a pump is on its way
        self._starved = False  # the window had no room for what was due
        self._clogged = False  # what was sent waits before the socket, and retries behind it
        self._alarm: asyncio.TimerHandle | None = None
        self._closed = False
        self._broken_off = False
        self._ticked_ns = recorder.now_ns()

    async def run(self) -> None:
        """Stays connected until it is cancelled."""
        while True:
            link = await self._dialler.dial(self._open)
            if self._lost.is_set():
                continue
            self._book.connected()
            self._link = link
            self._keyed = link if isinstance(link, KeyedPublishingLink) else None
            self._bulk = None
            if self._may_bulk and isinstance(link, BulkPublishingLink):
                self._bulk = link
            self._ready()
            self._pump()
            await self._lost.wait()

    def start(self, at_ns: int) -> None:
        self._pacing.start(self._recorder.run_ns(at_ns))
        self._pump()

    def stop_load(self) -> None:
        self._refilling.end()
        self._pacing.stop(self._recorder.now_ns())

    def break_off(self) -> None:
        """Nothing is sent any more, not even again; what is out may still be settled."""
        self._refilling.end()
        self._broken_off = True
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def tick(self) -> None:
        """Ten times a second: what expired, and whether the connection is dead."""
        now_ns = self._recorder.now_ns()
        stood_still = now_ns - self._ticked_ns > STANDSTILL_NS
        self._ticked_ns = now_ns
        self._expire(now_ns)
        if not (self._closed or self._broken_off):
            self._refilling.tick(self._bulk, self._dialler.connection)
        oldest_ns = None if stood_still or self._patient else self._book.oldest_ns()
        if oldest_ns is not None and now_ns - oldest_ns > self._deadline_ns:
            self._hold_for_dead()
        self._recorder.flush()

    def status(self) -> dict[str, int]:
        book, now_ns = self._book, self._recorder.now_ns()
        waiting = self._pacing.waiting(now_ns)
        overdue = self._pacing.waiting(now_ns - OVERDUE_NS)
        return {
            "sent": book.sent,
            "again": book.again,
            "confirmed": book.confirmed,
            "unknown": book.unknown,
            "missed": book.missed(now_ns),
            "delivered": 0,
            "never_sent": book.never_sent,
            "outstanding": book.unsettled + waiting,
            "waiting": overdue,
        }

    def seconds(self) -> list[Second]:
        """How much was on time, of the seconds that are final since this was last asked."""
        if not self._config.confirms:
            return []
        return self._seconds.settled(self._recorder.now_ns(), self._closed)

    async def close(self, nicely: bool) -> None:
        """Settles what is out as unknown; the caller closes the log. `run` must have ended."""
        self._closed = True
        self._refilling.end()
        now_ns = self._recorder.now_ns()
        self._pacing.stop(now_ns)
        for publish in self._pacing.abandon(now_ns):
            self._not_sent(publish.sequence, publish.intended_ns)
        self._record(self._book.lost("closed before it was settled", now_ns), now_ns)
        link, self._link = self._link, None
        if link is None:
            return
        if nicely:
            await link.close(CLOSE_LIMIT_S)
        else:
            link.abort()
        self._recorder.event("closed", self._dialler.connection)

    # What the link tells us.

    def acked(self, tag: int, multiple: bool) -> None:
        now_ns = self._recorder.now_ns()
        self._settle(self._book.acked(tag, multiple, now_ns), now_ns)

    def nacked(self, tag: int, multiple: bool) -> None:
        now_ns = self._recorder.now_ns()
        self._settle(self._book.nacked(tag, multiple, now_ns), now_ns)

    def returned(self, body: bytes, raw: str) -> None:
        identity = decode(body).identity
        if identity is not None:
            self._book.returned(identity.sequence, identity.attempt, raw)

    def answered(self, answers: Sequence[Answer]) -> None:
        self._refilling.end()
        book, recorder, connection = self._book, self._recorder, self._dialler.connection
        for tag, outcome, strength, raw, clock_ns in answers:
            at_ns = recorder.run_ns(clock_ns)
            settlements = book.answered(tag, outcome, raw, at_ns)
            rank = None if strength is None else strength.rank
            recorder.settlements(settlements, at_ns, connection, rank)
        self._go_on()

    def all_confirmed(self, tags: Sequence[int], clocks_ns: Sequence[int], raw: str) -> None:
        self._refilling.sent_up_to(tags)
        times_ns = [self._recorder.run_ns(each) for each in clocks_ns]
        attempts, settled_ns = self._book.all_confirmed(tags, times_ns)
        self._recorder.confirms(attempts, settled_ns, self._dialler.connection, raw)
        if self._refilling.active:
            self._recorder.flush()  # it is gathered for some milliseconds already
        else:
            self._go_on()

    def lost(self, reason: str) -> None:
        """Note that the link is gone; publishes in flight are unknown."""
        self._refilling.end()
        now_ns = self._recorder.now_ns()
        self._link = None
        self._lost.set()
        self._record(self._book.lost(f"connection lost: {reason}", now_ns), now_ns)
        self._recorder.event("lost", self._dialler.connection, reason)
        self._recorder.flush()

    def noticed(self, kind: str, detail: str) -> None:
        self._recorder.event(kind, self._dialler.connection, detail)

    async def _open(self, endpoint: Endpoint) -> PublishingLink:
        self._lost.clear()
        link = await self._client.publisher(endpoint, self)
        self._dialler.connected()
        return link

    def _hold_for_dead(self) -> None:
        link = self._link
        assert link is not None, "attempts are out without a connection"
        self._dialler.shun()
        link.abort()
        limit = f"{self._config.deadline_s:g} s"
        self.lost(
            f"closed by the publisher: its oldest attempt had no confirm for more than {limit}"
        )

    def _settle(self, settlements: list[Settlement], now_ns: int) -> None:
        self._record(settlements, now_ns)
        self._go_on()

    def _go_on(self) -> None:
        """Something was settled: there may be room for more."""
        if self._starved and not self._book.out:
            self._pump()  # nothing else can be on its way here: do not wait for the loop
        elif not self._soon:
            self._soon = True
            self._loop.call_soon(self._pump)

    def _record(self, settlements: list[Settlement], now_ns: int) -> None:
        self._recorder.settlements(settlements, now_ns, self._dialler.connection)

    def _pump(self) -> None:
        """Send the due messages that fit into the window, flush the log, and schedule the next
        call."""
        self._soon = False
        link = self._link
        if link is None or self._closed or self._broken_off or self._refilling.active:
            return
        self._clogged = False
        sent = self._send_retries(link)
        sent += self._send_due(link, min(self._room(link), self._burst - sent))
        self._recorder.flush_attempts()
        self._starved = self._room(link) <= 0
        if sent >= self._burst:
            self._soon = True
            self._loop.call_soon(self._pump)
        else:
            self._set_alarm()

    def _send_retries(self, link: PublishingLink) -> int:
        """A retry always has room: it has filled its place in the window while it waited."""
        now_ns = self._recorder.now_ns()
        for sent in range(self._burst):
            retry_ns = self._book.retry_ns()
            if retry_ns is None or retry_ns > now_ns:
                return sent
            self._clogged = link.buffered_bytes() > RETRY_BUFFER_BYTES
            if self._clogged:
                return sent
            _, sequence, attempt, deadline_ns = self._book.take_retry()
            self._send(link, sequence, attempt, NO_INTENT, deadline_ns)
        return self._burst

    def _send_due(self, link: PublishingLink, most: int) -> int:
        """First attempts. Those whose deadline has passed are not sent."""
        if most <= 0:
            return 0
        now_ns = self._recorder.now_ns()
        if self._bulk is not None:
            return self._send_all(self._bulk, self._pacing.take_range(now_ns, most), now_ns)
        self._expire(now_ns)
        publishes = self._pacing.take(now_ns, most)
        for sequence, intended_ns, deadline_ns in publishes:
            self._send(link, sequence, 1, intended_ns, deadline_ns)
        return len(publishes)

    def _send_all(self, link: BulkPublishingLink, sequences: range, now_ns: int) -> int:
        """As `_send` does with each, in one piece, for loads at maximum rate."""
        if not sequences:
            return 0
        config, tags = self._config, self._book.send_all(sequences, now_ns)
        connection = self._dialler.connection
        self._recorder.first_attempts(sequences, self._keys, now_ns, connection, tags)
        first = Identity(config.run_number, config.number, sequences[0], 1, 0, now_ns)
        link.publish_all(encode_all(first, self._keys, len(sequences), config.body_bytes))
        return len(sequences)

    def _room(self, link: PublishingLink) -> int:
        if self._awaits:
            return self._config.confirm_window - self._book.unsettled
        return self._burst if link.buffered_bytes() < BUFFER_LIMIT_BYTES else 0

    def _send(
        self,
        link: PublishingLink,
        sequence: int,
        attempt: int,
        intended_ns: int,
        deadline_ns: int,
    ) -> None:
        config, recorder, connection = self._config, self._recorder, self._dialler.connection
        key = sequence % self._keys
        place = key % self._places
        now_ns = recorder.now_ns()
        identity = Identity(config.run_number, config.number, sequence, attempt, key, now_ns)
        if self._awaits:
            tag = self._book.send(sequence, attempt, now_ns, deadline_ns)
        else:
            tag = self._book.send_unconfirmed()
        recorder.attempt(sequence, attempt, key, intended_ns, now_ns, connection, tag, place)
        if self._terms and (terms := self._terms.of(sequence, now_ns)):
            recorder.terms(sequence, attempt, *terms)
        body = encode(identity, config.body_bytes)
        if self._keyed is not None:
            self._keyed.publish_to(place, key, body)
        else:
            link.publish(body)
        if not self._awaits:
            self._record([(sequence, attempt, Outcome.UNCONFIRMED, "handed over")], now_ns)

    def _expire(self, now_ns: int) -> None:
        for publish in self._pacing.expire(now_ns):
            self._not_sent(publish.sequence, publish.intended_ns)

    def _not_sent(self, sequence: int, intended_ns: int) -> None:
        self._book.not_sent()
        key = sequence % self._keys
        self._recorder.not_sent(sequence, key, intended_ns, key % self._places)

    def _set_alarm(self) -> None:
        """Calls `_pump` when the next publish or retry is due; a confirm calls it by itself."""
        retry_ns = self._book.retry_ns()
        if self._clogged:
            retry_ns = self._recorder.now_ns() + CLOGGED_PAUSE_NS
        times = [retry_ns, None if self._starved else self._pacing.next_ns()]
        due_s = min(
            (self._recorder.clock_s(due) for due in times if due is not None), default=None
        )
        if self._starved and not self._awaits:
            due_s = self._loop.time() + BUFFER_PAUSE_S
        if self._alarm is not None:
            if self._alarm.when() == due_s:
                return
            self._alarm.cancel()
        self._alarm = None if due_s is None else self._loop.call_at(due_s, self._on_alarm)

    def _on_alarm(self) -> None:
        self._alarm = None
        self._pump()


def _never(_sequence: int) -> bool:
    return False
