"""What a newcomer asks of one run: how many were lost, how long it was out, is that proved?

1. Nothing is judged here: the numbers are those that claims are held against (evidence.py).
2. A number that may be larger is told as a lower bound; one that nobody knows is None, with why.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from harness.analyse.evidence import Evidence
from harness.analyse.truth import Interval, Unknown, Value
from spark_analysis.schema.words import Strength


@dataclass(frozen=True, slots=True)
class Number:
    """At least `least`; exactly that where `exact`. None: unknown, or no such thing here."""

    least: float | None
    exact: bool
    why: str = ""  # why it is unknown or only a lower bound


@dataclass(frozen=True, slots=True)
class Outage:
    """One fault window, in seconds. `degraded` ends when operations were on time again."""

    window: int
    kind: str
    silence_s: Number
    degraded_s: Number
    missed: Number  # intended from this fault to the next, or the end, not confirmed in time
    operations: int  # of so many


@dataclass(frozen=True, slots=True)
class Promised:
    """What was confirmed with one strength, and how much of it was seen to be gone."""

    strength: str
    confirmed: int
    lost: int
    stranded: int
    unreachable: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One run. `of` counts what there was to see, the number before it what was seen."""

    confirmed: int
    lost: Number
    stranded: Number
    untold: int  # messages of which nobody can say whether they are lost
    promised: tuple[Promised, ...]  # the strongest promise first; only those that were given
    duplicated: Number
    outages: tuple[Outage, ...]
    faults_seen: int
    faults_of: int
    logs_closed: int
    logs_of: int
    queues_read: int
    queues_of: int

    @property
    def loss_proved(self) -> bool:
        return self.lost.exact and self.stranded.exact

    @property
    def outage_proved(self) -> bool:
        """A silence that did not end is proved to have lasted so long; an unknown one is not."""
        times = [time for one in self.outages for time in (one.silence_s, one.degraded_s)]
        return all(time.least is not None or not time.why for time in times)


def summary(evidence: Evidence) -> Summary:
    facts = evidence.facts
    unread = [queue for queue in facts.queues if not queue.drained or queue.unreadable]
    return Summary(
        confirmed=evidence.total("state", "acknowledged"),
        lost=_number(evidence.value("lost")),
        stranded=_number(evidence.value("stranded")),
        untold=evidence.undecided,
        promised=tuple(_promised(evidence)),
        duplicated=_number(evidence.value("duplicated")),
        outages=tuple(
            Outage(
                window.number,
                window.kind,
                _number(evidence.value("silence_s", window.number)),
                _number(evidence.value("degraded_s", window.number)),
                _number(evidence.value("missed", window.number)),
                _operations(evidence, window.number),
            )
            for window in facts.windows
        ),
        faults_seen=sum(window.verified and window.gone for window in facts.windows),
        faults_of=len(facts.windows),
        logs_closed=sum(worker.log_closed for worker in facts.workers),
        logs_of=len(facts.workers),
        queues_read=len(facts.queues) - len(unread),
        queues_of=len(facts.queues),
    )


def _promised(evidence: Evidence) -> Iterator[Promised]:
    for strength in (strength.name.lower() for strength in Strength):
        confirmed = evidence.total("confirmed", strength)
        if confirmed:
            gone = (evidence.total(name, strength) for name in ("lost", "stranded", "unreachable"))
            yield Promised(strength, confirmed, *gone)


def _operations(evidence: Evidence, window: int) -> int:
    row = evidence.availability(window)
    return row.operations if row is not None else 0


def _number(value: Value) -> Number:
    if isinstance(value, Interval):
        exact = value.low == value.high
        least = None if math.isinf(value.low) else value.low
        return Number(least, exact, value.doubt)
    if isinstance(value, Unknown):
        return Number(None, False, value.reason)
    return Number(None, True)  # moot: there is no such thing here, so nothing is open
