"""From an exchange and a key to queues, and from queues to the processes that get a copy
(docs/behaviour/rabbitmq.md 2.3, items 1, 16, 35, 43, 44).

1. The result is a set: one copy a queue, however many bindings match; its order is that of the
   bindings. Exchanges that feed each other in a circle are each passed once.
2. A copy goes to the master and to every mirror that the tables list at that moment; a mirrored
   queue without a master keeps what mirrors it has, and may have none at all.
3. An unmirrored durable queue whose home node is down is no queue: the message is unroutable.
4. An exchange that leads nowhere for a message leads to its alternate, if it has one.
5. What was found is remembered until the tables change; of ways that pass a headers exchange
   nothing is: messages differ in more than their keys.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from operator import or_
from typing import Any

from reference_impl.amqp.codec.properties import NO_PROPERTIES, headers_of
from reference_impl.amqp.rules.arguments import ALTERNATE
from reference_impl.amqp.rules.errors import (
    NOT_IMPLEMENTED,
    PRECONDITION_FAILED,
    AmqpError,
    no_exchange,
)
from reference_impl.metadata.governing import is_mirrored
from reference_impl.metadata.records import replicas
from reference_impl.metadata.tables import Binding, Exchange, Link, Queue, Tables
from reference_impl.pid import Pid

# --- Topic keys against patterns (docs/behaviour/rabbitmq.md 2.3) --------------------------------
# 1. Words are split on "."; the empty key has no words.
# 2. `*` stands for exactly one word, `#` for any number of them, none included.


def key_words(key: str) -> tuple[str, ...]:
    return tuple(key.split(".")) if key else ()


def key_matches(pattern: tuple[str, ...], key: tuple[str, ...]) -> bool:
    """One pass a word of the pattern: `reached[n]` says whether n words of the key are spent."""
    reached = [True] + [False] * len(key)
    for wanted in pattern:
        if wanted == "#":
            reached = list(accumulate(reached, or_))
        else:
            steps = zip(reached, key, strict=False)
            reached = [False, *(here and wanted in ("*", word) for here, word in steps)]
    return reached[-1]


# --- Header bindings -----------------------------------------------------------------------------
# A binding of a headers exchange against a message's headers (docs/behaviour/rabbitmq.md 2.3).
#
# 1. `x-match` says whether all of the binding's arguments have to be among the headers (as without
#    it), or any; arguments whose names begin with `x-` count only with all-with-x and any-with-x.
# 2. A value fits that is equal and of the same class: all integers are of one, and so are
#    fractions. Nothing at all (a void) fits whatever is there.
# 3. Of no arguments all are there, and none is.


MATCH = "x-match"
ALL, ANY = ("all", "all-with-x"), ("any", "any-with-x")
_WITH_X = (ALL[1], ANY[1])


def check(arguments: Mapping[str, Any]) -> None:
    """Raises 406."""
    how = arguments.get(MATCH, ALL[0])
    if not isinstance(how, str):
        text = f"Invalid x-match field type {type(how).__name__} (value {how!r}); expected longstr"
        raise AmqpError(PRECONDITION_FAILED, text)
    if how not in (*ALL, *ANY):
        text = f"Invalid x-match field value '{how}'; expected all, any, all-with-x, or any-with-x"
        raise AmqpError(PRECONDITION_FAILED, text)


def fits(arguments: Mapping[str, Any], headers: Mapping[str, Any]) -> bool:
    how = arguments.get(MATCH, ALL[0])
    with_x = how in _WITH_X
    wanted = [name for name in arguments if name != MATCH and (with_x or name[:2] != "x-")]
    matches = (name in headers and _is(arguments[name], headers[name]) for name in wanted)
    return any(matches) if how in ANY else all(matches)


def _is(wanted: Any, value: Any) -> bool:
    return wanted is None or (type(wanted) is type(value) and bool(wanted == value))


# --- Routing -------------------------------------------------------------------------------------


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
        self._by_key: dict[str, bool] = {}  # whether nothing but the key decides, by exchange
        self._routes_max = routes_max
        self._version = -1

    def targets(
        self, tables: Tables, exchange: str, key: str, properties: bytes
    ) -> tuple[Target, ...]:
        """Raises AmqpError where there is no such exchange."""
        if tables.version != self._version or len(self._routes) >= self._routes_max:
            self._routes.clear()
            self._by_key.clear()
            self._version = tables.version
        found = self._routes.get((exchange, key))
        if found is not None:
            return found
        if exchange not in self._by_key:
            self._by_key[exchange] = by_key(tables, exchange)
        if not self._by_key[exchange]:
            return targets(tables, exchange, key, properties)
        found = self._routes[exchange, key] = targets(tables, exchange, key, properties)
        return found


def targets(
    tables: Tables, exchange: str, key: str, properties: bytes = NO_PROPERTIES
) -> tuple[Target, ...]:
    return held_by(tables, routed(tables, exchange, key, properties))


def held_by(tables: Tables, queues: Iterable[str]) -> tuple[Target, ...]:
    """Return those of these queues that exist."""
    found = []
    for name in queues:
        record = tables.queues.get(name)
        if record is not None and not home_is_lost(tables, record):
            found.append(Target(name, replicas(record), record.master))
    return tuple(found)


def home_is_lost(tables: Tables, record: Queue) -> bool:
    """Item 1: no copy can take over, and it is known that the home node is down, or has not begun
    again after all were down."""
    return record.is_absent or not (replicas(record) or is_mirrored(tables, record))


def routed(
    tables: Tables, exchange: str, key: str, properties: bytes = NO_PROPERTIES
) -> list[str]:
    """Names of queues, each once."""
    if exchange == DEFAULT:
        return [key]
    if exchange not in tables.exchanges:
        raise no_exchange(exchange)
    message = _Message(key, key_words(key), properties)
    sources, queues = [exchange], dict[str, None]()
    for source in sources:  # it grows by the exchanges that get a copy of their own
        bound, linked = _led_to(tables, source, message)
        if not (bound or linked):
            other = alternate(tables.exchanges[source])
            bound = [key] if other == DEFAULT else []
            linked = [other] if other is not None and other in tables.exchanges else []
        queues.update(dict.fromkeys(bound))
        sources += [name for name in dict.fromkeys(linked) if name not in (*sources, DEFAULT)]
    return list(queues)


def alternate(exchange: Exchange) -> str | None:
    """Return the exchange for messages without a route."""
    name = exchange.arguments.get(ALTERNATE)
    return name if isinstance(name, str) else None


def by_key(tables: Tables, exchange: str) -> bool:
    """Return whether no headers exchange can be on a message's way."""
    if exchange not in tables.exchanges:
        return True
    passed = [exchange]
    for source in passed:
        further = [link.destination for link in tables.links.get(source, ())]
        further += filter(None, [alternate(tables.exchanges[source])])
        passed += [
            one for one in dict.fromkeys(further) if one in tables.exchanges and one not in passed
        ]
    return all(tables.exchanges[name].kind != "headers" for name in passed)


@dataclass(frozen=True, slots=True)
class _Message:
    """The parts of a message that decide its route."""

    key: str
    words: tuple[str, ...]
    properties: bytes


def _led_to(tables: Tables, source: str, message: _Message) -> tuple[list[str], list[str]]:
    """The queues and the exchanges that get a copy of it by this one."""
    kind = tables.exchanges[source].kind
    bindings, links = tables.bindings.get(source, ()), tables.links.get(source, ())
    return (
        [one.queue for one in bindings if _leads(kind, one, message)],
        [one.destination for one in links if _leads(kind, one, message)],
    )


def _leads(kind: str, bound: Binding | Link, message: _Message) -> bool:
    match kind:
        case "direct":
            return bound.key == message.key
        case "fanout":
            return True
        case "topic":
            return key_matches(key_words(bound.key), message.words)
        case "headers":
            return fits(bound.arguments, headers_of(message.properties))
    raise AmqpError(NOT_IMPLEMENTED, f"exchange type '{kind}': not implemented by the reference")
