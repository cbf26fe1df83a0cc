"""Confirms of one copy of a queue, collected by channel until they go out together.

1. A sequence of 0 wants no confirm.
2. A replica confirms for itself alone; the channel waits for the others
   (docs/behaviour/rabbitmq.md 3.7).
"""

from reference_impl.pid import Pid
from reference_impl.process import Effect, Send
from reference_impl.protocol.queues import Confirm


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
