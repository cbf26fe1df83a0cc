"""Duplicate deliveries: each identified delivery but the first of its message, and its source.

1. There is one case per duplicate delivery, compared with the earlier deliveries of its attempt. A
   new attempt number is our own retry: the broker did twice what we requested twice.
2. A log shows where each delivery was read. The same place again is a rollback if the group's
   progress had passed it so long ago that the broker must have known: no fault and no end of our
   own came into that time; and while a fault stood, the log still gave us what was new. Another
   place of a log holds the message a second time.
3. A redelivery, flagged or by a retry topic, is the broker's right until we acknowledged, even if
   two leaders were found. So is an unflagged one after the end of the connection, because the flag
   is a hint. To the living connection that holds the message it is a violation. The arrival of an
   acknowledgement is certain only if it was written a second before the redelivery, before every
   fault that may have swallowed it, and before the end of its connection.
4. Else two leaders explain it. If no flag was set across a fault, or the broker has none, the copy
   may be from a new leader who does not know what the old one gave out. But if the brokers must
   have known the acknowledgement, the copy came after it, however it came back. Only the remaining
   copies were stored twice.
5. Times of a consumer whose clock is not the run's are known up to its bound. A time is before
   another only if it is so whatever the two clocks were.
6. A consumer whose log is not closed may have died at any time after its last record. The end of
   its connection is on no record then, and what it acknowledged last may not have arrived. The
   same holds of any such connection if the drain brought the attempt: all had ended before that.
7. For consumers that do not acknowledge a broker deletes what it sends. Unless a fault, or the end
   of the connection, came within a second, it has what comes again a second time.
8. An acknowledgement from before its delivery is a wrong record, and shows nothing.
9. Of a queue, a fault of client processes explains no copy of an attempt if it took none of the
   consumers that received it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf

from spark_analysis.schema.facts import CompetingLeaders, Facts
from spark_analysis.schema.words import Redelivered
from tests.oracle.cases import Case, Span, of_delivery
from tests.oracle.channels import Channels
from tests.oracle.events import Delivery
from tests.oracle.messages import Message
from tests.oracle.progress import Progress
from tests.oracle.unrest import Unrest

_ON_ITS_WAY_NS = 1_000_000_000  # so long at most an acknowledgement is
_TOO_LATE = "acknowledged_late"
_REPORTED_WITHIN_NS = 5_000_000_000 + _ON_ITS_WAY_NS  # clients tell of their progress every 5 s


def cases(
    facts: Facts, messages: Sequence[Message], channels: Channels, unrest: Sequence[Unrest]
) -> Iterator[Case]:
    drained = {id(one) for message in messages for one in _came_in_the_drain(message)}
    ours = _Acknowledged(facts, channels, Progress(messages, channels), unrest, drained)
    for message in messages:
        receivers = defaultdict[int, set[int]](set)  # by attempt
        for delivery in message.consumed:
            receivers[delivery.attempt].add(delivery.consumer)
        seen = {one: _Earlier(ours, _near(unrest, of)) for one, of in receivers.items()}
        before: Delivery | None = None
        for delivery in message.consumed:
            earlier = seen[delivery.attempt]
            if before is not None:
                competing_leaders = _competing_leaders(facts, message, delivery)
                origin = _origin(delivery, earlier, competing_leaders)
                late, word = origin == _TOO_LATE, "ambiguous"
                span = Span.between(before.received_ns, delivery.received_ns)
                detail = word if late else origin
                yield of_delivery(delivery, message.queue, "duplicated", detail, span)
                if late:
                    yield of_delivery(delivery, message.queue, _TOO_LATE, "", span)
            earlier.add(delivery)
            before = delivery


def _near(unrest: Sequence[Unrest], receivers: set[int]) -> tuple[Unrest, ...]:
    """Return the times that may have affected what these consumers received."""
    return tuple(each for each in unrest if each.taken is None or receivers & each.taken)


def _came_in_the_drain(message: Message) -> Iterator[Delivery]:
    """Yield the deliveries from a queue of attempts that the drain brought, too."""
    attempts = {one.attempt for one in message.consumed if one.by_drain}
    return (one for one in message.consumed if one.attempt in attempts and one.offset < 0)


def _competing_leaders(
    facts: Facts, message: Message, delivery: Delivery
) -> list[CompetingLeaders]:
    """Return the competing leaders of its queue that were alive when it came, for certain."""
    bound_ns = facts.clock_bounds_ns.get(delivery.consumer, 0)
    return [
        pair
        for pair in facts.competing_leaders
        if pair.queue == message.queue
        and pair.from_ns + bound_ns <= delivery.received_ns <= pair.until_ns - bound_ns
    ]


def _origin(
    delivery: Delivery,
    earlier: "_Earlier",
    competing_leaders: Iterable[CompetingLeaders],
) -> str:
    if earlier.latest is None:
        return "publisher_retry"
    diverged = any(competing_leaders)
    if delivery.offset >= 0:
        return _by_place(delivery, earlier, diverged)
    again = _again(delivery)
    if earlier.may_have_come_later(delivery) and _again(earlier.latest) != again:
        return "ambiguous"
    if earlier.deleted_before(delivery):
        return "diverged" if diverged else "stored_twice"
    known = earlier.acknowledged_before(delivery)
    left = not earlier.acknowledged_at_all(delivery)
    between = earlier.unrest_before(delivery)
    between = between or earlier.requeued_before(delivery)
    if again and not known and left:
        uncaused = not between and earlier.holds_still(delivery)
        return "redelivered_without_cause" if uncaused else "redelivery"
    if again and not known:
        return "ambiguous" if earlier.acknowledged_long_before(delivery) else _TOO_LATE
    reported = delivery.redelivered is not Redelivered.NOT_REPORTED
    if diverged:
        return "diverged" if reported or known else "ambiguous"
    if left and earlier.ended_before(delivery):
        return "redelivery"
    between = between or earlier.may_have_ended_before(delivery)
    if left and earlier.end_is_unknown(delivery):
        between = True
    if reported and not again and not between:
        return "stored_twice"
    return "redelivery_after_ack" if known else "ambiguous"


def _by_place(delivery: Delivery, earlier: "_Earlier", diverged: bool) -> str:
    if not delivery.place:
        return "ambiguous"
    if earlier.read_at(delivery):
        return "offset_rollback" if earlier.passed_before(delivery) else "redelivery"
    if delivery.via.again:
        return "redelivery_after_ack" if earlier.passed_anywhere(delivery) else "redelivery"
    if earlier.unplaced:
        return "ambiguous"
    return "diverged" if diverged else "stored_twice"


def _again(delivery: Delivery) -> bool:
    return delivery.redelivered is Redelivered.YES or delivery.via.again


class _Earlier:
    """The earlier deliveries of one attempt, told so that each is looked at once."""

    def __init__(self, ours: "_Acknowledged", unrest: Sequence[Unrest]) -> None:
        self._ours = ours
        self._unrest = unrest
        self._arrived_ns: list[int] = []  # the earliest acknowledgement that must have arrived
        self._written_ns: list[int] = []  # the earliest of all
        self._old_ns: list[float] = []  # the earliest that no fault and no end can have met
        self._deleted_ns: list[int] = []  # when the broker must have deleted the first of them
        self._at = defaultdict[tuple[str, int], list[Delivery]](list)
        self._known = defaultdict[tuple[str, str, int], _Known](_Known)
        self._placed: list[Delivery] = []
        self._known_of_any = _Known()
        self.latest: Delivery | None = None
        self.unplaced = False

    def add(self, delivery: Delivery) -> None:
        self.latest = delivery
        if delivery.place and delivery.offset >= 0:
            self._placed.append(delivery)
        else:
            self.unplaced = True
        self._at[delivery.place, delivery.offset].append(delivery)
        arrived_ns = self._ours.arrived_ns(delivery, self._unrest)
        if arrived_ns is not None:
            self._arrived_ns = [min([arrived_ns, *self._arrived_ns])]
        deleted_ns = self._ours.deleted_ns(delivery, self._unrest)
        if deleted_ns is not None:
            self._deleted_ns = [min([deleted_ns, *self._deleted_ns])]
        written_ns = self._ours.written_ns(delivery)
        if written_ns is not None:
            earliest_ns = written_ns - self._ours.bound_ns(delivery)
            self._written_ns = [min([earliest_ns, *self._written_ns])]
            if self._ours.acknowledged_early(delivery):
                self._old_ns = [-inf]
            elif not self._ours.met(delivery, written_ns, self._unrest):
                self._old_ns = [min([earliest_ns, *self._old_ns])]

    def acknowledged_before(self, again: Delivery) -> bool:
        """Return whether one was acknowledged so that the broker must have known when it came
        `again`."""
        latest_ns = again.received_ns - self._ours.bound_ns(again) - _ON_ITS_WAY_NS
        return any(written_ns <= latest_ns for written_ns in self._arrived_ns)

    def deleted_before(self, again: Delivery) -> bool:
        """Return whether the broker must have deleted one when it came `again`."""
        latest_ns = again.received_ns - self._ours.bound_ns(again)
        deleted = any(deleted_ns <= latest_ns for deleted_ns in self._deleted_ns)
        return deleted and not self.end_is_unknown(again)

    def acknowledged_at_all(self, again: Delivery) -> bool:
        """Return whether we may have acknowledged one when it came `again`, whether received or
        not."""
        at_ns = again.received_ns + self._ours.bound_ns(again)
        return any(written_ns < at_ns for written_ns in self._written_ns)

    def acknowledged_long_before(self, again: Delivery) -> bool:
        """Return whether one was acknowledged a second before, and nothing interfered on the
        way."""
        latest_ns = again.received_ns + self._ours.bound_ns(again) - _ON_ITS_WAY_NS
        return any(written_ns <= latest_ns for written_ns in self._old_ns)

    def unrest_before(self, again: Delivery) -> bool:
        """Return whether such a time may lie between the latest one and `again`."""
        assert self.latest is not None
        since_ns = self.latest.received_ns - self._ours.bound_ns(self.latest)
        until_ns = again.received_ns + self._ours.bound_ns(again)
        return any(each.origin_ns < until_ns and each.lasts_to(since_ns) for each in self._unrest)

    def may_have_come_later(self, again: Delivery) -> bool:
        """Return whether the clocks leave open which of the latest one and `again` came first."""
        assert self.latest is not None
        return self.latest.received_ns + self._apart_ns(again) > again.received_ns

    def _apart_ns(self, again: Delivery) -> int:
        """Return by how much the clocks of the latest one's consumer and of that of `again` may
        differ."""
        assert self.latest is not None
        if self.latest.consumer == again.consumer:
            return 0
        return self._ours.bound_ns(self.latest) + self._ours.bound_ns(again)

    def ended_before(self, again: Delivery) -> bool:
        """Return whether the connection of the latest one had ended when it came `again`."""
        assert self.latest is not None
        ended_ns = self._ours.ended_ns(self.latest)
        return ended_ns is not None and ended_ns + self._apart_ns(again) < again.received_ns

    def may_have_ended_before(self, again: Delivery) -> bool:
        assert self.latest is not None
        ends_ns = self._ours.may_end_ns(self.latest)
        return any(end_ns - self._apart_ns(again) < again.received_ns for end_ns in ends_ns)

    def requeued_before(self, again: Delivery) -> bool:
        """Return whether its consumer may have requeued the latest one before `again`."""
        assert self.latest is not None
        at_ns = self._ours.requeued_ns(self.latest)
        return at_ns is not None and at_ns - self._apart_ns(again) < again.received_ns

    def end_is_unknown(self, again: Delivery) -> bool:
        """Return whether `again` came by another connection, and no client event of the latest
        one's consumer is on record."""
        assert self.latest is not None
        channels = ((it.consumer, it.connection) for it in (self.latest, again))
        return len({*channels}) > 1 and not self._ours.has_events(self.latest)

    def holds_still(self, again: Delivery) -> bool:
        """Return whether the latest came by the same living connection, and that acknowledges. Not
        so if a cause may be hidden: no client event of the consumer is on record, or tags do not
        ascend, so the number of the connection is one of two."""
        assert self.latest is not None
        last = self.latest
        same = (last.consumer, last.connection) == (again.consumer, again.connection)
        same = same and last.tag < again.tag and self._ours.has_events(again)
        loaded = all(one.while_consuming and one.is_direct for one in (last, again))
        ended = self.ended_before(again)
        return same and loaded and not ended and self._ours.acknowledges(again)

    def read_at(self, again: Delivery) -> bool:
        return (again.place, again.offset) in self._at

    def passed_before(self, again: Delivery) -> bool:
        """Return whether the group's progress had passed one that was read at the same place."""
        known = self._known[again.place, again.queue, again.offset]
        return self._passed(known, self._at[again.place, again.offset], again)

    def passed_anywhere(self, again: Delivery) -> bool:
        """Return whether the group's progress had passed one, wherever that was read."""
        return self._passed(self._known_of_any, self._placed, again)

    def _passed(self, known: "_Known", earlier: Sequence[Delivery], again: Delivery) -> bool:
        for one in earlier[known.looked_at :]:
            reported_by_ns = self._ours.reported_by_ns(one)
            if reported_by_ns is not None:
                known.reported_by_ns = [min([reported_by_ns, *known.reported_by_ns])]
        known.looked_at = len(earlier)
        latest_ns = again.received_ns - 2 * self._ours.widest_ns
        return any(reported_by_ns < latest_ns for reported_by_ns in known.reported_by_ns)


