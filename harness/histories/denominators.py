"""Acknowledgements, connections and queues in a history: the denominators of four claims.

1. A claim about acknowledged messages needs 100 acknowledged deliveries, or as many as there are
   messages where the history declares fewer. An acknowledgement that covers none proves nothing.
2. A claim about unacknowledged messages needs the ends of connections. If a consumer goes on by a
   later connection and no row says that the earlier one ended, the due messages are unknown.
3. A claim about what a consumer holds needs as many deliveries on connections with an
   acknowledgement. On another connection nothing shows that the consumer acknowledges at all. It
   needs all requeues, too (requeues.py).
4. A claim about misrouted messages needs as many deliveries whose queue is on record, of messages
   whose queue is on record.
5. Of a file that lacks operations no count of violations is known to be 0.
6. A duplicate is a delivery. If the audit found one attempt at two offsets of one place, the log
   has it twice, though no delivery shows that: so no claim that it is stored once passes.
7. Of several consumer groups each needs as much: what one acknowledged says nothing of another.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from math import inf

from harness.histories.history import Cell, Columns, History
from harness.histories.requeues import hidden_cause
from harness.histories.rows import CUT
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import REGISTER, grade

_ENOUGH = 100
_STORED_TWICE = "duplicated.stored_twice"
_TWO_OFFSETS = (
    "attempt {0} of message {1} of producer {2} was received or found at offsets {3} and {4} of "
    "{5}"
)
_Copy = tuple[Cell, Cell, Cell, Cell]  # producer, sequence, attempt, place
_AFTER_ACKNOWLEDGEMENT = ("duplicated.redelivery_after_ack", "duplicated.offset_rollback")
_FORGOTTEN = "not_redelivered"
_HELD = "duplicated.redelivered_without_cause"
_MISROUTED = "misrouted"
_ENDS = ("lost", "closed")
_VIOLATIONS = [
    name
    for one in REGISTER
    for name in (one.name, *(f"{one.name}.{each.name}" for each in one.details))
    if grade(*name.partition(".")[::2]) is Grade.VIOLATION
]
_NO_EVENTS = "no client event is on record, so the ended connections are unknown"
_NO_END = "consumer {0} went on by a later connection, and no row says that connection {1} ended"


def unshown(history: History) -> dict[str, str]:
    """Return why a claim may not take these counts for 0, by the name of the count."""
    if CUT in history.doubts:
        return dict.fromkeys(_VIOLATIONS, CUT)
    found: dict[str, str] = {}
    parts = [*_of_groups(history)]
    many, where = min((_acknowledged(part), group) for group, part in parts)
    declared = history.declared.get("messages", _ENOUGH)
    needed = min(_ENOUGH, declared) if isinstance(declared, int | float) else _ENOUGH
    if many < needed:
        why = f"only {many:,} acknowledgements are on record{where}, and {needed:,.0f} are needed"
        found = dict.fromkeys(_AFTER_ACKNOWLEDGEMENT, why)
    answered, where = min((_answered(part), group) for group, part in parts)
    if answered < needed:
        found[_HELD] = (
            f"only {answered:,} deliveries{where} came by connections with an acknowledgement on "
            f"record, and {needed:,.0f} are needed"
        )
    elif hidden := hidden_cause(history):
        found[_HELD] = hidden
    named = _named(history)
    if named < needed:
        found[_MISROUTED] = (
            f"only {named:,} deliveries name their queue and are of a message that names one, "
            f"and {needed:,.0f} are needed"
        )
    found |= _second_copy(history)
    why_open = _without_ends(history)
    return {**found, _FORGOTTEN: why_open} if why_open else found


def _of_groups(history: History) -> Iterator[tuple[str, History]]:
    """Yield ` in group NAME` and the history with the deliveries and the acknowledgements of that
    consumer group alone; "" and the history if there are no groups."""
    groups, tables = history.facts.consumer_groups, history.tables
    if not groups:
        yield "", history
    came, acknowledged = (tables.get(name, {}) for name in ("deliveries", "acknowledgements"))
    for group in groups:
        others = {one for other in groups if other is not group for one in other.consumers}
        own = {
            "deliveries": _rows(came, "queue", {*group.names.values()}),
            "acknowledgements": _rows(
                acknowledged, "consumer", {*acknowledged.get("consumer", [])} - others
            ),
        }
        yield f" in group {group.name}", replace(history, tables={**tables, **own})


def _rows(columns: Columns, name: str, values: Container[Cell]) -> Columns:
    """Return the rows that have one of these values in this column."""
    places = [place for place, value in enumerate(columns.get(name, [])) if value in values]
    return {each: [column[place] for place in places] for each, column in columns.items()}


def _acknowledged(history: History) -> int:
    """Count the deliveries that an acknowledgement covers. What was written after the last end of
    its connection reached no queue."""
    rows, came = (history.tables.get(name, {}) for name in ("acknowledgements", "deliveries"))
    over_ns = _over_ns(history)
    frames = defaultdict[tuple[Cell, Cell], list[tuple[int, int]]](list)
    names = ("consumer", "connection", "first_tag", "last_tag", "written_ns")
    for *channel, first, last, at_ns in zip(*(rows.get(it, []) for it in names), strict=True):
        consumer, connection = channel
        in_time = _number(at_ns) <= over_ns.get((consumer, connection), inf)
        if isinstance(first, int) and isinstance(last, int) and first <= last and in_time:
            frames[consumer, connection].append((first, last))
    reached = {channel: _furthest(sorted(each)) for channel, each in frames.items()}
    columns = (came.get(name, []) for name in ("consumer", "connection", "tag"))
    many = 0
    for consumer, connection, tag in zip(*columns, strict=True):
        firsts, lasts = reached.get((consumer, connection), ([], []))
        place = bisect_right(firsts, tag) if isinstance(tag, int) else 0
        many += place > 0 and isinstance(tag, int) and lasts[place - 1] >= tag
    return many


def _over_ns(history: History) -> dict[tuple[Cell, Cell], float]:
    """Return when each connection ended last, by consumer and connection. Logs have no ends that
    matter: their progress is kept by brokers, or by consumers."""
    came = history.tables.get("deliveries", {})
    if any(isinstance(each, int) and each >= 0 for each in came.get("offset", [])):
        return {}
    rows = history.tables.get("client_events", {})
    columns = (rows.get(name, []) for name in ("worker", "connection", "kind", "at_ns"))
    over_ns: dict[tuple[Cell, Cell], float] = {}
    for worker, connection, kind, at_ns in zip(*columns, strict=True):
        if kind in _ENDS:
            own = worker, connection
            over_ns[own] = max(_number(at_ns), over_ns.get(own, -inf))
    return over_ns


def _number(cell: Cell) -> float:
    return cell if isinstance(cell, int | float) else -inf


def _furthest(frames: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return the first tags, ascending, and the last tag of each and of all before it."""
    firsts, lasts = zip(*frames, strict=True)
    return [*firsts], [*accumulate(lasts, max)]


