"""Histories of a queue by message, which may be changed before they are written down as rows.

1. A sketch begins healthy: ten messages a second, each confirmed after 5 ms, delivered after 10 ms
   and acknowledged 2 ms later. Message n is sent at 50 ms + n * 100 ms.
2. What is declared is a mirrored queue with three copies, and a client that knows all hosts.
3. A case says which promises FAIL; every other promise must not.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.analyse.history import evidence, state
from harness.analyse.questions import question
from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome, ClaimVerdict, judge
from harness.histories.history import FactValue
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.words import Outcome, Redelivered, Strength, Via
from tests.rigs.defects.runs import Run
from tests.rigs.defects.runs import history as written
from tests.rigs.histories.both_judges import judged_by_both
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, ns
from tests.rigs.histories.conformance import rows
from tests.rigs.histories.declared import MIRRORED

OTHER, DRAIN = 71, 90  # consumers
KILLED_MS, UNDONE_MS, OVER_MS = 15_000, 35_000, 36_000
_DECLARED: Mapping[str, FactValue] = {
    **MIRRORED,
    "promote_on_failure": "when-synced",
    "reconnect_s": 2,
}
_AT_FAULT: Mapping[str, FactValue] = {
    "mirrors_at_fault": 2,
    "synchronised_mirrors_at_fault": 2,
    "promoted_mirror_rank": 1,
}


@dataclass
class SentAttempt:
    """One attempt, and what was said of it; without a time it has no answer."""

    at_ms: float
    settled_ms: float | None
    outcomes: tuple[Outcome, ...]
    named: dict[str, Any]  # of History.publish
    level: Strength = Strength.REPLICATED  # of its confirms


@dataclass
class SketchedDelivery:
    """One delivery; without a time it is not acknowledged."""

    sequence: int
    at_ms: float
    acked_ms: float | None
    named: dict[str, Any]  # of History.deliver

    def move(self, at_ms: float) -> None:
        """Let it come at another time, and be acknowledged at once."""
        self.at_ms, self.acked_ms = at_ms, at_ms + 2


@dataclass
class Sketch:
    """A history by message. `history` has what the harness knows, and the events of clients."""

    history: History
    sent: dict[tuple[int, int, int], SentAttempt] = field(default_factory=dict)
    came: list[SketchedDelivery] = field(default_factory=list)
    declared: dict[str, FactValue] = field(default_factory=lambda: dict(_DECLARED))
    recorded: dict[int, dict[str, FactValue]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)  # in place of the history's

    def send(
        self,
        sequence: int,
        at_ms: float,
        outcome: Outcome = Outcome.CONFIRMED,
        *,
        settled_ms: float | None = None,
        attempt: int = 1,
        producer: int = PUBLISHER,
        **named: Any,
    ) -> None:
        settled_ms = at_ms + 5 if settled_ms is None else settled_ms
        one = SentAttempt(at_ms, settled_ms, (outcome,), named)
        self.sent[producer, sequence, attempt] = one

    def deliver(
        self, sequence: int, at_ms: float, *, again: bool = False, acked: bool = True, **named: Any
    ) -> None:
        """`again`: flagged as redelivered."""
        if again:
            named["redelivered"] = Redelivered.YES
        if named.get("via") in (Via.DRAIN, Via.AUDIT):
            named |= {"consumer": DRAIN, "connection": 9}
        acked = acked and named.get("via") != Via.AUDIT
        one = SketchedDelivery(sequence, at_ms, at_ms + 2 if acked else None, named)
        self.came.append(one)

    def flow(self, from_ms: float, until_ms: float, *, connection: int = 1, **named: Any) -> None:
        """Healthy messages of that time. `named`: a producer, a queue."""
        producer = {key: value for key, value in named.items() if key == "producer"}
        consumer = named.pop("consumer", CONSUMER)
        at_ms = from_ms
        while at_ms < until_ms:
            sequence = round(at_ms - 50) // 100
            self.send(sequence, at_ms, connection=connection, **named)
            self.deliver(
                sequence, at_ms + 10, connection=connection, consumer=consumer, **producer
            )
            at_ms += 100

    def first(self, sequence: int) -> SketchedDelivery:
        return next(one for one in self.came if one.sequence == sequence)

    def since(self, at_ms: float, until_ms: float = float("inf")) -> list[SketchedDelivery]:
        """Return the deliveries of that time."""
        return [one for one in self.came if at_ms <= one.at_ms < until_ms]

    def attempts(self, from_ms: float, until_ms: float) -> list[SentAttempt]:
        """Return the attempts of that time."""
        return [one for one in self.sent.values() if from_ms <= one.at_ms < until_ms]

    def lose(self, *sequences: int) -> None:
        """No consumer gets these."""
        self.came = [one for one in self.came if one.sequence not in sequences]

    def lose_of(self, producer: int, *sequences: int) -> None:
        """No consumer gets these messages of that publisher."""
        self.came = [
            one
            for one in self.came
            if one.sequence not in sequences or one.named.get("producer", PUBLISHER) != producer
        ]

    def answer(self, sequence: int, *outcomes: Outcome, settled_ms: float | None = None) -> None:
        """The first attempt of that message has these settlements."""
        one = self.sent[PUBLISHER, sequence, 1]
        one.outcomes = outcomes
        one.settled_ms = one.settled_ms if settled_ms is None else settled_ms

    def forget_to_acknowledge(self, *sequences: int) -> None:
        for sequence in sequences:
            self.first(sequence).acked_ms = None

    def silence(self, from_ms: float, until_ms: float) -> None:
        """What is sent in that time is never confirmed, and gone."""
        for (_, sequence, _), one in self.sent.items():
            if from_ms <= one.at_ms < until_ms:
                one.outcomes, one.settled_ms = (Outcome.UNKNOWN,), one.at_ms + 1_000
                self.lose(sequence)

    def hold(self, from_ms: float, until_ms: float) -> None:
        """What would come in that time comes in order after it."""
        for place, one in enumerate(self.since(from_ms, until_ms)):
            one.move(until_ms + 1 + place * 0.05)

    def fault(
        self,
        at_ms: float = KILLED_MS,
        undo_ms: float = UNDONE_MS,
        *,
        kind: str = "kill",
        role: str = "master",
        **named: Any,
    ) -> None:
        self.history.window(
            at_ms,
            returned_ms=at_ms + 20,
            undo_ms=undo_ms,
            ended_ms=undo_ms + 20,
            gone_ms=undo_ms + 50,
            over_ms=undo_ms + 1_000,
            kind=kind,
            **named,
        )
        number = len(self.history.facts.windows)
        target = {"fault_target_role": role, "publishers_connected_to_target": role == "master"}
        self.recorded[number] = {**_AT_FAULT, **target}

    def as_run(self) -> Run:
        history = self.history
        in_order = sorted(self.sent.items(), key=lambda it: (it[1].at_ms, it[0]))
        for (producer, sequence, attempt), one in in_order:
            name: dict[str, Any] = {"producer": producer, "attempt": attempt}
            history.publish(sequence, at_ms=one.at_ms, **name, **one.named)
            for outcome in () if one.settled_ms is None else one.outcomes:
                confirmed = outcome is Outcome.CONFIRMED
                level = one.level if confirmed else Strength.NONE
                history.settle(sequence, outcome, at_ms=one.settled_ms, strength=level, **name)
        for came in sorted(self.came, key=lambda it: it.at_ms):
            history.deliver(came.sequence, at_ms=came.at_ms, **came.named)
            acked_ns = None if came.acked_ms is None else ns(came.acked_ms)
            history.rows["deliveries"][-1]["acked_ns"] = acked_ns
        facts = replace(history.facts, **self.facts)
        declared = {**self.declared, "faults": len(facts.planned_windows)}
        return Run("sketch", facts, declared, self.recorded, history.rows)


def for_groups(sketch: Sketch, consumers: tuple[int, int]) -> Sketch:
    """Groups a and b, with one consumer each, both get every message of `orders`."""
    history = sketch.history.no_consumer()
    history.rows["client_events"].clear()
    for name, consumer in zip("ab", consumers, strict=True):
        history.group(name, consumer).client_event("consuming", at_ms=1, worker=consumer)
    sketch.came = [
        SketchedDelivery(
            one.sequence,
            one.at_ms + later_ms,
            one.at_ms + later_ms + 2,
            {**one.named, "consumer": consumer, "queue": f"orders-{name}"},
        )
        for one in sketch.came
        for name, consumer, later_ms in zip("ab", consumers, (0, 1), strict=True)
    ]
    return sketch


def calm(until_ms: float = 30_000, **options: Any) -> Sketch:
    """One publisher and one consumer, and no fault."""
    sketch = Sketch(History(load_ms=(0, until_ms), **options))
    sketch.history.client_event("consuming", at_ms=1)
    sketch.flow(50, until_ms)
    return sketch


def short() -> Sketch:
    """120 messages. Message 60 is sent at 6,050 ms, confirmed at 6,055 and comes at 6,060."""
    return calm(12_000)


def failover(back_ms: float = 17_050, until_ms: float = 60_000, **options: Any) -> Sketch:
    """The master is killed at 15 s and comes back at 35 s. A mirror serves from `back_ms` on; what
    was sent before is gone. The consumer is back on connection 2 at 15.9 s."""
    sketch = Sketch(History(load_ms=(0, until_ms), **options))
    sketch.fault()
    events = sketch.history.client_event("consuming", at_ms=1)
    events.client_event("lost", at_ms=KILLED_MS + 200)
    events.client_event("consuming", at_ms=KILLED_MS + 900, connection=2)
    sketch.flow(50, KILLED_MS)
    at_ms = KILLED_MS + 50.0
    while at_ms < back_ms:
        settled_ms = max(at_ms, KILLED_MS + 200) + 1
        sketch.send(round(at_ms - 50) // 100, at_ms, Outcome.UNKNOWN, settled_ms=settled_ms)
        at_ms += 100
    sketch.flow(at_ms, until_ms, connection=2)
    return sketch


def relinked(sketch: Sketch, at_ms: float = 15_200, back_ms: float = 15_400) -> Sketch:
    """Let the consumer lose its connection, and go on by connection 2."""
    events = sketch.history.client_event("lost", at_ms=at_ms)
    events.client_event("consuming", at_ms=back_ms, connection=2)
    _later(sketch.since(at_ms), back_ms, connection=2)
    return sketch


def handed_over(
    sketch: Sketch, at_ms: float = 15_000, back_ms: float = 15_400, how: str | None = "closed"
) -> Sketch:
    """Let another consumer go on. `how`: how the first one's connection ended; None: unknown."""
    if how is not None:
        sketch.history.client_event(how, at_ms=at_ms)
    events = sketch.history.worker(OTHER, "consumer")
    events.client_event("consuming", at_ms=back_ms, worker=OTHER)
    _later(sketch.since(at_ms), back_ms, consumer=OTHER)
    return sketch


