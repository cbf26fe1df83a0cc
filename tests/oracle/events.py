"""The records of clients as typed events: the raw rows without the columns that no verdict needs.

1. A producer below 0 is a canary; its rows are dropped here and nowhere else.
2. A missing table is an empty one; a text that is None reads "".
3. Deliveries are in delivery order: (received_ns, consumer, connection, tag).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.ways import AUDIT, DRAIN, LOAD, OWN_WAYS, DeliveryWay
from spark_analysis.schema.words import (
    NEVER_SENT,
    NO_DUE,
    Fate,
    Level,
    Outcome,
    Redelivered,
    Strength,
)

Row = Mapping[str, int | str | None]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to publish a message."""

    producer: int
    sequence: int
    number: int
    queue: str
    key: int
    intended_ns: int
    sent_ns: int
    connection: int

    @property
    def sent(self) -> bool:
        return self.sent_ns != NEVER_SENT


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of an attempt, apart from its body: a due time, or a fate."""

    producer: int
    sequence: int
    attempt: int
    due_ns: int
    fate: Fate

    @property
    def delayed(self) -> bool:
        return self.due_ns != NO_DUE


@dataclass(frozen=True, slots=True)
class Settlement:
    """The answer to one attempt, from the broker or from the loss of it."""

    producer: int
    sequence: int
    attempt: int
    settled_ns: int
    outcome: Outcome
    strength: Level | Strength  # Strength.NONE: it is no confirmation
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One body that reached us, by whatever way."""

    consumer: int
    producer: int
    sequence: int
    attempt: int
    received_ns: int
    queue: str
    place: str  # with offsets: the log that it was read from; "" if unknown
    offset: int
    redelivered: Redelivered
    header_ok: bool
    payload_ok: bool
    run_ok: bool
    via: DeliveryWay
    connection: int
    tag: int

    @property
    def by_consuming(self) -> bool:
        """It came the way messages are meant to come; the audit's finds did not."""
        return self.via.by in (LOAD, DRAIN)

    @property
    def while_consuming(self) -> bool:
        """Consumers got it while they worked; the drain came later."""
        return self.via.by == LOAD

    @property
    def by_drain(self) -> bool:
        return self.via.by == DRAIN

    @property
    def is_find(self) -> bool:
        """The audit found it."""
        return self.via.by == AUDIT

    @property
    def is_whole_find(self) -> bool:
        """It did so, and no transaction holds it."""
        return self.is_find and not self.via.uncommitted

    @property
    def is_direct(self) -> bool:
        """It was consumed, and not by a way of messages that come again."""
        return self.by_consuming and not self.via.again

    @property
    def order(self) -> tuple[int, int, int, int]:
        return self.received_ns, self.consumer, self.connection, self.tag


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """One frame by which a consumer acknowledged the tags first_tag..last_tag."""

    consumer: int
    connection: int
    first_tag: int
    last_tag: int
    written_ns: int


@dataclass(frozen=True, slots=True)
class ConnectionEnd:
    """A worker saw this connection lost, or closed it."""

    worker: int
    connection: int
    at_ns: int


@dataclass(frozen=True, slots=True)
class Requeue:
    """A consumer gave back a delivery of this connection."""

    consumer: int
    connection: int
    at_ns: int
    tag: int | None  # None: which one is not on record


