"""Queues on a channel: declare, delete, purge, bind, unbind (docs/behaviour/rabbitmq.md 2.2, 2.3;
items 1, 43).

1. An existing queue is compared with the declaration; a queue that is not there is started by
   the supervisor, and then looked at as if it had been there: another one may have come first.
2. An exclusive queue is not durable, and no other connection may touch it.
3. A queue without a master is deleted only when no mirror can take over any more, and then without
   any request; not with if_empty, as it may not be empty.
"""

from collections.abc import Generator
from typing import Any

from reference_impl.amqp.codec.queue_methods import (
    QueueBind,
    QueueBindOk,
    QueueDeclare,
    QueueDeclareOk,
    QueueDelete,
    QueueDeleteOk,
    QueuePurge,
    QueuePurgeOk,
    QueueUnbind,
    QueueUnbindOk,
)
from reference_impl.amqp.parts.calls import Calls, Steps
from reference_impl.amqp.parts.naming import Naming, check_not_reserved
from reference_impl.amqp.rules.arguments import check_equal, check_queue_arguments
from reference_impl.amqp.rules.errors import (
    ACCESS_REFUSED,
    PRECONDITION_FAILED,
    AmqpError,
    locked,
    no_exchange,
    queue_called,
)
from reference_impl.amqp.rules.routing import DEFAULT
from reference_impl.amqp.rules.routing import check as check_header_binding
from reference_impl.amqp.session import Outbox
from reference_impl.metadata.commands import BindQueue, UnbindQueue
from reference_impl.metadata.tables import Binding, Queue
from reference_impl.pid import Pid
from reference_impl.process import World
from reference_impl.protocol.queues import (
    Delete,
    DeleteRecord,
    Done,
    Look,
    Looked,
    Purge,
    StartQueue,
)


class Declaring:
    def __init__(self, world: World, outbox: Outbox, calls: Calls, naming: Naming) -> None:
        self._world = world
        self._outbox = outbox
        self._settings = outbox.session.settings
        self._calls = calls
        self._naming = naming

    def declare(self, method: QueueDeclare) -> Steps:
        if method.passive:
            name = self._naming.queue(method.queue)
            self._naming.check_owner(self._calls.record(name))
        else:
            name = yield from self._make(method)
        looked = Looked(0, 0, 0, 0)
        if not method.nowait:
            _, looked = yield from self._calls.master(name, Look)
        self._naming.declared(name)
        if not method.nowait:
            self._outbox.say(QueueDeclareOk(name, looked.ready, looked.consumers))

    def delete(self, method: QueueDelete) -> Steps:
        name = self._naming.queue(method.queue)
        messages = yield from self._delete(name, method)
        if not method.nowait:
            self._outbox.say(QueueDeleteOk(messages))

    def purge(self, method: QueuePurge) -> Steps:
        name = self._naming.queue(method.queue)
        self._naming.check_owner(self._calls.record(name))
        _, done = yield from self._calls.master(name, Purge)
        if not method.nowait:
            self._outbox.say(QueuePurgeOk(done.count))

    def bind(self, method: QueueBind) -> Steps:
        binding = self._binding(method)
        if binding.exchange not in self._world.tables.exchanges:
            raise no_exchange(binding.exchange)
        self._naming.check_owner(self._calls.record(binding.queue))
        if self._world.tables.exchanges[binding.exchange].kind == "headers":
            check_header_binding(binding.arguments)
        yield from self._calls.commit(BindQueue(binding))
        if not method.nowait:
            self._outbox.say(QueueBindOk())

    def unbind(self, method: QueueUnbind) -> Steps:
        binding = self._binding(method)
        if binding.queue in self._world.tables.queues:
            self._naming.check_owner(self._calls.record(binding.queue))
        yield from self._calls.commit(UnbindQueue(binding))
        self._outbox.say(QueueUnbindOk())

    def _make(self, method: QueueDeclare) -> Generator[None, Any, str]:
        """The name of a queue that is there now and is what the client declared."""
        name = method.queue or self._naming.generate("amq.gen")
        if method.queue:
            check_not_reserved("queue", name)
        durable = method.durable and not method.exclusive
        owner = self._outbox.session.pid if method.exclusive else None
        while name not in self._world.tables.queues:
            check_queue_arguments(name, method.arguments)
            yield from self._start(name, durable, owner, method)
        record = self._calls.record(name)
        if record.owner != owner:
            raise locked(name)
        check_equal(record, durable, method.auto_delete, method.arguments)
        return name

    def _start(self, name: str, durable: bool, owner: Pid | None, method: QueueDeclare) -> Steps:
        yield from self._calls.supervisor(
            lambda pid, request: StartQueue(
                pid, request, name, durable, method.auto_delete, owner, method.arguments
            )
        )

    def _delete(self, name: str, method: QueueDelete) -> Generator[None, Any, int]:
        while name in self._world.tables.queues:
            record = self._calls.record(name)
            self._naming.check_owner(record)
            if record.master is not None and self._world.alive(record.master):
                done = yield from self._ask_to_delete(record.master, method)
                if done is not None:
                    return int(done.count)
                yield from self._calls.pause(self._settings.retry_ms)
            elif any(self._world.alive(mirror) for mirror in record.mirrors):
                yield from self._calls.pause(self._settings.promotion_ms)
            else:
                yield from self._force(record, method.if_empty)
                return 0
        return 0

    def _ask_to_delete(
        self, master: Pid, method: QueueDelete
    ) -> Generator[None, Any, Done | None]:
        done: Done | None = yield from self._calls.ask(
            master, lambda pid, it: Delete(pid, it, method.if_unused, method.if_empty)
        )
        return done

    def _force(self, record: Queue, if_empty: bool) -> Steps:
        if if_empty:
            raise AmqpError(PRECONDITION_FAILED, f"{queue_called(record.name)} not empty")
        yield from self._calls.supervisor(lambda pid, it: DeleteRecord(pid, it, record.name))

    def _binding(self, method: QueueBind | QueueUnbind) -> Binding:
        name = self._naming.queue(method.queue)
        if method.exchange == DEFAULT:
            raise AmqpError(ACCESS_REFUSED, "operation not permitted on the default exchange")
        key = self._naming.key(method.queue, method.key)
        return Binding(method.exchange, name, key, method.arguments)