def _answered(history: History) -> int:
    """Count the deliveries of the load on connections that acknowledged anything."""
    rows = history.tables.get("acknowledgements", {})
    channels = set(zip(rows.get("consumer", []), rows.get("connection", []), strict=True))
    came = history.tables.get("deliveries", {})
    columns = (came.get(name, []) for name in ("consumer", "connection", "via"))
    loads = history.facts.way_numbers.direct_load
    return sum(
        via in loads and (consumer, connection) in channels
        for consumer, connection, via in zip(*columns, strict=True)
    )


def _named(history: History) -> int:
    """Count the deliveries that could show that they came in a wrong queue."""
    sent, came = (history.tables.get(name, {}) for name in ("attempts", "deliveries"))
    columns = (sent.get(name, []) for name in ("producer", "sequence", "queue"))
    known = {tuple(message) for *message, queue in zip(*columns, strict=True) if queue}
    columns = (came.get(name, []) for name in ("producer", "sequence", "queue", "via"))
    ways = history.facts.way_numbers.direct
    return sum(
        bool(queue) and via in ways and tuple(message) in known
        for *message, queue, via in zip(*columns, strict=True)
    )


def _without_ends(history: History) -> str:
    events = history.tables.get("client_events", {})
    if not events.get("kind"):
        return _NO_EVENTS
    ended = {
        (worker, connection)
        for worker, connection, kind in zip(
            events["worker"], events["connection"], events["kind"], strict=True
        )
        if kind in _ENDS
    }
    for consumer, connections in _used(history).items():
        for connection in sorted(connections, key=lambda it: (connections[it], it))[:-1]:
            if (consumer, connection) not in ended:
                return _NO_END.format(consumer, connection)
    return ""


def _used(history: History) -> dict[Cell, dict[int, int]]:
    """Return the connections by which each consumer of the load received something, each with the
    time of its first delivery. Numbers of connections say nothing of their order."""
    rows = history.tables.get("deliveries", {})
    names = ("consumer", "connection", "via", "received_ns")
    used = defaultdict[Cell, dict[int, int]](dict)
    columns = (rows.get(name, []) for name in names)
    loads = history.facts.way_numbers.direct_load
    for consumer, connection, via, at_ns in zip(*columns, strict=True):
        if via in loads and isinstance(connection, int) and isinstance(at_ns, int):
            first = used[consumer].get(connection, at_ns)
            used[consumer][connection] = min(first, at_ns)
    return used


def _second_copy(history: History) -> dict[str, str]:
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
            why = _TWO_OFFSETS.format(attempt, sequence, producer, before, offset, place)
            return {_STORED_TWICE: why}
    return {}
