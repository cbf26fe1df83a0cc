"""Whether messages of one producer and key came in the order they were sent.

1. Judged only where order is promised and where it is certain where the copy stands.
2. A message is overtaken if what was delivered before it in its line holds one that was sent after
   it was confirmed, or after it on its connection: the latest so far of a line tells of all.
3. Times are compared by ranks, so that a line's number above the rank keeps lines apart.
"""

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    NEVER,
    Bools,
    Ints,
    find,
    group_numbers,
    in_order,
    largest_before,
)
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.cases import Cases, Census, plain
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Redelivered, Via

NOT_JUDGED = ("not_promised", "not_at_once", "not_certain", "not_told")
JUDGED = len(NOT_JUDGED)


def order(messages: Messages, arrived: Arrivals, facts: Facts) -> tuple[list[Census], list[Cases]]:
    """The messages not judged and in order, and those reordered."""
    slots = np.flatnonzero(arrived.delivered)
    reason = _reasons(messages, arrived, facts, slots)
    judged, left_out = slots[reason == JUDGED], reason < JUDGED
    # Rows of deliveries are in delivery order.
    judged = judged[np.argsort(arrived.first[judged])]
    alike, at_all = _overtaken(messages, arrived, judged)
    kept = judged[~at_all]
    counted = [
        Census("not_judged", Text(NOT_JUDGED, reason[left_out]), messages.queue[slots[left_out]]),
        Census("in_order", plain(len(kept)), messages.queue[kept]),
    ]
    return counted, [
        _cases(messages, arrived, "reordered", judged[alike]),
        _cases(messages, arrived, "reorder_unknown", judged[at_all & ~alike]),
    ]


def _cases(messages: Messages, arrived: Arrivals, measure: str, slots: Ints) -> Cases:
    first = arrived.first[slots]
    at_ns = arrived.received_ns(first)
    since_ns = messages.attempts.sent_ns[arrived.attempt_row[first]]
    return messages.cases(measure, slots, plain(len(slots)), at_ns, since_ns, at_ns)


def _reasons(
    messages: Messages, arrived: Arrivals, facts: Facts, slots: Ints
) -> NDArray[np.int32]:
    """Why each delivered message is not judged, or JUDGED."""
    first = arrived.first[slots]
    promised = messages.queue[slots].among(*(q.queue for q in facts.queues if q.ordered))
    at_once = messages.terms.at_once[slots]
    flags = arrived.rows.redelivered[first]
    silent = (flags == Redelivered.NOT_TOLD) & (arrived.rows.offset[first] < 0)
    told = ~silent & (arrived.rows.via[first] != Via.RETRY_TOPIC)
    certain = _certain(messages, arrived.attempt_row[first], slots)
    reasons = np.select(
        [~promised, ~at_once, ~certain, ~told], range(len(NOT_JUDGED)), default=JUDGED
    )
    return reasons.astype(np.int32)


def _certain(messages: Messages, row: Ints, slots: Ints) -> Bools:
    """Whether it is certain where the copy of each attempt's row stands, as far as we were
    told.""" certain = messages.sent_attempt(row)
    open_places = np.flatnonzero(certain)
    open_places = open_places[messages.row_confirmed_ns[row[open_places]] == NEVER]
    if len(open_places):
        denied = find(messages.denials.row, row[open_places]) >= 0
        several = messages.rows.several(slots[open_places])
        certain[open_places] = ~several & ~denied
    return certain


def _overtaken(messages: Messages, arrived: Arrivals, slots: Ints) -> tuple[Bools, Bools]:
    """Of messages in delivery order: whether one of as many flags that it is before was first
    delivered earlier, and whether any was."""
    if not len(slots):
        return np.zeros(0, np.bool_), np.zeros(0, np.bool_)
    first = arrived.first[slots]
    row = arrived.attempt_row[first]
    attempts = messages.attempts
    line = group_numbers(
        attempts.producer[row],
        attempts.key[row],
        messages.queue.numbers[slots],
        arrived.rows.consumer[first],
    )
    sent_ns = attempts.sent_ns[row]
    # By (sent_ns, sequence): slots of a producer ascend by sequence.
    ascending = in_order(sent_ns, slots)
    rank = np.empty(len(slots), np.int64)
    rank[ascending] = np.arange(len(slots))
    # What is of a higher rank than this was sent after it was confirmed.
    after = np.searchsorted(sent_ns[ascending], messages.row_confirmed_ns[row], side="right")
    connection = group_numbers(line, attempts.connection[row])
    flagged = (arrived.rows.redelivered[first] == Redelivered.YES).astype(np.int8)
    at_all = (_latest_before(line, rank) >= after) | (_latest_before(connection, rank) > rank)
    if not flagged.any() or not at_all.any():
        return at_all, at_all
    alike = _latest_before(group_numbers(line, flagged), rank) >= after
    alike |= _latest_before(group_numbers(connection, flagged), rank) > rank
    return alike, at_all


def _latest_before(line: Ints, rank: Ints) -> Ints:
    """The largest rank of those before each in its line; -1 where it is the first."""
    by_line = np.argsort(line, kind="stable")
    before = np.empty(len(line), np.int64)
    before[by_line] = largest_before(line[by_line], rank[by_line])
    return before
