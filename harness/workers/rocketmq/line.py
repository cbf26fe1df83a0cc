"""The way to one server that is asked again and again, whatever becomes of its connections.

1. There is one connection at a time. One that is lost is replaced by the next question.
2. So is one on which nothing was heard for SILENCE_S: after a cut the kernel may repeat its
   packets only minutes apart, and the server would be thought silent for so long.
3. Connecting is part of the question's own time.
"""

import asyncio
import time

from harness.workers.protocol import Endpoint
from harness.workers.remoting.commands import Command
from harness.workers.remoting.requests import Request
from harness.workers.rocketmq.connection import Connection

SILENCE_S = 3.0


class Line:
    """`connects` counts connections that were tried."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.connects = 0
        self._connecting: asyncio.Task[Connection] | None = None
        self._last_answer_s = 0.0

    async def ask(self, request: Request, limit_s: float) -> Command:
        """Raises Unanswered when `limit_s` has passed, or before."""
        began_s = time.monotonic()
        connection = await self._connected(limit_s)
        answer = await connection.ask(request, began_s + limit_s - time.monotonic())
        self._last_answer_s = time.monotonic()
        return answer

    def close(self) -> None:
        if self._connecting is not None:
            self._drop(self._connecting, "closed by us")
            self._connecting = None

    async def _connected(self, limit_s: float) -> Connection:
        connecting = self._connecting
        if connecting is None or self._useless(connecting):
            if connecting is not None:
                self._drop(connecting, f"nothing heard for {SILENCE_S:g} s: taken for dead")
            self.connects += 1
            self._last_answer_s = time.monotonic()
            connect = Connection.connect(self.endpoint, limit_s)
            connecting = self._connecting = asyncio.create_task(connect)
        # Several questions wait for one connection: none takes it from the others by giving up.
        return await asyncio.shield(connecting)

    def _useless(self, connecting: "asyncio.Task[Connection]") -> bool:
        if not connecting.done():
            return False
        failed = connecting.cancelled() or connecting.exception() is not None
        silent = time.monotonic() - self._last_answer_s > SILENCE_S
        return failed or silent or bool(connecting.result().lost)

    def _drop(self, connecting: "asyncio.Task[Connection]", reason: str) -> None:
        if not connecting.done():
            connecting.cancel()
        elif not connecting.cancelled() and connecting.exception() is None:
            connecting.result().end(reason)