class _Known:
    """The earliest progress past a place that the broker must have heard of; empty: none."""

    def __init__(self) -> None:
        self.looked_at = 0
        self.reported_by_ns: list[int] = []


class _Acknowledged:
    """Our acknowledgements that the broker must have received, unless too recent."""

    def __init__(
        self,
        facts: Facts,
        channels: Channels,
        progress: Progress,
        unrest: Sequence[Unrest],
        drained: Collection[int],
    ) -> None:
        self._channels = channels
        self._drained = drained
        self._progress = progress
        self._unrest = unrest
        self._bounds_ns = facts.clock_bounds_ns
        self._unread = {one.number for one in facts.workers if not one.log_closed}
        self._at_delivery = not facts.acknowledges
        # A group's progress is what all of its consumers acknowledged, each by its own clock.
        self.widest_ns = max(self._bounds_ns.values(), default=0)

    def bound_ns(self, delivery: Delivery) -> int:
        """Return by how much the clock of the delivery's consumer may be off."""
        return self._bounds_ns.get(delivery.consumer, 0)

    def written_ns(self, delivery: Delivery) -> int | None:
        return self._channels.acknowledged_ns(delivery)

    def arrived_ns(self, delivery: Delivery, unrest: Sequence[Unrest]) -> int | None:
        """Return when it was acknowledged at the latest; None if a fault or its connection's end
        may have swallowed that.

        A fault that comes after a redelivery counts, too: an acknowledgement within a second of
        the fault was within a second of the redelivery.
        """
        written_ns = self.written_ns(delivery)
        if written_ns is None or self.acknowledged_early(delivery):
            return None
        return self._unharmed_ns(delivery, written_ns, unrest)

    def deleted_ns(self, delivery: Delivery, unrest: Sequence[Unrest]) -> int | None:
        """Return when the broker had deleted it at the latest, because consumers do not
        acknowledge; None if it may have it still."""
        at_once = self._at_delivery and delivery.while_consuming and delivery.offset < 0
        return self._unharmed_ns(delivery, delivery.received_ns, unrest) if at_once else None

    def _unharmed_ns(
        self, delivery: Delivery, written_ns: int, unrest: Sequence[Unrest]
    ) -> int | None:
        bound_ns = self.bound_ns(delivery)
        since_ns = delivery.received_ns - bound_ns
        ends_ns = [each.origin_ns - bound_ns for each in unrest if each.lasts_to(since_ns)]
        ends_ns += self.may_end_ns(delivery)
        late = any(written_ns > end_ns - _ON_ITS_WAY_NS for end_ns in ends_ns)
        return None if late else written_ns + bound_ns

    def met(self, delivery: Delivery, written_ns: int, unrest: Sequence[Unrest]) -> bool:
        """Return whether the acknowledgement was on its way when a fault came, or the connection's
        end: it was written within a second of either."""
        ended_ns = self.ended_ns(delivery)
        if ended_ns is not None and written_ns > ended_ns - _ON_ITS_WAY_NS:
            return True
        bound_ns = self.bound_ns(delivery)
        return any(
            each.origin_ns - _ON_ITS_WAY_NS < written_ns - bound_ns
            and written_ns + bound_ns <= each.effective_ns + _ON_ITS_WAY_NS
            for each in unrest
            if each.lasts_to(delivery.received_ns + bound_ns)
            and (each.taken is None or delivery.consumer in each.taken)
        )

    def acknowledged_early(self, delivery: Delivery) -> bool:
        return self._channels.acknowledged_early(delivery)

    def has_events(self, delivery: Delivery) -> bool:
        return self._channels.has_events(delivery)

    def ended_ns(self, delivery: Delivery) -> int | None:
        return self._channels.ended_ns(delivery)

    def requeued_ns(self, delivery: Delivery) -> int | None:
        return self._channels.requeued_ns(delivery)

    def acknowledges(self, delivery: Delivery) -> bool:
        return self._channels.acknowledges(delivery)

    def reported_by_ns(self, earlier: Delivery) -> int | None:
        """Return by when the broker must have received that the group's progress had passed
        `earlier`; None if it may not have."""
        at_ns = self._progress.passed_ns(earlier)
        if at_ns is None:
            return None
        since_ns, bound_ns = max(at_ns, earlier.received_ns), self.widest_ns
        from_ns, latest_ns = since_ns - bound_ns, since_ns + bound_ns
        ends_ns = [each.origin_ns - bound_ns for each in self._unrest if each.origin_ns > from_ns]
        ends_ns += [end_ns - 2 * bound_ns for end_ns in self.may_end_ns(earlier)]
        reported_by_ns = since_ns + _REPORTED_WITHIN_NS
        if any(reported_by_ns >= end_ns for end_ns in ends_ns):
            return None
        if any(each.origin_ns <= latest_ns and each.lasts_to(from_ns) for each in self._unrest):
            return self._progress.reported_by_ns(earlier, reported_by_ns)
        return reported_by_ns

    def may_end_ns(self, delivery: Delivery) -> list[int]:
        """Return from when on the delivery's connection may have ended; [] if it did not."""
        ended_ns = self.ended_ns(delivery)
        if ended_ns is not None:
            return [ended_ns]
        if self._channels.had_ended(delivery):
            return [delivery.received_ns]
        unknown = delivery.consumer in self._unread or id(delivery) in self._drained
        return [self._channels.last_ns(delivery)] if unknown else []
