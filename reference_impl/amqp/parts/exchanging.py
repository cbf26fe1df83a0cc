"""Exchanges on a channel: declare, delete, bind, unbind (docs/behaviour/rabbitmq.md 2.2, 2.3).

1. The default exchange cannot be touched, one of the broker's own (amq.*) cannot be deleted.
2. All else the tables decide: the command's result is the answer.
"""

from reference_impl.amqp.codec.queue_methods import (
    ExchangeBind,
    ExchangeBindOk,
    ExchangeDeclare,
    ExchangeDeclareOk,
    ExchangeDelete,
    ExchangeDeleteOk,
    ExchangeUnbind,
    ExchangeUnbindOk,
)
from reference_impl.amqp.parts.calls import Calls, Steps
from reference_impl.amqp.parts.naming import check_not_reserved, is_reserved
from reference_impl.amqp.rules.arguments import check_exchange_arguments
from reference_impl.amqp.rules.errors import (
    ACCESS_REFUSED,
    COMMAND_INVALID,
    AmqpError,
    exchange_called,
    no_exchange,
)
from reference_impl.amqp.rules.routing import DEFAULT
from reference_impl.amqp.rules.routing import check as check_header_binding
from reference_impl.amqp.session import Outbox
from reference_impl.metadata.commands import (
    BindExchange,
    DeclareExchange,
    DeleteExchange,
    UnbindExchange,
)
from reference_impl.metadata.tables import Exchange, Link
from reference_impl.process import World

_KINDS = frozenset({"direct", "fanout", "topic", "headers"})


class Exchanging:
    def __init__(self, world: World, outbox: Outbox, calls: Calls) -> None:
        self._world = world
        self._outbox = outbox
        self._calls = calls

    def declare(self, method: ExchangeDeclare) -> Steps:
        if method.passive:
            _check_not_default(method.exchange)
            self._check_there(method.exchange)
        else:
            yield from self._calls.commit(DeclareExchange(self._wanted(method)))
        if not method.nowait:
            self._outbox.say(ExchangeDeclareOk())

    def delete(self, method: ExchangeDelete) -> Steps:
        _check_not_default(method.exchange)
        if is_reserved(method.exchange):
            text = f"deletion of system {exchange_called(method.exchange)} not allowed"
            raise AmqpError(ACCESS_REFUSED, text)
        yield from self._calls.commit(DeleteExchange(method.exchange, method.if_unused))
        if not method.nowait:
            self._outbox.say(ExchangeDeleteOk())

    def bind(self, method: ExchangeBind) -> Steps:
        link = _link(method)
        for name in (link.source, link.destination):
            self._check_there(name)
        if self._world.tables.exchanges[link.source].kind == "headers":
            check_header_binding(link.arguments)
        yield from self._calls.commit(BindExchange(link))
        if not method.nowait:
            self._outbox.say(ExchangeBindOk())

    def unbind(self, method: ExchangeUnbind) -> Steps:
        yield from self._calls.commit(UnbindExchange(_link(method)))
        if not method.nowait:
            self._outbox.say(ExchangeUnbindOk())

    def _wanted(self, method: ExchangeDeclare) -> Exchange:
        if method.kind not in _KINDS:
            raise AmqpError(COMMAND_INVALID, f"unknown exchange type '{method.kind}'")
        _check_not_default(method.exchange)
        if method.exchange not in self._world.tables.exchanges:
            check_not_reserved("exchange", method.exchange)
        check_exchange_arguments(method.exchange, method.arguments)
        return Exchange(
            method.exchange,
            method.kind,
            method.durable,
            method.auto_delete,
            method.internal,
            method.arguments,
        )

    def _check_there(self, name: str) -> None:
        if name not in self._world.tables.exchanges:
            raise no_exchange(name)


def _link(method: ExchangeBind | ExchangeUnbind) -> Link:
    for name in (method.destination, method.source):
        _check_not_default(name)
    return Link(method.source, method.destination, method.key, method.arguments)


def _check_not_default(name: str) -> None:
    if name == DEFAULT:
        raise AmqpError(ACCESS_REFUSED, "operation not permitted on the default exchange")