@dataclass(frozen=True, slots=True)
class Stall:
    """A worker's tick ran at `at_ns`, `late_ns` later than it was due."""

    worker: int
    at_ns: int
    late_ns: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a fault, issued or observed: `undo_issued`, `gone` and others."""

    window: int
    event: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Events:
    attempts: tuple[Attempt, ...]
    terms: tuple[Terms, ...]
    settlements: tuple[Settlement, ...]
    deliveries: tuple[Delivery, ...]
    acknowledgements: tuple[Acknowledgement, ...]
    connection_ends: tuple[ConnectionEnd, ...]
    stalls: tuple[Stall, ...]
    steps: tuple[Step, ...]
    recorded: frozenset[int]  # the workers that have a client event on record
    requeues: tuple[Requeue, ...]
    began: frozenset[tuple[int, int]]  # (worker, connection) that began to consume on record


def read(rows: Mapping[str, Iterable[Row]], facts: Facts) -> Events:
    """Return the events of one run; `rows` maps a raw table's name to its rows.

    Raise KeyError on a level of a settlement, or a way of a delivery, that the facts do not have.
    """
    by_rank: dict[int, Level | Strength] = {0: Strength.NONE}
    by_rank |= {level.rank: level for level in facts.levels}
    ways = {way.number: way for way in (*OWN_WAYS, *facts.ways)}
    deliveries = (_delivery(row, ways) for row in _of_the_load(rows, "deliveries"))
    client_events = [*rows.get("client_events", ())]
    ends = (row for row in client_events if row["kind"] in ("lost", "closed"))
    return Events(
        attempts=tuple(_attempt(row) for row in _of_the_load(rows, "attempts")),
        terms=tuple(_terms(row) for row in _of_the_load(rows, "terms")),
        settlements=tuple(_settlement(row, by_rank) for row in _of_the_load(rows, "settlements")),
        deliveries=tuple(sorted(deliveries, key=lambda delivery: delivery.order)),
        acknowledgements=tuple(_acknowledgement(row) for row in rows.get("acknowledgements", ())),
        connection_ends=tuple(_connection_end(row) for row in ends),
        stalls=tuple(_stall(row) for row in rows.get("lateness", ())),
        steps=tuple(_step(row) for row in rows.get("faults", ())),
        recorded=frozenset(_int(row, "worker") for row in client_events),
        requeues=tuple(_requeue(row) for row in client_events if row["kind"] == "requeued"),
        began=frozenset(
            (_int(row, "worker"), _int(row, "connection"))
            for row in client_events
            if row["kind"] == "consuming"
        ),
    )


def _of_the_load(rows: Mapping[str, Iterable[Row]], table: str) -> Iterable[Row]:
    return (row for row in rows.get(table, ()) if _int(row, "producer") >= 0)


def _int(row: Row, column: str) -> int:
    value = row[column]
    assert isinstance(value, int), (column, value)
    return value


def _text(row: Row, column: str) -> str:
    value = row[column]
    assert value is None or isinstance(value, str), (column, value)
    return value or ""


def _attempt(row: Row) -> Attempt:
    return Attempt(
        producer=_int(row, "producer"),
        sequence=_int(row, "sequence"),
        number=_int(row, "attempt"),
        queue=_text(row, "queue"),
        key=_int(row, "key"),
        intended_ns=_int(row, "intended_ns"),
        sent_ns=_int(row, "sent_ns"),
        connection=_int(row, "connection"),
    )


def _terms(row: Row) -> Terms:
    return Terms(
        producer=_int(row, "producer"),
        sequence=_int(row, "sequence"),
        attempt=_int(row, "attempt"),
        due_ns=_int(row, "due_ns"),
        fate=Fate(_int(row, "fate")),
    )


def _settlement(row: Row, levels: Mapping[int, Level | Strength]) -> Settlement:
    return Settlement(
        producer=_int(row, "producer"),
        sequence=_int(row, "sequence"),
        attempt=_int(row, "attempt"),
        settled_ns=_int(row, "settled_ns"),
        outcome=Outcome(_int(row, "outcome")),
        strength=levels[_int(row, "strength")],
        raw=str(row["raw"] or ""),
    )


def _delivery(row: Row, ways: Mapping[int, DeliveryWay]) -> Delivery:
    return Delivery(
        consumer=_int(row, "consumer"),
        producer=_int(row, "producer"),
        sequence=_int(row, "sequence"),
        attempt=_int(row, "attempt"),
        received_ns=_int(row, "received_ns"),
        queue=_text(row, "queue"),
        place=_text(row, "broker"),
        offset=_int(row, "offset"),
        redelivered=Redelivered(_int(row, "redelivered")),
        header_ok=bool(_int(row, "header_ok")),
        payload_ok=bool(_int(row, "payload_ok")),
        run_ok=bool(_int(row, "run_ok")),
        via=ways[_int(row, "via")],
        connection=_int(row, "connection"),
        tag=_int(row, "tag"),
    )


def _acknowledgement(row: Row) -> Acknowledgement:
    return Acknowledgement(
        consumer=_int(row, "consumer"),
        connection=_int(row, "connection"),
        first_tag=_int(row, "first_tag"),
        last_tag=_int(row, "last_tag"),
        written_ns=_int(row, "written_ns"),
    )


def _requeue(row: Row) -> Requeue:
    detail = str(row["detail"] or "")
    named = detail.isascii() and detail.isdigit() and len(detail) <= 18
    tag = int(detail) if named else None
    return Requeue(_int(row, "worker"), _int(row, "connection"), _int(row, "at_ns"), tag)


def _connection_end(row: Row) -> ConnectionEnd:
    return ConnectionEnd(_int(row, "worker"), _int(row, "connection"), _int(row, "at_ns"))


def _stall(row: Row) -> Stall:
    return Stall(_int(row, "worker"), _int(row, "at_ns"), _int(row, "late_ns"))


def _step(row: Row) -> Step:
    return Step(_int(row, "window"), _text(row, "event"), _int(row, "at_ns"))
