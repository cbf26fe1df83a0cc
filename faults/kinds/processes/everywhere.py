"""Looks at processes: of several places each is looked at, and all of them have to show it."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce

from faults.core.model import Armed, Proof
from faults.core.replies import both
from faults.core.witness import SeesProcesses
from faults.polling import gather


@dataclass(slots=True)
class EveryPlace:
    armed: Armed
    witness: SeesProcesses

    async def ready(self) -> None:
        """The load has shown that it runs and serves."""

    async def held(self) -> Proof:
        return reduce(both, await gather(*map(self.held_at, self.armed.places)))

    async def gone(self) -> Proof:
        return reduce(both, await gather(*map(self.gone_at, self.armed.places)))

    @abstractmethod
    async def held_at(self, place: str) -> Proof: ...

    @abstractmethod
    async def gone_at(self, place: str) -> Proof: ...
