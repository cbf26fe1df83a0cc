"""Surplus deliveries: each identified delivery but the first of its message, and where it is from.

1. One case a surplus delivery, compared with the earlier deliveries of its message.
2. A new attempt number is our own retry: the broker did what it was asked to, twice.
3. A broker that says "not redelivered" of the same attempt holds it twice: stored_twice. Unless a
   window lies between: a new master may not know what the old one gave out.
4. A redelivery is the broker's right until it had our acknowledgement: written over 1 s before,
   and over 1 s before every fault that may have swallowed it, on a connection that lived on.
5. A log tells where each delivery was read. The same place of it again is a rollback, where the
   group's progress had passed it: our acknowledgement was older than clients take to tell brokers
   of their progress, and no fault and no end of our own came into that time. Another place of a
   log holds the message a second time.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spark_analysis.definition.cases import Case, of_delivery
from spark_analysis.definition.events import Delivery, Events
from spark_analysis.definition.messages import Message
from spark_analysis.schema.facts import Facts, Rivals, Unsettled
from spark_analysis.schema.words import Redelivered

_ON_ITS_WAY_NS = 1_000_000_000  # so long at most an acknowledgement is
_TOLD_WITHIN_NS = 5_000_000_000 + _ON_ITS_WAY_NS  # clients tell of their progress every 5 s

Channel = tuple[int, int]  # (consumer, connection)


def cases(facts: Facts, messages: Iterable[Message], events: Events) -> Iterator[Case]:
    ours = _Acknowledged(events)
    for message in messages:
        seen = defaultdict[int, list[Delivery]](list)  # by attempt
        for delivery in message.consumed:
            earlier = seen[delivery.attempt]
            if delivery is not message.consumed[0]:
                origin = _origin(_Surplus(delivery, message.queue, earlier), facts, ours)
                yield of_delivery(delivery, message.queue, "duplicated", origin)
            earlier.append(delivery)


@dataclass(frozen=True, slots=True)
class _Surplus:
    delivery: Delivery
    queue: str  # its message's
    earlier: Sequence[Delivery]  # of the same attempt

    def between(self, earlier: Delivery, windows: Sequence[Unsettled]) -> list[Unsettled]:
        """The windows that lie between an earlier delivery and this one."""
        return [
            window
            for window in windows
            if window.origin_ns < self.delivery.received_ns
            and (window.over_ns is None or window.over_ns >= earlier.received_ns)
        ]


def _origin(surplus: _Surplus, facts: Facts, ours: "_Acknowledged") -> str:
    if not surplus.earlier:
        return "publisher_retry"
    if _two_masters(surplus, facts.rivals):
        return "diverged"
    return _by_flag(surplus, facts.unsettled, ours)


def _two_masters(surplus: _Surplus, rivals: Sequence[Rivals]) -> bool:
    return any(
        pair.queue == surplus.queue
        and pair.from_ns <= surplus.delivery.received_ns <= pair.until_ns
        for pair in rivals
    )


def _by_flag(surplus: _Surplus, windows: Sequence[Unsettled], ours: "_Acknowledged") -> str:
    delivery = surplus.delivery
    if delivery.offset >= 0:
        return _by_place(surplus, windows, ours)
    if delivery.redelivered is Redelivered.NOT_TOLD:
        return "ambiguous"
    if delivery.redelivered is Redelivered.NO:
        return "ambiguous" if surplus.between(surplus.earlier[-1], windows) else "stored_twice"
    if any(ours.in_time(surplus, earlier, windows) for earlier in surplus.earlier):
        return "redelivery_after_ack"
    return "redelivery"


def _by_place(surplus: _Surplus, windows: Sequence[Unsettled], ours: "_Acknowledged") -> str:
    delivery = surplus.delivery
    if not delivery.place:
        return "ambiguous"
    same = [
        earlier
        for earlier in surplus.earlier
        if (earlier.place, earlier.offset) == (delivery.place, delivery.offset)
    ]
    if same:
        passed = any(ours.passed(earlier, delivery, windows) for earlier in same)
        return "offset_rollback" if passed else "redelivery"
    unplaced = any(not earlier.place or earlier.offset < 0 for earlier in surplus.earlier)
    return "ambiguous" if unplaced else "stored_twice"


class _Acknowledged:
    """When we acknowledged each tag, and when each connection ended: each at the earliest."""

    def __init__(self, events: Events) -> None:
        self._written_ns = _acknowledgement_times(events)
        self._ended_ns: dict[Channel, int] = {}
        for end in sorted(events.connection_ends, key=lambda end: end.at_ns):
            self._ended_ns.setdefault((end.worker, end.connection), end.at_ns)

    def in_time(self, surplus: _Surplus, earlier: Delivery, windows: Sequence[Unsettled]) -> bool:
        """Whether `earlier` was acknowledged so that the broker must have known, and its
        connection lives on."""
        channel = earlier.consumer, earlier.connection
        written_ns = self._written_ns.get((*channel, earlier.tag))
        if written_ns is None:
            return False
        now_ns = surplus.delivery.received_ns
        faults_ns = (window.origin_ns for window in surplus.between(earlier, windows))
        ended_ns = self._ended_ns.get(channel)
        arrived = written_ns < min([now_ns, *faults_ns]) - _ON_ITS_WAY_NS
        return arrived and (ended_ns is None or ended_ns > now_ns)

    def passed(self, earlier: Delivery, again: Delivery, windows: Sequence[Unsettled]) -> bool:
        """Whether the group's progress had passed `earlier`, so that the broker must have known
        when it gave the same place out `again`."""
        channel = earlier.consumer, earlier.connection
        written_ns = self._written_ns.get((*channel, earlier.tag))
        if written_ns is None:
            return False
        since_ns = max(written_ns, earlier.received_ns)
        came_ns = [window.origin_ns for window in windows if window.origin_ns > since_ns]
        came_ns += [self._ended_ns[channel]] if channel in self._ended_ns else []
        return since_ns + _TOLD_WITHIN_NS < min([again.received_ns, *came_ns])


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
