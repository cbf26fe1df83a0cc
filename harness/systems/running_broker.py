"""Queries of brokers while a cluster runs, other than those of a run."""

from typing import Protocol

from harness.cluster.port import Broker, Health


class ReportsReadiness(Protocol):
    """Whether brokers serve, one by one and all together."""

    async def greets(self, host: str) -> bool:
        """Whether all brokers' processes of a host answer on a new connection."""

    async def listed(self, host: str) -> bool:
        """Whether the others that answer list a host's broker as running. Raises DeployError."""

    async def health(self, limit_s: float) -> Health:
        """As HasBrokers.health (harness/cluster/port.py) says."""


class TakesPolicies(Protocol):
    async def set_policies(self) -> None:
        """The layout's; nothing, where it knows none. Raises DeployError."""


class ReportsVersions(Protocol):
    async def versions(self) -> dict[str, str]:
        """Of what the brokers are, by name. Raises DeployError."""


class RunningBroker(Broker, ReportsReadiness, TakesPolicies, ReportsVersions, Protocol):
    """All that is asked of them."""
