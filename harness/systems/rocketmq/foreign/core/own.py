"""PURE: what a topology file says of RocketMQ's servers."""

from dataclasses import dataclass

from harness.plan.layouts.topology import Topology
from harness.systems.rocketmq.core.layout import MAJORITY, RocketMq, ServerProcess


@dataclass(frozen=True, slots=True)
class RocketOwn:
    """topology.Own. `servers`: brokers and name servers, each at its address."""

    servers: tuple[ServerProcess, ...]
    declared: RocketMq

    @property
    def elects(self) -> bool:
        """Return whether brokers elect who leads: ids in the file do not say it."""
        return self.declared.replication == MAJORITY

    @property
    def sets(self) -> bool:
        return False

    @property
    def summary(self) -> str:
        return "topics and groups of runs are made, and removed"

    @property
    def without_api(self) -> tuple[str, ...]:
        """Every broker answers for itself."""
        return ()


def own(topology: Topology) -> RocketOwn:
    found = topology.own
    assert isinstance(found, RocketOwn), f"{topology.system} is read by its own shape"
    return found
