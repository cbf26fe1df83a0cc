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
    among,
    earliest,
    expand,
    find,
)
from spark_analysis.engine.kernel.arrays import pair_numbers as pairs
from spark_analysis.engine.kernel.records import Acknowledgements, ClientEvents, Deliveries
from spark_analysis.schema.facts import Facts

_WASTE = 16  # tags are dense as long as this many places a row suffice
_SPARE = 1 << 16
_ENDS = ("lost", "closed")  # kinds of client events


def written_ns(rows: Deliveries, acknowledgements: Acknowledgements) -> NDArray[np.int64]:
    """Return when an acknowledgement that covers each delivery was first written, or NEVER."""
    connections, connection = np.unique(pairs(rows.consumer, rows.connection), return_inverse=True)
    acknowledging = find(
        connections, pairs(acknowledgements.consumer, acknowledgements.connection)
    )
    some = np.flatnonzero(acknowledging >= 0)
    acknowledging = acknowledging[some]
    tags, tag = np.unique(rows.tag, return_inverse=True)
    keys, key = np.unique(connection * (len(tags) + 1) + tag, return_inverse=True)
    base = acknowledging * (len(tags) + 1)
    first = np.searchsorted(tags, acknowledgements.first_tag[some])
    after = np.searchsorted(tags, acknowledgements.last_tag[some], side="right")
    starts, ends = np.searchsorted(keys, base + first), np.searchsorted(keys, base + after)
    acknowledgement, place = expand(starts, ends)
    return earliest(len(keys), place, acknowledgements.written_ns[some][acknowledgement])[key]


def acknowledged_ns(
    rows: Deliveries, acknowledgements: Acknowledgements, over_ns: Ints
) -> NDArray[np.int64]:
    """Return when each delivery was first acknowledged, or NEVER. `over_ns`: when its connection
    ended; what was written later did not reach the queue."""
    return before_the_end(written_ns(rows, acknowledgements), rows.offset, over_ns)


def before_the_end(first_ns: Ints, offset: Ints, over_ns: Ints) -> NDArray[np.int64]:
    """Return the times of acknowledgements, with NEVER where the connection of a delivery from a
    queue had ended before."""
    return np.where((first_ns > over_ns) & (offset < 0), NEVER, first_ns)


def ended_ns(rows: Deliveries, events: ClientEvents) -> NDArray[np.int64]:
    """Return when the connection of each delivery was lost or closed after it, or NEVER."""
    return next_event_ns(rows, events, *_ENDS)


def next_event_ns(rows: Deliveries, events: ClientEvents, *kinds: str) -> NDArray[np.int64]:
    """Return when an event of these kinds, of its connection, came after each delivery, or
    NEVER."""
    connections, first_ns, last_ns = _first_and_last(events, *kinds)
    own, received_ns = pairs(rows.consumer, rows.connection), rows.received_ns
    place = find(connections, own)
    # -1, a connection without one: the last place
    over_ns = np.append(first_ns, NEVER)[place]
    later = np.flatnonzero(over_ns < received_ns)
    if len(later):
        over_ns[later] = NEVER
        later = later[last_ns[place[later]] >= received_ns[later]]
        over_ns[later] = _next_ns(own[later], received_ns[later], events, *kinds)
    return over_ns


def _next_ns(own: Ints, received_ns: Ints, events: ClientEvents, *kinds: str) -> Ints:
    """Return when such an event came next for each of these deliveries; each has one."""
    chosen = events.kind.among(*kinds)
    connection = pairs(events.worker[chosen], events.connection[chosen])
    connections, times = np.unique(connection), np.unique(events.at_ns[chosen])
    size = len(times)
    keys = np.sort(
        find(connections, connection) * size + np.searchsorted(times, events.at_ns[chosen])
    )
    wanted = find(connections, own) * size + np.searchsorted(times, received_ns)
    next_ns: Ints = times[keys[np.searchsorted(keys, wanted)] % size]
    return next_ns


