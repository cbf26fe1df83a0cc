"""A master's service for channels: its content, consumers, and what they hold
(docs/behaviour/rabbitmq.md 2.3).

1. Each change of content is carried out here and broadcast round the ring in the same event.
2. A message is confirmed when it is here, and, if the disk keeps it, on disk (or gone before).
3. After each event either nothing is ready or no consumer may take it.
4. A channel's end gives back what it had, to its places, and ends its consumers.
5. After each event no more is ready than the queue's limits allow (limits.py), and the head is not
   over; a timer sees to the time between (terms.py).
6. A message that came round the ring while this was a mirror is not taken again when its channel's
   copy comes; it is confirmed then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reference_impl.mirrored import limits as dead_letters
from reference_impl.mirrored.broadcasts import Broadcasts
from reference_impl.mirrored.consumers import Consumer, Consumers
from reference_impl.mirrored.limits import Limits
from reference_impl.mirrored.limits import limits as limits_of
from reference_impl.mirrored.messages import Discarded, Published, Requeued, SenderDeath
from reference_impl.mirrored.misbehaving import CrookedQueue
from reference_impl.mirrored.replica import BrokerReplica
from reference_impl.pid import Pid
from reference_impl.process import Arm, Effect, Send, Timeout, Watch
from reference_impl.protocol.queues import (
    Ack,
    Cancel,
    Consume,
    Deliver,
    Discard,
    Done,
    Get,
    Got,
    Grant,
    Looked,
    Message,
    Purge,
    QueueDelivery,
    Refused,
    Reject,
    Requeue,
    Sent,
    Want,
)

ACCESS_REFUSED = 403
OVER = "over"
SINGLE_ACTIVE = "x-single-active-consumer"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A confirm that waits for the disk."""

    channel: Pid
    sequence: int


@dataclass(frozen=True, slots=True)
class Early:
    """Came round before its channel's copy; `number` where the disk may still keep it waiting."""

    number: int | None


