"""From an exchange and a key to queues, and from queues to the processes that get a copy
(docs/behaviour/rabbitmq.md 2.3, items 1, 16, 35, 43, 44).

1. The result is a set: one copy a queue, however many bindings match; its order is that of the
   bindings. Exchanges that feed each other in a circle are each passed once.
2. A copy goes to the master and to every mirror that the tables list at that moment; a mirrored
   queue without a master keeps what mirrors it has, and may have none at all.
3. An unmirrored durable queue whose home node is down is no queue: the message is unroutable.
4. What was found is remembered until the tables change.
"""

from dataclasses import dataclass

from reference_impl.amqp.errors import NOT_IMPLEMENTED, AmqpError, no_exchange
from reference_impl.amqp.topics import matches, words
from reference_impl.metadata.governing import is_mirrored
from reference_impl.metadata.records import replicas
from reference_impl.metadata.tables import Queue, Tables
from reference_impl.pid import Pid

DEFAULT = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A queue, and who is to hold a copy; its master among them, if it has one."""

    queue: str
    replicas: tuple[Pid, ...]
    master: Pid | None


class Router:
    """Remembers routes while the tables stay as they are."""

    def __init__(self, routes_max: int) -> None:
        self._routes: dict[tuple[str, str], tuple[Target, ...]] = {}
        self._routes_max = routes_max
        self._version = -1

    def targets(self, tables: Tables, exchange: str, key: str) -> tuple[Target, ...]:
        """Raises AmqpError where there is no such exchange."""
        if tables.version != self._version or len(self._routes) >= self._routes_max:
            self._routes.clear()
            self._version = tables.version
        found = self._routes.get((exchange, key))
        if found is None:
            found = self._routes[exchange, key] = targets(tables, exchange, key)
        return found


def targets(tables: Tables, exchange: str, key: str) -> tuple[Target, ...]:
    found = []
    for name in routed(tables, exchange, key):
        record = tables.queues.get(name)
        if record is not None and not home_is_lost(tables, record):
            found.append(Target(name, replicas(record), record.master))
    return tuple(found)


def home_is_lost(tables: Tables, record: Queue) -> bool:
    """Item 1: nobody can take over, and it is known that the home node is down."""
    return not replicas(record) and not is_mirrored(tables, record)


def routed(tables: Tables, exchange: str, key: str) -> list[str]:
    """Names of queues, each once."""
    if exchange == DEFAULT:
        return [key]
    if exchange not in tables.exchanges:
        raise no_exchange(exchange)
    split = words(key)
    sources, queues = [exchange], dict[str, None]()
    for source in sources:  # it grows by the exchanges that get a copy of their own
        kind = tables.exchanges[source].kind
        for binding in tables.bindings.get(source, ()):
            if _leads(kind, binding.key, key, split):
                queues[binding.queue] = None
        for link in tables.links.get(source, ()):
            if link.destination not in sources and _leads(kind, link.key, key, split):
                sources.append(link.destination)
    return list(queues)


def _leads(kind: str, bound: str, key: str, split: tuple[str, ...]) -> bool:
    match kind:
        case "direct":
            return bound == key
        case "fanout":
            return True
        case "topic":
            return matches(words(bound), split)
    raise AmqpError(NOT_IMPLEMENTED, f"exchange type '{kind}': not implemented by the reference")
