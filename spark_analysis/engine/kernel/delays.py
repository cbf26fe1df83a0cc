"""Delayed messages: what came before its time, and what may still have waited at the end.

1. What nobody can tell for the clocks' sake is early_unknown, or not due: never held against a
   broker.
"""

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, earliest, marked
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.cases import Cases, Census, plain
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.schema.facts import Facts

GRAIN_NS = 1_000_000
APART = 1_000


def delays(
    messages: Messages, arrived: Arrivals, facts: Facts
) -> tuple[list[Census], list[Cases]]:
    """The messages that were delayed, and the deliveries before their time."""
    terms = messages.terms
    size = len(messages.slots.taken)
    slots = np.flatnonzero(marked(size, terms.slot[terms.delayed]))
    if not len(slots):
        return [], []
    rows = np.flatnonzero(arrived.regular)
    place = terms.find(arrived.attempt_row[rows])
    judged = (place >= 0) & terms.sent[place] & terms.delayed[place]
    rows, place = rows[judged], place[judged]
    before_ns = terms.due_ns[place] - arrived.received_ns(rows)
    slack_ns = _slack_ns(terms.wait_ns[place], arrived.rows.producer[rows], facts)
    slack_ns += _bounds_ns(arrived.rows.consumer[rows], facts)
    early, unknown = before_ns > slack_ns, (before_ns > 0) & (before_ns <= slack_ns)
    return [Census("delayed", plain(len(slots)), messages.queue[slots])], [
        _early(messages, arrived, "early", rows[early]),
        _early(messages, arrived, "early_unknown", rows[unknown]),
    ]


def not_due(messages: Messages, slots: Ints, facts: Facts) -> Bools:
    """Whether all that was confirmed of each may have waited still when its queue was quiet."""
    terms, row = messages.terms, messages.confirms_row
    if not terms.delayed.any():
        return np.zeros(len(slots), np.bool_)
    place = terms.find(row)
    delayed = (place >= 0) & terms.delayed[place]
    producer = messages.attempts.producer[row]
    wait_ns = terms.wait_ns[place]
    over_ns = messages.confirms_settled_ns + wait_ns + _slack_ns(wait_ns, producer, facts)
    slot = messages.slots.find(producer, messages.attempts.sequence[row])
    size = len(messages.slots.taken)
    # One copy that did not wait is enough: it was to come at once.
    first_ns = earliest(size, slot, np.where(delayed, over_ns, -1))[slots]
    quiet_ns = np.full(len(slots), -1, np.int64)
    for end in facts.queues:
        if end.quiet_ns is not None:
            quiet_ns[messages.queue[slots].among(end.queue)] = end.quiet_ns
    return (first_ns >= 0) & (first_ns < NEVER) & ((quiet_ns < 0) | (first_ns > quiet_ns))


def _early(messages: Messages, arrived: Arrivals, measure: str, rows: Ints) -> Cases:
    return arrived.cases(measure, rows, plain(len(rows)), messages.queue[arrived.slot[rows]])


def _slack_ns(wait_ns: Ints, producer: Ints, facts: Facts) -> Ints:
    return wait_ns // APART + GRAIN_NS + _bounds_ns(producer, facts)


def _bounds_ns(worker: Ints, facts: Facts) -> NDArray[np.int64]:
    bounds_ns = np.zeros(len(worker), np.int64)
    for clock in facts.clocks:
        bounds_ns[worker == clock.worker] = clock.bound_ns
    return bounds_ns
