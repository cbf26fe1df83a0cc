"""A history of Jepsen: EDN, a vector of operations, or one a line.

1. `:type` is the event, `:f` the operation, `:time` nanoseconds; `:index` is not needed, for the
   order of the file is the order of the history.
2. A failed enqueue certainly did not happen; one that crashed (`:info`) may have.
3. Whatever is no client's operation is a fault: the nemesis says `:info` when it begins and when
   it has done, and no word of it says whether that held.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.histories import edn
from harness.histories.complaints import Complaints
from harness.histories.edn import Word
from harness.histories.files import text_of
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
    Form,
    Row,
)
from harness.histories.tables import ROWS_MAX
from harness.outside.text import brief
from spark_analysis.schema.words import Outcome

FORM = Form(fails=Outcome.REFUSED, drains=True)
_TYPES = (INVOKE, OK, FAIL, INFO)
_OPERATIONS = (ENQUEUE, DEQUEUE, DRAIN)
_TIME_MAX_NS = 10**18


def read(path: Path) -> tuple[Row, ...]:
    """The rows of that file. Raises PlanError with every problem in it."""
    return parse(text_of(path), str(path))


def parse(text: str, file: str) -> tuple[Row, ...]:
    complaints = Complaints(file)
    values = _operations(text, complaints)
    clients: dict[str, Row] = {}
    numbered = [(n, _row(n, op, complaints)) for n, op in enumerate(values)]
    rows = [row for _, row in numbered if row]
    for row in rows:
        _check_order(clients, row, complaints)
    _check_ends(numbered, complaints)
    complaints.check()
    return _with_fault_ends(_plainly(rows))


def _operations(text: str, complaints: Complaints) -> Sequence[Any]:
    """Return the operations of the file; of a truncated one, those before its end."""
    try:
        values: Sequence[Any] = edn.read_all(text)
    except edn.BadEdn as error:
        complaints.add("", f"this is no EDN: {error}")
        # Words of some other form are not worth a problem each.
        return error.before if any(isinstance(one, dict) for one in error.before) else ()
    if len(values) == 1 and isinstance(values[0], tuple):
        values = values[0]
    if not values:
        complaints.add("", "it holds no operation")
    if len(values) > ROWS_MAX:
        complaints.add("", f"it holds more than {ROWS_MAX:,} operations")
        return ()
    return values


def _plainly(rows: list[Row]) -> list[Row]:
    """The rows with texts as people read them, "7" as 7, unless the history has both."""
    values = {value for row in rows for value in _values(row)}
    plain = {value: _plain(value) for value in values}
    if len(set(plain.values())) < len(values):
        return rows
    return [_renamed(row, plain) for row in rows]


def _values(row: Row) -> tuple[str, ...]:
    if row.f == FAULT or row.value is None:
        return ()
    return row.value if isinstance(row.value, tuple) else (row.value,)


def _renamed(row: Row, plain: dict[str, str]) -> Row:
    values = tuple(plain[value] for value in _values(row))
    if not values:
        return row
    return replace(row, value=values if isinstance(row.value, tuple) else values[0])


def _plain(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] == '"'
    return value[1:-1] if quoted else value


def _row(number: int, operation: Any, complaints: Complaints) -> Row | None:
    place = f"operation {number}"
    if not isinstance(operation, dict):
        complaints.add(place, f"{brief(operation)} is no map")
        return None
    operation = {edn.written(key): value for key, value in operation.items()}
    missing = [key for key in (":type", ":f", ":process", ":time") if key not in operation]
    if missing:
        complaints.add(place, f"{', '.join(missing)} is missing")
        return None
    at_ns, process = operation[":time"], operation[":process"]
    if type(at_ns) is not int or abs(at_ns) > _TIME_MAX_NS:
        complaints.add(f"{place}, :time", f"{brief(at_ns)} is no time in nanoseconds")
        return None
    ev, f = _name(operation[":type"]), _name(operation[":f"])
    if ev not in _TYPES:
        complaints.unknown(f"{place}, :type", "type", ev, _TYPES)
        return None
    client = edn.written(process)
    if type(process) is not int:
        return Row(at_ns, client, FAULT, START, f)
    if f not in _OPERATIONS:
        complaints.unknown(f"{place}, :f", "operation of a queue", f, _OPERATIONS)
        return None
    return _of_client(Row(at_ns, client, f, ev), operation.get(":value"), place, complaints)


def _of_client(row: Row, value: Any, place: str, complaints: Complaints) -> Row | None:
    if row.f == DRAIN:
        if row.ev != OK:
            return row
        value = () if value is None else value
        if not isinstance(value, tuple):
            complaints.add(f"{place}, :value", f"{brief(value)} is no vector of what was drained")
            return None
        return Row(row.at_ns, row.client, row.f, row.ev, tuple(map(edn.written, value)))
    if row.f == DEQUEUE and row.ev != OK:
        return row
    if value is None:
        text = "an enqueue of nothing" if row.f == ENQUEUE else "it is ok, but nothing came"
        complaints.add(f"{place}, :value", text)
        return None
    return Row(row.at_ns, row.client, row.f, row.ev, edn.written(value))


def _name(word: Any) -> str:
    return word.name.lstrip(":") if isinstance(word, Word) else edn.written(word)


def _check_order(last: dict[str, Row], row: Row, complaints: Complaints) -> None:
    """Time never runs backwards in what one client did."""
    if row.f == FAULT:
        return
    before = last.get(row.client)
    if before is not None and row.at_ns < before.at_ns:
        text = f"{row.f} {row.ev} at {row.at_ns} comes after one at {before.at_ns}"
        complaints.add(f"process {row.client}", text)
    last[row.client] = row


def _check_ends(numbered: Iterable[tuple[int, Row | None]], complaints: Complaints) -> None:
    """One enqueue ends once. An end whose beginning the history lacks is no second one."""
    open_ones, ended = Counter[tuple[str, object]](), set[tuple[str, object]]()
    for number, row in numbered:
        if row is None or row.f != ENQUEUE:
            continue
        enqueue = row.client, row.value
        if row.ev == INVOKE:
            open_ones[enqueue] += 1
            continue
        if not open_ones[enqueue] and enqueue in ended:
            text = f"process {row.client} ends its enqueue of {row.value} a second time"
            complaints.add(f"operation {number}, :type", text)
        open_ones[enqueue] -= open_ones[enqueue] > 0
        ended.add(enqueue)


def _with_fault_ends(rows: list[Row]) -> tuple[Row, ...]:
    """The nemesis tells everything twice: when it begins, and when it has done."""
    numbers: dict[str, int] = {}
    found: list[Row] = []
    for row in rows:
        if row.f != FAULT:
            found.append(row)
            continue
        name = str(row.value)
        numbers[name] = numbers.get(name, 0) + 1
        ev = START if numbers[name] % 2 else END
        found.append(Row(row.at_ns, row.client, FAULT, ev, name))
    return tuple(found)
