"""The shape of a topology file of streams.

1. The shape checks every key by itself; `problems` checks several keys together.
2. Every node has a replica of a stream: over AMQP 0-9-1 a node without one refuses its consumers.
   So there is no key for their number.
3. The audit reads each node's own replica, so each node has an address of its own.
"""

from typing import Annotated, NoReturn

from pydantic import BeforeValidator, Field

from harness.plan.files.topology_shape import TopologyShape
from harness.plan.layouts.topology import Topology
from harness.systems.rabbitmq.foreign.file import QueuesTable, RabbitTopologyFile


def _no_balancer(_value: object) -> NoReturn:
    raise ValueError(
        "is not possible with streams: the audit reads the replica of each node at the node's "
        "own address; take the table out, and give every broker `amqp` or `amqps`"
    )


class StreamTopologyFile(RabbitTopologyFile):
    """One topology file."""

    balancer: Annotated[None, BeforeValidator(_no_balancer)] = Field(
        default=None,
        title="must be left out",
        description="not possible with streams: the audit reads the replica of each node at the "
        "node's own address",
    )
    queues: QueuesTable = Field(
        default=QueuesTable(), description="how mqproof declares its streams"
    )

    def topology(self, name: str, source: str) -> Topology:
        return self.of_members(name, source, self.queues, len(self.broker))


STREAM_TOPOLOGY = TopologyShape(file=StreamTopologyFile)
