"""Confirms of one copy of a queue, collected by channel until they go out together.

1. A sequence of 0 wants no confirm.
2. A replica confirms for itself alone; the channel waits for the others
   (docs/behaviour/rabbitmq.md 3.7).
"""

from collections import Counter
from collections.abc import Iterator

from reference_impl.pid import Pid
from reference_impl.process import Effect, Send
from reference_impl.protocol.queues import Confirm, Credit


class Confirms:
    def __init__(self, queue: str, replica: Pid) -> None:
        self._queue = queue
        self._replica = replica
        self._due: dict[Pid, list[int]] = {}

    def add(self, channel: Pid, sequence: int) -> None:
        if sequence:
            self._due.setdefault(channel, []).append(sequence)

    def __bool__(self) -> bool:
        return bool(self._due)

    def take(self) -> list[Effect]:
        due, self._due = self._due, {}
        return [
            Send(channel, Confirm(self._queue, self._replica, tuple(sequences)))
            for channel, sequences in due.items()
        ]


# --- Crediting -----------------------------------------------------------------------------------
# Credit for channels: how many of their publishes this copy of a queue has carried out
# (docs/behaviour/rabbitmq.md 2.3; RabbitMQ's credit_flow).
#
# 1. It is sent MORE at a time, to each channel by itself. A channel that has sent CREDIT more than
#    that waits (sharing.py), so that a copy that is slow, or stands still, never has more of
#    a channel before it.
# 2. It outlives a promotion: a channel's deliveries went to the same process.


MORE = 200


class Crediting:
    def __init__(self, pid: Pid) -> None:
        self._pid = pid
        self._unreported = Counter[Pid]()

    def carried_out(self, channel: Pid) -> Iterator[Effect]:
        """One more of that channel's."""
        self._unreported[channel] += 1
        if self._unreported[channel] >= MORE:
            yield Send(channel, Credit(self._pid, self._unreported.pop(channel)))

    def forget(self, channel: Pid) -> None:
        self._unreported.pop(channel, None)
