"""What sustained success is owed to: the system, or the end of the fault that it began under.

1. What a fault held back in its last seconds is in time once it is over: success seems to begin a
   deadline before its end, and earlier where little was held back.
2. It is the system's where enough operations of its first period, and their deadlines, were over
   before the undo began, and were good by themselves.
3. It is the undo's where it still went wrong shortly before: of what was intended from three
   quarters to half a deadline before the undo, too much waited when it began.
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
    if periods.good_before(search.at_ns, undo_ns - facts.deadline_ns):
        return Owed.SYSTEM
    if _waited(operations, search.at_ns, undo_ns, facts.deadline_ns):
        return Owed.UNDO
    return Owed.EITHER


def _waited(operations: Iterable[Operation], from_ns: int, undo_ns: int, deadline_ns: int) -> bool:
    """Whether success that is to have begun at `from_ns` was none shortly before the undo."""
    first_ns, until_ns = undo_ns - deadline_ns * 3 // 4, undo_ns - deadline_ns // 2
    late = [one for one in operations if first_ns <= one.intended_ns < until_ns]
    waiting = sum(_open(one, undo_ns) for one in late)
    return from_ns <= first_ns and too_many(waiting, len(late))


def _open(operation: Operation, at_ns: int) -> bool:
    """Whether it was not confirmed by then."""
    confirmed_ns = operation.message.confirmed_ns
    return confirmed_ns is None or confirmed_ns >= at_ns
