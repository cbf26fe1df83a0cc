"""A history of ours as Jepsen and OpenChaos would have written it down, so that they can judge it.

1. A message is one value, whatever its attempt. What never left its client was never invoked.
2. Only deliveries of load and drain are theirs; an audit they do not have.
3. Of what happens at one instant an attempt comes before its end, and that before a delivery.
"""

from collections.abc import Iterator

from harness.histories.history import Cell, History
from harness.histories.rows import (
    DEQUEUE,
    DRAIN,
    END,
    ENQUEUE,
    FAIL,
    FAULT,
    INFO,
    INVOKE,
    OK,
    START,
    Row,
)
from spark_analysis.schema.words import NEVER_SENT, Outcome

_ENDS = {
    Outcome.CONFIRMED: OK,
    Outcome.REFUSED: FAIL,
    Outcome.RETURNED: FAIL,
    Outcome.UNCONFIRMED: INFO,
    Outcome.UNKNOWN: INFO,
}
_Id = tuple[Cell, Cell, Cell]  # producer, sequence, attempt


def rows_of(history: History) -> tuple[Row, ...]:
    """The history, row by row, in time."""
    return tuple(sorted(_rows(history), key=lambda row: row.at_ns))


def _rows(history: History) -> Iterator[Row]:
    """Yield rows by kind; the sort above keeps this order for equal times."""
    for window in history.facts.windows:
        yield Row(window.origin_ns, FAULT, FAULT, START, window.kind)
        if window.ended_ns is not None:
            yield Row(window.ended_ns, FAULT, FAULT, END, window.kind)
    sent: dict[_Id, int] = {}
    for row in _rows_of(history, "attempts", "producer", "sequence", "attempt", "sent_ns", "key"):
        *identity, sent_ns, key = row
        if sent_ns != NEVER_SENT:
            sent[_id(identity)] = _int(sent_ns)
            yield Row(_int(sent_ns), _client(row), ENQUEUE, INVOKE, _value(row), str(key))
    keys = {
        row[:2]: row[2] for row in _rows_of(history, "attempts", "producer", "sequence", "key")
    }
    names = ("producer", "sequence", "attempt", "settled_ns", "outcome")
    for row in _rows_of(history, "settlements", *names):
        *identity, settled_ns, outcome = row
        began_ns = sent.get(_id(identity))
        if began_ns is not None:
            at_ns, key = _int(settled_ns), str(keys[row[:2]])
            ev = _ENDS[Outcome(_int(outcome))]
            yield Row(at_ns, _client(row), ENQUEUE, ev, _value(row), key, at_ns - began_ns)
    yield from _deliveries(history, keys)


def _deliveries(history: History, keys: dict[tuple[Cell, ...], Cell]) -> Iterator[Row]:
    names = ("producer", "sequence", "received_ns", "consumer", "via")
    ways = history.facts.way_numbers
    loads, drains = ways.direct_load, ways.drain
    for row in _rows_of(history, "deliveries", *names):
        *_, received_ns, consumer, via = row
        key = keys.get(row[:2])
        if via in loads:
            key_text = None if key is None else str(key)
            yield Row(_int(received_ns), f"{consumer}", DEQUEUE, OK, _value(row), key_text)
        elif via in drains:
            yield Row(_int(received_ns), f"{consumer}", DRAIN, OK, (_value(row),))


def _rows_of(history: History, table: str, *names: str) -> Iterator[tuple[Cell, ...]]:
    columns = history.tables.get(table, {})
    return zip(*(columns.get(name, []) for name in names), strict=True)


def _id(identity: list[Cell]) -> _Id:
    producer, sequence, attempt = identity
    return producer, sequence, attempt


def _client(row: tuple[Cell, ...]) -> str:
    return str(row[0])


def _value(row: tuple[Cell, ...]) -> str:
    return f"{row[0]}/{row[1]}"


def _int(cell: Cell) -> int:
    assert isinstance(cell, int), cell
    return cell