def unread(rows: Deliveries, attempt: Ints, facts: Facts) -> Bools:
    """Return whether the end of each delivery's connection need not be on record: its consumer's
    log is not closed; or the drain brought its attempt from a queue, when all had ended.
    `attempt`: a number of each one's."""
    logs = [worker.number for worker in facts.workers if not worker.log_closed]
    drained = np.unique(attempt[among(rows.via, facts.way_numbers.drain)])
    open_ended: Bools = (rows.offset < 0) & (find(drained, attempt) >= 0)
    return open_ended | np.isin(rows.consumer, logs)


def may_end_ns(
    rows: Deliveries,
    events: ClientEvents,
    acknowledgements: Acknowledgements,
    every: Deliveries,
    unread: Bools,
) -> NDArray[np.int64]:
    """Return from when on the connection of each delivery may have ended, or NEVER.

    Without an end on record, an `unread` one may have ended after anything that its consumer
    received (`every`: all deliveries) or acknowledged by it. If all ends on record are of before a
    delivery, its connection may have ended right then.
    """
    over_ns = ended_ns(rows, events)
    connections = endings(events)[0]
    stale = find(connections, pairs(rows.consumer, rows.connection)) >= 0
    stale &= over_ns == NEVER
    unknown = np.flatnonzero((over_ns == NEVER) & unread)
    over_ns[stale] = rows.received_ns[stale]
    unknown = unknown[~stale[unknown]]
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


def endings(events: ClientEvents) -> tuple[Ints, NDArray[np.int64], NDArray[np.int64]]:
    """The connections that ended, ascending, and when each did first and last."""
    return _first_and_last(events, *_ENDS)


def _first_and_last(
    events: ClientEvents, *kinds: str
) -> tuple[Ints, NDArray[np.int64], NDArray[np.int64]]:
    """The connections with an event of these kinds, ascending, and the first and the last time."""
    chosen = events.kind.among(*kinds)
    connections, connection = np.unique(
        pairs(events.worker[chosen], events.connection[chosen]), return_inverse=True
    )
    at_ns, size = events.at_ns[chosen], len(connections)
    return connections, earliest(size, connection, at_ns), -earliest(size, connection, -at_ns)


def any_too_early(rows: Deliveries, chosen: Bools, acknowledgements: Acknowledgements) -> bool:
    """Return whether any of the chosen deliveries was acknowledged before it came."""
    frames = pairs(acknowledgements.consumer, acknowledgements.connection)
    connections = np.unique(frames)
    if not len(connections):
        return False
    place = find(connections, pairs(rows.consumer, rows.connection))
    known = np.flatnonzero(chosen & (place >= 0))
    if not len(known):
        return False
    tags, received_ns = rows.tag[known], rows.received_ns[known]
    ranks = np.unique(tags)  # tags of a damaged log may span everything
    size = len(ranks) + 1  # one more, for frames that begin later
    keys = place[known] * size + np.searchsorted(ranks, tags)
    if (keys[1:] < keys[:-1]).any():
        order = np.argsort(keys, kind="stable")
        keys, received_ns = keys[order], received_ns[order]
    base = find(connections, frames) * size
    first = np.searchsorted(ranks, acknowledgements.first_tag)
    after = np.searchsorted(ranks, acknowledgements.last_tag, side="right")
    starts, ends = np.searchsorted(keys, base + first), np.searchsorted(keys, base + after)
    some = np.flatnonzero(starts < ends)
    some = some[np.argsort(starts[some], kind="stable")]  # so that what lies between counts once
    latest_ns = _latest_ns(received_ns, starts[some], ends[some])
    return bool((latest_ns > acknowledgements.written_ns[some]).any())


def _latest_ns(received_ns: Ints, starts: Ints, ends: Ints) -> Ints:
    """Return the latest of the times in each range, [start, end). None is empty."""
    if not len(starts):
        return np.empty(0, np.int64)
    bounds = np.stack([starts, ends], axis=1).ravel()
    latest: Ints = np.maximum.reduceat(np.append(received_ns, 0), bounds)[::2]
    return latest


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
