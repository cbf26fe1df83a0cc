"""Whose sends failed under a fault, how many of them, and until when: a mart, and its rules.

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
"""

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class Sends:
    """The mart of one run or of many."""

    sends: tuple[Sent, ...] = ()


SENDS: dict[str, type] = {"sends": Sent}