def _later(deliveries: list[SketchedDelivery], back_ms: float, **named: int) -> None:
    for one in deliveries:
        one.named |= named
        one.move(max(one.at_ms, back_ms + 1 + one.sequence / 1_000))


# --- What is said of it --------------------------------------------------------------------------


@dataclass(frozen=True)
class SketchCase:
    """A history and what must be said of it; names of claims are words of one text."""

    make: Callable[[], Sketch]
    fails: str
    passes: str
    unknown: str
    not_applicable: str
    counts: Mapping[str, int]  # by `measure`, or `measure.detail`

    def __str__(self) -> str:
        return self.make.__name__

    def differences(self) -> Iterator[str]:
        findings, verdicts = judged(self.make())
        promises = [it for it in verdicts.values() if it.is_promise]
        failed = {it.claim for it in promises if it.outcome is ClaimOutcome.FAIL}
        if failed != {*self.fails.split()}:
            yield f"FAIL of {sorted(failed)}"
        wanted = {
            ClaimOutcome.PASS: self.passes,
            ClaimOutcome.INCONCLUSIVE: self.unknown,
            ClaimOutcome.NOT_APPLICABLE: self.not_applicable,
        }
        for outcome, claims in wanted.items():
            for claim in claims.split():
                if verdicts[claim].outcome is not outcome:
                    yield f"{claim} is {verdicts[claim].outcome}, not {outcome}"
        found = counted(findings)
        for name, number in self.counts.items():
            if found[name] != number:
                yield f"{name} is {found[name]}, not {number}"


