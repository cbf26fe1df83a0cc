"""A queue in one process, without mirrors and disk: it says what a master says, in order."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from reference_impl.metadata.tables import Queue
from reference_impl.pid import Pid
from reference_impl.process import NORMAL, Down, Effect, Exit, Send, Watch
from reference_impl.protocol.queues import (
    Ack,
    Cancel,
    Confirm,
    Consume,
    Delete,
    Deliver,
    Discard,
    Done,
    Get,
    Got,
    Grant,
    Look,
    Looked,
    Message,
    Purge,
    QueueDelivery,
    Refused,
    Requeue,
    Want,
)


class Registry(Protocol):
    def forget(self, name: str, master: Pid | None) -> None: ...


@dataclass
class _Consumer:
    request: Consume
    out: int = 0

    def may_take(self) -> bool:
        request = self.request
        return request.no_ack or not request.prefetch or self.out < request.prefetch


@dataclass
class FakeQueue:
    pid: Pid
    record: Queue
    registry: Registry
    ready: dict[int, Message] = field(default_factory=dict)
    out: dict[int, tuple[Pid, str | None, Message]] = field(default_factory=dict)
    returned: set[int] = field(default_factory=set)
    consumers: list[_Consumer] = field(default_factory=list)
    grants: dict[Pid, int] = field(default_factory=dict)
    wanted: set[Pid] = field(default_factory=set)
    numbers: int = 0
    heard: list[Any] = field(default_factory=list)
    _effects: list[Effect] = field(default_factory=list)

    def begin(self) -> list[Effect]:
        return [Watch(self.record.owner)] if self.record.owner is not None else []

    def handle(self, event: Any) -> list[Effect]:
        self.heard.append(event)
        match event:
            case Deliver():
                self._put(event)
            case Consume():
                self._consume(event)
            case Cancel(channel=channel, tag=tag):
                self._leave(lambda it: (it.request.channel, it.request.tag) == (channel, tag))
                self._answer(event, Done(event.request, 0))
            case Get():
                self._get(event)
            case Ack(numbers=numbers) | Discard(numbers=numbers):
                for number in numbers:
                    self._settle(event.channel, number)
            case Requeue(numbers=numbers):
                self._requeue(event.channel, numbers)
            case Purge():
                count = len(self.ready)
                self.ready.clear()
                self._answer(event, Done(event.request, count))
            case Delete():
                self._delete(event)
            case Look():
                looked = Looked(event.request, len(self.ready), len(self.out), len(self.consumers))
                self._answer(event, looked)
            case Grant(channel=channel, deliveries=deliveries):
                self.wanted.discard(channel)
                self.grants[channel] = self.grants.get(channel, 0) + deliveries
            case Down(pid=pid):
                self._lose(pid)
        self._deliver_all()
        effects, self._effects = self._effects, []
        return effects

    def _answer(self, event: Any, answer: Any) -> None:
        self._effects.append(Send(event.channel, answer))

    def _put(self, event: Deliver) -> None:
        self.numbers += 1
        self.ready[self.numbers] = event.message
        if event.sequence:
            self._answer(event, Confirm(self.record.name, self.pid, (event.sequence,)))

    def _consume(self, event: Consume) -> None:
        if event.exclusive and self.consumers:
            text = f"queue '{self.record.name}' in vhost '/' in exclusive use"
            self._answer(event, Refused(event.request, 403, text))
            return
        self.consumers.append(_Consumer(event))
        self._effects.append(Watch(event.channel))
        self._answer(event, Done(event.request, 0))

    def _get(self, event: Get) -> None:
        number, message = next(iter(self.ready.items()), (0, None))
        again = number in self.returned
        if message is not None:
            del self.ready[number]
            if not event.no_ack:
                self.out[number] = (event.channel, None, message)
                self._effects.append(Watch(event.channel))
        left = len(self.ready)
        got = Got(event.request, self.record.name, self.pid, number, again, message, left)
        self._answer(event, got)

    def _settle(self, channel: Pid, number: int) -> Message | None:
        held = self.out.get(number)
        if held is None or held[0] != channel:
            return None
        del self.out[number]
        for consumer in self.consumers:
            if consumer.request.channel == channel and consumer.request.tag == held[1]:
                consumer.out -= 1
        return held[2]

    def _requeue(self, channel: Pid, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            message = self._settle(channel, number)
            if message is not None:
                self.ready[number] = message
                self.returned.add(number)
        self.ready = dict(sorted(self.ready.items()))

    def _delete(self, event: Delete) -> None:
        called = f"queue '{self.record.name}' in vhost '/'"
        if event.if_unused and self.consumers:
            self._answer(event, Refused(event.request, 406, f"{called} in use"))
        elif event.if_empty and self.ready:
            self._answer(event, Refused(event.request, 406, f"{called} not empty"))
        else:
            self._answer(event, Done(event.request, len(self.ready)))
            self._end()

    def _lose(self, pid: Pid) -> None:
        if pid == self.record.owner:
            self._end()
            return
        self._leave(lambda it: it.request.channel == pid)
        numbers = tuple(number for number, held in self.out.items() if held[0] == pid)
        self._requeue(pid, numbers)

    def _leave(self, leaves: Any) -> None:
        there = len(self.consumers)
        self.consumers = [it for it in self.consumers if not leaves(it)]
        if self.record.auto_delete and there and not self.consumers:
            self._end()

    def _end(self) -> None:
        self.ready.clear()
        self.consumers.clear()
        self.registry.forget(self.record.name, self.pid)
        self._effects.append(Exit(NORMAL))

    def _deliver_all(self) -> None:
        while self.ready:
            consumer = next((it for it in self.consumers if self._takes(it)), None)
            if consumer is None:
                return
            self.consumers.remove(consumer)
            self.consumers.append(consumer)
            self._deliver(consumer)

    def _takes(self, consumer: _Consumer) -> bool:
        request = consumer.request
        if not consumer.may_take():
            return False
        if not request.shared or self.grants.get(request.channel, 0) > 0:
            return True
        if request.channel not in self.wanted:
            self.wanted.add(request.channel)
            self._answer(request, Want(self.record.name, self.pid))
        return False

    def _deliver(self, consumer: _Consumer) -> None:
        request = consumer.request
        number = next(iter(self.ready))
        message = self.ready.pop(number)
        if request.shared:
            self.grants[request.channel] -= 1
        if not request.no_ack:
            consumer.out += 1
            self.out[number] = (request.channel, request.tag, message)
        again = number in self.returned
        delivery = QueueDelivery(self.record.name, self.pid, request.tag, number, again, message)
        self._answer(request, delivery)
