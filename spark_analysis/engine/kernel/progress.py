"""What the stored place of a group of readers had passed when a log was read again.

1. Progress passes an offset only when everything before it is acknowledged.
2. One time a (message, attempt, place) tells it all: when the broker must have known.
"""

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.acknowledged import written_ns
from spark_analysis.engine.kernel.arrays import (
    NANOSECONDS,
    NEVER,
    Bools,
    Ints,
    earliest,
    group_numbers,
    marked,
    running_max,
)
from spark_analysis.engine.kernel.arrivals import Arrivals
from spark_analysis.engine.kernel.records import Acknowledgements

TOLD_WITHIN_NS = 6 * NANOSECONDS  # clients tell brokers of their progress every 5 s


def passed_ns(arrived: Arrivals, rows: Ints, acknowledgements: Acknowledgements) -> Ints:
    """When progress passed the place of each of these deliveries, or NEVER.

    Only what came from their brokers and queues is read again.
    """
    every = np.flatnonzero(arrived.regular & (arrived.rows.offset >= 0))
    line = group_numbers(arrived.rows.broker.numbers[every], arrived.rows.queue.numbers[every])
    line = line.astype(np.int64)
    place = np.searchsorted(every, rows)
    asked = marked(int(line.max(initial=0)) + 1, line[place])[line]
    every, line = every[asked], line[asked]
    spots, spot = np.unique(group_numbers(line, arrived.rows.offset[every]), return_inverse=True)
    line_of_spot = np.zeros(len(spots), np.int64)
    line_of_spot[spot] = line
    acked_ns = written_ns(arrived.rows.pick(every), acknowledgements)
    passed = running_max(line_of_spot, earliest(len(spots), spot, acked_ns))
    return passed[spot[np.searchsorted(every, rows)]]


def rolled_back(
    spot: Ints, received_ns: Ints, passed: Ints, connection_ended_ns: Ints, origins_ns: Ints
) -> NDArray[np.bool_]:
    """For each delivery whether the broker must have known that an earlier one of its spot was
    passed."""
    since_ns = np.maximum(passed, received_ns)
    origins_ns = np.append(np.sort(origins_ns), NEVER)
    fault_ns = origins_ns[np.searchsorted(origins_ns[:-1], since_ns, side="right")]
    until_ns = np.minimum(fault_ns, connection_ended_ns)
    known = np.flatnonzero(since_ns < until_ns - TOLD_WITHIN_NS)
    _, number = np.unique(spot, return_inverse=True)
    first_ns = earliest(len(spot), number[known], since_ns[known] + TOLD_WITHIN_NS)
    back: Bools = received_ns > first_ns[number]
    return back