def judged(sketch: Sketch) -> tuple[Findings, dict[str, ClaimVerdict]]:
    """Return what both judges find, and the verdicts of all shipped claims."""
    history = written(sketch.as_run())
    findings = judged_by_both(question(state(history)).of(history.facts), rows(history))
    found = evidence(history, "sketch")
    return findings, {claim.name: judge(claim, found) for claim in shipped()}


def counted(findings: Findings) -> Counter[str]:
    """Return the counts over all queues, by measure and by `measure.detail`."""
    sums = Counter[str]()
    for row in findings.counts:
        sums[row.measure] += row.count
        sums[f"{row.measure}.{row.detail}"] += row.count
    return sums


class SketchCases(list[SketchCase]):
    """The cases of one module, in its order."""

    def case(
        self,
        fails: str = "",
        passes: str = "",
        unknown: str = "",
        not_applicable: str = "",
        **counts: int,
    ) -> Callable[[Callable[[], Sketch]], Callable[[], Sketch]]:
        """Add a case. A `__` in the name of a count stands for the dot before a detail."""

        def added(make: Callable[[], Sketch]) -> Callable[[], Sketch]:
            named = {name.replace("__", "."): number for name, number in counts.items()}
            self.append(SketchCase(make, fails, passes, unknown, not_applicable, named))
            return make

        return added
