"""Whether the records of looks bear out what the facts say of a fault.

1. That a fault was active shows only within its window, and that it ended only after its undo was
   issued. Records without looks leave the word of the facts.
2. Several looks may be on record, as a look is repeated: one that succeeded in its time is enough.
3. Where they contradict the facts the fault does not count: it was not verified, or not gone.
4. When a fault was gone only such looks show.
5. While a fault is in force it may cause something, whatever is said of the changes of leaders.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from harness.histories.history import Cell, Columns
from spark_analysis.schema.facts import Facts, Window

_Step = tuple[int, bool]  # when it was, and whether it succeeded


def borne_out(facts: Facts, tables: Mapping[str, Columns]) -> Facts:
    """Return the facts with faults that count only as far as their records let them."""
    steps = tables.get("faults", {})
    return replace(facts, windows=tuple(_window(window, steps) for window in facts.windows))


def seen_gone(facts: Facts, tables: Mapping[str, Columns]) -> dict[str, Columns]:
    """Return the tables without looks that did not see a fault gone: those that failed, and those
    from before its undo."""
    steps = tables.get("faults", {})
    undone = {one.number: _undone_ns(one, steps) for one in facts.windows}
    numbers, oks = steps.get("window", []), steps.get("ok") or []
    failed = {place for place, ok in enumerate(oks) if ok == 0}
    kept = [
        place
        for place, (number, event, at_ns) in enumerate(
            zip(numbers, steps.get("event", []), steps.get("at_ns", []), strict=True)
        )
        if event != "gone"
        or (place not in failed and cast(int, at_ns) >= undone.get(cast(int, number), 0))
    ]
    if len(kept) == len(numbers):
        return dict(tables)
    left = {name: [cells[place] for place in kept] for name, cells in steps.items() if cells}
    return {**tables, "faults": left}


def _undone_ns(window: Window, steps: Columns) -> int:
    undone = [at_ns for at_ns, _ in _steps(window, steps, "undo_issued")]
    return min(undone, default=window.origin_ns)


def _window(window: Window, steps: Columns) -> Window:
    active, ended = _not_active(window, steps), _not_gone(window, steps)
    reasons = [window.unverified_reason, active, ended]
    over_ns = window.over_ns
    if over_ns is not None and window.ended_ns is not None:
        over_ns = max(over_ns, window.ended_ns)
    return replace(
        window,
        verified=window.verified and not active,
        gone=window.gone and not ended,
        unverified_reason="; ".join(filter(None, reasons)),
        over_ns=over_ns,
    )


def _not_active(window: Window, steps: Columns) -> str:
    """Return why it is not verified active, though the facts say so."""
    if not window.verified:
        return ""
    if window.gone and window.unverified_reason:
        return "so it does not count as verified"
    if _failed(window, steps, "returned"):
        return "its action failed"
    looks = [*_steps(window, steps, "verified")]
    until_ns = window.ended_ns
    inside = (
        at_ns >= window.origin_ns and (until_ns is None or at_ns <= until_ns)
        for at_ns, ok in looks
        if ok
    )
    return "no look within its window saw it active" if looks and not any(inside) else ""


def _not_gone(window: Window, steps: Columns) -> str:
    """Return why it is not verified ended, though the facts say so."""
    if not window.gone:
        return ""
    if _failed(window, steps, "undo_returned"):
        return "its undo failed"
    if window.ended_ns is None and any(_steps(window, steps, "undo_issued")):
        return "its undo was issued, and no record says that it returned"
    undo_ns = _undone_ns(window, steps)
    if window.ended_ns is not None and undo_ns > window.ended_ns:
        return "its undo was issued after it had returned"
    looks = [*_steps(window, steps, "gone")]
    later = (ok and at_ns >= undo_ns for at_ns, ok in looks)
    return "no look after its undo saw it gone" if looks and not any(later) else ""


def _failed(window: Window, steps: Columns, event: str) -> bool:
    """Return whether a step is on record, and each time as a failure."""
    tries = [ok for _, ok in _steps(window, steps, event)]
    return bool(tries) and not any(tries)


def _steps(window: Window, steps: Columns, event: str) -> Iterator[_Step]:
    numbers, times = steps.get("window", []), steps.get("at_ns", [])
    oks: list[Cell] = [*steps.get("ok", [])] or [1] * len(numbers)
    for number, name, at_ns, ok in zip(numbers, steps.get("event", []), times, oks, strict=True):
        if (number, name) == (window.number, event):
            yield cast(int, at_ns), ok != 0
