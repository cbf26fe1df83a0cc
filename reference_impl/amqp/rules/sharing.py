"""Limits of a channel: how far it may run ahead of queues, and what its consumers share.

Both are of docs/behaviour/rabbitmq.md 2.3.

1. RabbitMQ's credit_flow: at most CREDIT messages to a copy may not be carried out yet. Beyond
   that the channel is short, and its connection is not read from: the client waits in its socket.
   A copy that is gone counts no more.
2. basic.qos with global=true: a master that has something asks (Want); it is granted one delivery
   at a time, so that no queue holds back what another could use. Further requests wait, first come
   first served.
3. Deliveries out and grants not yet used never exceed the limit. 0 is no limit.
4. A grant that a master does not use (the message went elsewhere) stays its own until it is used,
   it dies, or the channel consumes from it no more.
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


class SharedLimit:
    def __init__(self) -> None:
        self.limit = 0
        self._out = 0
        self._granted: dict[Pid, int] = {}
        self._waiting: dict[Pid, None] = {}

    def want(self, master: Pid) -> list[Pid]:
        """Return the masters that are granted one delivery now, in order."""
        self._waiting[master] = None
        return self._grant()

    def delivered(self, master: Pid) -> None:
        self._out += 1
        self._use(master)

    def settled(self, deliveries: int) -> list[Pid]:
        self._out -= deliveries
        assert self._out >= 0, "more came back than went out"
        return self._grant()

    def forget(self, master: Pid) -> list[Pid]:
        """Forget a master that died, or that nothing is consumed from any more."""
        self._granted.pop(master, None)
        self._waiting.pop(master, None)
        return self._grant()

    def set(self, limit: int) -> list[Pid]:
        self.limit = limit
        return self._grant()

    def _grant(self) -> list[Pid]:
        granted = []
        while self._waiting and (not self.limit or self._spent() < self.limit):
            master = next(iter(self._waiting))
            del self._waiting[master]
            self._granted[master] = self._granted.get(master, 0) + 1
            granted.append(master)
        return granted

    def _use(self, master: Pid) -> None:
        left = self._granted.get(master, 0) - 1
        if left > 0:
            self._granted[master] = left
        else:
            self._granted.pop(master, None)

    def _spent(self) -> int:
        return self._out + sum(self._granted.values())
