"""The port that reports which broker leads a group, with fixed or elected roles.

The leader has the id MASTER_ID. If a group has no known leader, no broker has that id.
"""

from collections.abc import Sequence
from typing import Protocol

from harness.systems.rocketmq.core.layout import ServerProcess


class Leading(Protocol):
    async def now(self) -> tuple[ServerProcess, ...]:
        """The layout's brokers, with the ids that name servers are to show."""

    async def in_sync(
        self, master: ServerProcess, slaves: Sequence[ServerProcess]
    ) -> list[ServerProcess] | None:
        """The slaves that hold what the master holds, by the cluster's own word; None: it has no
        such word, and the ends of their logs tell."""

    async def controller(self) -> str:
        """As port.ReportsCluster.controller says."""

    async def doubts(self) -> tuple[str, ...]:
        """What stands against a clean cluster, beside what name servers and brokers show."""
