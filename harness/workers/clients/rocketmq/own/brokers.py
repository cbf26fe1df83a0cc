"""Connections to brokers, one to each, dialled when somebody wants it."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping

from harness.workers.clients.rocketmq.core.likeness import Likeness
from harness.workers.protocol import Endpoint
from harness.workers.remoting.commands import Command
from harness.workers.remoting.requests import Request
from harness.workers.rocketmq.connection import Connection, Heard, Unanswered

CONNECT_LIMIT_S = 3.0


class NotConnected(Unanswered):
    """Nothing was sent: there was no connection to send it by."""


class Brokers:
    """`names`: what hosts' names mean to this worker (workers/host_names.py); `ways`: what whole
    addresses do (workers/own_ways.py)."""

    def __init__(
        self, likeness: Likeness, names: Mapping[str, str], ways: Mapping[str, str] | None = None
    ) -> None:
        self.heard: Heard | None = None  # gets what brokers request
        self._likeness = likeness
        self._names = names
        self._ways = dict(ways or {})
        self._open: dict[str, Connection] = {}
        self._dialling: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ask(self, address: str, request: Request, limit_s: float, waits: bool) -> Command:
        """The whole of it within the limit. `waits`: as a call does that blocks; only such a one
        closes a connection whose answer is overdue. Raises NotConnected, Unanswered."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + limit_s
        connection = await self._connected(address, min(limit_s, CONNECT_LIMIT_S))
        left_s = end_s - loop.time()
        if left_s <= 0:
            raise NotConnected(f"no time was left when {address} was connected")
        try:
            return await connection.ask(request, left_s)
        except Unanswered:
            if waits and self._likeness.closes and not connection.lost:
                connection.close()  # and with it everything else that waits on it
            raise

    async def send_oneway(self, address: str, request: Request) -> None:
        """Raises NotConnected, Unanswered."""
        (await self._connected(address, CONNECT_LIMIT_S)).send_oneway(request)

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()

    async def _connected(self, address: str, limit_s: float) -> Connection:
        async with self._dialling[address]:
            known = self._open.get(address)
            if known is not None and not known.lost:
                return known
            host, _, port = self._ways.get(address, address).rpartition(":")
            try:
                place = Endpoint(host, self._names.get(host, host), int(port))
                connection = await Connection.connect(place, limit_s, self._hear)
            except (Unanswered, ValueError) as failure:
                raise NotConnected(f"connect to <{address}> failed: {failure}") from failure
            self._open[address] = connection
            return connection

    def _hear(self, connection: Connection, command: Command) -> None:
        if self.heard is not None:
            self.heard(connection, command)
