"""What a master does for channels: its content, consumers, and what they have
(docs/behaviour/rabbitmq.md 2.3).

1. Each change of content is carried out here and told round the ring in the same event.
2. A message is confirmed when it is here, and, if the disk keeps it, on disk (or gone before).
3. After each event either nothing is ready or no consumer may take it.
4. A channel's end gives back what it had, to its places, and ends its consumers.
5. A message that came round the ring while this was a mirror is not taken again when its channel's
   copy comes; it is confirmed then.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from reference_impl.mirrored.consumers import Consumer, Consumers
from reference_impl.mirrored.messages import Discarded, Published, Requeued, SenderDeath
from reference_impl.mirrored.misbehaving import CrookedQueue
from reference_impl.mirrored.replica import Replica
from reference_impl.mirrored.telling import Telling
from reference_impl.pid import Pid
from reference_impl.process import Effect, Send, Timeout, Watch
from reference_impl.protocol.queues import (
    Ack,
    Cancel,
    Consume,
    Deliver,
    Delivery,
    Discard,
    Done,
    Get,
    Got,
    Grant,
    Looked,
    Message,
    Purge,
    Refused,
    Requeue,
    Sent,
    Want,
)

ACCESS_REFUSED = 403


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
        replica: Replica,
        early: dict[Pid, dict[bytes, Early]],
        waiting: dict[int, Waiting],
    ) -> None:
        self.out: list[Effect] = []
        self.consumers = Consumers()
        self._replica = replica
        self._backing = replica.backing
        self._keeps = replica.journal.keeps
        self._telling = Telling(replica.ring)
        misbehaviour = replica.misbehaviour
        self._crooked = None if misbehaviour is None else CrookedQueue(misbehaviour, replica)
        self._early = early
        self._waiting = waiting
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
        if self._crooked is not None:
            self._crooked.hold_back(event.sequence, self.out)
        if self._early and self._came_before(event):
            return
        consumer = None if self._backing.ready or redelivered else self.consumers.next()
        if consumer is not None and consumer.no_ack:
            if self._telling.is_heard:
                self._telling.tell(Discarded(channel, message.identity))
            self._hand(consumer, 0, message, False)
            self._replica.confirms.add(channel, event.sequence)
            return
        if consumer is None:
            number = self._backing.publish(message)
            self._want()
        else:
            number = self._backing.publish_taken(message)
            self._taken.setdefault(consumer.channel, {})[number] = consumer
            self._hand(consumer, number, message, False)
        if self._telling.is_heard:
            self._telling.tell(Published(channel, message, consumer is not None))
        self._owe(event, number)

    def flushed(self, mark: int) -> None:
        self._settle(self._replica.journal.flushed(mark))

    def meet(self, channel: Pid) -> None:
        if channel not in self._channels:
            self._channels.add(channel)
            self.out.append(Watch(channel))

    # --- consuming

    def consume(self, event: Consume) -> None:
        self.meet(event.channel)
        if self.consumers.refuses(event.exclusive):
            text = f"queue '{self._replica.queue}' in vhost '/' in exclusive use"
            self.out.append(Send(event.channel, Refused(event.request, ACCESS_REFUSED, text)))
            return
        self.consumers.add(event)
        self.out.append(Send(event.channel, Done(event.request, 0)))
        self._dispatch()

    def cancel(self, event: Cancel) -> None:
        self.consumers.cancel(event.channel, event.tag)
        self.out.append(Send(event.channel, Done(event.request, 0)))

    def get(self, event: Get) -> None:
        self.meet(event.channel)
        backing, replica = self._backing, self._replica
        if not backing.ready:
            got = Got(event.request, replica.queue, replica.pid, 0, False, None, 0)
            self.out.append(Send(event.channel, got))
            return
        number = backing.take()
        message, redelivered = backing.message(number), backing.is_redelivered(number)
        self._telling.dropped(backing.ready, 1, not event.no_ack)
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
        self._telling.acked(tuple(it.identity for it in self._remove(numbers)))
        self._dispatch()

    def requeue(self, event: Requeue) -> None:
        self._give_back(self._released(event.channel, event.numbers))
        self._dispatch()

    def expired(self, timer: Timeout) -> None:
        """It may be none of ours."""
        if self._crooked is not None:
            self._give_back(self._crooked.due(timer.name, self.out))
            self._dispatch()

    def purge(self, event: Purge) -> None:
        numbers = self._backing.drop()
        self._settle(numbers)
        self._telling.dropped(0, len(numbers), False)
        self.out.append(Send(event.channel, Done(event.request, len(numbers))))

    def looked(self, request: int, syncing: int | None) -> Looked:
        backing = self._backing
        return Looked(request, backing.ready, backing.taken, len(self.consumers), syncing)

    def channel_gone(self, channel: Pid) -> None:
        if channel not in self._channels:
            return
        self._channels.discard(channel)
        self._early.pop(channel, None)
        self.consumers.forget(channel)
        taken = self._taken.pop(channel, {})
        for consumer in taken.values():
            if consumer is not None:
                self.consumers.released(consumer)
        numbers = list(taken)
        if self._crooked is not None:
            forgotten = self._crooked.forget(numbers, self.out)
            self._telling.acked(tuple(it.identity for it in self._remove(forgotten)))
            numbers = [number for number in numbers if number not in forgotten]
        self._give_back(numbers)
        if self._telling.is_heard:
            self._telling.tell(SenderDeath(channel))
        self._dispatch()

    # --- handing out

    def _dispatch(self) -> None:
        backing = self._backing
        while backing.ready:
            consumer = self.consumers.next()
            if consumer is None:
                self._want()
                return
            number = backing.take()
            message, redelivered = backing.message(number), backing.is_redelivered(number)
            self._hand(consumer, number, message, redelivered)
            self._telling.dropped(backing.ready, 1, not consumer.no_ack)
            if consumer.no_ack:
                self._remove((number,))
            else:
                self._taken.setdefault(consumer.channel, {})[number] = consumer

    def _hand(self, consumer: Consumer, number: int, message: Message, redelivered: bool) -> None:
        queue, master = self._replica.queue, self._replica.pid
        delivery = Delivery(queue, master, consumer.tag, number, redelivered, message)
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
        if self._telling.is_heard:
            identities = tuple(self._backing.message(number).identity for number in numbers)
            self._telling.tell(Requeued(identities))

    def _remove(self, numbers: Iterable[int]) -> list[Message]:
        removed = self._backing.remove(numbers)
        if self._off_disk:
            self._settle(numbers)
        return removed

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
