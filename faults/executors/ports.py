"""What executors and witnesses ask of the agent: the one process that dials brokers and proxies.

1. The calls, their arguments and values are the agent's protocol; here only the way to make one.
2. What is passed in has errors of its own, which this package cannot name: whoever passes it in
   names them, and they become FaultError here.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from faults.model import FaultError, Reply, Successor

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
        """Whether it answers a ping over its control channel."""

    async def exit_code(self, client: str) -> int | None:
        """How its process ended; None while it runs, or where nobody can tell."""

    async def connected(self, clients: Sequence[str]) -> tuple[str, ...]:
        """Those of them that the brokers list a connection of."""

    async def successor(self, client: str) -> Successor | None:
        """Who took a dead client's place; None where nobody has (yet)."""


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
