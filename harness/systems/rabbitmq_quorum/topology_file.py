"""The shape of a topology file of quorum queues.

1. The shape checks every key by itself; `mistakes` checks several keys together.
2. mqproof declares the number of members itself, so it is required. No policy is set.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from harness.plan.toml_problems import TomlProblem
from harness.plan.topology import Topology
from harness.plan.topology_shape import BROKERS_MAX, TopologyShape
from harness.systems.rabbitmq.foreign import file
from harness.systems.rabbitmq.foreign.file import (
    QueuesTable,
    RabbitTopologyFile,
    more_hosts_than,
)


class _QuorumTable(QueuesTable):
    members: Annotated[int, Field(ge=1, le=BROKERS_MAX)] = Field(
        title=f"1 to {BROKERS_MAX}", description="replicas of a queue: mqproof declares so many"
    )


class QuorumTopologyFile(RabbitTopologyFile):
    """One topology file."""

    queues: _QuorumTable = Field(description="how mqproof declares its queues")

    def topology(self, name: str, source: str) -> Topology:
        return self.of_members(name, source, self.queues, self.queues.members)


def mistakes(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    yield from file.mistakes(document)
    yield from more_hosts_than("members", document)


QUORUM_TOPOLOGY = TopologyShape(file=QuorumTopologyFile, mistakes=mistakes)
