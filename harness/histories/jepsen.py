"""A history of Jepsen: EDN, a vector of operations, or one a line.

1. `:type` is the event, `:f` the operation, `:time` nanoseconds; `:index` is not needed, for the
   order of the file is the order of the history.
2. A failed enqueue certainly did not happen; one that crashed (`:info`) may have. So may one that
   failed and names a timeout, a nack or a lost connection: some clients call that a failure.
3. Whatever is no client's operation is a fault: the nemesis says `:info` when it begins and when
   it has done, and no word of it says whether that held.
4. A dequeue that brings a vector brings each of its elements, unless the vector was enqueued. A
   poll marked `:drain? true` that brings an empty one is a drain: the queue was read empty.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
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
from harness.histories.unrecorded import UNRECORDED
from harness.outside.text import brief
from spark_analysis.schema.words import Outcome

FORM = Form(fails=Outcome.REFUSED, drains=True, lacks=UNRECORDED)
_TYPES = (INVOKE, OK, FAIL, INFO)
_OPERATIONS = (ENQUEUE, DEQUEUE, DRAIN)
_TIME_MAX_NS = 10**18
_WHOLE = re.compile(r"(-?\d+)\.0+")  # a float that is a whole number
# What a client says of a failure that it cannot know to be one: time was up, the connection ended,
# or the client itself gave up. Words of Java, Go, Node, Python, gRPC and Linux.
_UNCLEAR = re.compile(
    r"time[d]?[ _-]?out|deadline|expired|no[ _-](answer|response|reply)|unknown|indeterminate|nack"
    r"|clos(e|ing|ure)|shut ?down|reset|broken|pipe\b|eof\b|disconnect|conn(ection)?[ _-]?abort"
    r"|hang ?up|hung up|lost\b|unavailable|unreach|no route|interrupt|cancel",
    re.IGNORECASE,
)
_PLAIN = (":type", ":f", ":process", ":time", ":index", ":value")  # no words about a failure


def read(path: Path) -> tuple[Row, ...]:
    """The rows of that file. Raises PlanError with every problem in it."""
    return parse(text_of(path), str(path))


def parse(text: str, file: str) -> tuple[Row, ...]:
    complaints = Complaints(file)
    values = _operations(text, complaints)
    clients: dict[str, Row] = {}
    drains = _last_polls(values)
    numbered = [(n, _row(n, op, n in drains, complaints)) for n, op in enumerate(values)]
    rows = [row for _, row in numbered if row]
    for row in rows:
        _check_order(clients, row, complaints)
    _check_ends(numbered, complaints)
    _check_received(values, rows, complaints)
    complaints.check()
    return _with_fault_ends(_singly(_plainly(rows)))


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
    """The rows with texts as people read them, "7" and 7.0 as 7, unless both were enqueued."""
    enqueued = {value for row in rows if row.f == ENQUEUE for value in _values(row)}
    if len({_plain(value) for value in enqueued}) < len(enqueued):
        return rows
    return [_renamed(row) for row in rows]


def _singly(rows: list[Row]) -> list[Row]:
    """The rows with a dequeue for each element of a batch. A vector that was enqueued is none."""
    enqueued = {row.value for row in rows if row.f == ENQUEUE}
    found: list[Row] = []
    for row in rows:
        if row.f != DEQUEUE or not isinstance(row.value, tuple):
            found.append(row)
        elif (whole := f"[{' '.join(row.value)}]") in enqueued:
            found.append(replace(row, value=whole))
        elif row.value:
            found.extend(replace(row, value=value, batch=True) for value in row.value)
        else:
            found.append(replace(row, ev=FAIL, value=None, batch=True))
    return found


def _last_polls(operations: Sequence[Any]) -> set[int]:
    """Return the numbers of the polls that are to drain the queue and brought an empty batch, of
    their beginnings and their ends."""
    begun: dict[str, int] = {}
    found: set[int] = set()
    for number, one in enumerate(operations):
        if _called(one, ":f") != DEQUEUE:
            continue
        process, ev = _called(one, ":process"), _called(one, ":type")
        if ev == INVOKE and _of(one, ":drain?") is True:
            begun[process] = number
        elif process in begun and (ev, _of(one, ":value")) == (OK, ()):
            found |= {begun.pop(process), number}
        else:
            begun.pop(process, None)
    return found


def _of(operation: Any, key: str) -> Any:
    return operation.get(Word(key)) if isinstance(operation, dict) else None


def _called(operation: Any, key: str) -> str:
    return _name(_of(operation, key))


def _values(row: Row) -> tuple[str, ...]:
    if row.f == FAULT or row.value is None:
        return ()
    return row.value if isinstance(row.value, tuple) else (row.value,)


def _renamed(row: Row) -> Row:
    values = tuple(map(_plain, _values(row)))
    if not values:
        return row
    return replace(row, value=values if isinstance(row.value, tuple) else values[0])


def _plain(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] == '"'
    plain = value[1:-1] if quoted else value
    whole = _WHOLE.fullmatch(plain)
    return whole.group(1) if whole else plain


def _row(number: int, operation: Any, drains: bool, complaints: Complaints) -> Row | None:
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
    client, index = edn.written(process), operation.get(":index")
    index = index if type(index) is int else None
    if type(process) is not int:
        if f in (ENQUEUE, DEQUEUE) or (f == DRAIN and ev != INFO):
            text = f"{client} is no number, so `{f}` is no client's operation"
            complaints.add(f"{place}, :process", f"{text}; number the processes of clients")
            return None
        return Row(at_ns, client, FAULT, START, f, index=index)
    if f not in _OPERATIONS:
        complaints.unknown(f"{place}, :f", "operation of a queue", f, _OPERATIONS)
        return None
    row = Row(at_ns, client, DRAIN if drains else f, ev, index=index)
    if ev == FAIL:
        row = replace(row, unclear=_may_have_happened(operation, f))
    return _of_client(row, operation.get(":value"), place, complaints)


def _may_have_happened(failed: dict[str, Any], f: str) -> bool:
    """Return whether a failure names a cause that leaves its outcome open. Clients write it to
    `:error`, `:exception` or keys of their own; of a dequeue some write it to the value."""
    keys = [key for key in failed if key not in _PLAIN or (key == ":value" and f != ENQUEUE)]
    return bool(_UNCLEAR.search(edn.written(tuple(failed[key] for key in keys))))


def _of_client(row: Row, value: Any, place: str, complaints: Complaints) -> Row | None:
    if row.f == DRAIN:
        return _of_drain(row, value, place, complaints)
    if row.f == DEQUEUE and row.ev != OK:
        return row
    if value is None:
        text = "an enqueue of nothing" if row.f == ENQUEUE else "it is ok, but nothing came"
        complaints.add(f"{place}, :value", text)
        return None
    if row.f == DEQUEUE and isinstance(value, tuple):
        return replace(row, value=tuple(map(edn.written, value)))
    return replace(row, value=edn.written(value))


def _of_drain(row: Row, value: Any, place: str, complaints: Complaints) -> Row | None:
    """A drain. Of one that did not end well, what it brought was delivered all the same; then a
    failure may hide more."""
    if row.ev == OK and value is None:
        value = ()
    if row.ev == OK and not isinstance(value, tuple):
        complaints.add(f"{place}, :value", f"{brief(value)} is no vector of what was drained")
        return None
    if row.ev == INVOKE or not isinstance(value, tuple):
        return row
    unclear = row.ev == FAIL and (row.unclear or bool(value))
    return replace(row, value=tuple(map(edn.written, value)), unclear=unclear)


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
    """One enqueue ends once, with the value that it began with. An end whose beginning the history
    lacks is no second one."""
    open_ones, ended = defaultdict[str, list[object]](list), set[tuple[str, object]]()
    for number, row in numbered:
        if row is None or row.f != ENQUEUE:
            continue
        begun = open_ones[row.client]
        if row.ev == INVOKE:
            begun.append(row.value)
            continue
        if row.value in begun:
            begun.remove(row.value)
        elif (row.client, row.value) in ended:
            text = f"process {row.client} ends its enqueue of {row.value} a second time"
            complaints.add(f"operation {number}, :type", text)
        elif begun:
            text = f"process {row.client} ends an enqueue of {row.value}, and began one of"
            complaints.add(f"operation {number}, :value", f"{text} {begun[-1]}")
        ended.add((row.client, row.value))


def _check_received(
    operations: Sequence[Any], rows: Iterable[Row], complaints: Complaints
) -> None:
    """What was received are values, and not words about them, vectors of them, or one key's."""
    enqueued = {row.value for row in rows if row.f == ENQUEUE}
    for number, one in enumerate(operations):
        f = _called(one, ":f")
        if f not in (DEQUEUE, DRAIN) or _called(one, ":type") != OK:
            continue
        wrong = _wrong_value(f, _of(one, ":value"), enqueued)
        if wrong:
            complaints.add(f"operation {number}, :value", wrong)


def _wrong_value(f: str, value: Any, enqueued: Container[object]) -> str:
    """Return what is wrong with what was received; "" if nothing is."""
    text = edn.written(value)
    match value:
        case Word() if text not in enqueued:
            return (
                f"a {f} of the word {text}, which was never enqueued; if nothing came, it failed"
            )
        case (key, None | tuple()) if f == DRAIN and not (
            isinstance(key, tuple) or edn.written(key) in enqueued
        ):
            # jepsen.independent: a drain of one key says nothing of other keys.
            text = f"a drain of {text}: this history has several queues"
            return f"{text}; write the history of each key apart"
    for each in value if isinstance(value, tuple) else ():
        if each is None:
            return f"a {f} of nil among others; leave out what is no message"
        parts = each if isinstance(each, tuple) and f == DRAIN else ()
        if edn.written(each) not in enqueued and any(edn.written(it) in enqueued for it in parts):
            return (
                f"a drain of {edn.written(each)}; write its elements, each as a value of its own"
            )
    return ""


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
        found.append(replace(row, ev=ev, value=name))
    return tuple(found)
