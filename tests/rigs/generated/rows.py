"""A teller of small tales: it adds messages, and all that happens to them, to a generated run.

1. What it adds never contradicts the record format, and delivery order stays total.
2. Times are drawn on a coarse grain, and often exactly at an edge of a fault window.
"""

from dataclasses import dataclass
from random import Random

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import (
    NO_INTENT,
    NO_OFFSET,
    Fate,
    Outcome,
    Redelivered,
    Strength,
)
from tests.rigs.generated.facts import CONSUMERS, MS, PUBLISHERS, QUEUES, SECOND
from tests.rigs.histories.ways import Via

Row = dict[str, int | str | None]
Rows = dict[str, list[Row]]

FIRST_TAG = 20_000  # those below belong to the run's own deliveries
LOAD, DRAIN, AUDIT, RETRY = (
    int(each) for each in (Via.LOAD, Via.DRAIN, Via.AUDIT, Via.RETRY_TOPIC)
)
NO, YES, NOT_REPORTED = (int(each) for each in Redelivered)


@dataclass(frozen=True, slots=True)
class Message:
    """Whose rows they are."""

    producer: int
    sequence: int
    queue: str | None
    key: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a delivery came to: it is acknowledged by this name."""

    consumer: int
    connection: int
    tag: int


@dataclass
class Teller:
    """Adds rows to a run; `tags` says what it told."""

    facts: Facts
    rows: Rows
    die: Random
    tags: set[str]

    def __post_init__(self) -> None:
        self.grain_ns = self.die.choice([MS, 500 * MS, 500 * MS, SECOND])
        self._tags = FIRST_TAG
        self._connections = 30
        self._sequences = dict.fromkeys(PUBLISHERS, -1)
        for row in self.rows.get("attempts", ()):
            producer, sequence = row["producer"], row["sequence"]
            assert isinstance(producer, int)
            assert isinstance(sequence, int)
            self._sequences[producer] = max(self._sequences.get(producer, -1), sequence)

    # --- choices ---

    def often(self, percent: int) -> bool:
        return self.die.randrange(100) < percent

    def tag(self, *words: object) -> None:
        self.tags.add(" ".join(str(word) for word in words))

    def moment(self) -> int:
        """A time of the load; at times an edge of a window."""
        edges = self.edges()
        if edges and self.often(40):
            return max(0, self.near(self.die.choice(edges)))
        span_ns = max(self.facts.load_ended_ns - self.facts.load_started_ns, 0)
        steps = self.die.randint(0, span_ns // self.grain_ns)
        return self.facts.load_started_ns + steps * self.grain_ns

    def edges(self) -> list[int]:
        windows = self.facts.windows
        every = [(w.origin_ns, w.returned_ns, w.ended_ns, w.over_ns) for w in windows]
        return [at_ns for each in every for at_ns in each if at_ns is not None]

    def near(self, at_ns: int) -> int:
        """Exactly then, or as near as can be."""
        return at_ns + self.die.choice([-1, 0, 0, 1])

    def a_while(self) -> int:
        return self.die.choice([0, 1, MS, 500 * MS, SECOND, 5 * SECOND, 6 * SECOND])

    def consumer(self) -> int:
        return self.die.choice(CONSUMERS)

    def connection(self) -> int:
        """One that no other tale is about."""
        self._connections += 1
        return self._connections

    def bound_ns(self, *workers: int) -> int:
        """How far the clocks of these may be off."""
        return sum(clock.bound_ns for clock in self.facts.clocks if clock.worker in workers)

    # --- rows ---

    def message(self, *, producer: int = 0, queue: str = "", key: int = -1) -> Message:
        producer = producer or self.die.choice(PUBLISHERS)
        self._sequences[producer] += 1
        queue = queue or self.die.choice(QUEUES)
        key = self.die.choice([0, 0, 1]) if key < 0 else key
        return Message(producer, self._sequences[producer], queue, key)

    def send(
        self,
        message: Message,
        sent_ns: int,
        *outcomes: tuple[Outcome, int],
        attempt: int = 1,
        connection: int = 1,
    ) -> None:
        """One attempt; each outcome with its time."""
        is_due = attempt == 1 and self.facts.paced and self.often(50)
        self._add(
            "attempts",
            producer=message.producer,
            sequence=message.sequence,
            attempt=attempt,
            queue=message.queue,
            key=message.key,
            intended_ns=max(sent_ns, 0) if is_due else NO_INTENT,
            sent_ns=sent_ns,
            connection=connection,
            tag=message.sequence,
            body_bytes=100,
        )
        for outcome, settled_ns in outcomes:
            self._settle(message, attempt, outcome, settled_ns, connection)

    def _settle(
        self, message: Message, attempt: int, outcome: Outcome, settled_ns: int, connection: int
    ) -> None:
        confirmed = outcome is Outcome.CONFIRMED
        self._add(
            "settlements",
            producer=message.producer,
            sequence=message.sequence,
            attempt=attempt,
            settled_ns=settled_ns,
            outcome=int(outcome),
            strength=int(self.die.choice(list(Strength)[1:]) if confirmed else 0),
            raw=outcome.name,
            connection=connection,
        )

    def delay(self, message: Message, attempt: int, due_ns: int) -> None:
        self._add(
            "terms",
            producer=message.producer,
            sequence=message.sequence,
            attempt=attempt,
            due_ns=due_ns,
            fate=int(Fate.NONE),
        )

    def deliver(
        self,
        message: Message,
        received_ns: int,
        *,
        attempt: int = 1,
        via: int = LOAD,
        redelivered: int = NO,
        consumer: int = 0,
        connection: int = 1,
        queue: str | None = "",
        broker: str | None = "node 1",
        offset: int = NO_OFFSET,
    ) -> Place:
        """One delivery; in the message's queue where none is named."""
        self._tags += 1
        place = Place(consumer or self.consumer(), connection, self._tags)
        self._add(
            "deliveries",
            consumer=place.consumer,
            producer=message.producer,
            sequence=message.sequence,
            attempt=attempt,
            key=message.key,
            received_ns=received_ns,
            sent_ns=0,
            queue=message.queue if queue == "" else queue,
            broker=broker,
            offset=offset,
            redelivered=redelivered,
            header_ok=1,
            payload_ok=1,
            run_ok=1,
            via=via,
            connection=place.connection,
            tag=place.tag,
        )
        return place

    def acknowledge(self, first: Place, written_ns: int, last: Place | None = None) -> None:
        """A range of tags on one connection; one tag where no last one is named."""
        self._add(
            "acknowledgements",
            consumer=first.consumer,
            connection=first.connection,
            first_tag=first.tag,
            last_tag=(last or first).tag,
            written_ns=written_ns,
        )

    def lose(self, place: Place, at_ns: int) -> None:
        """The connection of this delivery ends."""
        self._add(
            "client_events",
            worker=place.consumer,
            at_ns=at_ns,
            kind=self.die.choice(["lost", "closed"]),
            connection=place.connection,
            queue=None,
            detail=None,
        )

    def be_late(self, worker: int, from_ns: int, at_ns: int) -> None:
        self._add("lateness", worker=worker, at_ns=at_ns, late_ns=at_ns - from_ns)

    def _add(self, table: str, **row: int | str | None) -> None:
        self.rows.setdefault(table, []).append(row)


def confirmed(settled_ns: int) -> tuple[Outcome, int]:
    return Outcome.CONFIRMED, settled_ns
