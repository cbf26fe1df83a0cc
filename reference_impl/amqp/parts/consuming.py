"""Consumers of a channel, and their deliveries (docs/behaviour/rabbitmq.md 2.3, items 36 to
40).

1. consume-ok comes before the first delivery, cancel-ok after the last: the queue's answer keeps
   its place among its deliveries.
2. When a master goes, each of its consumers (by tag) is taken up again at the next master,
   silently; it is cancelled where it asked for that (x-cancel-on-ha-failover), where there is no
   queue of that name any more, and where no master appears in time. A client hears of it only if
   it can (consumer_cancel_notify).
3. Deliveries of a consumer that is gone stay the channel's until they are settled; what comes for
   a consumer that is gone goes back.
4. A master learns how many of its deliveries have gone out to the client, MORE_AFTER at a time,
   and hands out no more than UNSENT_MAX that have not (mirrored/consumers.py).
5. A shared limit (qos with global=true) binds the consumers that come after it. To set one beside
   consumers that are there already is answered with 540; RabbitMQ would bind them as well.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from reference_impl.amqp.codec.content import delivery_frames, get_frames
from reference_impl.amqp.codec.queue_methods import (
    BasicCancel,
    BasicCancelOk,
    BasicConsume,
    BasicConsumeOk,
    BasicGet,
    BasicGetEmpty,
    BasicQos,
    BasicQosOk,
)
from reference_impl.amqp.parts.acknowledging import Acknowledging
from reference_impl.amqp.parts.calls import Calls, Steps
from reference_impl.amqp.parts.naming import Naming
from reference_impl.amqp.rules.errors import (
    NOT_ALLOWED,
    PRECONDITION_FAILED,
    AmqpError,
    not_implemented,
    queue_called,
)
from reference_impl.amqp.session import Outbox
from reference_impl.pid import Pid
from reference_impl.process import WhenWritten, World
from reference_impl.protocol.queues import (
    Cancel,
    Consume,
    Get,
    Got,
    QueueDelivery,
    Requeue,
    Sent,
    Want,
)

_CANCEL_ON_FAILOVER = "x-cancel-on-ha-failover"
_PRIORITY = "x-priority"
_CANCEL_NOTIFY = "consumer_cancel_notify"
_DIRECT_REPLY = "amq.rabbitmq.reply-to"
MORE_AFTER = 50


@dataclass(slots=True)
class _Consumer:
    """`master`: where it consumes from; a failover changes it."""

    tag: str
    queue: str
    no_ack: bool
    exclusive: bool
    prefetch: int
    shared: bool
    arguments: dict[str, Any]
    master: Pid | None = None

    @property
    def is_unbound(self) -> bool:
        """Return whether a shared limit would have to bind it, and does not."""
        return not self.shared and not self.no_ack

    def asking(self, channel: Pid, request: int) -> Consume:
        return Consume(
            channel,
            request,
            self.tag,
            self.no_ack,
            self.exclusive,
            self.prefetch,
            self.shared,
            self.arguments,
        )


class Consuming:
    def __init__(
        self, world: World, outbox: Outbox, calls: Calls, naming: Naming, out: Acknowledging
    ) -> None:
        self._world = world
        self._outbox = outbox
        self._session = outbox.session
        self._calls = calls
        self._naming = naming
        self._out = out
        self._consumers: dict[str, _Consumer] = {}
        self._unreported = Counter[
            Pid
        ]()  # of each master: deliveries that it does not know to be out
        self._prefetch = 0

    def qos(self, method: BasicQos) -> None:
        if method.prefetch_octets:
            raise not_implemented("prefetch_size!=0")
        if method.shared:
            unbound = any(it.is_unbound for it in self._consumers.values())
            if method.prefetch_count and unbound:
                raise not_implemented("qos with global=true beside consumers")
            self._out.grant(self._out.shared.set(method.prefetch_count))
        else:
            self._prefetch = method.prefetch_count
        self._outbox.say(BasicQosOk())

    def consume(self, method: BasicConsume) -> Steps:
        consumer = self._wanted(method)
        self._naming.check_owner(self._calls.record(consumer.queue))
        yield from self._take_up(consumer)
        self._consumers[consumer.tag] = consumer
        if not method.nowait:
            self._outbox.say(BasicConsumeOk(consumer.tag))

    def cancel(self, method: BasicCancel) -> Steps:
        consumer = self._consumers.get(method.tag)
        if consumer is not None:
            master = consumer.master
            if master is not None and self._world.alive(master):
                yield from self._calls.ask(master, lambda pid, it: Cancel(pid, it, method.tag))
            self._drop(consumer)
        if not method.nowait:
            self._outbox.say(BasicCancelOk(method.tag))

    def get(self, method: BasicGet) -> Steps:
        name = self._naming.queue(method.queue)
        self._naming.check_owner(self._calls.record(name))
        asking = lambda pid, request: Get(pid, request, method.no_ack)  # noqa: E731
        _, got = yield from self._calls.master(name, asking)
        assert isinstance(got, Got), got
        if got.message is None:
            self._outbox.say(BasicGetEmpty())
            return
        tag = self._out.add_delivery(name, got.number, method.no_ack, shared=False)
        self._outbox.transmit(
            get_frames(
                self._outbox.number,
                tag,
                got.redelivered,
                got.message,
                got.ready,
                self._session.frame_max,
            )
        )

    def deliver(self, event: QueueDelivery) -> None:
        self._unreported[event.master] += 1
        if self._unreported[event.master] == MORE_AFTER:
            self._outbox.add(WhenWritten())
        consumer = self._consumers.get(event.tag)
        if consumer is None:
            self._outbox.send(event.master, Requeue(self._calls.pid, (event.number,)))
            return
        shared = consumer.shared
        if shared:
            self._out.shared.delivered(event.master)
        tag = self._out.add_delivery(event.queue, event.number, consumer.no_ack, shared)
        self._outbox.transmit(
            delivery_frames(
                self._outbox.number,
                event.tag,
                tag,
                event.redelivered,
                event.message,
                self._session.frame_max,
            )
        )

    def written(self) -> None:
        """All that was delivered has gone to the client's socket, and it drains."""
        unreported, self._unreported = self._unreported, Counter()
        for master, deliveries in unreported.items():
            self._outbox.send(master, Sent(self._calls.pid, deliveries))

    def want(self, event: Want) -> None:
        self._out.grant(self._out.shared.want(event.master))

    def down(self, master: Pid) -> Steps | None:
        """Return the steps for the consumers of a master that is gone."""
        self._out.grant(self._out.shared.forget(master))
        self._unreported.pop(master, None)
        lost = [tag for tag, it in self._consumers.items() if it.master == master]
        return self._fail_over(sorted(lost)) if lost else None

    def _fail_over(self, tags: list[str]) -> Steps:
        for tag in tags:
            consumer = self._consumers[tag]
            if consumer.arguments.get(_CANCEL_ON_FAILOVER) is True:
                self._cancel(consumer)
                continue
            try:
                yield from self._take_up(consumer)
            except AmqpError:  # the queue is gone, or no master took over, or it is another's now
                self._cancel(consumer)

    def _take_up(self, consumer: _Consumer) -> Steps:
        consumer.master, _ = yield from self._calls.master(consumer.queue, consumer.asking)

    def _cancel(self, consumer: _Consumer) -> None:
        """By the broker."""
        self._drop(consumer)
        if _CANCEL_NOTIFY in self._session.capabilities:
            self._outbox.say(BasicCancel(consumer.tag, nowait=True))

    def _drop(self, consumer: _Consumer) -> None:
        del self._consumers[consumer.tag]
        master = consumer.master
        if master is not None and all(it.master != master for it in self._consumers.values()):
            self._out.grant(self._out.shared.forget(master))

    def _wanted(self, method: BasicConsume) -> _Consumer:
        if method.queue == _DIRECT_REPLY:
            raise not_implemented("direct reply-to")
        priority = method.arguments.get(_PRIORITY, 0)
        if isinstance(priority, bool) or not isinstance(priority, int):
            text = f"invalid arg '{_PRIORITY}' for {queue_called(method.queue)}: no whole number"
            raise AmqpError(PRECONDITION_FAILED, text)
        tag = method.tag or self._naming.generate("amq.ctag")
        if tag in self._consumers:
            raise AmqpError(NOT_ALLOWED, f"attempt to reuse consumer tag '{tag}'")
        shared = self._out.shared.limit > 0 and not method.no_ack
        return _Consumer(
            tag,
            self._naming.queue(method.queue),
            method.no_ack,
            method.exclusive,
            self._prefetch,
            shared,
            method.arguments,
        )
