"""Consumers of a log that keep their own progress, and where they begin to read again.

No row of a history says which offset a consumer named. So what comes again on a later connection
may be what it wanted; on one connection a log never goes back.
"""

from harness.histories.history import Cell, History

_COUNTS = ("duplicated.redelivery", "duplicated.offset_rollback")
_WHY = (
    "consumer {0} read offset {1} of {2} again on a later connection, and no row says at which "
    "offset it began there"
)
_Offset = tuple[Cell, Cell, Cell, Cell]  # consumer, queue, broker (or part of a log), offset


def wanted(history: History) -> dict[str, str]:
    """Return the counts whose cases consumers may have wanted, with the reason; {} if there are
    none, or if something came again on one connection."""
    rows = history.tables.get("deliveries", {})
    names = ("consumer", "queue", "broker", "offset")
    columns = [rows.get(name, []) for name in names]
    received: dict[_Offset, set[Cell]] = {}
    why = ""
    for where, connection in zip(
        zip(*columns, strict=True), rows.get("connection", []), strict=True
    ):
        consumer, queue, _, offset = where
        if not isinstance(offset, int) or offset < 0:
            continue
        connections = received.setdefault(where, set())
        if connection in connections:
            return {}
        if connections:
            why = why or _WHY.format(consumer, offset, queue)
        connections.add(connection)
    return dict.fromkeys(_COUNTS, why) if why else {}
