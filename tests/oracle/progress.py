"""The progress of the group that reads a log: how far it had acknowledged, and when.

1. Stored progress passes an offset only when everything before it is acknowledged. A message that
   never reached us is nothing that we could acknowledge.
2. If a log lost its end, two messages may have had one offset; each is acknowledged by itself.
3. A connection that receives new messages of a log still talks to the log's broker.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import accumulate, groupby

from tests.oracle.channels import Channel, Channels
from tests.oracle.events import Delivery
from tests.oracle.messages import Message, Name

Log = tuple[str, str]  # broker, and the queue that was read
_NEVER = float("inf")


class Progress:
    """The times when our acknowledgements had passed each offset of each log."""

    def __init__(self, messages: Iterable[Message], channels: Channels) -> None:
        earliest = defaultdict[Log, dict[int, float]](dict)
        self._own_ns = defaultdict[tuple[Name, Log, int], float](lambda: _NEVER)
        arrivals = defaultdict[Log, list[Delivery]](list)
        for message in messages:
            for delivery in message.consumed:
                if delivery.offset < 0 or not delivery.place:
                    continue
                early = channels.acknowledged_early(delivery)
                written_ns = None if early else channels.acknowledged_ns(delivery)
                of_log = earliest[delivery.place, delivery.queue]
                at_ns = _NEVER if written_ns is None else written_ns
                of_log[delivery.offset] = min(at_ns, of_log.get(delivery.offset, _NEVER))
                own = _spot(delivery)
                self._own_ns[own] = min(at_ns, self._own_ns[own])
                arrivals[delivery.place, delivery.queue].append(delivery)
        self._offsets = {log: sorted(of_log) for log, of_log in earliest.items()}
        self._passed_ns = {
            log: list(accumulate((earliest[log][offset] for offset in offsets), max))
            for log, offsets in self._offsets.items()
        }
        self._news_ns = _news(arrivals)

    def passed_ns(self, delivery: Delivery) -> int | None:
        """Return when its message, and all that lies before it in its log, had been acknowledged;
        None: never."""
        log = delivery.place, delivery.queue
        before = bisect_left(self._offsets.get(log, []), delivery.offset)
        at_ns = self._own_ns[_spot(delivery)]
        if before:
            at_ns = max(at_ns, self._passed_ns[log][before - 1])
        return None if at_ns == _NEVER else int(at_ns)

    def reported_by_ns(self, delivery: Delivery, from_ns: int) -> int | None:
        """Return when its connection next had a new message of its log, from then on; None:
        never."""
        channel = delivery.consumer, delivery.connection
        times_ns = self._news_ns.get((delivery.place, delivery.queue, channel), [])
        after = bisect_left(times_ns, from_ns)
        return times_ns[after] if after < len(times_ns) else None


def _spot(delivery: Delivery) -> tuple[Name, Log, int]:
    log = delivery.place, delivery.queue
    return (delivery.producer, delivery.sequence), log, delivery.offset


def _news(arrivals: Mapping[Log, list[Delivery]]) -> Mapping[tuple[str, str, Channel], list[int]]:
    """Return when each connection had messages behind all that any connection had of that log
    before."""
    news = defaultdict[tuple[str, str, Channel], list[int]](list)
    for (place, queue), deliveries in arrivals.items():
        largest = -1
        deliveries.sort(key=lambda one: one.received_ns)
        for at_ns, at_once in groupby(deliveries, key=lambda one: one.received_ns):
            together = list(at_once)
            for one in together:
                if one.offset > largest:
                    news[place, queue, (one.consumer, one.connection)].append(at_ns)
            largest = max(largest, *(one.offset for one in together))
    return news
