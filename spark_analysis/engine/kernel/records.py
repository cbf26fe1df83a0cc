"""The columns that kernels read of each raw table, as arrays.

1. A field is a column of the raw table of the same name; what is not a field is not read.
2. Canaries (`producer < 0`) are dropped here, once and everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import Bools, Ints
from spark_analysis.schema import tables


class BadRecords(Exception):
    """The records of a run cannot be read, or contradict their schema: nothing is judged."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text column: a number of `words` in each row; no text is the word ""."""

    words: tuple[str, ...]
    numbers: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Ints | Bools) -> "Text":
        return Text(self.words, self.numbers[rows])

    def among(self, *words: str) -> Bools:
        wanted = np.array([word in words for word in self.words] + [False], np.bool_)
        return wanted[self.numbers]  # -1, a slot without a message, reads the last place


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of one raw table."""

    TABLE: ClassVar[tables.Table]

    def pick(self, rows: Ints | Bools) -> Self:
        """These rows, in this order."""
        picked = {field.name: getattr(self, field.name)[rows] for field in fields(self)}
        return replace(self, **picked)

    def changed(self, name: str, change: Callable[[Any], Any]) -> Self:
        """The same rows with another column of that name."""
        return replace(self, **{name: change(getattr(self, name))})


@dataclass(frozen=True, slots=True)
class Attempts(Records):
    TABLE = tables.ATTEMPTS
    producer: Ints
    sequence: Ints
    attempt: Ints
    queue: Text
    key: Ints
    intended_ns: Ints
    sent_ns: Ints
    connection: Ints


@dataclass(frozen=True, slots=True)
class Terms(Records):
    TABLE = tables.TERMS
    producer: Ints
    sequence: Ints
    attempt: Ints
    due_ns: Ints
    fate: Ints


@dataclass(frozen=True, slots=True)
class Settlements(Records):
    TABLE = tables.SETTLEMENTS
    producer: Ints
    sequence: Ints
    attempt: Ints
    settled_ns: Ints
    outcome: Ints
    strength: Ints
    raw: Text


@dataclass(frozen=True, slots=True)
class Deliveries(Records):
    TABLE = tables.DELIVERIES
    consumer: Ints
    producer: Ints
    sequence: Ints
    attempt: Ints
    received_ns: Ints
    queue: Text
    broker: Text
    offset: Ints
    redelivered: Ints
    header_ok: Ints
    payload_ok: Ints
    run_ok: Ints
    via: Ints
    connection: Ints
    tag: Ints


@dataclass(frozen=True, slots=True)
class Acknowledgements(Records):
    TABLE = tables.ACKNOWLEDGEMENTS
    consumer: Ints
    connection: Ints
    first_tag: Ints
    last_tag: Ints
    written_ns: Ints


@dataclass(frozen=True, slots=True)
class ClientEvents(Records):
    TABLE = tables.CLIENT_EVENTS
    worker: Ints
    at_ns: Ints
    kind: Text
    connection: Ints
    detail: Text


@dataclass(frozen=True, slots=True)
class Lateness(Records):
    TABLE = tables.LATENESS
    worker: Ints
    at_ns: Ints
    late_ns: Ints


@dataclass(frozen=True, slots=True)
class Probes(Records):
    TABLE = tables.PROBES
    prober: Ints
    kind: Text
    target: Text
    started_ns: Ints
    ended_ns: Ints
    ok: Ints
    detail: Text


@dataclass(frozen=True, slots=True)
class Faults(Records):
    TABLE = tables.FAULTS
    window: Ints
    event: Text
    at_ns: Ints


@dataclass(frozen=True, slots=True)
class Resources(Records):
    TABLE = tables.RESOURCES
    host: Text
    at_ns: Ints
    cpu_ns: Ints
    memory_bytes: Ints
    network_received_bytes: Ints
    network_sent_bytes: Ints
    disk_read_bytes: Ints
    disk_written_bytes: Ints


R = TypeVar("R", bound=Records)


class Reader(Protocol):
    """The source of a run's records: its files, or the rows of a test."""

    def read(self, kind: type[R]) -> R: ...


def without_canaries(records: R) -> R:
    producer: Ints | None = getattr(records, "producer", None)
    if producer is None:
        return records
    canary = producer < 0
    return records.pick(~canary) if canary.any() else records
