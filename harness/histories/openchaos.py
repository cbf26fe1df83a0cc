"""A history of OpenChaos: lines of columns with tabs between them, in the order of its file.

1. A request: client, operation, REQUEST, value, key, time, extra. A response: client, operation,
   RESPONSE, result, value, key, time, latency, extra, end-to-end latency. A fault: `fault`, its
   name, start or end, time. Times are milliseconds of the day's clock; `null` is nothing.
2. Its drivers call a failure what may have happened (a time-out after retries), so it is unknown.
   Only an empty poll is a failed dequeue for sure: that of nothing.
3. Reads after the load appear as dequeues, so it is unknown whether a queue was read empty.
"""

from pathlib import Path

from harness.histories.complaints import Complaints
from harness.histories.files import text_of
from harness.histories.rows import (
    DEQUEUE,
    END,
    ENQUEUE,
    FAIL,
    FAULT,
    INFO,
    INVOKE,
    MS,
    OK,
    START,
    Form,
    Row,
)
from harness.histories.tables import ROWS_MAX
from harness.histories.unrecorded import UNRECORDED
from harness.outside.text import brief
from spark_analysis.schema.words import Outcome

FORM = Form(fails=Outcome.UNKNOWN, drains=False, lacks=UNRECORDED)
RESULTS = {"SUCCESS": OK, "FAILURE": FAIL, "UNKNOWN": INFO}
_OPERATIONS = (ENQUEUE, DEQUEUE)
_REQUEST, _RESPONSE = 7, 10  # columns
_TIME_MAX_MS = 10**14


def read(path: Path) -> tuple[Row, ...]:
    """The rows of that file. Raises PlanError with every problem in it."""
    return parse(text_of(path), str(path))


def parse(text: str, file: str) -> tuple[Row, ...]:
    complaints = Complaints(file)
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        complaints.add("", "it holds no line")
    if len(lines) > ROWS_MAX:
        complaints.add("", f"it holds more than {ROWS_MAX:,} lines")
        lines = []
    found = [
        _row(line.rstrip("\r").split("\t"), f"line {number}", complaints)
        for number, line in enumerate(lines, 1)
    ]
    complaints.check()
    return tuple(row for row in found if row is not None)


def _row(columns: list[str], place: str, complaints: Complaints) -> Row | None:
    if columns[0] == FAULT:
        return _fault(columns, place, complaints)
    kind = columns[2] if len(columns) > 2 else ""
    wanted = {"REQUEST": _REQUEST, "RESPONSE": _RESPONSE}.get(kind)
    if wanted is None or len(columns) != wanted:
        text = f"{len(columns)} columns are no fault (4), REQUEST (7) or RESPONSE (10)"
        complaints.add(place, f"{text}: {brief(chr(9).join(columns))}")
        return None
    if columns[1] not in _OPERATIONS:
        complaints.unknown(place, "operation of a queue", columns[1], _OPERATIONS)
        return None
    return (
        _request(columns, place, complaints)
        if kind == "REQUEST"
        else _answered(columns, place, complaints)
    )


def _fault(columns: list[str], place: str, complaints: Complaints) -> Row | None:
    if len(columns) != 4 or columns[2] not in (START, END):
        complaints.add(place, f"{brief(chr(9).join(columns))} is no fault, start | end, time")
        return None
    at_ns = _time_ns(columns[3], place, complaints)
    return None if at_ns is None else Row(at_ns, FAULT, FAULT, columns[2], columns[1])


def _request(columns: list[str], place: str, complaints: Complaints) -> Row | None:
    client, f, _, value, key, at, _ = columns
    at_ns = _time_ns(at, place, complaints)
    if f == ENQUEUE and _text(value) is None:
        complaints.add(place, "an enqueue of nothing")
        return None
    return None if at_ns is None else Row(at_ns, client, f, INVOKE, _text(value), _text(key))


def _answered(columns: list[str], place: str, complaints: Complaints) -> Row | None:
    client, f, _, result, value, key, at, latency, _, _ = columns
    if result not in RESULTS:
        complaints.unknown(place, "result", result, tuple(RESULTS))
        return None
    at_ns, took_ns = _time_ns(at, place, complaints), _time_ns(latency, place, complaints)
    if at_ns is None or took_ns is None:
        return None
    ev = RESULTS[result]
    if _text(value) is None and (f == ENQUEUE or ev == OK):
        complaints.add(
            place, f"an {f} of nothing" if f == ENQUEUE else "SUCCESS, but nothing came"
        )
        return None
    return Row(at_ns, client, f, ev, _text(value), _text(key), took_ns)


def _text(column: str) -> str | None:
    return None if column == "null" else column


def _time_ns(column: str, place: str, complaints: Complaints) -> int | None:
    plain = column.removeprefix("-")
    if not (plain.isascii() and plain.isdigit()) or len(plain) > 15 or int(plain) > _TIME_MAX_MS:
        complaints.add(place, f"{brief(column)} is no time in milliseconds")
        return None
    return int(column) * MS
