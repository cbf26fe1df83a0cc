"""Whether messages of one producer and key came in the order they were sent.

1. Judged only where order is promised and nothing but a reorder explains a late message.
"""

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import Bools, Ints, group_numbers
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.cases import Cases, Census, plain
from spark_analysis.engine.kernel.messages import Messages
from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Redelivered

NOT_JUDGED = ("not_promised", "not_at_once", "not_first_attempt", "redelivered")
JUDGED = len(NOT_JUDGED)


def order(messages: Messages, arrived: Arrivals, facts: Facts) -> tuple[list[Census], list[Cases]]:
    """The messages not judged and in order, and those reordered."""
    slots = np.flatnonzero(arrived.delivered)
    reason = _reasons(messages, arrived, facts, slots)
    judged, left_out = slots[reason == JUDGED], reason < JUDGED
    late = _overtaken(messages, arrived, judged)
    reordered, kept = judged[late], judged[~late]
    counted = [
        Census("not_judged", Text(NOT_JUDGED, reason[left_out]), messages.queue[slots[left_out]]),
        Census("in_order", plain(len(kept)), messages.queue[kept]),
    ]
    at_ns = arrived.received_ns(arrived.first[reordered])
    return counted, [messages.cases("reordered", reordered, plain(len(reordered)), at_ns)]


def _reasons(
    messages: Messages, arrived: Arrivals, facts: Facts, slots: Ints
) -> NDArray[np.int32]:
    """Why each delivered message is not judged, or JUDGED."""
    first = arrived.first[slots]
    promised = messages.queue[slots].among(*(q.queue for q in facts.queues if q.ordered))
    at_once = messages.terms.at_once[slots]
    first_attempt = messages.first_confirmed[slots] & (arrived.rows.attempt[first] == 1)
    flags = arrived.rows.redelivered[first]
    of_a_log = (flags == Redelivered.NOT_TOLD) & (arrived.rows.offset[first] >= 0)
    unflagged = of_a_log | (flags == Redelivered.NO)
    reasons = np.select(
        [~promised, ~at_once, ~first_attempt, ~unflagged], range(len(NOT_JUDGED)), default=JUDGED
    )
    return reasons.astype(np.int32)


def _overtaken(messages: Messages, arrived: Arrivals, slots: Ints) -> Bools:
    """Whether a message with a larger sequence of the same stream was first delivered earlier.

    Slots ascend by sequence. Seen from the end of a stream, the smallest first row so far belongs
    to a larger sequence; a stream's number above the row keeps streams apart.
    """
    attempts, attempt = messages.attempts, messages.rows.first[slots]
    producer, _ = messages.slots.identities(slots)
    stream = group_numbers(
        producer,
        attempts.key[attempt],
        messages.queue.numbers[slots],
        attempts.connection[attempt],
    )
    by_stream = np.argsort(stream, kind="stable")
    streams = np.cumsum(np.diff(stream[by_stream].astype(np.int64), prepend=0) != 0)
    place = streams * len(arrived.slot) + arrived.first[slots[by_stream]]
    earliest_later = np.minimum.accumulate(place[::-1])[::-1]
    overtaken = np.zeros(len(slots), np.bool_)
    overtaken[by_stream[:-1]] = place[:-1] > earliest_later[1:]
    return overtaken
