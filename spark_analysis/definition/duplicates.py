"""Surplus deliveries: each identified delivery but the first of its message, and where it is from.

1. One case a surplus delivery, compared with the earlier deliveries of its message.
2. A new attempt number is our own retry: the broker did what it was asked to, twice.
3. A broker that says "not redelivered" of the same attempt holds it twice: stored_twice.
4. A redelivery is the broker's right until it had our acknowledgement: written over 1 s before, on
   a connection that lived on until then.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from spark_analysis.definition.cases import Case, of_delivery
from spark_analysis.definition.events import Delivery, Events
from spark_analysis.definition.messages import Message
from spark_analysis.schema.facts import Rivals
from spark_analysis.schema.words import Redelivered

_ACKNOWLEDGED_LONG_AGO_NS = 1_000_000_000

Channel = tuple[int, int]  # (consumer, connection)


def cases(messages: Iterable[Message], rivals: Sequence[Rivals], events: Events) -> Iterator[Case]:
    ours = _Acknowledged(events)
    for message in messages:
        consumed = message.consumed
        attempts_seen = {delivery.attempt for delivery in consumed[:1]}
        for index, surplus in enumerate(consumed[1:], start=1):
            if surplus.attempt not in attempts_seen:
                origin = "publisher_retry"
            elif _two_masters(surplus, message.queue, rivals):
                origin = "diverged"
            else:
                origin = _by_flag(surplus, consumed[:index], ours)
            attempts_seen.add(surplus.attempt)
            yield of_delivery(surplus, message.queue, "duplicated", origin)


def _two_masters(surplus: Delivery, queue: str, rivals: Sequence[Rivals]) -> bool:
    return any(
        pair.queue == queue and pair.from_ns <= surplus.received_ns <= pair.until_ns
        for pair in rivals
    )


def _by_flag(surplus: Delivery, earlier: Sequence[Delivery], ours: "_Acknowledged") -> str:
    if surplus.offset >= 0 or surplus.redelivered is Redelivered.NOT_TOLD:
        return "ambiguous"
    if surplus.redelivered is Redelivered.NO:
        return "stored_twice"
    same = (delivery for delivery in earlier if delivery.attempt == surplus.attempt)
    if any(ours.long_before(surplus.received_ns, delivery) for delivery in same):
        return "redelivery_after_ack"
    return "redelivery"


class _Acknowledged:
    """When we acknowledged each tag, and when each connection ended: each at the earliest."""

    def __init__(self, events: Events) -> None:
        self._written_ns = _acknowledgement_times(events)
        self._ended_ns: dict[Channel, int] = {}
        for end in sorted(events.connection_ends, key=lambda end: end.at_ns):
            self._ended_ns.setdefault((end.worker, end.connection), end.at_ns)

    def long_before(self, now_ns: int, delivery: Delivery) -> bool:
        """Whether `delivery` was acknowledged so long before, and its connection lives on."""
        channel = delivery.consumer, delivery.connection
        written_ns = self._written_ns.get((*channel, delivery.tag))
        ended_ns = self._ended_ns.get(channel)
        long_ago = written_ns is not None and written_ns < now_ns - _ACKNOWLEDGED_LONG_AGO_NS
        return long_ago and (ended_ns is None or ended_ns > now_ns)


def _acknowledgement_times(events: Events) -> dict[tuple[int, int, int], int]:
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
