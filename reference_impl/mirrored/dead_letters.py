"""The route of a queue's dead letters, by its declaration's arguments (docs/behaviour/rabbitmq.md
2.3).

1. A letter is dead that was rejected for good, went for want of room, or was over. The master
   alone sends it on, once at most: where it dies with its node, the letter is lost.
2. A process of the same node routes it (amqp/dead_letters.py).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reference_impl.process import DEAD_LETTERS, Effect, Send, World
from reference_impl.protocol.queues import DeadLetter, Message

EXCHANGE, KEY = "x-dead-letter-exchange", "x-dead-letter-routing-key"
REJECTED, TOO_LONG, EXPIRED = "rejected", "maxlen", "expired"


def sent_on(
    world: World, queue: str, arguments: Mapping[str, Any], reason: str, dead: Iterable[Message]
) -> Iterator[Effect]:
    """Nothing where the queue has no such exchange."""
    exchange, to = arguments.get(EXCHANGE), world.well_known(world.node, DEAD_LETTERS)
    if exchange is None or to is None:
        return
    for message in dead:
        yield Send(to, DeadLetter(queue, exchange, arguments.get(KEY), reason, message))
