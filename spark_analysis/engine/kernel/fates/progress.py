"""The offsets that a group's stored progress had passed when a log was read again.

1. Progress passes an offset only when everything before it is acknowledged, and its message.
2. One time per (message, attempt, place) suffices: by when the broker must have known.
3. The kernel looks for the client that reported progress during a fault only for offsets that were
   passed during one.
"""

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import (
    NANOSECONDS,
    NEVER,
    Bools,
    Ints,
    earliest,
    group_numbers,
    in_order,
    largest_before,
    marked,
    running_max,
)
from spark_analysis.engine.kernel.events.acknowledged import written_ns
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.records import Acknowledgements

REPORTED_WITHIN_NS = 6 * NANOSECONDS  # clients tell brokers of their progress every 5 s


def passed_ns(arrived: Arrivals, rows: Ints, acknowledgements: Acknowledgements) -> Ints:
    """Return when progress passed the place of each of these deliveries, or NEVER.

    It reads only other deliveries of the same brokers and queues.
    """
    every = np.flatnonzero(arrived.regular & (arrived.rows.offset >= 0))
    line = group_numbers(arrived.rows.broker.numbers[every], arrived.rows.queue.numbers[every])
    line = line.astype(np.int64)
    place = np.searchsorted(every, rows)
    on_lines = marked(int(line.max(initial=0)) + 1, line[place])[line]
    every, line = every[on_lines], line[on_lines]
    spots, spot = np.unique(group_numbers(line, arrived.rows.offset[every]), return_inverse=True)
    line_of_spot = np.zeros(len(spots), np.int64)
    line_of_spot[spot] = line
    acked_ns = written_ns(arrived.rows.pick(every), acknowledgements)
    acked_ns[acked_ns < arrived.rows.received_ns[every]] = NEVER  # a wrong record
    passed = running_max(line_of_spot, earliest(len(spots), spot, acked_ns))
    before = np.zeros(len(spots), np.int64)
    before[1:] = np.where(line_of_spot[1:] == line_of_spot[:-1], passed[:-1], 0)
    # A log that lost its end may have had several messages at one offset.
    messages, message = np.unique(
        group_numbers(spot.astype(np.int64), arrived.slot[every]), return_inverse=True
    )
    own = earliest(len(messages), message, acked_ns)
    wanted = np.searchsorted(every, rows)
    at_ns: Ints = np.maximum(before[spot[wanted]], own[message[wanted]])
    return at_ns


def rolled_back(
    spot: Ints, received_ns: Ints, since_ns: Ints, reported_by_ns: Ints, until_ns: Ints
) -> NDArray[np.bool_]:
    """Return for each delivery whether the broker must have known that an earlier one of its spot
    was passed: since then, reported by then, and without any interruption until then."""
    _, number = np.unique(spot, return_inverse=True)
    known = np.flatnonzero(since_ns < until_ns - REPORTED_WITHIN_NS)
    first_ns = earliest(len(spot), number[known], reported_by_ns[known])
    back: Bools = received_ns > first_ns[number]
    return back


def reported_by_ns(arrived: Arrivals, rows: Ints, since_ns: Ints, stood: Bools) -> Ints:
    """Return by when the broker must have received that each of these deliveries was passed, or
    NEVER.

    `stood`: a fault was in force then, and only new messages of the log, to the same connection,
    prove it.
    """
    by_ns = np.full(len(rows), NEVER, np.int64)
    passed = since_ns < NEVER
    by_ns[passed] = since_ns[passed] + REPORTED_WITHIN_NS
    uncertain = np.flatnonzero(stood & passed)
    if len(uncertain):
        by_ns[uncertain] = _next_news(arrived, rows[uncertain], by_ns[uncertain])
    return by_ns


def _next_news(arrived: Arrivals, rows: Ints, from_ns: Ints) -> Ints:
    """Return when each row's connection next received a message of its log that no connection had
    had."""
    every = np.flatnonzero(arrived.regular & (arrived.rows.offset >= 0))
    of = arrived.rows.pick(every)
    log = group_numbers(of.broker.numbers, of.queue.numbers).astype(np.int64)
    reader = group_numbers(log, of.consumer, of.connection).astype(np.int64)
    order = in_order(log, of.received_ns)
    times, _ = np.unique(of.received_ns, return_inverse=True)
    at = group_numbers(log[order], of.received_ns[order])
    first_at_once = np.searchsorted(at, at)  # of what came at one instant
    before = largest_before(log[order], of.offset[order])[first_at_once]
    news = order[of.offset[order] > before]
    key = np.sort(reader[news] * (len(times) + 1) + np.searchsorted(times, of.received_ns[news]))
    readers = reader[np.searchsorted(every, rows)]
    wanted = readers * (len(times) + 1) + np.searchsorted(times, from_ns)
    found = np.append(key, NEVER)[np.searchsorted(key, wanted)]
    same = found // (len(times) + 1) == readers
    next_ns: Ints = np.where(same, np.append(times, NEVER)[found % (len(times) + 1)], NEVER)
    return next_ns
