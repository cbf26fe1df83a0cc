"""The raw tables of a neutral history: words become numbers, null becomes "does not apply".

1. A table says how many rows it has; a column is that many values, or one value for all of them.
2. An enumeration is written as its word, in lower case; null if it says nothing (STRENGTH none,
   REDELIVERED not_reported, FATE none). A sentinel is written as null, never as its number.
3. A column that decides verdicts is never assumed: omitted, it is a problem, unless null is among
   its values.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from harness.histories.complaints import Complaints
from harness.histories.history import Cell, Columns
from harness.outside.text import brief
from spark_analysis.schema.declared import TIME_MAX_NS
from spark_analysis.schema.tables import TABLES, Column, ColumnType, Table
from spark_analysis.schema.ways import OWN_WAYS, DeliveryWay
from spark_analysis.schema.words import (
    NEVER_SENT,
    NO_DUE,
    NO_INTENT,
    NO_OFFSET,
    Fate,
    Level,
    Outcome,
    Redelivered,
    Strength,
)

ROWS_MAX = 2_000_000  # of one table; larger runs are for `analyse`
_INT_MAX = {ColumnType.INT32: 2**31 - 1, ColumnType.INT64: TIME_MAX_NS, ColumnType.UINT8: 255}

_Place = tuple[str, str]  # table and column
_Words = Mapping[_Place, Mapping[str, int]]  # the number of each word of a column
_LEVEL, _WAY = ("settlements", "strength"), ("deliveries", "via")  # of what a system declares
WORDS: _Words = {
    place: {each.name.lower(): int(each) for each in kind}
    for place, kind in (
        (("settlements", "outcome"), Outcome),
        (("deliveries", "redelivered"), Redelivered),
        (("terms", "fate"), Fate),
    )
}
NULLS: Mapping[_Place, int] = {
    ("attempts", "intended_ns"): NO_INTENT,
    ("attempts", "sent_ns"): NEVER_SENT,
    ("deliveries", "offset"): NO_OFFSET,
    ("terms", "due_ns"): NO_DUE,
    _LEVEL: Strength.NONE,
    ("deliveries", "redelivered"): Redelivered.NOT_REPORTED,
    ("terms", "fate"): Fate.NONE,
}
_FLAGS = ("ok", "header_ok", "payload_ok", "run_ok")
# What no verdict reads, and so may be left out though null is not among its values.
_UNREAD: Mapping[str, tuple[str, ...]] = {
    "attempts": ("tag", "body_bytes"),
    "settlements": ("connection",),
    "deliveries": ("key", "sent_ns"),
    "faults": ("ok",),
    "operations": ("operation", "at_ns", "returned_ns", "ok"),
}
_Read = Callable[[object], int | str | None]


class _Wrong(Exception):
    """This cell is not of its column."""


def read_tables(
    document: object,
    complaints: Complaints,
    levels: Iterable[Level],
    ways: Iterable[DeliveryWay],
) -> dict[str, Columns]:
    """Return every table of the document. `levels`: those that its settlements may name. `ways`:
    those beside mqproof's own that its deliveries may name."""
    words = _words(levels, ways)
    if not isinstance(document, Mapping):
        complaints.add("tables", f"{brief(document)} is not an object")
        return {}
    found: dict[str, Columns] = {}
    for name, content in document.items():
        if name not in TABLES:
            complaints.unknown("tables", "table", name, tuple(TABLES))
            continue
        found[name] = _table(TABLES[name], content, complaints, words)
    return found


def write_table(
    name: str, columns: Columns, levels: Iterable[Level], ways: Iterable[DeliveryWay]
) -> dict[str, Any]:
    """Return the table as its file has it."""
    words = _words(levels, ways)
    rows = len(next(iter(columns.values()), []))
    cells = {column: _written((name, column), values, words) for column, values in columns.items()}
    return {"rows": rows, "columns": cells}


def required(table: Table) -> tuple[str, ...]:
    """Return the columns that may not be left out, if the history has the table."""
    return tuple(column.name for column in table.columns if not _may_lack(table, column))


def _may_lack(table: Table, column: Column) -> bool:
    unread = column.name in _UNREAD.get(table.name, ())
    return unread or column.kind is ColumnType.TEXT or (table.name, column.name) in NULLS


def _words(levels: Iterable[Level], ways: Iterable[DeliveryWay]) -> _Words:
    none = {Strength.NONE.label: Strength.NONE.rank}
    return {
        **WORDS,
        _LEVEL: none | {level.label: level.rank for level in levels},
        _WAY: {way.label: way.number for way in (*OWN_WAYS, *ways)},
    }


