"""The time by which a queue should have delivered a message.

1. It should have come when a message came that the queue got no earlier, and a deadline was over.
   A log has several places, and which one had it is unknown: all of them have to show this.
2. A delayed message should not have come before its latest due time, and a deadline.
3. Messages that only the drain received came too late to show this.
4. A retry topic holds only what consumers got before: it is no place of the log, and shows
   nothing of it.
5. Confirm times of two publishers are compared, each known up to the bounds of publisher and
   consumer together.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import CONSUMER, PUBLISHER
from tests.oracle.cases import Span
from tests.oracle.messages import Message

Where = tuple[str, str]  # a queue, and a place of it


@dataclass(frozen=True, slots=True)
class _Place:
    """What came from one place, in the order of confirms."""

    confirmed_ns: list[int]
    earliest_ns: list[int]  # of this one and all that were confirmed later

    def first_since(self, confirmed_ns: int) -> int | None:
        """Return when the first came that was confirmed no earlier."""
        later = bisect_left(self.confirmed_ns, confirmed_ns)
        return self.earliest_ns[later] if later < len(self.earliest_ns) else None


class Arrivals:
    """First deliveries while consumers worked, by queue, place and confirm time."""

    def __init__(self, facts: Facts, messages: Iterable[Message]) -> None:
        self._deadline_ns = facts.deadline_ns
        self._bound_ns = facts.clock_bound_ns(PUBLISHER, CONSUMER)
        came = defaultdict[Where, list[tuple[int, int]]](list)
        for message in messages:
            confirmed_ns = message.confirmed_ns
            if confirmed_ns is not None and message.delivered:
                first = message.consumed[0]
                if first.while_consuming and not first.via.again:
                    where = message.queue, first.place if first.offset >= 0 else ""
                    came[where].append((confirmed_ns, first.received_ns))
        self._places = defaultdict[str, list[_Place]](list)
        for (queue, _), pairs in came.items():
            pairs.sort()
            backwards = accumulate((came_ns for _, came_ns in reversed(pairs)), min)
            confirmed = [confirmed_ns for confirmed_ns, _ in pairs]
            self._places[queue].append(_Place(confirmed, list(backwards)[::-1]))

    def span(self, message: Message, since_ns: int, sent_ns: int) -> Span:
        """Return the time from when its queue had a message until it should have delivered it."""
        apart_ns = 2 * self._bound_ns
        earliest_ns = self._should_have_come_ns(message, since_ns - apart_ns)
        latest_ns = self._should_have_come_ns(message, since_ns + apart_ns)
        return Span(min(sent_ns, since_ns), since_ns, earliest_ns, latest_ns)

    def _should_have_come_ns(self, message: Message, since_ns: int) -> int | None:
        times_ns = [place.first_since(since_ns) for place in self._places[message.queue]]
        known_ns = [at_ns for at_ns in times_ns if at_ns is not None]
        if not known_ns or len(known_ns) < len(times_ns):
            return None
        dues_ns = (terms.due_ns for terms in message.terms if terms.delayed)
        return max((*known_ns, *dues_ns)) + self._deadline_ns
