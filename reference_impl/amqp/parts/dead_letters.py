"""The process of a node that sends its queues' dead letters on (docs/behaviour/rabbitmq.md 2.3).

1. At most once, without confirms: a letter that leads nowhere, or whose exchange is not there, is
   gone.
2. `x-death` says what became of it: an entry a queue and reason, the latest first, with a count.
   Its first origin stands in x-first-death-*. An expiration of its own is noted there, and
   is none any more.
3. A letter that has come back to a queue where it died before goes no further, unless a consumer
   rejected it on its way: else it would go round for ever.

Differs from RabbitMQ: an entry has no time, for no process here reads a clock.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from reference_impl.amqp.codec.properties import as_dead_letter, expiration_of, headers_of
from reference_impl.amqp.rules.errors import AmqpError
from reference_impl.amqp.rules.routing import Router
from reference_impl.pid import Pid
from reference_impl.process import Effect, Send, World
from reference_impl.protocol.queues import DeadLetter, Deliver

REJECTED = "rejected"
DEATH, FIRST_DEATH = "x-death", "x-first-death"
_ROUTES_MAX = 1024
_CAME_FROM = ("reason", "queue", "exchange")


class DeadLetters:
    def __init__(self, pid: Pid, world: World) -> None:
        self._pid = pid
        self._world = world
        self._router = Router(_ROUTES_MAX)
        self._sent = 0
        self._identity = f"{pid.node}/{pid.boot}/{pid.number}/".encode()

    def handle(self, event: Any) -> list[Effect]:
        return self._send_on(event) if isinstance(event, DeadLetter) else []

    def _send_on(self, letter: DeadLetter) -> list[Effect]:
        message = letter.message
        headers = died(headers_of(message.header), letter)
        key = message.key if letter.key is None else letter.key
        header = as_dead_letter(message.header, headers)
        try:
            targets = self._router.targets(self._world.tables, letter.exchange, key, header)
        except AmqpError:  # there is no such exchange
            return []
        self._sent += 1
        identity = self._identity + self._sent.to_bytes(8, "big")
        dead = msgspec.structs.replace(
            message,
            identity=identity,
            exchange=letter.exchange,
            key=key,
            header=header,
            lives_ms=-1,
        )
        return [
            Send(replica, Deliver(self._pid, 0, dead))
            for target in targets
            if not goes_round(target.queue, headers[DEATH])
            for replica in target.replicas
        ]


def died(headers: Mapping[str, Any], letter: DeadLetter) -> dict[str, Any]:
    """Return the headers of a letter that died again."""
    message = letter.message
    entry: dict[str, Any] = {
        "count": 1,
        "reason": letter.reason,
        "queue": letter.queue,
        "exchange": message.exchange,
        "routing-keys": [message.key],
    }
    expiration = expiration_of(message.header)
    if expiration is not None:
        entry["original-expiration"] = expiration
    others = []
    for each in _entries(headers):
        if (each.get("queue"), each.get("reason")) == (letter.queue, letter.reason):
            entry["count"] += each["count"] if isinstance(each.get("count"), int) else 0
        else:
            others.append(each)
    first = {f"{FIRST_DEATH}-{name}": entry[name] for name in _CAME_FROM}
    return {**first, **headers, DEATH: [entry, *others]}


def goes_round(queue: str, deaths: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether it died in this queue before, and was not rejected since."""
    for each in deaths:
        if each.get("reason") == REJECTED:
            return False
        if each.get("queue") == queue:
            return True
    return False


def _entries(headers: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Clients may have written anything there."""
    deaths = headers.get(DEATH)
    return [one for one in deaths if isinstance(one, dict)] if isinstance(deaths, list) else []
