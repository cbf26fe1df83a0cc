"""What sustained success is owed to: the system, or the end of the fault that it began under.

1. What a fault held back in its last seconds is in time once it is over: success seems to begin a
   deadline before its end, and earlier where little was held back.
2. It is the system's where enough operations of its first period, sent into the fault, and their
   deadlines, were over before the undo began, and were good by themselves; or where all of that
   period was confirmed before.
3. It is the undo's where it seems to begin about a deadline before that, and still went wrong
   shortly before: of what was intended from three quarters to half a deadline before the undo, too
   much waited when it began; and what waited so long was never confirmed in time before.
4. Else it may be either's. What began after the undo, or where there was none, owes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence

from spark_analysis.definition.operations import Operation
from spark_analysis.definition.sustained import Periods, Search, too_many
from spark_analysis.definition.windows import Faulted
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Owed

Undos = Mapping[int, int]  # by window: when its undo was issued


def undos(faults: Iterable[Mapping[str, int | str | None]]) -> Undos:
    """Of the rows of `faults`."""
    found: dict[int, int] = {}
    for row in faults:
        window, at_ns = row["window"], row["at_ns"]
        if row["event"] == "undo_issued" and isinstance(window, int) and isinstance(at_ns, int):
            found[window] = min(at_ns, found.get(window, at_ns))
    return found


def owed(
    facts: Facts,
    fault: Faulted,
    operations: Sequence[Operation],
    search: Search,
    undo_ns: int | None,
) -> Owed:
    """To what the sustained success that was found after this fault is owed."""
    if fault.window.ended_ns is None or not search.found:
        return Owed.NOTHING
    if undo_ns is None:
        return Owed.EITHER
    if search.at_ns >= undo_ns:
        return Owed.NOTHING
    periods = Periods(operations, facts.load_ended_ns)
    # A fault that takes long to make lets the system serve meanwhile: that is no success.
    from_ns = max(search.at_ns, fault.window.returned_ns)
    decided = periods.good_before(from_ns, undo_ns - facts.deadline_ns)
    if decided or periods.confirmed_before(from_ns, undo_ns):
        return Owed.SYSTEM
    if _waited(operations, search.at_ns, undo_ns, facts.deadline_ns):
        return Owed.UNDO
    return Owed.EITHER


def _waited(operations: Sequence[Operation], from_ns: int, undo_ns: int, deadline_ns: int) -> bool:
    """Whether success that is to have begun at `from_ns` was none shortly before the undo."""
    first_ns, until_ns = undo_ns - deadline_ns * 3 // 4, undo_ns - deadline_ns // 2
    if not undo_ns - deadline_ns * 3 // 2 <= from_ns <= first_ns:
        return False
    late = [one for one in operations if first_ns <= one.intended_ns < until_ns]
    waiting = sum(not one.confirmed_before(undo_ns) for one in late)
    before = (one for one in operations if from_ns <= one.intended_ns < until_ns)
    slow = any(_slow(one, undo_ns, deadline_ns) for one in before)
    return too_many(waiting, len(late)) and not slow


def _slow(operation: Operation, undo_ns: int, deadline_ns: int) -> bool:
    """Whether it was in time without the undo, if only after half of its deadline."""
    half_ns = operation.intended_ns + deadline_ns // 2
    in_time = operation.confirmed_before(undo_ns) and not operation.missed
    return in_time and not operation.confirmed_before(half_ns)
