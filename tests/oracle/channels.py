"""The earliest acknowledgement of each delivery, and the earliest end of each connection.

1. A frame acknowledges the tags that it covers, on its own consumer's connection only.
2. Whether the broker ever read it is another question, which callers decide by the times.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict

from tests.oracle.events import Delivery, Events

Channel = tuple[int, int]  # (consumer, connection)


class Channels:
    """The acknowledgements and ends of all consumers' connections of one run."""

    def __init__(self, events: Events) -> None:
        self._written_ns = _written(events)
        self._recorded = events.recorded
        self._answering = {(one.consumer, one.connection) for one in events.acknowledgements}
        self._last_ns = _last(events)
        self._ended_ns: dict[Channel, int] = {}
        for end in sorted(events.connection_ends, key=lambda end: end.at_ns):
            self._ended_ns.setdefault((end.worker, end.connection), end.at_ns)

    def acknowledged_ns(self, delivery: Delivery) -> int | None:
        return self._written_ns.get((delivery.consumer, delivery.connection, delivery.tag))

    def acknowledges(self, delivery: Delivery) -> bool:
        """Return whether any acknowledgement of the delivery's connection is on record."""
        return (delivery.consumer, delivery.connection) in self._answering

    def has_events(self, delivery: Delivery) -> bool:
        """Return whether any client event of the delivery's consumer is on record. Without one the
        ends of its connections are unknown."""
        return delivery.consumer in self._recorded

    def ended_ns(self, delivery: Delivery) -> int | None:
        """Return when the delivery's connection ended."""
        return self._ended_ns.get((delivery.consumer, delivery.connection))

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
