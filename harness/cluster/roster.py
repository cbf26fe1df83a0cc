"""The clients that were started on a cluster, for whoever looks at them from outside."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from faults.model import FaultError, Reply, Successor

OURS = "mqproof."  # how the names of all connections of runs begin; they end in the client's name


class StartedClient(Protocol):
    """One client, as the run that started it knows it."""

    @property
    def at_work(self) -> bool:
        """Whether it is connected and does what it was started for, by its own word."""

    @property
    def attached(self) -> str:
        """The host whose name server it asked last; "" where it has not told."""

    async def answers(self) -> Reply:
        """Whether it answers a ping over its control channel."""

    async def how_ended(self) -> int | None:
        """128 and the signal's number where one ended it; None while it runs, or unknown."""


class Roster:
    """By name; a later client of the same name (of the next run) takes the place.

    `connections` is port.TellsConnections'; `failures`: what it raises.
    """

    def __init__(
        self,
        connections: Callable[[str, bool], Awaitable[Sequence[str]]],
        failures: tuple[type[Exception], ...],
    ) -> None:
        self._connections = connections
        self._failures = failures
        self._started: dict[str, StartedClient] = {}
        self._successors: dict[str, str] = {}

    def enter(self, name: str, started: StartedClient) -> None:
        self._started[name] = started
        self._successors.pop(name, None)

    def succeed(self, client: str, successor: str) -> None:
        """Who took a dead client's place; "" where the load is over, and nobody is needed."""
        self._successors[client] = successor

    def attached(self, client: str) -> str:
        """The host whose name server it asks, by its own word; "" where it told none, or is not
        there."""
        return self._started[client].attached if client in self._started else ""

    async def answers(self, client: str) -> Reply:
        return await self._find(client).answers()

    async def exit_code(self, client: str) -> int | None:
        return await self._find(client).how_ended()

    async def connected(self, clients: Sequence[str]) -> tuple[str, ...]:
        """Those of them that the broker lists a connection of. Raises FaultError."""
        try:
            names = await self._connections(OURS, False)
        except self._failures as error:
            raise FaultError(str(error)) from error
        return tuple(one for one in clients if any(name.endswith(f".{one}") for name in names))

    async def successor(self, client: str) -> Successor | None:
        """None where nobody took its place (yet)."""
        name = self._successors.get(client)
        if name is None:
            return None
        if not name:
            return Successor("", connected=False, at_work=False)
        connected = bool(await self.connected((name,)))
        return Successor(name, connected, self._find(name).at_work)

    def _find(self, client: str) -> StartedClient:
        """Raises FaultError."""
        if client not in self._started:
            raise FaultError(f"no client {client} was started here")
        return self._started[client]
