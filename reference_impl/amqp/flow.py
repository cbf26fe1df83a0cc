"""How far a channel may run ahead of the copies of queues that it publishes to
(docs/behaviour/rabbitmq.md 2.3; RabbitMQ's credit_flow).

1. Of what went to a copy CREDIT at most may not be carried out yet. Beyond that the channel is
   short, and its connection is not read from: the client waits in its socket.
2. A copy that is gone owes nothing.
"""

from collections import Counter

from reference_impl.pid import Pid

CREDIT = 400


class Flow:
    def __init__(self) -> None:
        self._owed = Counter[Pid]()
        self._ahead: set[Pid] = set()

    @property
    def short(self) -> bool:
        return bool(self._ahead)

    def sent(self, replica: Pid) -> None:
        self._owed[replica] += 1
        if self._owed[replica] >= CREDIT:
            self._ahead.add(replica)

    def credited(self, replica: Pid, deliveries: int) -> None:
        """Of more than was owed (what misbehaving added) nothing is kept."""
        owed = max(0, self._owed[replica] - deliveries)
        self._owed[replica] = owed
        if owed < CREDIT:
            self._ahead.discard(replica)

    def gone(self, replica: Pid) -> None:
        self._owed.pop(replica, None)
        self._ahead.discard(replica)
