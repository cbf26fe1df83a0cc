"""The calls of executors and witnesses to the agent: the one process that dials brokers and
proxies.

1. The calls, their arguments and values are the agent's protocol; here is only the way to make
   one.
2. What is passed in has errors of its own, which this package cannot name: the caller names them,
   and they become FaultError here.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from faults.core.model import FaultError, Reply, Successor

Failures = tuple[type[Exception], ...]


class AgentCalls(Protocol):
    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        """The value of one call; `timeout_s` is one of its arguments where it takes one.

        Raises FaultError, or one of the failures that were named with it: the agent's own error,
        no answer (within a little more than `timeout_s`), or no agent.
        """


class Clients(Protocol):
    """The clients that a run has started. Raises FaultError where it has none of that name."""

    async def answers(self, client: str) -> Reply:
        """Return whether it answers a ping over its control channel."""

    async def exit_code(self, client: str) -> int | None:
        """Return how its process ended; None while it runs, or if that is unknown."""

    async def connected(self, clients: Sequence[str]) -> tuple[str, ...]:
        """Return those of them that the brokers list a connection of."""

    async def successor(self, client: str) -> Successor | None:
        """Return the client that took a dead one's place; None if there is none (yet)."""


class Agent:
    """An agent whose failures are FaultErrors."""

    def __init__(self, calls: AgentCalls, failures: Failures) -> None:
        self._calls = calls
        self._failures = failures

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        try:
            return await self._calls.call(name, timeout_s, **arguments)
        except self._failures as error:
            raise FaultError(str(error)) from error
