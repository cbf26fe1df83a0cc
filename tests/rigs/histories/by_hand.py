"""Histories written by hand: what clients saw in one run, as the facts and rows of
docs/verdicts.md 1.

1. Every method adds what one line of a story says and returns the history, so stories are chains.
2. An event without a time happens 1 ms after the latest one before it.
3. What a story does not mention is calm: one publisher and one consumer that close their logs, one
   ordered queue that is drained, a paced load of 60 s with confirms, no fault window.
4. Rows have every column of their table. Milliseconds in, nanoseconds out: 0.000001 ms is 1 ns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Self

from harness.plan.fault_properties import properties_of
from harness.workers.rocketmq.ways import ROCKETMQ_WAYS
from spark_analysis.schema.facts import (
    Absence,
    Clock,
    CompetingLeaders,
    ConsumerGroup,
    Facts,
    GroupQueue,
    Promise,
    QueueEnd,
    Window,
    Worker,
)
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.tables import TABLES
from spark_analysis.schema.ways import DeliveryWay
from spark_analysis.schema.words import (
    LEVELS,
    NEVER_SENT,
    NO_DUE,
    NO_INTENT,
    NO_OFFSET,
    Fate,
    Level,
    Outcome,
    Redelivered,
    Strength,
    Via,
)

Row = dict[str, int | str | None]
QUEUE = "orders"
PUBLISHER = 1
CONSUMER = 2


def ns(ms: float) -> int:
    """Nanoseconds of so many milliseconds; exact to the nanosecond within a run of days."""
    return round(ms * 1_000_000)


class History:
    """One run, told event by event. `build()` gives (facts, rows) as `judge` takes them."""

    def __init__(
        self,
        *,
        run: str = "run",
        load_ms: tuple[float, float] = (0, 60_000),
        deadline_ms: float = 1_000,
        paced: bool = True,
        confirms: bool = True,
        clock_problem: str = "",
        acknowledges: bool = True,
        polls: bool = False,
        brokers_keep_progress: bool = False,
        reconnect_ms: float = 2_000,
        checks_within_ms: float | None = None,
        levels: tuple[Level, ...] = LEVELS,
        ways: tuple[DeliveryWay, ...] = ROCKETMQ_WAYS,
    ) -> None:
        self.rows: dict[str, list[Row]] = {}
        self._run = run
        self._facts = Facts(
            run=run,
            scenario="scenario",
            system="system",
            layout="layout",
            client="client",
            repeat=0,
            load_started_ns=ns(load_ms[0]),
            load_ended_ns=ns(load_ms[1]),
            deadline_ns=ns(deadline_ms),
            paced=paced,
            confirms=confirms,
            clock_problem=clock_problem,
            workers=(),
            windows=(),
            queues=(),
            competing_leaders=(),
            acknowledges=acknowledges,
            polls=polls,
            brokers_keep_progress=brokers_keep_progress,
            reconnect_ns=ns(reconnect_ms),
            checks_within_ns=None if checks_within_ms is None else ns(checks_within_ms),
            levels=levels,
            ways=ways,
        )
        self._workers: dict[int, Worker] = {}
        self._queues: dict[str, QueueEnd] = {}
        self._windows: list[Window] = []
        self._competing_leaders: list[CompetingLeaders] = []
        self._absences: list[Absence] = []
        self._clocks: list[Clock] = []
        self._promises: list[Promise] = []
        self._groups: list[ConsumerGroup] = []
        self._clock_ns = self._facts.load_started_ns
        self._attempts: dict[tuple[int, int, int], Row] = {}
        self._tags: dict[tuple[int, int], int] = {}
        self.worker(PUBLISHER, "publisher").worker(CONSUMER, "consumer").queue(QUEUE)

    def build(self) -> tuple[Facts, dict[str, list[Row]]]:
        return self.facts, self.rows

    @property
    def facts(self) -> Facts:
        return replace(
            self._facts,
            workers=tuple(self._workers.values()),
            windows=tuple(self._windows),
            queues=tuple(self._queues.values()),
            competing_leaders=tuple(self._competing_leaders),
            absences=tuple(self._absences),
            clocks=tuple(self._clocks),
            promises=tuple(self._promises),
            consumer_groups=tuple(self._groups),
        )

    # What the harness knows by itself.

    def worker(self, number: int, role: str, *, log_closed: bool = True) -> Self:
        """Adds a worker, or says of one that is there how it ended."""
        self._workers[number] = Worker(number, role, log_closed)
        return self

    def log_open(self, number: int) -> Self:
        """This worker died: its log has no closing mark."""
        self._workers[number] = replace(self._workers[number], log_closed=False)
        return self

    def queue(
        self,
        name: str = QUEUE,
        *,
        ordered: bool = True,
        drained: bool = True,
        unreadable: tuple[str, ...] = (),
        quiet_ms: float | None = None,
    ) -> Self:
        """How this queue ended; the last word on a queue holds. When it was quiet is unknown."""
        doubt = "" if drained else "two looks showed messages left"
        quiet_ns = None if quiet_ms is None else ns(quiet_ms)
        self._queues[name] = QueueEnd(name, ordered, drained, doubt, unreadable, quiet_ns)
        return self

    def group(self, name: str, consumer: int, *, of: str = QUEUE, drained: bool = True) -> Self:
        """A consumer group with one consumer: `orders-NAME` is its queue of `orders`, which itself
        is then no queue that anybody reads."""
        queue = GroupQueue(f"{of}-{name}", of)
        self._groups.append(ConsumerGroup(name, (queue,), (consumer,)))
        self._queues.pop(of, None)
        return self.worker(consumer, "consumer").queue(queue.queue, drained=drained)

    def clock(self, worker: int, bound_ms: float) -> Self:
        """This worker's clock is not the run's: its times may be off by so much."""
        self._clocks.append(Clock(worker, ns(bound_ms)))
        return self

    def promise(self, name: str, after_ms: float) -> Self:
        """A source says that clients are served again so long after a fault."""
        self._promises.append(Promise(name, ns(after_ms)))
        return self

    def no_consumer(self) -> Self:
        """Read no queue while the load runs."""
        del self._workers[CONSUMER]
        return self

    def no_queue_end(self, name: str = QUEUE) -> Self:
        """Nothing is known of how this queue ended."""
        del self._queues[name]
        return self

    def window(
        self,
        at_ms: float,
        *,
        returned_ms: float | None = None,
        ended_ms: float | None = None,
        never_ended: bool = False,
        undo_ms: float | None = None,
        over_ms: float | None = None,
        gone_ms: float | None = None,
        kind: str = "kill",
        verified: bool = True,
        gone: bool = True,
    ) -> Self:
        """The next fault window. By itself the action returns, and is undone, at once; when it is
        over is unknown. `undo_ms`, `gone_ms`: when its undo is issued, and when it is seen to be
        gone, where that was noted."""
        returned_ms = at_ms if returned_ms is None else returned_ms
        ended_ms = returned_ms if ended_ms is None else ended_ms
        window = Window(
            number=len(self._windows) + 1,
            kind=kind,
            origin_ns=ns(at_ms),
            returned_ns=ns(returned_ms),
            ended_ns=None if never_ended else ns(ended_ms),
            verified=verified,
            gone=gone,
            unverified_reason="" if verified and gone else "not verified",
            over_ns=None if over_ms is None else ns(over_ms),
            properties=properties_of(kind),
        )
        self._windows.append(window)
        for event, step_ms in (("undo_issued", undo_ms), ("gone", gone_ms)):
            if step_ms is not None:
                row: Row = {"window": window.number, "event": event, "at_ns": ns(step_ms)}
                self.rows.setdefault("faults", []).append(row)
        return self

    def away(self, worker: int, from_ms: float, until_ms: float | None = None) -> Self:
        """A fault kept this worker away from then until then, or for ever."""
        until_ns = None if until_ms is None else ns(until_ms)
        self._absences.append(Absence(worker, ns(from_ms), until_ns))
        return self

    def competing_leaders(self, from_ms: float, until_ms: float, *, queue: str = QUEUE) -> Self:
        """Two masters of this queue were alive from then until then."""
        self._competing_leaders.append(CompetingLeaders(queue, ns(from_ms), ns(until_ms)))
        return self

    # What a publisher saw.

    def publish(
        self,
        sequence: int,
        *,
        at_ms: float | None = None,
        intended_ms: float | None = None,
        attempt: int = 1,
        producer: int = PUBLISHER,
        queue: str = QUEUE,
        key: int = 0,
        connection: int = 1,
    ) -> Self:
        """One attempt, sent; a first one of a paced run is intended for when it is sent."""
        sent_ns = self._at(at_ms)
        return self._attempt(
            sequence, sent_ns, intended_ms, attempt, producer, queue, key, connection
        )

    def terms(
        self,
        sequence: int,
        *,
        wait_ms: float | None = None,
        due_ms: float | None = None,
        fate: Fate = Fate.NONE,
        attempt: int = 1,
        producer: int = PUBLISHER,
    ) -> Self:
        """An attempt that was published is delayed (from its sending, or until then), or in a
        transaction."""
        due_ns = NO_DUE if due_ms is None else ns(due_ms)
        if wait_ms is not None:
            sent_ns = self._attempts[producer, sequence, attempt]["sent_ns"]
            assert isinstance(sent_ns, int)
            due_ns = sent_ns + ns(wait_ms)
        return self._row(
            "terms",
            producer=producer,
            sequence=sequence,
            attempt=attempt,
            due_ns=due_ns,
            fate=int(fate),
        )

    def not_sent(
        self,
        sequence: int,
        *,
        intended_ms: float | None = None,
        attempt: int = 1,
        producer: int = PUBLISHER,
        queue: str = QUEUE,
        key: int = 0,
    ) -> Self:
        """The deadline passed before the attempt could go out."""
        return self._attempt(
            sequence, NEVER_SENT, intended_ms, attempt, producer, queue, key, connection=0
        )

    def confirm(
        self,
        sequence: int,
        *,
        at_ms: float | None = None,
        attempt: int = 1,
        producer: int = PUBLISHER,
        strength: Strength | Level = Strength.REPLICATED,
    ) -> Self:
        return self.settle(
            sequence,
            Outcome.CONFIRMED,
            at_ms=at_ms,
            attempt=attempt,
            producer=producer,
            strength=strength,
        )

    def settle(
        self,
        sequence: int,
        outcome: Outcome,
        *,
        at_ms: float | None = None,
        attempt: int = 1,
        producer: int = PUBLISHER,
        strength: Strength | Level = Strength.NONE,
        raw: str | None = None,
    ) -> Self:
        sent = self._attempts.get((producer, sequence, attempt), {})
        return self._row(
            "settlements",
            producer=producer,
            sequence=sequence,
            attempt=attempt,
            settled_ns=self._at(at_ms),
            outcome=int(outcome),
            strength=strength.rank,
            raw=outcome.name.lower() if raw is None else raw,
            connection=sent.get("connection", 1),
        )

    # What a consumer saw.

    def deliver(
        self,
        sequence: int,
        *,
        at_ms: float | None = None,
        attempt: int = 1,
        producer: int = PUBLISHER,
        via: int = Via.LOAD,
        redelivered: Redelivered = Redelivered.NO,
        consumer: int = CONSUMER,
        connection: int = 1,
        tag: int | None = None,
        queue: str | None = None,
        place: str | None = None,
        offset: int = NO_OFFSET,
        payload_ok: bool = True,
        run_ok: bool = True,
    ) -> Self:
        """One delivery; without a tag it gets the next one of its connection."""
        sent = self._attempts.get((producer, sequence, attempt), {})
        return self._row(
            "deliveries",
            consumer=consumer,
            producer=producer,
            sequence=sequence,
            attempt=attempt,
            key=sent.get("key", 0),
            received_ns=self._at(at_ms),
            sent_ns=sent.get("sent_ns", 0),
            queue=sent.get("queue", QUEUE) if queue is None else queue,
            broker=place,
            offset=offset,
            redelivered=int(redelivered),
            header_ok=1,
            payload_ok=int(payload_ok),
            run_ok=int(run_ok),
            via=int(via),
            connection=connection,
            tag=self._tag(consumer, connection, tag),
        )

    def deliver_broken(
        self,
        *,
        at_ms: float | None = None,
        via: int = Via.LOAD,
        consumer: int = CONSUMER,
        connection: int = 1,
        tag: int | None = None,
        queue: str = QUEUE,
    ) -> Self:
        """A delivery whose header cannot be believed: every identity column is 0."""
        self.deliver(
            0,
            at_ms=at_ms,
            attempt=0,
            producer=0,
            via=via,
            consumer=consumer,
            connection=connection,
            tag=tag,
            queue=queue,
            payload_ok=False,
            run_ok=False,
        )
        self.rows["deliveries"][-1] |= {"header_ok": 0, "key": 0, "sent_ns": 0}
        return self

    def acknowledge(
        self,
        first_tag: int,
        last_tag: int | None = None,
        *,
        at_ms: float | None = None,
        consumer: int = CONSUMER,
        connection: int = 1,
    ) -> Self:
        """One acknowledgement frame; it covers first_tag..last_tag."""
        return self._row(
            "acknowledgements",
            consumer=consumer,
            connection=connection,
            first_tag=first_tag,
            last_tag=first_tag if last_tag is None else last_tag,
            written_ns=self._at(at_ms),
        )

    # What any worker saw.

    def client_event(
        self,
        kind: str,
        *,
        at_ms: float | None = None,
        worker: int = CONSUMER,
        connection: int = 1,
        queue: str | None = None,
        detail: str | None = None,
    ) -> Self:
        return self._row(
            "client_events",
            worker=worker,
            at_ns=self._at(at_ms),
            kind=kind,
            connection=connection,
            queue=queue,
            detail=detail,
        )

    def stall(self, worker: int, *, at_ms: float, late_ms: float) -> Self:
        """The worker's tick ran at `at_ms`, so late."""
        return self._row("lateness", worker=worker, at_ns=ns(at_ms), late_ns=ns(late_ms))

    def flow(
        self,
        sequences: Iterable[int],
        *,
        from_ms: float,
        every_ms: float,
        confirm_after_ms: float | None = 1,
        deliver_after_ms: float | None = 2,
        producer: int = PUBLISHER,
        queue: str = QUEUE,
    ) -> Self:
        """Messages at a steady pace, each confirmed and delivered so much later; None: never."""
        for index, sequence in enumerate(sequences):
            at_ms = from_ms + index * every_ms
            self.publish(sequence, at_ms=at_ms, producer=producer, queue=queue)
            if confirm_after_ms is not None:
                self.confirm(sequence, at_ms=at_ms + confirm_after_ms, producer=producer)
            if deliver_after_ms is not None:
                self.deliver(sequence, at_ms=at_ms + deliver_after_ms, producer=producer)
        return self

    def _attempt(
        self,
        sequence: int,
        sent_ns: int,
        intended_ms: float | None,
        attempt: int,
        producer: int,
        queue: str,
        key: int,
        connection: int,
    ) -> Self:
        intended_ns = NO_INTENT
        if self._facts.paced and attempt == 1:
            unsaid_ns = self._clock_ns if sent_ns == NEVER_SENT else sent_ns
            intended_ns = unsaid_ns if intended_ms is None else ns(intended_ms)
        self._row(
            "attempts",
            producer=producer,
            sequence=sequence,
            attempt=attempt,
            queue=queue,
            key=key,
            intended_ns=intended_ns,
            sent_ns=sent_ns,
            connection=connection,
            tag=sequence,
            body_bytes=100,
        )
        self._attempts[producer, sequence, attempt] = self.rows["attempts"][-1]
        return self

    def _tag(self, consumer: int, connection: int, tag: int | None) -> int:
        latest = self._tags.get((consumer, connection), 0)
        tag = latest + 1 if tag is None else tag
        self._tags[consumer, connection] = max(latest, tag)
        return tag

    def _at(self, at_ms: float | None) -> int:
        at_ns = self._clock_ns + ns(1) if at_ms is None else ns(at_ms)
        self._clock_ns = max(self._clock_ns, at_ns)
        return at_ns

    def _row(self, table: str, **values: int | str | None) -> Self:
        assert tuple(values) == TABLES[table].names, (table, values)
        self.rows.setdefault(table, []).append(values)
        return self


def counts(findings: Findings, *measures: str, queue: str = QUEUE) -> Mapping[str, int]:
    """The counts of these measures in one queue, as {"measure detail": count}."""
    return {
        f"{row.measure} {row.detail}".rstrip(): row.count
        for row in findings.counts
        if row.measure in measures and row.queue == queue
    }


def affected(findings: Findings, *measures: str) -> list[tuple[str, int, int, int]]:
    """The affected rows of these measures, as sorted (detail, sequence, attempt, at_ns)."""
    return sorted(
        (row.detail, row.sequence, row.attempt, row.at_ns)
        for row in findings.affected
        if row.measure in measures
    )
