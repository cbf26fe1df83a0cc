"""Whether messages of one producer and key came in the order they were sent.

1. Judged only where order is promised and where it is certain where the copy stands.
2. A message is overtaken if what was delivered before it in its line holds one that was sent after
   it was confirmed, or after it on its connection: the latest so far of a line tells of all.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    MANY,
    NEVER,
    Bools,
    Ints,
    blocks,
    distinct_places,
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
    slots = arrived.slot[arrived.firsts]
    reason = _reasons(messages, arrived, facts, slots)
    judged, left_out = slots[reason == JUDGED], reason < JUDGED
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
    reasons = np.full(len(slots), JUDGED, np.int32)
    for number, held in reversed([*enumerate((promised, at_once, certain, told))]):
        reasons[~held] = number
    return reasons


def _certain(messages: Messages, row: Ints, slots: Ints) -> Bools:
    """Whether it is certain where the copy of each attempt's row stands."""
    certain = messages.sent_attempt(row)
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
    first = arrived.first[slots]
    row = arrived.attempt_row[first]
    attempts = messages.attempts
    sent_ns = attempts.sent_ns[row]
    sendings = Sendings(sent_ns, messages.row_confirmed_ns[row], attempts.connection[row], slots)
    line = group_numbers(
        attempts.producer[row],
        attempts.key[row],
        messages.queue.numbers[slots],
        arrived.rows.consumer[first],
    )
    at_all = sendings.overtaken(line)
    flagged = arrived.rows.redelivered[first] == Redelivered.YES
    if not flagged.any() or not at_all.any():
        return at_all, at_all
    return sendings.overtaken(group_numbers(line, flagged.astype(np.int8))), at_all


@dataclass(frozen=True, slots=True)
class Sendings:
    """When messages, in delivery order, were sent and confirmed, and on which connection."""

    sent_ns: Ints
    confirmed_ns: Ints
    connection: Ints
    slot: Ints  # of one producer they ascend by sequence

    def overtaken(self, line: Ints) -> Bools:
        """Whether one before it in its line was sent after it was confirmed, or after it on its
        connection."""
        found = np.zeros(len(line), np.bool_)
        several = len(line) > 0 and (self.connection != self.connection[0]).any()
        of_connection = group_numbers(line, self.connection) if several else line
        at_once = False
        for some, latest_ns in _latest_before(of_connection, self.sent_ns):
            found[some] = latest_ns > self.sent_ns[some]
            if not several:
                found[some] |= latest_ns > self.confirmed_ns[some]
            at_once |= bool((latest_ns == self.sent_ns[some]).any())
        if several:
            for some, latest_ns in _latest_before(line, self.sent_ns):
                found[some] |= latest_ns > self.confirmed_ns[some]
        if at_once:
            rank = np.empty(len(line), np.int64)  # by time, and of one time by sequence
            rank[in_order(self.sent_ns, self.slot)] = np.arange(len(line))
            for some, latest in _latest_before(of_connection, rank):
                found[some] |= latest > rank[some]
        return found


def _latest_before(line: Ints, times: Ints) -> Iterator[tuple[slice, Ints]]:
    """The largest time of those before each in its line, a block of rows at a time; below all
    where it is the first."""
    _, line = distinct_places(line)
    latest = np.full(int(line.max(initial=0)) + 1, -NEVER, np.int64)  # of each line, so far
    for some in blocks(len(line), MANY):
        of_some, at = line[some], times[some]
        by_line = np.argsort(of_some, kind="stable")
        before = np.empty(len(at), np.int64)
        before[by_line] = largest_before(of_some[by_line], at[by_line])
        yield some, np.maximum(before, latest[of_some])
        np.maximum.at(latest, of_some, at)
