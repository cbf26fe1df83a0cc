"""What is asked of brokers while a cluster stands, besides what a run asks."""

from typing import Protocol

from harness.cluster.port import Broker, Health


class Standing(Broker, Protocol):
    async def greets(self, host: str) -> bool: ...

    async def listed(self, host: str) -> bool: ...

    async def health(self, limit_s: float) -> Health: ...

    async def set_policies(self) -> None: ...

    async def versions(self) -> dict[str, str]: ...
