"""The raw tables of a run: one fixed-width little-endian struct a record (docs/verdicts.md 1).

1. Every time is int64 nanoseconds since the run's origin on CLOCK_MONOTONIC.
2. A text column holds the number of a string in the same worker's string table; -1 is no text.
3. The Arrow and Spark schemas are derived from these declarations, never written a second time.
4. A change of any struct is a new FORMAT_VERSION.
"""

import struct
from dataclasses import dataclass, field
from enum import Enum

FORMAT_VERSION = 1


class ColumnType(Enum):
    """The type of a column: its struct code."""

    INT32 = "i"
    INT64 = "q"
    UINT8 = "B"
    TEXT = "I"  # a string number; sealed as a dictionary-encoded string


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: ColumnType


@dataclass(frozen=True, slots=True)
class Table:
    """One raw table: its name, its columns and the struct that packs one record."""

    name: str
    columns: tuple[Column, ...]
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    record: struct.Struct = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        codes = "".join(column.kind.value for column in self.columns)
        object.__setattr__(self, "names", tuple(column.name for column in self.columns))
        object.__setattr__(self, "record", struct.Struct("<" + codes.replace("I", "i")))


def _table(name: str, *columns: str) -> Table:
    kinds = {
        "i32": ColumnType.INT32,
        "i64": ColumnType.INT64,
        "u8": ColumnType.UINT8,
        "text": ColumnType.TEXT,
    }
    pairs = (column.split(":") for column in columns)
    return Table(name, tuple(Column(column, kinds[kind]) for column, kind in pairs))


ATTEMPTS = _table(
    "attempts",
    "producer:i32",
    "sequence:i64",
    "attempt:i32",  # from 1; a retry is a new attempt of the same sequence
    "queue:text",
    "key:i32",
    "intended_ns:i64",  # NO_INTENT at rate max and on retries
    "sent_ns:i64",  # NEVER_SENT: deadline passed first; nothing left this process
    "connection:i32",  # the worker's own count of its connections, from 1
    "tag:i64",  # the client library's number of the publish on that connection
    "body_bytes:i32",
)
SETTLEMENTS = _table(
    "settlements",
    "producer:i32",
    "sequence:i64",
    "attempt:i32",
    "settled_ns:i64",
    "outcome:u8",  # words.Outcome
    "strength:u8",  # the rank of one of Facts.levels; 0: none
    "raw:text",  # the broker's own words: "ack", "nack", "return 312 NO_ROUTE", "connection lost"
    "connection:i32",
)
DELIVERIES = _table(
    "deliveries",
    "consumer:i32",
    "producer:i32",
    "sequence:i64",
    "attempt:i32",
    "key:i32",
    "received_ns:i64",
    "sent_ns:i64",  # as the header says
    "queue:text",
    "broker:text",  # the node that served it, where the client can know
    "offset:i64",  # NO_OFFSET for queue brokers
    "redelivered:u8",  # words.Redelivered
    "header_ok:u8",  # 0: the header's checksum fails; every identity column is then 0
    "payload_ok:u8",
    "run_ok:u8",  # 0: a readable header of another run
    "via:u8",  # words.Via, or the number of one of Facts.ways
    "connection:i32",
    "tag:i64",
)
ACKNOWLEDGEMENTS = _table(
    "acknowledgements",  # one row an acknowledgement frame; it covers first_tag..last_tag
    "consumer:i32",
    "connection:i32",
    "first_tag:i64",
    "last_tag:i64",
    "written_ns:i64",
)
TERMS = _table(
    "terms",  # one row an attempt that was sent delayed, or in a transaction of its own
    "producer:i32",
    "sequence:i64",
    "attempt:i32",
    "due_ns:i64",  # not to be delivered before; NO_DUE where it is not delayed
    "fate:u8",  # words.Fate: what the producer says of its transaction, and when; the same in
    # every attempt of a message
)
PROBES = _table(
    "probes",
    "prober:i32",
    "kind:text",
    "target:text",
    "started_ns:i64",
    "ended_ns:i64",
    "ok:u8",
    "detail:text",
)
CLIENT_EVENTS = _table(
    "client_events",
    "worker:i32",
    "at_ns:i64",
    "kind:text",  # connecting, connected, lost, closed, blocked, unblocked, cancelled, consuming,
    # requeued (a consumer gave back a delivery of this connection: `detail` is its tag; without a
    # tag it may have been any that the connection held);
    # attached elsewhere, attached, route, rebalanced, asked;
    # a prober's: route changed, cluster changed, unanswered, answered again
    "connection:i32",
    "queue:text",
    "detail:text",
)
LATENESS = _table(
    "lateness",  # the worst lateness of the 10 ms tick in each second, and every stall on its own
    "worker:i32",
    "at_ns:i64",  # when the tick ran at last; it was due at at_ns - late_ns
    "late_ns:i64",
)
FAULTS = _table(
    "faults",
    "window:i32",  # from 1, in the order of the schedule
    "event:text",  # issued, returned, verified, down, up, undo_issued, undo_returned, gone
    "at_ns:i64",
    "kind:text",
    "target:text",  # the word of the scenario: "master of orders"
    "resolved:text",  # what it meant when the window opened: "rmq2"
    "role:text",
    "mechanism:text",  # container, packet_filter, toxiproxy, proxy, signal
    "ok:u8",
    "detail:text",
)
OPERATIONS = _table(
    "operations",
    "operation:i32",
    "at_ns:i64",
    "returned_ns:i64",
    "kind:text",
    "target:text",
    "resolved:text",
    "ok:u8",
    "detail:text",
)
RESOURCES = _table(
    "resources",  # one row a host and second; counters grow since the container started
    "host:text",
    "at_ns:i64",
    "cpu_ns:i64",
    "memory_bytes:i64",
    "network_received_bytes:i64",
    "network_sent_bytes:i64",
    "disk_read_bytes:i64",
    "disk_written_bytes:i64",
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        ATTEMPTS,
        SETTLEMENTS,
        DELIVERIES,
        ACKNOWLEDGEMENTS,
        PROBES,
        CLIENT_EVENTS,
        LATENESS,
        FAULTS,
        OPERATIONS,
        RESOURCES,
        TERMS,
    )
}
