"""Publishes: what was intended at a certain time, and whether it was confirmed in time.

1. A publish is a message, not an attempt: a confirm of any attempt counts.
2. Its deadline runs from the time it was intended for, not from when it was sent.
3. What was open while its publisher was away is excused: it is no publish, and never missed.
4. What its publisher means to roll back is never confirmed: it is no publish.
5. Where the load was not paced nothing was intended; where nothing confirms, nothing is missed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spark_analysis.schema.facts import Facts
from tests.oracle.absences import Absences
from tests.oracle.cases import Case, of_message
from tests.oracle.messages import Message


@dataclass(frozen=True, slots=True)
class Publish:
    message: Message
    intended_ns: int
    missed: bool

    def confirmed_before(self, at_ns: int) -> bool:
        confirmed_ns = self.message.confirmed_ns
        return confirmed_ns is not None and confirmed_ns < at_ns


@dataclass(frozen=True, slots=True)
class Intended:
    """Publishes by intended time; of equals by producer and sequence."""

    judged: tuple[Publish, ...]
    excused: tuple[Publish, ...]


def intended(facts: Facts, messages: Iterable[Message]) -> Intended:
    """Every publish that can be judged, and those that are excused."""
    if not (facts.paced and facts.confirms):
        return Intended((), ())
    publishes = (_publish(facts, message) for message in messages)
    known = sorted((one for one in publishes if one is not None), key=_order)
    absences = Absences(facts)
    away = [
        absences.touch(one.message.producer, one.intended_ns, one.intended_ns + facts.deadline_ns)
        for one in known
    ]
    return Intended(
        judged=tuple(one for one, absent in zip(known, away, strict=True) if not absent),
        excused=tuple(one for one, absent in zip(known, away, strict=True) if absent),
    )


def cases(intended: Intended) -> Iterator[Case]:
    for publish in intended.excused:
        yield of_message(publish.message, "excused", "", publish.intended_ns)
    for publish in intended.judged:
        yield of_message(publish.message, "operations", "", publish.intended_ns)
        if publish.missed:
            yield of_message(publish.message, "missed", "", publish.intended_ns)


def _publish(facts: Facts, message: Message) -> Publish | None:
    first_try = message.attempt(1)
    if first_try is None or first_try.intended_ns < 0 or message.to_be_rolled_back:
        return None
    confirmed_ns = message.confirmed_ns
    due_ns = first_try.intended_ns + facts.deadline_ns
    missed = confirmed_ns is None or confirmed_ns > due_ns
    return Publish(message, first_try.intended_ns, missed)


def _order(publish: Publish) -> tuple[int, int, int]:
    return publish.intended_ns, publish.message.producer, publish.message.sequence
