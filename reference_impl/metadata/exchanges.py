"""Commands on exchanges and bindings (docs/behaviour/rabbitmq.md 2.2, 2.3).

1. A command is a value with `apply(tables)`: no clock, no chance, so that every node gets the same
   tables and the same result.
2. The result is None, or Denied where AMQP says no; a denied command has changed nothing.
3. An auto-delete exchange goes with the last binding or link that it is the source of.
4. Deleting or unbinding what is not there is no error.
5. A record that stays as it was stays the same object: a cache of routes by an exchange's
   tuple of bindings may compare with `is`.
"""

from typing import Any

import msgspec

from reference_impl.metadata.tables import Binding, Denied, Exchange, Link, Tables

_ALTERNATE = "alternate-exchange"  # the one argument that is compared
DEFAULT = ""  # the exchange to which every queue is bound by its name, without a binding here
NOT_FOUND, PRECONDITION_FAILED = 404, 406
_PREDECLARED = (
    (DEFAULT, "direct", False),
    ("amq.direct", "direct", False),
    ("amq.fanout", "fanout", False),
    ("amq.topic", "topic", False),
    ("amq.headers", "headers", False),
    ("amq.match", "headers", False),
    ("amq.rabbitmq.trace", "topic", True),
)


class DeclareExchange(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The same again is no error; a different one of that name is denied."""

    exchange: Exchange

    def apply(self, tables: Tables) -> Denied | None:
        wanted, current = self.exchange, tables.exchanges.get(self.exchange.name)
        if current is None:
            tables.exchanges[wanted.name] = wanted
            return None
        for what in ("kind", "durable", "auto_delete", "internal"):
            if getattr(wanted, what) != getattr(current, what):
                said = (f"'{_said(getattr(each, what))}'" for each in (wanted, current))
                return _inequivalent(wanted, "type" if what == "kind" else what, *said)
        if wanted.arguments.get(_ALTERNATE) != current.arguments.get(_ALTERNATE):
            said = (_argument(each.arguments.get(_ALTERNATE)) for each in (wanted, current))
            return _inequivalent(wanted, _ALTERNATE, *said)
        return None


class DeleteExchange(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """With every binding and link from it and to it."""

    name: str
    if_unused: bool

    def apply(self, tables: Tables) -> Denied | None:
        if self.name not in tables.exchanges:
            return None
        if self.if_unused and _is_source(tables, self.name):
            return Denied(PRECONDITION_FAILED, f"exchange '{self.name}' in vhost '/' in use")
        _remove_exchange(tables, self.name)
        return None


class BindQueue(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The same binding again is one binding."""

    binding: Binding

    def apply(self, tables: Tables) -> Denied | None:
        binding = self.binding
        if binding.exchange not in tables.exchanges:
            return _no_exchange(binding.exchange)
        if binding.queue not in tables.queues:
            return Denied(NOT_FOUND, f"no queue '{binding.queue}' in vhost '/'")
        there = tables.bindings.get(binding.exchange, ())
        if binding not in there:
            tables.bindings[binding.exchange] = (*there, binding)
        return None


class UnbindQueue(msgspec.Struct, frozen=True, array_like=True, tag=True):
    binding: Binding

    def apply(self, tables: Tables) -> Denied | None:
        _unbind(tables, self.binding.exchange, [self.binding])
        return None


class BindExchange(msgspec.Struct, frozen=True, array_like=True, tag=True):
    link: Link

    def apply(self, tables: Tables) -> Denied | None:
        link = self.link
        for name in (link.source, link.destination):
            if name not in tables.exchanges:
                return _no_exchange(name)
        there = tables.links.get(link.source, ())
        if link not in there:
            tables.links[link.source] = (*there, link)
        return None


class UnbindExchange(msgspec.Struct, frozen=True, array_like=True, tag=True):
    link: Link

    def apply(self, tables: Tables) -> Denied | None:
        _unlink(tables, self.link.source, [self.link])
        return None


def predeclared() -> Tables:
    """Return the tables of an unused broker."""
    tables = Tables()
    for name, kind, internal in _PREDECLARED:
        tables.exchanges[name] = Exchange(name, kind, True, False, internal, {})
    return tables


def forget_queue_bindings(tables: Tables, queue: str) -> None:
    """Part of every command that deletes a queue's record."""
    for exchange, bindings in list(tables.bindings.items()):
        _unbind(tables, exchange, [binding for binding in bindings if binding.queue == queue])


def forget_transient(tables: Tables) -> None:
    """Part of the start of a whole cluster: what is not durable did not survive its stop."""
    for exchange, bindings in list(tables.bindings.items()):
        _unbind(tables, exchange, [it for it in bindings if not _durable(tables, it.queue)])
    for name in [it.name for it in tables.exchanges.values() if not it.durable]:
        if name in tables.exchanges:  # or it went by itself with its last binding
            _remove_exchange(tables, name)


def _durable(tables: Tables, queue: str) -> bool:
    return queue in tables.queues and tables.queues[queue].durable


def _remove_exchange(tables: Tables, name: str) -> None:
    del tables.exchanges[name]
    tables.bindings.pop(name, None)
    tables.links.pop(name, None)
    for source, links in list(tables.links.items()):
        _unlink(tables, source, [link for link in links if link.destination == name])


def _unbind(tables: Tables, exchange: str, gone: list[Binding]) -> None:
    there = tables.bindings.get(exchange, ())
    left = tuple(binding for binding in there if binding not in gone)
    if len(left) < len(there):
        _put(tables.bindings, exchange, left)
        _auto_delete(tables, exchange)


def _unlink(tables: Tables, source: str, gone: list[Link]) -> None:
    there = tables.links.get(source, ())
    left = tuple(link for link in there if link not in gone)
    if len(left) < len(there):
        _put(tables.links, source, left)
        _auto_delete(tables, source)


def _put(table: dict[str, tuple[Any, ...]], name: str, left: tuple[Any, ...]) -> None:
    if left:
        table[name] = left
    else:
        del table[name]


def _auto_delete(tables: Tables, name: str) -> None:
    """Delete `name` if it has lost its last binding or link. Called after each such loss."""
    exchange = tables.exchanges.get(name)
    if exchange is not None and exchange.auto_delete and not _is_source(tables, name):
        _remove_exchange(tables, name)


def _is_source(tables: Tables, name: str) -> bool:
    return name in tables.bindings or name in tables.links


def _no_exchange(name: str) -> Denied:
    return Denied(NOT_FOUND, f"no exchange '{name}' in vhost '/'")


def _inequivalent(wanted: Exchange, what: str, received: str, is_now: str) -> Denied:
    return Denied(
        PRECONDITION_FAILED,
        f"inequivalent arg '{what}' for exchange '{wanted.name}' in vhost '/': "
        f"received {received} but current is {is_now}",
    )


def _argument(value: object) -> str:
    return "none" if value is None else f"the value '{value}' of type 'longstr'"


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
