"""Credit for channels: how many of their publishes this copy of a queue has carried out
(docs/behaviour/rabbitmq.md 2.3; RabbitMQ's credit_flow).

1. It is sent MORE at a time, to each channel by itself. A channel that has sent CREDIT more than
   that waits (amqp/flow.py), so that a copy that is slow, or stands still, never has more of a
   channel before it.
2. It outlives a promotion: a channel's deliveries went to the same process.
"""

from collections import Counter
from collections.abc import Iterator

from reference_impl.pid import Pid
from reference_impl.process import Effect, Send
from reference_impl.protocol.queues import Credit

MORE = 200


class Crediting:
    def __init__(self, pid: Pid) -> None:
        self._pid = pid
        self._untold = Counter[Pid]()

    def carried_out(self, channel: Pid) -> Iterator[Effect]:
        """One more of that channel's."""
        self._untold[channel] += 1
        if self._untold[channel] >= MORE:
            yield Send(channel, Credit(self._pid, self._untold.pop(channel)))

    def forget(self, channel: Pid) -> None:
        self._untold.pop(channel, None)
