"""The clients that were hired on a cluster, for whoever looks at them from outside."""

from typing import Protocol

from faults.model import FaultError, Reply


class Hired(Protocol):
    """One client, as the run that hired it knows it."""

    async def answers(self) -> Reply:
        """Whether it answers a ping over its control channel."""

    async def how_ended(self) -> int | None:
        """128 and the signal's number where one ended it; None while it runs, or unknown."""


class Roster:
    """By name; a later client of the same name (of the next run) takes the place."""

    def __init__(self) -> None:
        self._hired: dict[str, Hired] = {}

    def enter(self, name: str, hired: Hired) -> None:
        self._hired[name] = hired

    async def answers(self, client: str) -> Reply:
        return await self._find(client).answers()

    async def exit_code(self, client: str) -> int | None:
        return await self._find(client).how_ended()

    def _find(self, client: str) -> Hired:
        """Raises FaultError."""
        if client not in self._hired:
            raise FaultError(f"no client {client} was hired here")
        return self._hired[client]
