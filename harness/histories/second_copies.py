"""Second copies in a log that no consumer received.

A duplicate is a delivery. If the audit found one attempt at two offsets of one place, the log has
it twice, though no delivery shows that: so no claim that it is stored once passes.
"""

from harness.histories.history import Cell, History

_COUNT = "duplicated.stored_twice"
_WHY = (
    "attempt {0} of message {1} of producer {2} was received or found at offsets {3} and {4} of "
    "{5}"
)
_Copy = tuple[Cell, Cell, Cell, Cell]  # producer, sequence, attempt, place


def second_copy(history: History) -> dict[str, str]:
    """Return the count that the audit contradicts, with the reason; {} if it contradicts none."""
    rows = history.tables.get("deliveries", {})
    others = {way.number for way in history.facts.ways if way.again or way.uncommitted}
    names = ("producer", "sequence", "attempt", "broker", "offset", "via", "header_ok", "run_ok")
    columns = [rows.get(name, []) for name in names]
    if len({len(column) for column in columns}) > 1:
        return {}
    first: dict[_Copy, int] = {}
    for producer, sequence, attempt, place, offset, via, *intact in zip(*columns, strict=True):
        if not place or not isinstance(offset, int) or offset < 0:
            continue
        if via in others or not all(intact):
            continue
        before = first.setdefault((producer, sequence, attempt, place), offset)
        if before != offset:
            why = _WHY.format(attempt, sequence, producer, before, offset, place)
            return {_COUNT: why}
    return {}
