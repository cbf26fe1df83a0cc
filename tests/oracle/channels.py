"""The earliest acknowledgement of each delivery, and the end of the connection that received it.

1. A frame acknowledges the tags that it covers, on its own consumer's connection only.
2. Whether the broker ever read it is another question, which callers decide by the times. But no
   frame reaches a queue from a connection that had ended: it acknowledges nothing.
3. An end is of the deliveries before it. A delivery after the last end of its connection shows
   that the number of the connection, or the end, is wrong: when it ended is unknown.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict

from tests.oracle.events import Delivery, Events, Requeue

Channel = tuple[int, int]  # (consumer, connection)


class Channels:
    """The acknowledgements and ends of all consumers' connections of one run."""

    def __init__(self, events: Events) -> None:
        self._written_ns = _written(events)
        self._recorded = events.recorded
        self._began = events.began
        self._answering = {(one.consumer, one.connection) for one in events.acknowledgements}
        self._last_ns = _last(events)
        self._ends_ns = defaultdict[Channel, list[int]](list)
        for end in sorted(events.connection_ends, key=lambda end: end.at_ns):
            self._ends_ns[end.worker, end.connection].append(end.at_ns)
        self._requeues = defaultdict[Channel, list[Requeue]](list)
        for requeue in events.requeues:
            self._requeues[requeue.consumer, requeue.connection].append(requeue)

    def written_ns(self, delivery: Delivery) -> int | None:
        """Return when the earliest frame that covers the delivery was written."""
        return self._written_ns.get((delivery.consumer, delivery.connection, delivery.tag))

    def acknowledged_ns(self, delivery: Delivery) -> int | None:
        written_ns, ended_ns = self.written_ns(delivery), self.ended_ns(delivery)
        if written_ns is None or delivery.offset >= 0 or ended_ns is None:
            return written_ns
        return written_ns if written_ns <= ended_ns else None

    def acknowledged_early(self, delivery: Delivery) -> bool:
        """Return whether it was acknowledged before it came: then its record is wrong."""
        written_ns = self.written_ns(delivery)
        return written_ns is not None and written_ns < delivery.received_ns

    def acknowledges(self, delivery: Delivery) -> bool:
        """Return whether any acknowledgement of the delivery's connection is on record."""
        return (delivery.consumer, delivery.connection) in self._answering

    def has_events(self, delivery: Delivery) -> bool:
        """Return whether any client event of the delivery's consumer is on record. Without one the
        ends of its connections are unknown."""
        return delivery.consumer in self._recorded

    def is_open_ended(self, delivery: Delivery) -> bool:
        """Return whether the delivery's connection began to consume on record, and never ended."""
        channel = delivery.consumer, delivery.connection
        return channel in self._began and not self._ends_ns[channel]

    def ended_ns(self, delivery: Delivery) -> int | None:
        """Return when the delivery's connection ended, after the delivery."""
        ends_ns = self._ends_ns[delivery.consumer, delivery.connection]
        place = bisect_left(ends_ns, delivery.received_ns)
        return ends_ns[place] if place < len(ends_ns) else None

    def requeued_ns(self, delivery: Delivery) -> int | None:
        """Return when its consumer may next have given the delivery back."""
        channel = delivery.consumer, delivery.connection
        times_ns = (
            requeue.at_ns
            for requeue in self._requeues[channel]
            if requeue.at_ns >= delivery.received_ns and requeue.tag in (None, delivery.tag)
        )
        return min(times_ns, default=None)

    def had_ended(self, delivery: Delivery) -> bool:
        """Return whether the delivery's connection had ended before it, and not again after it."""
        ends_ns = self._ends_ns[delivery.consumer, delivery.connection]
        return bool(ends_ns) and ends_ns[-1] < delivery.received_ns

    def last_ns(self, delivery: Delivery) -> int:
        """Return when the delivery's connection received or acknowledged something for the last
        time on record."""
        return self._last_ns[delivery.consumer, delivery.connection]


def _last(events: Events) -> dict[Channel, int]:
    times = defaultdict[Channel, int](int)
    came = ((one.consumer, one.connection, one.received_ns) for one in events.deliveries)
    answered = ((one.consumer, one.connection, one.written_ns) for one in events.acknowledgements)
    for consumer, connection, at_ns in (*came, *answered):
        times[consumer, connection] = max(at_ns, times[consumer, connection])
    return times


def _written(events: Events) -> dict[tuple[int, int, int], int]:
    """The earliest written_ns of each acknowledged (consumer, connection, tag) that was delivered.

    Frames are taken in the order they were written, and each tag leaves with the first frame that
    covers it, so every tag is looked at once.
    """
    delivered = defaultdict[Channel, set[int]](set)
    for delivery in events.deliveries:
        delivered[delivery.consumer, delivery.connection].add(delivery.tag)
    waiting = {channel: sorted(tags) for channel, tags in delivered.items()}
    times: dict[tuple[int, int, int], int] = {}
    for frame in sorted(events.acknowledgements, key=lambda frame: frame.written_ns):
        channel = frame.consumer, frame.connection
        tags = waiting.get(channel, [])
        covered = slice(bisect_left(tags, frame.first_tag), bisect_right(tags, frame.last_tag))
        for tag in tags[covered]:
            times[*channel, tag] = frame.written_ns
        del tags[covered]
    return times
