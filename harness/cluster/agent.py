"""The harness's side of its agent: calls with ids, many at a time, over one channel.

1. A call ends in its value or in an AgentError of the kind that the agent told.
2. The agent has its own deadline for each call; we wait somewhat longer, then give it up.
3. When the channel ends, every open call ends with the agent's exit code and its last words.
4. A line goes out every second, so that the agent outlives our silence but not us.
5. If the agent does not start, nothing of it is left: neither its process nor a task of ours.
"""

import asyncio
from contextlib import suppress
from typing import Any, Protocol

from harness.cluster.port import Channel, DeployError

_PING_INTERVAL_S = 1.0
_END_LIMIT_S = 5.0  # from the end of its output to its exit code
_GRACE_S = 5.0  # how much longer than the agent itself we wait for its answer


class AgentError(DeployError):
    """A call that failed; the class says how."""


class AgentTimeout(AgentError):
    """Nothing came back in time: whether it happened is unknown."""


class AgentRefused(AgentError):
    """The other side refused or closed the connection."""


class AgentHttpError(AgentError):
    """An HTTP exchange that broke off."""


class AgentProxyError(AgentError):
    """Toxiproxy said no."""


class AgentLost(AgentError):
    """The agent's process is gone."""


_KINDS: dict[str, type[AgentError]] = {
    "timeout": AgentTimeout,
    "refused": AgentRefused,
    "http": AgentHttpError,
    "proxy": AgentProxyError,
}


class AgentChannel(Channel, Protocol):
    """A channel to a process that explains on its standard error why it ends."""

    @property
    def errors(self) -> str:
        """Return the last lines of its standard error."""


class AgentClient:
    """Made by `start`, ended by `close`."""

    def __init__(self, channel: AgentChannel) -> None:
        self._channel = channel
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0
        self._hello: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._lost = ""
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    @classmethod
    async def start(cls, channel: AgentChannel, limit_s: float) -> "AgentClient":
        """Say hello and wait for the answer. Raise AgentError."""
        client = cls(channel)
        try:
            await client._greet(limit_s)
        except BaseException:
            await client.close()
            raise
        return client

    @property
    def hello(self) -> dict[str, Any]:
        """What the agent said of itself: clock, boot, versions."""
        return self._hello.result()

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        """The value of one call. Raises AgentError."""
        if self._lost:
            raise AgentLost(self._lost)
        self._number += 1
        number = self._number
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        line = {**arguments, "do": name, "id": number, "timeout_s": timeout_s}
        try:
            async with asyncio.timeout(timeout_s + _GRACE_S):
                await self._channel.send(line)
                message = await answer
        except TimeoutError:
            raise AgentTimeout(f"{name}: the agent did not answer in {timeout_s:g} s") from None
        except AgentError:
            raise
        except DeployError as error:
            raise AgentLost(str(error)) from error
        finally:
            del self._waiting[number]
        return _value(name, message)

    async def close(self) -> None:
        """Ends the agent; open calls end with AgentLost."""
        self._give_up("the agent was closed")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._channel.close()

    async def _greet(self, limit_s: float) -> None:
        # The listener starts first: if our line does not arrive, it still hears why.
        self._tasks = (asyncio.create_task(self._listen()), asyncio.create_task(self._ping()))
        with suppress(DeployError):
            await self._channel.send({"do": "hello"})
        try:
            await asyncio.wait_for(asyncio.shield(self._hello), limit_s)
        except TimeoutError:
            raise AgentTimeout(f"the agent said nothing within {limit_s:.0f} s") from None

    async def _listen(self) -> None:
        reason = "the agent's process ended"
        try:
            while (message := await self._channel.receive()) is not None:
                self._hear(message)
            reason += await self._end()
        except DeployError as error:
            reason = str(error)
        finally:
            self._give_up(reason)

    async def _end(self) -> str:
        """Return how the agent's process ended, as far as the channel knows."""
        code = None
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_LIMIT_S):
                code = await self._channel.exit_code()
        words = self._channel.errors
        return (f" with exit code {code}" if code is not None else "") + (
            f"; its last words:\n{words}" if words else ""
        )

    def _hear(self, message: dict[str, Any]) -> None:
        if message.get("say") == "hello":
            if not self._hello.done():
                self._hello.set_result(message)
            return
        waiting = self._waiting.get(message.get("id", 0))
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    async def _ping(self) -> None:
        with suppress(DeployError):  # the listener sees the end, too, and tells why
            while True:
                await asyncio.sleep(_PING_INTERVAL_S)
                await self._channel.send({"do": "ping"})

    def _give_up(self, reason: str) -> None:
        self._lost = self._lost or reason
        for answer in [self._hello, *self._waiting.values()]:
            if not answer.done():
                answer.set_exception(AgentLost(self._lost))
        if not self._hello.cancelled():
            self._hello.exception()  # retrieved: no call may wait for it any more


def _value(name: str, message: dict[str, Any]) -> dict[str, Any]:
    if message.get("say") == "error":
        kind = _KINDS.get(str(message.get("kind")), AgentError)
        raise kind(f"{name}: {message.get('text')}")
    return dict(message.get("value") or {})
