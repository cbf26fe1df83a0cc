"""Expiry and priority of a message in a queue: by its own properties and
its queue's declaration (docs/behaviour/rabbitmq.md 2.3).

1. Of a message's own time and its queue's the smaller one counts, from when this copy of the queue
   has it. It only tells at the head: what is over goes when it gets there, by a timer at the
   latest.
2. Priorities are those of queues that were declared with a highest one: above it none counts.

Differs from RabbitMQ: after a restart of its node a message's time starts again.
"""

from reference_impl.process import World
from reference_impl.protocol.queues import Message

LIVES, HIGHEST = "x-message-ttl", "x-max-priority"


class QueueTerms:
    """Of the messages of one queue, by the clock and the tables of its copy's node."""

    def __init__(self, world: World, queue: str) -> None:
        self._world = world
        self._queue = queue

    def now_ms(self) -> int:
        return self._world.now_ms()

    def over_ms(self, message: Message) -> int | None:
        """Return when a message that comes now expires; None: never."""
        of_queue = self._declared(LIVES, -1)
        if of_queue < 0 and message.lives_ms < 0:
            return None
        return self.now_ms() + min(ms for ms in (of_queue, message.lives_ms) if ms >= 0)

    def priority(self, message: Message) -> int:
        """0 is the lowest."""
        return min(message.priority, self._declared(HIGHEST, 0))

    def _declared(self, argument: str, otherwise: int) -> int:
        record = self._world.tables.queues.get(self._queue)
        if record is None or not record.arguments:
            return otherwise
        return int(record.arguments.get(argument, otherwise))
