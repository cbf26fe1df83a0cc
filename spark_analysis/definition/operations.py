"""Operations: what was intended at a certain time, and whether it was confirmed in time.

1. An operation is a message, not an attempt: a confirm of any attempt counts.
2. Its deadline runs from the time it was intended for, not from when it was sent.
3. What was open while its publisher was away is excused: it is no operation, and never missed.
4. What its publisher means to roll back is never confirmed: it is no operation.
5. Where the load was not paced nothing was intended; where nothing confirms, nothing is missed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spark_analysis.definition.absences import Absences
from spark_analysis.definition.cases import Case, of_message
from spark_analysis.definition.messages import Message
from spark_analysis.schema.facts import Facts


@dataclass(frozen=True, slots=True)
class Operation:
    message: Message
    intended_ns: int
    missed: bool

    def confirmed_before(self, at_ns: int) -> bool:
        confirmed_ns = self.message.confirmed_ns
        return confirmed_ns is not None and confirmed_ns < at_ns


@dataclass(frozen=True, slots=True)
class Intended:
    """By intended time; of equals by producer and sequence."""

    judged: tuple[Operation, ...]
    excused: tuple[Operation, ...]


def intended(facts: Facts, messages: Iterable[Message]) -> Intended:
    """Every operation that can be judged, and those that are excused."""
    if not (facts.paced and facts.confirms):
        return Intended((), ())
    operations = (_operation(facts, message) for message in messages)
    known = sorted((one for one in operations if one is not None), key=_order)
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
    for operation in intended.excused:
        yield of_message(operation.message, "excused", "", operation.intended_ns)
    for operation in intended.judged:
        yield of_message(operation.message, "operations", "", operation.intended_ns)
        if operation.missed:
            yield of_message(operation.message, "missed", "", operation.intended_ns)


def _operation(facts: Facts, message: Message) -> Operation | None:
    first_try = message.attempt(1)
    if first_try is None or first_try.intended_ns < 0 or message.to_be_rolled_back:
        return None
    confirmed_ns = message.confirmed_ns
    due_ns = first_try.intended_ns + facts.deadline_ns
    missed = confirmed_ns is None or confirmed_ns > due_ns
    return Operation(message, first_try.intended_ns, missed)


def _order(operation: Operation) -> tuple[int, int, int]:
    return operation.intended_ns, operation.message.producer, operation.message.sequence
