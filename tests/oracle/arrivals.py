"""The time by which a queue should have delivered a message.

1. It should have come when a message came that the queue got no earlier, and a deadline was over.
2. A delayed message should not have come before its latest due time, and a deadline.
3. Messages that only the drain received came too late to show this.
4. Confirm times of two publishers are compared, each known up to the bounds of publisher and
   consumer together.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import CONSUMER, PUBLISHER
from tests.oracle.cases import Span
from tests.oracle.messages import Message


class Arrivals:
    """First deliveries while consumers worked, by queue and confirm time."""

    def __init__(self, facts: Facts, messages: Iterable[Message]) -> None:
        self._deadline_ns = facts.deadline_ns
        self._bound_ns = facts.clock_bound_ns(PUBLISHER, CONSUMER)
        came = defaultdict[str, list[tuple[int, int]]](list)
        for message in messages:
            confirmed_ns = message.confirmed_ns
            if confirmed_ns is not None and message.delivered:
                first = message.consumed[0]
                if first.while_consuming:
                    came[message.queue].append((confirmed_ns, first.received_ns))
        self._confirmed_ns: dict[str, list[int]] = {}
        self._earliest_ns: dict[str, list[int]] = {}  # of this confirm and all later ones
        for queue, pairs in came.items():
            pairs.sort()
            self._confirmed_ns[queue] = [confirmed_ns for confirmed_ns, _ in pairs]
            backwards = accumulate((came_ns for _, came_ns in reversed(pairs)), min)
            self._earliest_ns[queue] = list(backwards)[::-1]

    def span(self, message: Message, since_ns: int) -> Span:
        """Return the time from when its queue had a message until it should have delivered it."""
        apart_ns = 2 * self._bound_ns
        earliest_ns = self._should_have_come_ns(message, since_ns - apart_ns)
        latest_ns = self._should_have_come_ns(message, since_ns + apart_ns)
        return Span(since_ns, earliest_ns, latest_ns)

    def _should_have_come_ns(self, message: Message, since_ns: int) -> int | None:
        later = bisect_left(self._confirmed_ns.get(message.queue, []), since_ns)
        earliest_ns = self._earliest_ns.get(message.queue, [])
        if later == len(earliest_ns):
            return None
        dues_ns = (terms.due_ns for terms in message.terms if terms.delayed)
        return max((earliest_ns[later], *dues_ns)) + self._deadline_ns
