"""The deliveries that consumers held or gave back, as far as their records show.

1. A client event `requeued` names the delivery by its tag. Without a tag it may be of any that its
   connection held.
2. Few histories have such events; without them nothing else is read.
"""

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, find, pair_numbers
from spark_analysis.engine.kernel.events.acknowledged import next_event_ns
from spark_analysis.engine.kernel.records import Acknowledgements, ClientEvents, Deliveries

_KIND = "requeued"
_NO_TAG = -1
_DIGITS = 18  # a longer number is no tag


def next_requeue_ns(rows: Deliveries, events: ClientEvents) -> NDArray[np.int64]:
    """Return when each delivery may have been given back first after it came, or NEVER."""
    given_back = events.kind.among(_KIND)
    if not given_back.any():
        return np.full(len(rows.tag), NEVER, np.int64)
    events = events.pick(given_back)
    tag = np.array([_tag(word) for word in events.detail.words])[events.detail.numbers]
    untagged = next_event_ns(rows, events.pick(tag == _NO_TAG), _KIND)
    named = tag != _NO_TAG
    return np.minimum(untagged, _next_by_tag_ns(rows, events.pick(named), tag[named]))


def held_still(
    rows: Deliveries, loaded: Bools, acknowledgements: Acknowledgements, events: ClientEvents
) -> Bools:
    """Return whether each copy came by the same connection as the one above it, both to a consumer
    of the load (`loaded`), and that connection acknowledged anything. If its consumer has no
    client event, or tags do not ascend, something that gave the first one back may be hidden."""
    connection = pair_numbers(rows.consumer, rows.connection)
    answering = np.unique(pair_numbers(acknowledgements.consumer, acknowledgements.connection))
    held: Bools = loaded & (find(answering, connection) >= 0)
    held &= np.isin(rows.consumer, events.worker)
    held[1:] &= (connection[1:] == connection[:-1]) & loaded[:-1] & (rows.tag[1:] > rows.tag[:-1])
    held[:1] = False
    return held


def _tag(word: str) -> int:
    return int(word) if word.isascii() and word.isdigit() and len(word) <= _DIGITS else _NO_TAG


def _next_by_tag_ns(rows: Deliveries, events: ClientEvents, tag: Ints) -> NDArray[np.int64]:
    """Return when an event of its own connection and tag came next after each delivery, or
    NEVER."""
    of, times = pair_numbers(events.worker, events.connection), np.unique(events.at_ns)
    connections, tags = np.unique(of), np.unique(tag)
    on = find(connections, pair_numbers(rows.consumer, rows.connection))
    named = find(tags, rows.tag)
    found = np.full(len(on), NEVER, np.int64)
    some = np.flatnonzero((on >= 0) & (named >= 0))
    if not len(some):
        return found
    size = len(times) + 1
    key = (find(connections, of) * len(tags) + find(tags, tag)) * size
    keys = np.sort(key + np.searchsorted(times, events.at_ns))
    base = (on[some] * len(tags) + named[some]) * size
    place = np.searchsorted(keys, base + np.searchsorted(times, rows.received_ns[some]))
    next_key = np.append(keys, -1)[place]
    hit = next_key // size == base // size
    found[some[hit]] = times[next_key[hit] % size]
    return found
