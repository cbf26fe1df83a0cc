"""Whose sends failed under a fault, how many, until when and how: two marts, and their rules.

The oracle and Spark are written from this text, apart from each other, and must agree
row for row. Rows of a mart have no order. Words are those of findings.py.

An attempt is *failed* if it has a settlement and no CONFIRMED one; it failed at the earliest
settled_ns of its settlements.

SENDS, one row a window >= 1 and producer that sent an attempt in [origin_ns, load_ended_ns), and
only where facts.confirms. A window's time goes on to the end of the load, whatever comes after it:
who fails may fail on.
- `sent`: the producer's attempts with origin_ns <= sent_ns < load_ended_ns.
- `failed`: those of them that failed.
- `first_failed_ns`, `last_failed_ns`: the earliest and the latest time at which one of them
  failed, less origin_ns. None where none did.
- `sent_by_then`: those of `sent` with sent_ns - origin_ns <= last_failed_ns; 0 where none failed.

ANSWERS, one row a window, producer, outcome and answer of the attempts that `failed` counts. Those
of an attempt are those of its settlement with the least (settled_ns, outcome, answer); a
settlement's answer is `answer_of` its `raw`, "" where it has none.
- `attempts`: how many there are.
"""

import re
from dataclasses import dataclass

_ERROR = re.compile(r"\w+(?:Exception|Error)\b(?: \d+)?")
_DETAILS = re.compile(r"[<(]|, ")
ANSWER_MAX = 60  # characters


@dataclass(frozen=True, slots=True, order=True)
class Sent:
    """The sends of one producer in one window. Times in ns, from the fault on."""

    run: str
    window: int
    producer: int
    sent: int
    failed: int
    first_failed_ns: int | None
    last_failed_ns: int | None
    sent_by_then: int


@dataclass(frozen=True, slots=True, order=True)
class FailedAnswer:
    """How so many attempts of one producer failed in one window. `outcome`: of words.Outcome."""

    run: str
    window: int
    producer: int
    outcome: int
    answer: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Sends:
    """The marts of one run or of many."""

    sends: tuple[Sent, ...] = ()
    answers: tuple[FailedAnswer, ...] = ()


SENDS: dict[str, type] = {"sends": Sent, "answers": FailedAnswer}


def answer_of(raw: str) -> str:
    """Return the kind of a failed attempt's answer without what differs between attempts: the name
    and code of the error it begins with, or its first words: `nack`, `MQBrokerException 2`,
    `connection lost: closed by the publisher`."""
    if error := _ERROR.match(raw):
        return error[0]
    return _DETAILS.split(": ".join(raw.split(": ")[:2]))[0].strip()[:ANSWER_MAX]
