"""The places that may still hold a message that was not seen, because they could not be read.

1. The first reason that holds counts: a consumer's log, a queue that was not drained, a place that
   cannot be read.
"""

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.records import Text
from spark_analysis.schema.facts import Facts

REASONS = ("", "consumer_log", "drain", "unreadable")
NOWHERE, CONSUMER_LOG, DRAIN, UNREADABLE = range(len(REASONS))


def reasons(queue: Text, facts: Facts) -> NDArray[np.int32]:
    """Return for each queue the number of the reason, NOWHERE if every place was read."""
    if not consumers_closed(facts):
        return np.full(len(queue), CONSUMER_LOG, np.int32)
    drained = queue.among(*(end.queue for end in facts.queues if end.drained))
    beyond = queue.among(*(end.queue for end in facts.queues if end.unreadable))
    reason = np.select([~drained, beyond], [DRAIN, UNREADABLE], default=NOWHERE)
    return reason.astype(np.int32)


def consumers_closed(facts: Facts) -> bool:
    return all(worker.log_closed for worker in facts.workers if worker.role == "consumer")
