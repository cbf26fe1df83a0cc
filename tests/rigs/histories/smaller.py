"""Makes a history on which two judges differ small enough to read.

1. A history is cut in pieces (a message with all its rows, another row, a window, ...); pieces are
   left out, many at first and one by one at the end, as long as the judges still differ.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from spark_analysis.schema.facts import Facts
from tests.rigs.generated.histories import Row, Rows

_OF_MESSAGES = ("attempts", "settlements", "terms", "deliveries")
_BY_THEMSELVES = ("acknowledgements", "client_events", "lateness", "faults")
_OF_FACTS = (
    "competing_leaders",
    "clocks",
    "absences",
    "leadership_changes",
    "operations",
    "promises",
)
History = tuple[Facts, Rows]
Cut = Callable[[Facts, Rows], History]


def smaller(facts: Facts, rows: Rows, differs: Callable[[Facts, Rows], bool]) -> History:
    """The least of this history, found greedily, for which `differs` still holds."""
    assert differs(facts, rows)
    share = 2
    while True:
        pieces = list(_pieces(facts, rows))
        size = max(1, len(pieces) // share)
        for start in range(0, len(pieces), size):
            candidate = _without(facts, rows, pieces[start : start + size])
            if differs(*candidate):
                facts, rows = candidate
                break
        else:
            if size == 1:
                return facts, rows
            share *= 2


def _pieces(facts: Facts, rows: Rows) -> Iterator[tuple[str, object]]:
    messages = {_message(row) for table in _OF_MESSAGES for row in rows.get(table, [])}
    yield from (("message", message) for message in sorted(messages))
    # Attempts and settlements go together only: one without the other is no record of ours.
    for table in (
        "deliveries",
        "terms",
        "acknowledgements",
        "client_events",
        "lateness",
        "faults",
    ):
        yield from ((table, id(row)) for row in rows.get(table, []))
    if facts.windows:
        yield "window", facts.windows[-1].number
    for part in _OF_FACTS:
        yield from ((part, each) for each in getattr(facts, part))


def _without(facts: Facts, rows: Rows, pieces: list[tuple[str, object]]) -> History:
    gone = set(pieces)
    kept = {
        table: [row for row in listing if not _is_gone(table, row, gone)]
        for table, listing in rows.items()
    }
    windows = tuple(w for w in facts.windows if ("window", w.number) not in gone)
    parts: dict[str, Any] = {
        part: tuple(each for each in getattr(facts, part) if (part, each) not in gone)
        for part in _OF_FACTS
    }
    return replace(facts, windows=windows, **parts), kept


def _is_gone(table: str, row: Row, gone: set[tuple[str, object]]) -> bool:
    of_message = table in _OF_MESSAGES and ("message", _message(row)) in gone
    return of_message or (table, id(row)) in gone


def _message(row: Row) -> tuple[int, int]:
    producer, sequence = row["producer"], row["sequence"]
    assert isinstance(producer, int)
    assert isinstance(sequence, int)
    return producer, sequence