def _written(place: _Place, values: list[Cell], known: _Words) -> Any:
    null = NULLS.get(place)
    words = {number: word for word, number in known[place].items()} if place in known else None
    cells: list[Cell] = [
        None if value == null and null is not None else _worded(value, words) for value in values
    ]
    # Python holds 1 == True; no cell is a bool.
    return cells[0] if cells and cells.count(cells[0]) == len(cells) else cells


def _worded(value: Cell, words: Mapping[int, str] | None) -> Cell:
    return words[cast(int, value)] if words is not None else value


def _table(table: Table, content: object, complaints: Complaints, words: _Words) -> Columns:
    place = f"tables.{table.name}"
    if not isinstance(content, Mapping) or content.keys() != {"rows", "columns"}:
        complaints.add(place, 'it is not {"rows": n, "columns": {...}}')
        return {}
    rows, columns = content["rows"], content["columns"]
    if type(rows) is not int or not 0 <= rows <= ROWS_MAX:
        complaints.add(f"{place}.rows", f"{brief(rows)} is not a number from 0 to {ROWS_MAX:,}")
        return {}
    if not isinstance(columns, Mapping):
        complaints.add(f"{place}.columns", f"{brief(columns)} is not an object")
        return {}
    for name in columns:
        if name not in table.names:
            complaints.unknown(place, "column", name, table.names)
    return dict(_columns(table, rows, columns, complaints, words))


def _columns(
    table: Table,
    rows: int,
    content: Mapping[str, object],
    complaints: Complaints,
    words: _Words,
) -> Iterator[tuple[str, list[Cell]]]:
    for column in table.columns:
        place = (table.name, column.name)
        if column.name in content:
            read = _reader(place, column, words)
            given = content[column.name]
            yield column.name, _column(place, column, given, rows, complaints, read)
        elif column.kind is ColumnType.TEXT:
            yield column.name, [None] * rows
        elif place in NULLS:
            yield column.name, [NULLS[place]] * rows
        elif not _may_lack(table, column):
            complaints.add(f"tables.{table.name}", f"the column {column.name} is missing")


def _column(
    place: _Place,
    column: Column,
    content: object,
    rows: int,
    complaints: Complaints,
    read: _Read,
) -> list[Cell]:
    where = ".".join(place)
    if not isinstance(content, list):
        try:
            return [read(content)] * rows
        except _Wrong as wrong:
            complaints.add(where, str(wrong))
            return []
    if len(content) != rows:
        complaints.add(where, f"it has {len(content):,} values, and its table {rows:,} rows")
        return []
    if (
        column.kind is not ColumnType.TEXT
        and column.name not in _FLAGS
        and _all_fit(content, place, column)
    ):
        return cast(list[Cell], content)
    values: list[Cell] = []
    problems: list[tuple[int, str]] = []
    for row, cell in enumerate(content):
        try:
            values.append(read(cell))
        except _Wrong as wrong:
            problems.append((row, str(wrong)))
    complaints.cells(where, problems)
    return values


def _all_fit(cells: list[object], place: _Place, column: Column) -> bool:
    """Return whether all are plain numbers in range: nearly all columns are, and need no check of
    each cell."""
    if place in (_LEVEL, _WAY, *WORDS) or set(map(type, cells)) - {int}:
        return False
    numbers = cast(list[int], cells)
    most = _INT_MAX[column.kind]
    least = 0 if place in NULLS else -most
    return not numbers or (least <= min(numbers) and max(numbers) <= most)


def _reader(place: _Place, column: Column, words: _Words) -> _Read:
    null = NULLS.get(place)
    if place in words:
        numbers = words[place]
        return lambda cell: _word(cell, numbers, null)
    if column.kind is ColumnType.TEXT:
        return _text
    if column.name in _FLAGS:
        return _flag
    most = _INT_MAX[column.kind]
    return lambda cell: _number(cell, most, null)


def _word(cell: object, numbers: Mapping[str, int], null: int | None) -> int:
    if cell is None and null is not None:
        return null
    if not isinstance(cell, str) or cell not in numbers:
        raise _Wrong(f"{brief(cell)} is not one of: {' | '.join(numbers)}")
    return numbers[cell]


def _text(cell: object) -> str | None:
    if cell is not None and not isinstance(cell, str):
        raise _Wrong(f"{brief(cell)} is not a text")
    return cell


def _flag(cell: object) -> int:
    if type(cell) not in (int, bool) or cell not in (0, 1):
        raise _Wrong(f"{brief(cell)} is neither 0 nor 1")
    return int(bool(cell))


def _number(cell: object, most: int, null: int | None) -> int:
    if cell is None and null is not None:
        return null
    if type(cell) is not int:
        raise _Wrong(f"{brief(cell)} is not a whole number")
    if abs(cell) > most:
        raise _Wrong(f"{brief(cell)} is out of range")
    if null is not None and cell < 0:
        raise _Wrong(f"{cell} is below 0; where it does not apply stands null")
    return cell
