"""Policies of a broker that only a history of others declares, and consumers' own progress: the
counts that they excuse.

1. A queue with a time to live, a maximum length or a dead-letter exchange may drop a message that
   it confirmed, or move it to another queue. Absent messages may have been dropped then.
2. A broker that deduplicates stores a message that was sent again once, and confirms it twice.
3. A policy makes a violation possible only; without a violation nothing changes.
4. No row of a history says which offset a consumer named. So what comes again on another
   connection, or to another consumer, may be what it wanted; on one connection a log never goes
   back.
"""

from harness.histories.history import Cell, History
from spark_analysis.schema.measures import GONE

DROPS, DEDUPLICATES = "drops", "deduplicates"
POLICIES = (DROPS, DEDUPLICATES)
_COPY = "attempt_lost"
_ELSEWHERE = ("not_redelivered", "misrouted")
_AGAIN = ("duplicated.redelivery", "duplicated.offset_rollback")
_DROPPED = (
    "the queues may drop or move messages by themselves (`drops`), and no row says which they did"
)
_STORED_ONCE = (
    "the broker stores a message once, however often it was sent (`deduplicates`), and no row "
    "says which copy it left out"
)
_WANTED = (
    "consumer {0} read offset {1} of {2} on connection {3} after it had come on another one, and "
    "no row says at which offset it began there"
)
_Offset = tuple[Cell, Cell, Cell]  # queue, broker (or part of a log), offset


def excused(history: History, own_progress: bool) -> dict[str, str]:
    """Return the counts whose cases may have another cause than a broken promise, with the reason.
    `own_progress`: consumers keep their own offsets."""
    found = wanted(history) if own_progress else {}
    if history.declared.get(DEDUPLICATES) is True:
        found[_COPY] = _STORED_ONCE
    if history.declared.get(DROPS) is True:
        found |= dict.fromkeys((*GONE, _COPY, *_ELSEWHERE), _DROPPED)
    return found


def wanted(history: History) -> dict[str, str]:
    """Return the counts whose cases consumers may have wanted, with the reason; {} if there are
    none, or if something came again on one connection."""
    rows = history.tables.get("deliveries", {})
    names = ("queue", "broker", "offset", "consumer", "connection")
    received: dict[_Offset, set[tuple[Cell, Cell]]] = {}
    why = ""
    for *where, consumer, connection in zip(*(rows.get(name, []) for name in names), strict=True):
        queue, place, offset = where
        if not isinstance(offset, int) or offset < 0:
            continue
        connections = received.setdefault((queue, place, offset), set())
        if (consumer, connection) in connections:
            return {}
        if connections:
            why = why or _WANTED.format(consumer, offset, queue, connection)
        connections.add((consumer, connection))
    return dict.fromkeys(_AGAIN, why) if why else {}
