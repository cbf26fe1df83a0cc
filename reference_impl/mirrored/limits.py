"""Length limits of a queue, by its declaration's arguments (docs/behaviour/rabbitmq.md 2.3).

1. Only what is ready counts: messages, and octets of their bodies.
2. If there is no room, either the oldest go (drop-head, the default), or the publish is
   not taken (reject-publish), and may go on as a dead letter (reject-publish-dlx). The master
   decides; mirrors follow by what it drops.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reference_impl.process import DEAD_LETTERS, Effect, Send, World
from reference_impl.protocol.queues import DeadLetter, Message

LENGTH, OCTETS, OVERFLOW = "x-max-length", "x-max-length-bytes", "x-overflow"
REJECTING, REJECTING_LETTERS = "reject-publish", "reject-publish-dlx"


@dataclass(frozen=True, slots=True)
class Limits:
    """None: no bound."""

    length: int | None
    octets: int | None
    rejects: bool
    rejected_letters: bool  # what is rejected is a dead letter, too

    def are_passed(self, length: int, octets: int) -> bool:
        too_many = self.length is not None and length > self.length
        return too_many or (self.octets is not None and octets > self.octets)


def limits(arguments: Mapping[str, Any]) -> Limits | None:
    """None where there are none."""
    length, octets = arguments.get(LENGTH), arguments.get(OCTETS)
    if length is None and octets is None:
        return None
    how = arguments.get(OVERFLOW)
    rejects = how in (REJECTING, REJECTING_LETTERS)
    return Limits(length, octets, rejects, how == REJECTING_LETTERS)


# --- Dead letters --------------------------------------------------------------------------------
# The route of a queue's dead letters, by its declaration's arguments (docs/behaviour/rabbitmq.md
# 2.3).
#
# 1. A letter is dead that was rejected for good, went for want of room, or was over. The master
#    alone sends it on, once at most: where it dies with its node, the letter is lost.
# 2. A process of the same node routes it (amqp/parts/dead_letters.py).


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
