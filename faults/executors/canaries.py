"""What an agent asks of brokers for a witness: canaries on links, and whether a host serves.

1. A canary asks what its node answers alone; it is silent until it is asked.
2. Every question waits a little longer than the silence that the rules ask for.
3. What listing a broker means is passed in.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from faults.executors.ports import Agent, Failures
from faults.model import Armed, Reply
from faults.verify.replies import DIRECT, SILENCE_S

WAIT_S = SILENCE_S + 0.5
OPEN_LIMIT_S = 5.0
GREET_LIMIT_S = 3.0
CLOSE_LIMIT_S = 5.0

Dial = Callable[[str], tuple[str, int]]  # a proxy's name -> its listener, as the agent dials it
Listed = Callable[[str], Awaitable[bool]]  # whether the cluster lists a host's broker as running


class Canaries:
    """The canaries of armed link faults."""

    def __init__(self, agent: Agent, dial: Dial) -> None:
        self._agent = agent
        self._dial = dial

    async def open(self, armed: Armed, direct: tuple[str, int]) -> None:
        """One through each proxy of a link fault, and a direct one; nothing for other faults."""
        if not armed.proxies:
            return
        ways = {proxy: self._dial(proxy) for proxy in armed.proxies}
        ways[DIRECT] = direct
        opened = await asyncio.gather(
            *(self._open(_canary(armed, name), *way) for name, way in ways.items()),
            return_exceptions=True,
        )
        for failure in opened:
            if failure is not None:
                raise failure

    async def ask(self, armed: Armed) -> dict[str, Reply]:
        names = _names(armed)
        replies = await asyncio.gather(*(self._ask(_canary(armed, name)) for name in names))
        return dict(zip(names, replies, strict=True))

    async def close(self, armed: Armed) -> None:
        for name in _names(armed):
            await self._agent.call("canary_close", CLOSE_LIMIT_S, canary=_canary(armed, name))

    async def _open(self, canary: str, host: str, port: int) -> None:
        await self._agent.call(
            "canary_open", OPEN_LIMIT_S, canary=canary, host=host, port=port, queue=""
        )

    async def _ask(self, canary: str) -> Reply:
        return reply_of(await self._agent.call("canary_ask", WAIT_S, canary=canary))


async def greets(agent: Agent, way: tuple[str, int]) -> Reply:
    """Whether the broker to be dialled by `way` answers the header of its protocol."""
    address, port = way
    return reply_of(await agent.call("greet", GREET_LIMIT_S, host=address, port=port))


async def serves(
    agent: Agent, host: str, way: tuple[str, int], listed: Listed, failures: Failures
) -> Reply:
    """Whether the host's broker, to be dialled by `way`, answers and is listed as running."""
    reply = await greets(agent, way)
    if not reply.answered:
        return reply
    try:
        found = await listed(host)
    except failures as error:
        return Reply(False, reply.seconds, f"it answers, but nobody lists it: {error}")
    if not found:
        return Reply(False, reply.seconds, "it answers, but the cluster does not list it")
    return reply


def reply_of(said: dict[str, Any]) -> Reply:
    return Reply(bool(said["answered"]), float(said["seconds"]), str(said["detail"]))


def _names(armed: Armed) -> tuple[str, ...]:
    return (*armed.proxies, DIRECT) if armed.proxies else ()


def _canary(armed: Armed, name: str) -> str:
    return f"{armed.mark}.{name}"
