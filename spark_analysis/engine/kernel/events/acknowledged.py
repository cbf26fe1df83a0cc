"""The times when deliveries were acknowledged, and when their connections ended.

1. Many ask whether a delivery was acknowledged at all, and counting answers it. Few ask when, and
   a search answers that.
"""

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    NEVER,
    Bools,
    Ints,
    earliest,
    expand,
    find,
)
from spark_analysis.engine.kernel.arrays import pair_numbers as pairs
from spark_analysis.engine.kernel.records import Acknowledgements, ClientEvents, Deliveries
from spark_analysis.schema.facts import Facts

_WASTE = 16  # tags are dense as long as this many places a row suffice
_SPARE = 1 << 16


def written_ns(rows: Deliveries, acknowledgements: Acknowledgements) -> NDArray[np.int64]:
    """Return when an acknowledgement that covers each delivery was first written, or NEVER."""
    connections, connection = np.unique(pairs(rows.consumer, rows.connection), return_inverse=True)
    acknowledging = find(
        connections, pairs(acknowledgements.consumer, acknowledgements.connection)
    )
    covering = acknowledgements.pick(acknowledging >= 0)
    acknowledging = acknowledging[acknowledging >= 0]
    tags = np.unique(rows.tag)
    keys, key = np.unique(
        connection * (len(tags) + 1) + np.searchsorted(tags, rows.tag), return_inverse=True
    )
    base = acknowledging * (len(tags) + 1)
    starts = np.searchsorted(keys, base + np.searchsorted(tags, covering.first_tag))
    ends = np.searchsorted(keys, base + np.searchsorted(tags, covering.last_tag, side="right"))
    acknowledgement, place = expand(starts, ends)
    return earliest(len(keys), place, covering.written_ns[acknowledgement])[key]


def ended_ns(rows: Deliveries, events: ClientEvents) -> NDArray[np.int64]:
    """Return when the connection of each delivery was first lost or closed, or NEVER."""
    connections, ends_ns = endings(events)
    place = find(connections, pairs(rows.consumer, rows.connection))
    return np.append(ends_ns, NEVER)[place]  # -1, a connection that did not end: the last place


def may_end_ns(
    rows: Deliveries,
    events: ClientEvents,
    acknowledgements: Acknowledgements,
    every: Deliveries,
    facts: Facts,
) -> NDArray[np.int64]:
    """Return from when on the connection of each delivery may have ended, or NEVER.

    Without an end on record, that of a consumer whose log is not closed may have ended after
    anything that it received (`every`: all deliveries) or acknowledged.
    """
    over_ns = ended_ns(rows, events)
    unread = [worker.number for worker in facts.workers if not worker.log_closed]
    unknown = np.flatnonzero((over_ns == NEVER) & np.isin(rows.consumer, unread))
    if not len(unknown):
        return over_ns
    own = pairs(rows.consumer[unknown], rows.connection[unknown])
    connections = np.unique(own)
    last_ns = np.zeros(len(connections), np.int64)
    for of, at_ns in ((every, every.received_ns), (acknowledgements, acknowledgements.written_ns)):
        place = find(connections, pairs(of.consumer, of.connection))
        np.maximum.at(last_ns, place[place >= 0], at_ns[place >= 0])
    over_ns[unknown] = last_ns[find(connections, own)]
    return over_ns


def endings(events: ClientEvents) -> tuple[Ints, NDArray[np.int64]]:
    """The connections that ended, ascending, and when each did first."""
    ends = events.kind.among("lost", "closed")
    connections, connection = np.unique(
        pairs(events.worker[ends], events.connection[ends]), return_inverse=True
    )
    return connections, earliest(len(connections), connection, events.at_ns[ends])


def covered(connection: Ints, tag: Ints, by: Ints, first_tag: Ints, last_tag: Ints) -> Bools:
    """Return whether any acknowledgement covers each delivery, at whatever time.

    `connection`: the number of each delivery's connection, from 0; `by`: that of each
    acknowledgement.
    """
    if not len(connection) or not len(by):
        return np.zeros(len(connection), np.bool_)
    size = int(connection.max()) + 1
    lowest, highest = earliest(size, connection, tag), -earliest(size, connection, -tag)
    # Python's integers: a damaged log may span more than an int64 holds.
    bounds = zip(lowest.tolist(), highest.tolist(), strict=True)
    spans = [max(0, high - low + 1) for low, high in bounds]
    if sum(spans) > _WASTE * len(connection) + _SPARE:
        return _covered_sparsely(connection, tag, by, first_tag, last_tag)
    lengths = np.array(spans, np.int64)
    starts = np.cumsum(lengths) - lengths
    inside = (by < size) & (first_tag <= last_tag)
    by, first_tag, last_tag = by[inside], first_tag[inside], last_tag[inside]
    inside = (first_tag <= highest[by]) & (last_tag >= lowest[by])
    by, first_tag, last_tag = by[inside], first_tag[inside], last_tag[inside]
    base = starts[by] - lowest[by]
    opens = base + np.maximum(first_tag, lowest[by])
    closes = base + np.minimum(last_tag, highest[by]) + 1
    held = _inside(sum(spans), opens, closes)
    acknowledged: Bools = held[starts[connection] + tag - lowest[connection]]
    return acknowledged


def _covered_sparsely(
    connection: Ints, tag: Ints, by: Ints, first_tag: Ints, last_tag: Ints
) -> Bools:
    tags = np.unique(tag)
    span = len(tags) + 1
    keys, key = np.unique(connection * span + np.searchsorted(tags, tag), return_inverse=True)
    opens = np.searchsorted(keys, by * span + np.searchsorted(tags, first_tag))
    closes = np.searchsorted(keys, by * span + np.searchsorted(tags, last_tag, side="right"))
    held = opens < closes
    acknowledged: Bools = _inside(len(keys), opens[held], closes[held])[key]
    return acknowledged


def _inside(size: int, opens: Ints, closes: Ints) -> Bools:
    """Return for each of `size` places whether it lies in one of [opens, closes)."""
    steps = np.bincount(opens, minlength=size + 1) - np.bincount(closes, minlength=size + 1)
    inside: Bools = np.cumsum(steps)[:-1] > 0
    return inside
