"""RabbitMQ with quorum queues, on the same kind of nodes as rabbitmq-mirrored.

1. A confirm waits for a majority of the members, and for the disk of each of these. The other
   members may lack a confirmed message.
2. Transient messages are written as others are: only durable queues can be declared.
3. In a topology file mqproof declares the number of members itself, so it is required. No policy
   is set. The shape checks every key by itself; `problems` checks several keys together.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import BROKERS_MAX, TopologyShape
from harness.plan.layouts.guarantees import BROKERS, Guarantees
from harness.plan.layouts.topology import Topology
from harness.plan.model import Layout
from harness.systems.files import text_in
from harness.systems.foreign import Foreign
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.core.member_layouts import MembersLayoutFile, member_guarantees
from harness.systems.rabbitmq.core.members import queues_of
from harness.systems.rabbitmq.declaration import rabbitmq_declaration
from harness.systems.rabbitmq.foreign import file
from harness.systems.rabbitmq.foreign.brokers import ForeignRabbits
from harness.systems.rabbitmq.foreign.core.own import api_ways
from harness.systems.rabbitmq.foreign.door import AMQP_DOOR
from harness.systems.rabbitmq.foreign.file import (
    QueuesTable,
    RabbitTopologyFile,
)
from harness.systems.rabbitmq.foreign.from_compose import topology_text
from harness.systems.rabbitmq.held import by_nobody
from harness.systems.rabbitmq.parts import parts_of
from spark_analysis.schema.words import Strength

# members.py reads what the management API says of such a queue.
QUORUM_QUEUES = queues_of("quorum", {}, size="x-quorum-initial-group-size")


def quorum_guarantees(layout: Layout) -> Guarantees:
    return member_guarantees(
        layout,
        Strength.STORED,
        placed="no policy says where members of a quorum queue are",
        elected="members vote, and only one that has all that was confirmed is elected",
        on_disk=True,
        kept_by=BROKERS,
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

    def problems(self) -> Iterator[TomlProblem]:
        yield from super().problems()
        yield from self.replica_problems("members", self.queues.members)


RABBITMQ_QUORUM = rabbitmq_declaration(
    "rabbitmq-quorum",
    layout_file=MembersLayoutFile,
    guarantees=quorum_guarantees,
    replicated="a majority of the queue's members had the message on disk",
    containers=replace(
        RABBITMQ_CONTAINERS,
        # No command shows how much of a queue one member holds.
        parts=lambda stand: parts_of(stand, QUORUM_QUEUES, by_nobody),
    ),
    foreign=Foreign(
        shape=TopologyShape(file=QuorumTopologyFile),
        layout=file.layout,
        clients=AMQP_DOOR,
        brokers=lambda access: ForeignRabbits(access, file.layout(access.topology), QUORUM_QUEUES),
        other_ways=api_ways,
        from_compose=topology_text,
        example=text_in("harness.systems", "examples/rabbitmq_quorum.toml"),
        driven_by=(),
    ),
)
