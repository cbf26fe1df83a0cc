"""Random histories: runs full of everything that may go wrong at once.

1. Hypothesis chooses the style of a run and a seed (styles.py); the rows are drawn from
   that seed's generator, because a choice of Hypothesis for every column of every row would take
   minutes.
2. Rows never contradict the record format (each settlement has its attempt, ...), and delivery
   order is total; anything else goes, likely or not.
"""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import (
    NEVER_SENT,
    NO_INTENT,
    NO_OFFSET,
    Outcome,
    Redelivered,
    Strength,
)
from tests.rigs.generated.facts import (
    CONSUMERS,
    MS,
    PROBER,
    PUBLISHERS,
    QUEUES,
    SECOND,
    Dice,
    Style,
    make_facts,
)
from tests.rigs.generated.holds import with_holds
from tests.rigs.generated.notes import with_notes
from tests.rigs.generated.pace import Pace
from tests.rigs.generated.rows import Row, Rows
from tests.rigs.generated.spells import with_spells
from tests.rigs.generated.tales import with_tales
from tests.rigs.generated.terms import with_terms
from tests.rigs.histories.ways import Via

__all__ = ["History", "Row", "Rows", "history"]

MISHAPS: tuple[tuple[Outcome, ...], ...] = (
    (),
    (Outcome.REFUSED,),
    (Outcome.RETURNED,),
    (Outcome.UNKNOWN,),
    (Outcome.UNCONFIRMED,),
    (Outcome.RETURNED, Outcome.CONFIRMED),
    (Outcome.CONFIRMED, Outcome.CONFIRMED),
    (Outcome.REFUSED, Outcome.RETURNED),
)


def history(style: Style) -> "History":
    """The one run of this style."""
    return _Run(Dice(style)).history()


@dataclass(frozen=True)
class History:
    """A run, and words for what was meant to happen in it: for a count of what is generated."""

    facts: Facts
    rows: Rows
    tags: frozenset[str]


