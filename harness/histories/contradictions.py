"""Rows of a neutral history that its facts, or other rows of it, contradict: each with its place.

1. The kernels refuse such rows too, but say not which: they read millions, and stop at the first.
2. What its workers cannot have done is looked for always. What one row says of another only where
   the history is refused anyhow.
3. Canaries are left out, as everywhere.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from harness.histories.complaints import Complaints
from harness.histories.history import Cell, Columns, FactValue
from harness.outside.text import brief
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Fate

ROLE_MAX = 60
UNDOING = ("undo_issued", "undo_returned", "gone")
# What a row of faults may say (schema/tables.py).
EVENTS = ("issued", "returned", "verified", "down", "up", *UNDOING)
_WITH_QUEUE = ("attempts", "deliveries", "client_events")
_ATTEMPT = ("producer", "sequence", "attempt")
_Problems = Iterator[tuple[int, str]]  # row, and what is wrong with it
_Rows = Sequence[tuple[Cell, ...]]


def of_facts(facts: Facts, tables: Mapping[str, Columns], complaints: Complaints) -> None:
    """Rows that the facts contradict, and facts that contradict each other."""
    _of_each_other(facts, complaints)
    _of_queues(facts, tables, complaints)
    roles = {worker.number: worker.role for worker in facts.workers}
    for table, column, role in (
        ("attempts", "producer", "publisher"),
        ("deliveries", "consumer", "consumer"),
    ):
        others = {number: other for number, other in roles.items() if other != role}
        if not others.keys().isdisjoint(tables.get(table, {}).get(column, [])):
            wrong = _of_others(facts, tables, table, column, others)
            complaints.cells(
                f"{table}.{column}", ((row, f"{text}, no {role}") for row, text in wrong)
            )
    _of_faults(facts, tables, complaints)
    complaints.cells("deliveries.queue", _of_no_group(facts, tables))
    complaints.cells("deliveries.consumer", _of_another_group(facts, tables))
    complaints.cells("deliveries.received_ns", _after_the_end(facts, tables))
    complaints.cells(
        "lateness.late_ns",
        (
            (row, f"{late_ns} is below 0: a tick is not early")
            for row, (late_ns,) in enumerate(_rows(tables, "lateness", "late_ns"))
            if isinstance(late_ns, int) and late_ns < 0
        ),
    )
    windows = {window.number for window in facts.windows}
    planned = {window.number for window in facts.not_begun}
    complaints.cells(
        "faults.window",
        (
            (row, _no_window(number, planned))
            for row, (number,) in enumerate(_rows(tables, "faults", "window"))
            if number not in windows
        ),
    )


def _no_window(number: object, planned: set[int]) -> str:
    if number in planned:
        return f"fault window {number} is in facts.not_begun, and no step of it may be on record"
    return f"there is no fault window {number}"


def _of_each_other(facts: Facts, complaints: Complaints) -> None:
    if facts.paced and facts.deadline_ns == 0:
        text = "every publish of a paced load would be late at once; name the time of a timely one"
        complaints.add("facts.deadline_ns", f"0: {text}")
    first_ns = min((window.origin_ns for window in facts.windows), default=None)
    for place, absence in enumerate(facts.absences):
        if first_ns is None or absence.from_ns < first_ns:
            text = f"worker {absence.worker} is absent from {absence.from_ns} on, and no fault"
            complaints.add(
                f"facts.absences[{place}]", f"{text} window had begun; an absence is of a fault"
            )
    for place, end in enumerate(facts.queues):
        if end.drained and end.undrained_reason:
            reason = brief(end.undrained_reason)
            text = f"it is {reason}, and drained is true; leave one of them out"
            complaints.add(f"facts.queues[{place}].undrained_reason", text)


def _of_queues(facts: Facts, tables: Mapping[str, Columns], complaints: Complaints) -> None:
    """Add the queues of facts that no row names, where rows name a queue that facts do not. A
    queue without messages alone is no mistake."""
    of_groups = {
        name for one in facts.consumer_groups for pair in one.names.items() for name in pair
    }
    columns = (tables.get(name, {}).get("queue", []) for name in _WITH_QUEUE)
    in_rows = {name for column in columns for name in column if isinstance(name, str) and name}
    in_facts = {end.queue for end in facts.queues}
    unnamed = sorted(in_rows - in_facts - of_groups)
    for place, end in enumerate(facts.queues):
        if unnamed and end.queue not in in_rows | of_groups:
            at = f"facts.queues[{place}].queue"
            complaints.unknown(at, "queue among the rows", end.queue, unnamed)


def of_declared(facts: Facts, declared: Mapping[str, FactValue], complaints: Complaints) -> None:
    """Add the contradictions between declarations of the run and its facts."""
    confirms = declared.get("confirms")
    if confirms is not None and confirms != facts.confirms:
        text = (
            f"it is {str(confirms).lower()}, and facts.confirms is {str(facts.confirms).lower()}"
        )
        complaints.add("declared.confirms", text)


def _of_faults(facts: Facts, tables: Mapping[str, Columns], complaints: Complaints) -> None:
    """Steps of faults: their words, and none that undoes a fault before it was made."""
    rows = _rows(tables, "faults", "window", "event", "at_ns")
    unknown = (
        (place, f"{brief(event)} is none of {', '.join(EVENTS)}")
        for place, (_, event, _) in enumerate(rows)
        if event not in EVENTS
    )
    complaints.cells("faults.event", unknown)
    origins: dict[Cell, int] = {window.number: window.origin_ns for window in facts.windows}
    early = (
        (place, f"{event} at {at_ns} lies before the origin of fault window {number}")
        for place, (number, event, at_ns) in enumerate(rows)
        if event in UNDOING and isinstance(at_ns, int) and at_ns < origins.get(number, at_ns)
    )
    complaints.cells("faults.at_ns", early)


def _of_no_group(facts: Facts, tables: Mapping[str, Columns]) -> _Problems:
    """Yield the deliveries that belong to no known consumer group. An audit of a log belongs to
    every group."""
    own = {one.queue for group in facts.consumer_groups for one in group.queues}
    rows = _rows(tables, "deliveries", "producer", "queue", "via") if own else ()
    finds = facts.way_numbers.audit
    for place, (producer, queue, via) in enumerate(rows):
        for_all = via in finds and queue in facts.sent_to
        is_canary = isinstance(producer, int) and producer < 0
        if queue not in own and not for_all and not is_canary:
            yield place, f"{brief(queue)} is the queue of no consumer group"


def _of_another_group(facts: Facts, tables: Mapping[str, Columns]) -> _Problems:
    """Yield what a consumer of one group received in a queue of another group. Whose log had to be
    closed for that queue is unknown."""
    groups = facts.consumer_groups
    of_queue: dict[Cell, str] = {one.queue: group.name for group in groups for one in group.queues}
    of_consumer: dict[Cell, str] = {one: group.name for group in groups for one in group.consumers}
    rows = _rows(tables, "deliveries", "consumer", "queue", "via") if groups else ()
    loads = facts.way_numbers.load
    for place, (consumer, queue, via) in enumerate(rows):
        own, read = of_consumer.get(consumer), of_queue.get(queue)
        if via in loads and own is not None and read is not None and own != read:
            other = f"{brief(queue)} is a queue of group {brief(read)}"
            yield place, f"consumer {consumer} is of group {brief(own)}, and {other}"


def _after_the_end(facts: Facts, tables: Mapping[str, Columns]) -> _Problems:
    """Yield what came in a queue after the time from which on it was quiet."""
    quiet_ns: dict[Cell, int | None] = {end.queue: end.quiet_ns for end in facts.queues}
    apart, finds = {clock.worker for clock in facts.clocks}, facts.way_numbers.audit
    names = ("producer", "consumer", "queue", "via", "received_ns")
    for place, row in _identified(_rows(tables, "deliveries", *names)):
        _, consumer, queue, via, at_ns = row
        end_ns = quiet_ns.get(queue)
        if end_ns is None or not isinstance(at_ns, int) or via in finds or consumer in apart:
            continue
        if at_ns > end_ns:
            text = f"{at_ns} is later than quiet_ns of {brief(queue)} in facts.queues, {end_ns}"
            yield place, f"{text}; nothing came after that time"


def of_rows(tables: Mapping[str, Columns], complaints: Complaints) -> None:
    """Rows that other rows contradict."""
    attempts, terms = _rows(tables, "attempts", *_ATTEMPT), _rows(tables, "terms", *_ATTEMPT)
    settlements = _rows(tables, "settlements", *_ATTEMPT)
    sent = set(attempts)
    complaints.cells("attempts.attempt", _below_1(attempts))
    complaints.cells("attempts.attempt", _twice(attempts))
    for column in ("queue", "key"):
        row_columns = _rows(tables, "attempts", "producer", "sequence", column)
        complaints.cells(f"attempts.{column}", _differing(row_columns))
    complaints.cells("settlements.attempt", _without(settlements, sent))
    complaints.cells("terms.attempt", _without(terms, sent))
    complaints.cells("terms.attempt", _twice(terms))
    fates = _rows(tables, "terms", "producer", "sequence", "fate")
    worded = [(*row[:2], Fate(cast(int, row[2])).name.lower()) for row in fates]
    complaints.cells("terms.fate", _differing(worded))


def _rows(tables: Mapping[str, Columns], table: str, *names: str) -> _Rows:
    """Return those columns as rows; none if a table was not read whole."""
    columns = [tables.get(table, {}).get(name, []) for name in names]
    lengths = {len(column) for column in columns}
    return list(zip(*columns, strict=True)) if len(lengths) == 1 else []


def _of_others(
    facts: Facts,
    tables: Mapping[str, Columns],
    table: str,
    column: str,
    others: Mapping[int, str],
) -> _Problems:
    """Yield the rows of workers of other roles. Drain and audit have workers of their own."""
    via, loads = ["via"] if table == "deliveries" else [], facts.way_numbers.load
    for place, (number, *ways) in enumerate(_rows(tables, table, column, *via)):
        by_load = not ways or ways[0] in loads
        if by_load and isinstance(number, int) and number in others:
            yield place, f"worker {number} is a {others[number][:ROLE_MAX]}"


def _identified(rows: _Rows) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    for place, row in enumerate(rows):
        if isinstance(row[0], int) and row[0] >= 0:
            yield place, row


def _name(row: tuple[Cell, ...]) -> str:
    producer, sequence, attempt = row
    return f"attempt {attempt} of message {sequence} of producer {producer}"


def _below_1(rows: _Rows) -> _Problems:
    for place, row in _identified(rows):
        if isinstance(row[2], int) and row[2] < 1:
            yield place, f"{row[2]} is below 1: attempts are numbered from 1"


def _twice(rows: _Rows) -> _Problems:
    seen = Counter[tuple[Cell, ...]]()
    for place, row in _identified(rows):
        seen[row] += 1
        if seen[row] > 1:
            yield place, f"{_name(row)} stands there twice"


def _without(rows: _Rows, sent: set[tuple[Cell, ...]]) -> _Problems:
    for place, row in _identified(rows):
        if row not in sent:
            yield place, f"there is no {_name(row)} among the attempts"


def _differing(rows: _Rows) -> _Problems:
    """Yield rows whose value differs from that of an earlier row of the same message."""
    first: dict[tuple[Cell, ...], Cell] = {}
    for place, (producer, sequence, value) in _identified(rows):
        kept = first.setdefault((producer, sequence), value)
        if value != kept:
            yield place, f"message {sequence} of producer {producer} had {brief(kept)} before"
