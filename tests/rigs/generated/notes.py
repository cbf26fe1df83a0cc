"""What the harness notes of fault windows: rows of `faults`, some missing, some several times.

1. Drawn for every run: of windows without a record yet, an undo and its end; of all
   of them, when they were seen to be gone, at times so that service recovers from an operation on.
"""

from collections.abc import Mapping
from random import Random

from spark_analysis.schema.facts import Facts, Window
from tests.rigs.generated.facts import MS, SECOND

Row = dict[str, int | str | None]
Rows = dict[str, list[Row]]

OTHERS = ("issued", "returned", "verified", "down", "up", "undo_returned")


def note(facts: Facts, rows: Rows, undos: Mapping[int, int], die: Random) -> None:
    """The undos; a second one now and then, which comes later or, as rows go, earlier."""
    for window in facts.windows:
        if window.number not in undos:
            continue
        undo_ns = undos[window.number]
        later = [undo_ns + SECOND] if die.random() < 0.1 else []
        for at_ns in die.sample([undo_ns, *later], k=1 + len(later)):
            _add(rows, window.number, "undo_issued", at_ns)


def with_notes(facts: Facts, rows: Rows, seed: int, tags: set[str]) -> None:
    """Adds to `rows` what else is on record of the windows."""
    die = Random(f"notes of {seed}")
    known = {row["window"] for row in rows.get("faults", ())}
    intended = [at for row in rows.get("attempts", ()) if (at := _time(row, "intended_ns")) >= 0]
    for window in facts.windows:
        if die.random() < 0.5:
            _add(rows, window.number, die.choice(OTHERS), window.origin_ns)
        ended_ns = window.ended_ns
        if ended_ns is None and die.random() < 0.9:
            continue
        ended_ns = ended_ns or window.returned_ns
        # Where windows have been told by a module of their own, a missing undo is meant.
        if not known and die.random() < 0.6:
            at_ns = _undo_ns(window, ended_ns, intended, die)
            note(facts, rows, {window.number: at_ns}, die)
            tags.add("undo at an operation" if at_ns in intended else "undo")
        _see_gone(facts, rows, window.number, ended_ns, intended, die, tags)


def _undo_ns(window: Window, ended_ns: int, intended: list[int], die: Random) -> int:
    between = [at_ns for at_ns in intended if window.origin_ns <= at_ns <= ended_ns]
    if between and die.random() < 0.6:
        return die.choice(between)
    return max(window.origin_ns, ended_ns - die.choice([0, MS, 300 * MS]))


def _see_gone(
    facts: Facts,
    rows: Rows,
    window: int,
    ended_ns: int,
    intended: list[int],
    die: Random,
    tags: set[str],
) -> None:
    if die.random() < 0.2:
        tags.add("gone is not on record")
        return
    first_ns = ended_ns + die.choice([0, MS, SECOND])
    after_ns = facts.deadline_ns + facts.reconnect_ns
    exact = [at_ns - after_ns for at_ns in intended if at_ns - after_ns >= ended_ns]
    if exact and die.random() < 0.4:
        first_ns = die.choice(exact[: len(exact) // 4 + 1]) + die.choice([-1, 0, 0, 1])
        tags.add("gone, with an operation a deadline and a reconnect later")
    times = [first_ns]
    if die.random() < 0.25:
        tags.add("gone is on record twice")
        times.append(first_ns + die.choice([0, 1, SECOND, 20 * SECOND]))
    for at_ns in die.sample(times, k=len(times)):
        _add(rows, window, "gone", at_ns)


def _add(rows: Rows, window: int, event: str, at_ns: int) -> None:
    row: Row = dict.fromkeys(("kind", "target", "resolved", "role", "mechanism", "detail"))
    row |= {"window": window, "event": event, "at_ns": at_ns, "ok": 1}
    rows.setdefault("faults", []).append(row)


def _time(row: Row, column: str) -> int:
    value = row[column]
    assert isinstance(value, int)
    return value
