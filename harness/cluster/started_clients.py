"""The clients that were started on a cluster, for observers outside the run."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from faults.core.model import FaultError, Reply, Successor

OURS = "mqproof."  # how the names of all connections of runs begin; they end in the client's name


class StartedClient(Protocol):
    """A client, as the run that started it knows it."""

    @property
    def at_work(self) -> bool:
        """Return whether it reports to be connected and at work."""

    @property
    def attached(self) -> str:
        """Return the host whose name server it used last; "" if it has not reported one."""

    async def answers(self) -> Reply:
        """Ping it over its control channel; return the answer."""

    async def how_ended(self) -> int | None:
        """Return 128 and the signal's number if one ended it; None while it runs, or unknown."""


class StartedClients:
    """The started clients by name; a later one of the same name (of the next run) replaces it.

    `connections` is that of port.ReportsConnections; `failures`: what it raises.
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

    def add(self, name: str, started: StartedClient) -> None:
        self._started[name] = started
        self._successors.pop(name, None)

    def set_successor(self, client: str, successor: str) -> None:
        """Note the client in a dead one's place; "" if the load is over and none is needed."""
        self._successors[client] = successor

    def attached(self, client: str) -> str:
        """Return the host whose name server it reports to use; "" if none, or unknown client."""
        return self._started[client].attached if client in self._started else ""

    async def answers(self, client: str) -> Reply:
        return await self._find(client).answers()

    async def exit_code(self, client: str) -> int | None:
        return await self._find(client).how_ended()

    async def connected(self, clients: Sequence[str]) -> tuple[str, ...]:
        """Return those with a connection in the broker's list. Raise FaultError."""
        try:
            names = await self._connections(OURS, False)
        except self._failures as error:
            raise FaultError(str(error)) from error
        return tuple(one for one in clients if any(name.endswith(f".{one}") for name in names))

    async def successor(self, client: str) -> Successor | None:
        """Return the client in its place; None if there is none (yet)."""
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