class Serving:
    """`out`: where the effects of the event at hand go."""

    def __init__(
        self,
        replica: BrokerReplica,
        early: dict[Pid, dict[bytes, Early]],
        waiting: dict[int, Waiting],
    ) -> None:
        self.out: list[Effect] = []
        self.consumers = Consumers()
        self._replica = replica
        self._backing = replica.backing
        self._keeps = replica.journal.keeps
        self._broadcasts = Broadcasts(replica.ring)
        misbehaviour = replica.misbehaviour
        self._crooked = None if misbehaviour is None else CrookedQueue(misbehaviour, replica)
        self._early = early
        self._waiting = waiting
        self._alarm_ms: int | None = None  # for when the timer is set
        self._off_disk = set(waiting)  # numbers that were put and are not on disk yet
        self._off_disk.update(
            it.number for known in early.values() for it in known.values() if it.number is not None
        )
        self._channels: set[Pid] = set()
        self._taken: dict[Pid, dict[int, Consumer | None]] = {}

    # --- publishing

    def deliver(self, event: Deliver, redelivered: bool = False) -> None:
        channel, message = event.channel, event.message
        self.meet(channel)
        if not redelivered:  # as a mirror it has told of those already
            self.out += self._replica.crediting.carried_out(channel)
        if self._crooked is not None:
            self._crooked.hold_back(event.sequence, self.out)
        if self._early and self._came_before(event):
            return
        limits = self._limits
        if limits is not None and limits.rejects and self._would_pass(limits, message):
            self._reject(event, limits)
            return
        consumer = None if self._backing.ready or redelivered else self.consumers.next()
        if consumer is not None and consumer.no_ack:
            if self._broadcasts.has_listeners:
                self._broadcasts.send(Discarded(channel, message.identity))
            self._deliver(consumer, 0, message, False)
            self._replica.confirms.add(channel, event.sequence)
            return
        if consumer is None:
            number = self._backing.publish(message)
            self._want()
        else:
            number = self._backing.publish_taken(message)
            self._taken.setdefault(consumer.channel, {})[number] = consumer
            self._deliver(consumer, number, message, False)
        if self._broadcasts.has_listeners:
            self._broadcasts.send(Published(channel, message, consumer is not None))
        self._owe(event, number)
        self._drop_head(limits)
        self.expire()

    def flushed(self, mark: int) -> None:
        self._settle(self._replica.journal.flushed(mark))

    def meet(self, channel: Pid) -> None:
        if channel not in self._channels:
            self._channels.add(channel)
            self.out.append(Watch(channel))

    # --- consuming

    def consume(self, event: Consume) -> None:
        self.meet(event.channel)
        single = self._arguments.get(SINGLE_ACTIVE) is True
        if self.consumers.refuses(event.exclusive) or (single and event.exclusive):
            text = f"queue '{self._replica.queue}' in vhost '/' in exclusive use"
            self.out.append(Send(event.channel, Refused(event.request, ACCESS_REFUSED, text)))
            return
        self.consumers.single = single
        self.consumers.add(event)
        self.out.append(Send(event.channel, Done(event.request, 0)))
        self._dispatch()

    def cancel(self, event: Cancel) -> None:
        self.consumers.cancel(event.channel, event.tag)
        self.out.append(Send(event.channel, Done(event.request, 0)))
        self._dispatch()  # another one may be the active one now

    def get(self, event: Get) -> None:
        self.meet(event.channel)
        self.expire()
        backing, replica = self._backing, self._replica
        if not backing.ready:
            got = Got(event.request, replica.queue, replica.pid, 0, False, None, 0)
            self.out.append(Send(event.channel, got))
            return
        number = backing.take()
        message, redelivered = backing.message(number), backing.is_redelivered(number)
        self._broadcasts.dropped(backing.ready, 1, not event.no_ack)
        if event.no_ack:
            self._remove((number,))
        else:
            self._taken.setdefault(event.channel, {})[number] = None
        got = Got(
            event.request,
            replica.queue,
            replica.pid,
            number,
            redelivered,
            message,
            backing.ready,
        )
        self.out.append(Send(event.channel, got))

    def grant(self, event: Grant) -> None:
        self.consumers.grant(event.channel, event.deliveries)
        self._dispatch()

    def sent(self, event: Sent) -> None:
        self.consumers.sent(event.channel, event.deliveries)
        self._dispatch()

    def ack(self, event: Ack | Discard) -> None:
        numbers = self._released(event.channel, event.numbers)
        if self._crooked is not None and type(event) is Ack:
            kept = self._crooked.keep(numbers, self.out)
            numbers = [number for number in numbers if number not in kept]
        if type(event) is Discard:
            self._send_on(dead_letters.REJECTED, numbers)
        self._broadcasts.acked(self._remove(numbers))
        self._dispatch()

    def requeue(self, event: Requeue) -> None:
        self._give_back(self._released(event.channel, event.numbers))
        self._dispatch()

    def expired(self, timer: Timeout) -> None:
        """Handle a timer; it may be none of ours."""
        if timer.name == OVER:
            self._alarm_ms = None
            self._dispatch()
        elif self._crooked is not None:
            self._give_back(self._crooked.due(timer.name, self.out))
            self._dispatch()

    def purge(self, event: Purge) -> None:
        dropped = self._backing.drop()
        self._settle([number for number in self._off_disk if number not in self._backing])
        self._broadcasts.dropped(0, dropped, False)
        self.out.append(Send(event.channel, Done(event.request, dropped)))

    def looked(self, request: int, syncing: int | None) -> Looked:
        backing = self._backing
        counts = backing.ready, backing.taken, len(self.consumers)
        return Looked(request, *counts, syncing, backing.lengths(), backing.target)

    def channel_gone(self, channel: Pid) -> None:
        if channel not in self._channels:
            return
        self._channels.discard(channel)
        self._early.pop(channel, None)
        self._replica.crediting.forget(channel)
        self.consumers.forget(channel)
        taken = self._taken.pop(channel, {})
        for consumer in taken.values():
            if consumer is not None:
                self.consumers.released(consumer)
        numbers = list(taken)
        if self._crooked is not None:
            forgotten = self._crooked.forget(numbers, self.out)
            self._broadcasts.acked(self._remove(forgotten))
            numbers = [number for number in numbers if number not in forgotten]
        self._give_back(numbers)
        if self._broadcasts.has_listeners:
            self._broadcasts.send(SenderDeath(channel))
        self._dispatch()

    # --- handing out

    def _dispatch(self) -> None:
        self.expire()
        backing = self._backing
        while backing.ready:
            consumer = self.consumers.next()
            if consumer is None:
                self._want()
                return
            number = backing.take()
            message, redelivered = backing.message(number), backing.is_redelivered(number)
            self._deliver(consumer, number, message, redelivered)
            self._broadcasts.dropped(backing.ready, 1, not consumer.no_ack)
            if consumer.no_ack:
                self._remove((number,))
            else:
                self._taken.setdefault(consumer.channel, {})[number] = consumer

    def _deliver(
        self, consumer: Consumer, number: int, message: Message, redelivered: bool
    ) -> None:
        queue, master = self._replica.queue, self._replica.pid
        delivery = QueueDelivery(queue, master, consumer.tag, number, redelivered, message)
        self.out.append(Send(consumer.channel, delivery))

    def _want(self) -> None:
        for channel in self.consumers.wants():
            self.out.append(Send(channel, Want(self._replica.queue, self._replica.pid)))

    # --- coming back, and going for good

    def _released(self, channel: Pid, numbers: tuple[int, ...]) -> list[int]:
        """Of these numbers, those that the channel has."""
        taken = self._taken.get(channel)
        if not taken:
            return []
        released = []
        for number in numbers:
            if number in taken:
                consumer = taken.pop(number)
                if consumer is not None:
                    self.consumers.released(consumer)
                released.append(number)
        return released

    def _give_back(self, numbers: list[int]) -> None:
        if not numbers:
            return
        self._backing.requeue(numbers)
        if self._broadcasts.has_listeners:
            identities = tuple(map(self._backing.identity, numbers))
            self._broadcasts.send(Requeued(identities))
        self._drop_head(self._limits)

    def _remove(self, numbers: Iterable[int]) -> tuple[bytes, ...]:
        """For good: their identities."""
        removed = self._backing.remove(numbers)
        if self._off_disk:
            self._settle(numbers)
        return removed

    # --- no more than there is room for

    @property
    def _arguments(self) -> Mapping[str, Any]:
        record = self._replica.record
        return {} if record is None else record.arguments

    @property
    def _limits(self) -> Limits | None:
        arguments = self._arguments
        return limits_of(arguments) if arguments else None

    def _would_pass(self, limits: Limits, message: Message) -> bool:
        octets = self._backing.ready_octets + len(message.body)
        return limits.are_passed(self._backing.ready + 1, octets)

    def _reject(self, event: Deliver, limits: Limits) -> None:
        if limits.rejected_letters:
            self._send_letters_on(dead_letters.TOO_LONG, (event.message,))
        if self._broadcasts.has_listeners:
            self._broadcasts.send(Discarded(event.channel, event.message.identity))
        if event.sequence:
            rejected = Reject(self._replica.queue, self._replica.pid, (event.sequence,))
            self.out.append(Send(event.channel, rejected))

    def _drop_head(self, limits: Limits | None) -> None:
        if limits is None:
            return
        backing, numbers = self._backing, []
        while backing.ready and limits.are_passed(backing.ready, backing.ready_octets):
            numbers.append(backing.take())
        if numbers:
            self._broadcasts.dropped(backing.ready, len(numbers), False)
            self._send_on(dead_letters.TOO_LONG, numbers)
            self._remove(numbers)

    def expire(self) -> None:
        """Drop what is at the head and expired; set a timer for what is not expired yet."""
        backing, numbers = self._backing, []
        over_ms = backing.head_over_ms()
        while over_ms is not None and over_ms <= backing.terms.now_ms():
            numbers.append(backing.take())
            over_ms = backing.head_over_ms()
        if numbers:
            self._broadcasts.dropped(backing.ready, len(numbers), False)
            self._send_on(dead_letters.EXPIRED, numbers)
            self._remove(numbers)
        if over_ms is not None and (self._alarm_ms is None or over_ms < self._alarm_ms):
            self._alarm_ms = over_ms
            self.out.append(Arm(OVER, max(1, over_ms - backing.terms.now_ms())))

    def _send_on(self, reason: str, numbers: Iterable[int]) -> None:
        """Before they are removed."""
        self._send_letters_on(reason, map(self._backing.message, numbers))

    def _send_letters_on(self, reason: str, dead: Iterable[Message]) -> None:
        arguments = self._arguments
        if arguments:
            world, queue = self._replica.world, self._replica.queue
            self.out += dead_letters.sent_on(world, queue, arguments, reason, dead)

    # --- confirms

    def _came_before(self, event: Deliver) -> bool:
        known = self._early.get(event.channel)
        early = None if known is None else known.pop(event.message.identity, None)
        if early is None:
            return False
        if early.number in self._off_disk:
            assert early.number is not None
            self._wait(early.number, event)
        else:
            self._replica.confirms.add(event.channel, event.sequence)
        return True

    def _owe(self, event: Deliver, number: int) -> None:
        if self._keeps(event.message):
            self._off_disk.add(number)
            self._wait(number, event)
        else:
            self._replica.confirms.add(event.channel, event.sequence)

    def _wait(self, number: int, event: Deliver) -> None:
        if event.sequence:
            self._waiting[number] = Waiting(event.channel, event.sequence)

    def _settle(self, numbers: Iterable[int]) -> None:
        self._off_disk.difference_update(numbers)
        for number in numbers:
            waiting = self._waiting.pop(number, None)
            if waiting is not None:
                self._replica.confirms.add(waiting.channel, waiting.sequence)