@dataclass
class _Run:
    """One run in the making."""

    dice: Dice
    rows: Rows = field(default_factory=dict)
    deliveries: int = 0

    def __post_init__(self) -> None:
        self.style = self.dice.style
        self.random = self.dice.random
        self.sequences = dict.fromkeys(PUBLISHERS, -1)
        self.origins: list[int] = []  # of its windows
        self.tags: set[str] = set()
        self.pace = Pace(self.style, self.dice.start_ns, self.dice.end_ns, self.tags)

    def history(self) -> History:
        facts = make_facts(self.dice)
        self.origins = [window.origin_ns for window in facts.windows]
        for number in range(self.style.messages):
            self._message(facts, number)
        for _ in range(self.random.choice([0, 0, 1, 3])):
            self._stray()
        for _ in range(self.random.choice([0, 0, 2])):
            self._canary()
        self._client_events()
        self._lateness()
        facts = self._with_additions(self._on_the_edge(facts))
        for listing in self.rows.values():
            self.random.shuffle(listing)
        self._held_and_given_back()
        return History(facts, self.rows, frozenset(self.tags))

    def _with_additions(self, facts: Facts) -> Facts:
        """What modules with dice of their own make of it, the tales last."""
        rows, seed = self.rows, self.style.seed
        if self.style.spells:
            facts = with_spells(facts, rows, seed, self.tags)
        else:
            facts = with_holds(facts, rows, seed)
        with_notes(facts, rows, seed, self.tags)
        facts = with_terms(facts, rows, seed)
        return with_tales(facts, rows, seed, self.tags)

    def add(self, table: str, **row: int | str | None) -> None:
        self.rows.setdefault(table, []).append(row)

    def _moment(self, table: str, column: str) -> int:
        """A time; often exactly one at which something else happened."""
        listing = self.rows.get(table, [])
        if listing and self.dice.often(60):
            moment = self.random.choice(listing)[column]
            assert isinstance(moment, int)
            return moment
        return self.dice.time()

    def _on_the_edge(self, facts: Facts) -> Facts:
        """The same run with rivals and windows that end, or are over, as something happens."""
        competing_leaders = [
            replace(each, until_ns=max(each.from_ns, self._moment("deliveries", "received_ns")))
            for each in facts.competing_leaders
        ]
        windows = [
            replace(
                each, ended_ns=max(each.returned_ns, self._moment("settlements", "settled_ns"))
            )
            if self.dice.often(40)
            else each
            for each in facts.windows
        ]
        windows = [
            replace(each, over_ns=self._moment("deliveries", "received_ns"))
            if each.over_ns is not None and self.dice.often(40)
            else each
            for each in windows
        ]
        return replace(facts, competing_leaders=tuple(competing_leaders), windows=tuple(windows))

    # --- messages ---

    def _message(self, facts: Facts, number: int) -> None:
        intended = self._intended(number)
        if intended is None:
            return
        producer = self.random.choice(PUBLISHERS)
        if self.style.stretch:
            producer = self.pace.producer(intended, producer)
        # Dense by contract; a leap makes slots too sparse to index, which changes nothing.
        self.sequences[producer] += 10**12 if self.dice.mishap(2) else 1
        sequence = self.sequences[producer]
        queue: str | None = None if self.dice.mishap(2) else self.random.choice(QUEUES)
        if self.style.stretch and queue is not None:
            queue = self.pace.queue(intended, queue)
        key = self.random.choice([0, 0, 1, 2])
        attempts = 1
        while attempts < 4 and self.dice.mishap(20):
            attempts += 1
        at_ns, sent = intended, []
        connection = 1
        first = 2 if attempts > 1 and self.dice.mishap(5) else 1
        for attempt in range(first, attempts + 1):
            at_ns = self.dice.soon(at_ns)
            never = attempt == 1 and self.dice.mishap(6)
            connection += self.dice.mishap(15)
            self.add(
                "attempts",
                producer=producer,
                sequence=sequence,
                attempt=attempt,
                queue=queue,
                key=key,
                intended_ns=self._recorded_intent(attempt, intended),
                sent_ns=NEVER_SENT if never else at_ns,
                connection=connection,
                tag=number,
                body_bytes=100,
            )
            if not never:
                sent.append(at_ns)
            if not never or self.dice.mishap(10):
                self._settle(facts, producer, sequence, attempt, at_ns)
        identity = {"producer": producer, "sequence": sequence, "key": key}
        self._deliveries(identity, attempts, queue, sent[0] if sent else intended)

    def _intended(self, number: int) -> int | None:
        return self.pace.intended_ns(number) if self.style.stretch else self.dice.time()

    def _recorded_intent(self, attempt: int, intended_ns: int) -> int:
        # With a few less there would be no good stretch where the rate is just enough for one.
        if attempt > 1 or self.style.paced == self.dice.often(0 if self.style.spells else 3):
            return NO_INTENT
        return intended_ns

    def _settle(
        self, facts: Facts, producer: int, sequence: int, attempt: int, sent_ns: int
    ) -> None:
        outcomes: tuple[Outcome, ...] = (Outcome.CONFIRMED,)
        if self.dice.mishap(35) or (self.style.stretch and self._in_outage(facts, sent_ns)):
            outcomes = self.random.choice(MISHAPS)
        elif not self.style.confirms and self.dice.often(90):
            outcomes = (Outcome.UNCONFIRMED,)
        for outcome in outcomes:
            confirmed = outcome is Outcome.CONFIRMED
            self.add(
                "settlements",
                producer=producer,
                sequence=sequence,
                attempt=attempt,
                settled_ns=self.dice.soon(sent_ns),
                outcome=int(outcome),
                strength=int(self.random.choice(list(Strength)[1:]) if confirmed else 0),
                raw=outcome.name,
                connection=1,
            )

    def _in_outage(self, facts: Facts, at_ns: int) -> bool:
        origins = [window.origin_ns for window in facts.windows]
        return any(origin <= at_ns < origin + SECOND for origin in origins) and self.dice.often(60)

    # --- deliveries ---

    def _deliveries(self, identity: Row, attempts: int, queue: str | None, sent_ns: int) -> None:
        copies = 1
        if self.dice.mishap(15):
            copies = 0
        while copies and copies < 6 and self.dice.mishap(40):
            copies += 1
        at_ns = self.dice.soon(sent_ns)
        attempt = self.random.randint(1, attempts)
        for copy in range(copies):
            if self.dice.mishap(30):
                attempt = self.random.randint(1, attempts + self.dice.mishap(20))
            flagged = self.dice.often(self.style.flagged) if copy else self.dice.mishap(10)
            self._deliver(identity, attempt, queue, at_ns, flagged)
            # Only what comes seven seconds later may be of a log that was rolled back.
            later = [at_ns + 7 * SECOND] * (8 if self.style.offsets else 0)
            other = [self.dice.soon(at_ns), self.dice.time(), at_ns + 2 * SECOND, *self.origins]
            at_ns = self.random.choice([*later, *other])

    def _deliver(
        self, identity: Row, attempt: int, queue: str | None, at_ns: int, flagged: bool
    ) -> None:
        header_ok, run_ok = not self.dice.mishap(3), not self.dice.mishap(3)
        consumer, connection = self.random.choice(CONSUMERS), self.random.choice([1, 1, 2])
        # Every tag once, in no order, so that ties of time are settled by any of the columns.
        self.deliveries += 1
        tag = self.deliveries * 7_919 % 10_007
        redelivered = Redelivered.YES if flagged else Redelivered.NO
        if self.dice.mishap(6):
            redelivered = Redelivered.NOT_REPORTED
        self.add(
            "deliveries",
            consumer=consumer,
            producer=identity["producer"] if header_ok else 0,
            sequence=identity["sequence"] if header_ok else 0,
            attempt=attempt if header_ok else 0,
            key=identity["key"] if header_ok else 0,
            received_ns=at_ns,
            sent_ns=0,
            queue=self.random.choice(QUEUES) if self.dice.mishap(3) else queue,
            broker=self.random.choice([None, *["node 1"] * 4, "node 2"]),
            offset=self.random.choice([0, 0, 0, tag]) if self._has_offset() else NO_OFFSET,
            redelivered=int(redelivered),
            header_ok=int(header_ok),
            payload_ok=int(not self.dice.mishap(4)),
            run_ok=int(run_ok),
            via=int(self._via()),
            connection=connection,
            tag=tag,
        )
        if self.dice.often(70):
            self._acknowledge(consumer, connection, tag, at_ns)

    def _has_offset(self) -> bool:
        return self.style.offsets and self.dice.often(90)

    def _via(self) -> Via:
        if not self.dice.mishap(30):
            return Via.LOAD
        return self.random.choice([Via.DRAIN, Via.DRAIN, Via.AUDIT, Via.AUDIT, Via.RETRY_TOPIC])

    def _acknowledge(self, consumer: int, connection: int, tag: int, at_ns: int) -> None:
        before, after = self.random.choice([(0, 0), (0, 0), (2, 0), (0, 2), (-1, 1)])
        # A fault excuses what was acknowledged less than a second before it; of a log, six.
        soon = [origin - n * SECOND for origin in self.origins for n in (1, 6)]
        edges = [edge for edge in soon if edge >= at_ns]
        self.add(
            "acknowledgements",
            consumer=consumer,
            connection=3 if self.dice.mishap(5) else connection,
            first_tag=tag - before,
            last_tag=tag + after,
            written_ns=self.random.choice([self.dice.soon(at_ns), self.dice.soon(at_ns), *edges]),
        )

    def _stray(self) -> None:
        """A delivery of what was never sent, or of another run."""
        identity: Row = {
            "producer": self.random.choice([*PUBLISHERS, 3]),
            "sequence": self.random.choice([500, 10**15]),
            "key": 0,
        }
        self._deliver(identity, 1, self.random.choice(QUEUES), self.dice.time(), False)

    def _canary(self) -> None:
        """What the probers published; no answer may change by it."""
        number = self.deliveries
        at_ns = self.dice.time()
        identity: Row = {"producer": -1, "sequence": number, "key": 0}
        self.add(
            "attempts",
            **identity,
            attempt=1,
            queue=self.random.choice([*QUEUES, "canaries"]),
            intended_ns=at_ns,
            sent_ns=at_ns,
            connection=1,
            tag=number,
            body_bytes=100,
        )
        self._deliver(identity, 1, "orders", self.dice.soon(at_ns), False)

    # --- the instrument ---

    def _client_events(self) -> None:
        for _ in range(self.random.choice([0, 0, 2, 4])):
            self.add(
                "client_events",
                worker=self.random.choice([*CONSUMERS, *PUBLISHERS]),
                at_ns=self._moment("deliveries", "received_ns"),
                kind=self.random.choice(["connected", "lost", "closed", "blocked", "cancelled"]),
                connection=self.random.choice([1, 2]),
                queue=None,
                detail=None,
            )

    def _held_and_given_back(self) -> None:
        """With a die of their own: mostly all consumers are on record, and at times a requeue."""
        own = Random(f"requeues of {self.dice.style.seed}")
        came = self.rows.get("deliveries", [])
        kinds = ["requeued"] * (own.choice([0, 0, 1, 3]) if came else 0)
        for kind in (["consuming"] if own.random() < 0.8 else []) + kinds:
            row: dict[str, Any] = own.choice(came) if kind == "requeued" else {}
            for worker in (row["consumer"],) if row else CONSUMERS:
                self.add(
                    "client_events",
                    worker=worker,
                    at_ns=row["received_ns"] + own.choice([0, 1, MS]) if row else 0,
                    kind=kind,
                    connection=row.get("connection", 1),
                    queue=None,
                    detail=own.choice([None, str(row["tag"]), "1"]) if row else None,
                )

    def _lateness(self) -> None:
        for number in range(self.random.choice([0, 0, 1, 4])):
            late = self.random.choice([50 * MS, 100 * MS, 100 * MS + 1, SECOND, 4 * SECOND])
            self.add(
                "lateness",
                worker=self.random.choice([*PUBLISHERS, *CONSUMERS, PROBER, 99]),
                at_ns=self.dice.time(high_ns=self.dice.end_ns + 3 * SECOND) + number,
                late_ns=late,
            )
