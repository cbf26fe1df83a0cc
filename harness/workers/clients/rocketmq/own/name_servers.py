"""The name server that a client uses, and when it turns to another one
(docs/behaviour/rocketmq.md 9.1).

1. It begins with any, and stays with it while it has a connection. It never tests that answers
   come: a connection is good as long as TCP says so.
2. What happens to a connection whose answer is overdue is the likeness's.
3. Where it must begin with a certain one, that one is dialled first.
"""

from collections.abc import Callable, Sequence
from random import Random

from harness.workers.clients.rocketmq.core.likeness import Likeness, Next
from harness.workers.protocol import Endpoint
from harness.workers.remoting.commands import Command
from harness.workers.remoting.requests import Request
from harness.workers.rocketmq.connection import Connection, Unanswered

CONNECT_LIMIT_S = 3.0
ANSWER_LIMIT_S = 3.0  # mqClientApiTimeout


class NameServers:
    """`attached` is called with the host whenever another one is asked."""

    def __init__(
        self,
        likeness: Likeness,
        endpoints: Sequence[Endpoint],
        first: str,
        dice: Random,
        attached: Callable[[str], None],
    ) -> None:
        shuffled = dice.sample(list(endpoints), len(endpoints))
        self._servers = sorted(shuffled, key=lambda one: first not in ("", one.host))
        self._likeness = likeness
        self._attached = attached
        self._at = 0  # the one that is asked, or is dialled next
        self._connection: Connection | None = None
        self._reported = ""

    async def ask(self, request: Request) -> Command:
        """Raises Unanswered."""
        connection = await self._connected()
        try:
            return await connection.ask(request, ANSWER_LIMIT_S)
        except Unanswered:
            if self._likeness.closes or connection.lost:
                self._drop(connection)
            raise

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    async def _connected(self) -> Connection:
        if self._connection is not None and not self._connection.lost:
            return self._connection
        if self._connection is not None:
            self._drop(self._connection)
        failure = Unanswered("there is no name server")
        for _ in range(self._tries):
            server = self._servers[self._at]
            try:
                self._connection = await Connection.connect(server, CONNECT_LIMIT_S)
            except Unanswered as error:
                failure = error
                self._move_on()
            else:
                self._report(server.host)
                return self._connection
        raise failure

    @property
    def _tries(self) -> int:
        return 1 if self._likeness.next is Next.ONE_A_CALL else len(self._servers)

    def _drop(self, connection: Connection) -> None:
        connection.close()
        self._connection = None
        if self._likeness.next is not Next.THE_SAME_FIRST:
            self._move_on()

    def _move_on(self) -> None:
        self._at = (self._at + 1) % len(self._servers)

    def _report(self, host: str) -> None:
        if host != self._reported:
            self._reported = host
            self._attached(host)
