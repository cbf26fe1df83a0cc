"""A limit for how far a channel may run ahead of the copies of queues
(docs/behaviour/rabbitmq.md 2.3; RabbitMQ's credit_flow).

1. At most CREDIT messages to a copy may not be carried out yet. Beyond that the channel is
   short, and its connection is not read from: the client waits in its socket.
2. A copy that is gone counts no more.
"""

from collections import Counter

from reference_impl.pid import Pid

CREDIT = 400


class Flow:
    def __init__(self) -> None:
        self._outstanding = Counter[Pid]()
        self._ahead: set[Pid] = set()

    @property
    def short(self) -> bool:
        return bool(self._ahead)

    def sent(self, replica: Pid) -> None:
        self._outstanding[replica] += 1
        if self._outstanding[replica] >= CREDIT:
            self._ahead.add(replica)

    def credited(self, replica: Pid, deliveries: int) -> None:
        """Count credit; drop what exceeds the outstanding deliveries (misbehaving adds some)."""
        outstanding = max(0, self._outstanding[replica] - deliveries)
        self._outstanding[replica] = outstanding
        if outstanding < CREDIT:
            self._ahead.discard(replica)

    def gone(self, replica: Pid) -> None:
        self._outstanding.pop(replica, None)
        self._ahead.discard(replica)
