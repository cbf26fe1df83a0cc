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
from harness.systems.rabbitmq.foreign.own import RabbitOwn
from harness.systems.rabbitmq.member_layouts import CATCHES_UP


class _QuorumTable(QueuesTable):
    members: Annotated[int, Field(ge=1, le=BROKERS_MAX)] = Field(
        title=f"1 to {BROKERS_MAX}", description="replicas of a queue: mqproof declares so many"
    )


class QuorumTopologyFile(RabbitTopologyFile):
    """One topology file."""

    queues: _QuorumTable = Field(description="how mqproof declares its queues")

    def topology(self, name: str, source: str) -> Topology:
        return self.of_queues(name, source, self._own())

    def _own(self) -> RabbitOwn:
        return RabbitOwn(
            management=self.management,
            sets=False,
            copies=self.queues.members,
            synchronise=CATCHES_UP,
            partition_handling=self.partition_handling or "",
            pause=self.pause,
            arguments=tuple(self.queues.arguments.items()),
            without_api=self.without_api,
        )


def mistakes(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    yield from file.mistakes(document)
    yield from more_hosts_than("members", document)


QUORUM_TOPOLOGY = TopologyShape(file=QuorumTopologyFile, mistakes=mistakes)
