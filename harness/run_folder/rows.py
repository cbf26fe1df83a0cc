"""A run's raw rows as values, for the few that a person is shown; read from its Parquet files.

1. Bounded: the caller says which rows, or how many at most. A history never comes here whole.
2. A missing file is an empty table, a text that is None reads "". What cannot be read raises
   Unreadable: a page may go without it, and says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import pyarrow as pa

from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.tables import TABLES

RAW = "raw"
BATCH_ROWS = 65_536


class Unreadable(Exception):
    """A raw table that is there and cannot be read: which, and why."""


class Row(Protocol):
    """A row names its table; its fields are columns of it."""

    TABLE: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]


R = TypeVar("R", bound=Row)


@dataclass(frozen=True, slots=True)
class Attempt:
    TABLE: ClassVar[str] = "attempts"
    producer: int
    sequence: int
    attempt: int
    queue: str
    key: int
    intended_ns: int
    sent_ns: int
    connection: int


@dataclass(frozen=True, slots=True)
class TermsRow:
    TABLE: ClassVar[str] = "terms"
    producer: int
    sequence: int
    attempt: int
    due_ns: int
    fate: int


@dataclass(frozen=True, slots=True)
class Settlement:
    TABLE: ClassVar[str] = "settlements"
    producer: int
    sequence: int
    attempt: int
    settled_ns: int
    outcome: int
    strength: int
    raw: str


@dataclass(frozen=True, slots=True)
class Delivery:
    TABLE: ClassVar[str] = "deliveries"
    consumer: int
    producer: int
    sequence: int
    attempt: int
    received_ns: int
    queue: str
    broker: str
    offset: int
    redelivered: int
    header_ok: int
    payload_ok: int
    run_ok: int
    via: int
    connection: int
    tag: int


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    TABLE: ClassVar[str] = "acknowledgements"
    consumer: int
    connection: int
    first_tag: int
    last_tag: int
    written_ns: int


@dataclass(frozen=True, slots=True)
class ClientEvent:
    TABLE: ClassVar[str] = "client_events"
    worker: int
    at_ns: int
    kind: str
    connection: int
    queue: str
    detail: str


@dataclass(frozen=True, slots=True)
class FaultEvent:
    TABLE: ClassVar[str] = "faults"
    window: int
    event: str
    at_ns: int
    kind: str
    target: str
    resolved: str
    role: str
    mechanism: str
    ok: int
    detail: str


@dataclass(frozen=True, slots=True)
class Probe:
    TABLE: ClassVar[str] = "probes"
    prober: int
    kind: str
    target: str
    started_ns: int
    ended_ns: int
    ok: int
    detail: str


@dataclass(frozen=True, slots=True)
class Operation:
    TABLE: ClassVar[str] = "operations"
    operation: int
    at_ns: int
    returned_ns: int
    kind: str
    target: str
    resolved: str
    ok: int
    detail: str


@dataclass(frozen=True, slots=True)
class Resource:
    TABLE: ClassVar[str] = "resources"
    host: str
    at_ns: int
    memory_bytes: int
    disk_written_bytes: int


def attempt_key(row: Attempt | TermsRow | Settlement | Delivery) -> tuple[int, int, int]:
    """Return the publisher, sequence and number of the attempt that a row is about."""
    return row.producer, row.sequence, row.attempt


def field(name: str) -> Any:
    """Return a column, for a filter of the rows to read."""
    return _datasets().field(name)


def read(folder: Path, kind: type[R], most: int, where: Any = None) -> list[R]:
    """At most `most` rows of a run's table, in the order of the file."""
    found: list[R] = []
    for batch in batches(folder, kind.TABLE, _names(kind), where):
        left = most - len(found)
        found += [_value(kind, row) for row in batch.slice(0, left).to_pylist()]
        if len(found) == most:
            break
    return found


def batches(
    folder: Path, table: str, columns: list[str], where: Any = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a run's table that `where` lets through, piece by piece."""
    path = folder / RAW / f"{table}.parquet"
    if not path.exists():
        return
    try:
        rows = _datasets().dataset(path, format="parquet", schema=arrow_schema(TABLES[table]))
        yield from rows.to_batches(
            columns=columns, filter=where, batch_size=BATCH_ROWS, use_threads=False
        )
    except (OSError, pa.ArrowException) as failure:
        raise Unreadable(f"{path.name} cannot be read: {failure}") from failure


def count(folder: Path, table: str) -> int:
    """Return how many rows a run's table has, by the file's footer alone."""
    path = folder / RAW / f"{table}.parquet"
    if not path.exists():
        return 0
    try:
        return int(_datasets().dataset(path, format="parquet").count_rows())
    except (OSError, pa.ArrowException) as failure:
        raise Unreadable(f"{path.name} cannot be read: {failure}") from failure


def _datasets() -> Any:
    """Loaded where rows are read: it loads pandas, and takes longer than all of `judge`."""
    import pyarrow.dataset

    return pyarrow.dataset


def _names(kind: type[R]) -> list[str]:
    return [field.name for field in fields(kind)]


def _value(kind: type[R], row: dict[str, Any]) -> R:
    return kind(**{name: "" if value is None else value for name, value in row.items()})
