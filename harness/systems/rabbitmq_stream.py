"""RabbitMQ with streams, on the same kind of nodes as rabbitmq-mirrored.

1. Over AMQP 0-9-1 a node serves consumers from its own replica alone, and refuses them without
   one. Clients here go from node to node, so every host has a replica. A topology file has no key
   for their number.
2. The audit reads each node's own replica, so each node of a topology file has an address of its
   own.
3. The shape of that file checks every key by itself; `problems` checks several keys together.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, NoReturn

from pydantic import BeforeValidator, Field

from harness.plan.files.toml_problems import TomlProblem
from harness.plan.files.topology_shape import TopologyShape
from harness.plan.layouts.servers import Servers
from harness.plan.layouts.topology import Topology
from harness.plan.model import Layout
from harness.systems.files import text_in
from harness.systems.foreign import Access, Foreign
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.core.member_layouts import MembersLayoutFile
from harness.systems.rabbitmq.core.servers import rabbitmq_servers
from harness.systems.rabbitmq.core.streams import stream_guarantees, stream_queues
from harness.systems.rabbitmq.declaration import rabbitmq_declaration
from harness.systems.rabbitmq.foreign import file
from harness.systems.rabbitmq.foreign.brokers import ForeignRabbits
from harness.systems.rabbitmq.foreign.core.own import api_ways
from harness.systems.rabbitmq.foreign.door import AMQP_DOOR
from harness.systems.rabbitmq.foreign.file import QueuesTable, RabbitTopologyFile
from harness.systems.rabbitmq.held import by_nobody
from harness.systems.rabbitmq.parts import parts_of


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


class StreamLayoutFile(MembersLayoutFile):
    """One layout file."""

    def problems(self, processes: tuple[str, ...]) -> Iterator[TomlProblem]:
        yield from super().problems(processes)
        hosts = len(self.cluster)
        if self.members is not None and self.whole and self.members < hosts:
            text = (
                f"{self.members} members on {hosts} hosts: a node without a replica of a stream "
                f"refuses its consumers over AMQP 0-9-1; write members = {hosts}"
            )
            yield TomlProblem(("members",), text)


def _servers(layout: Layout) -> Servers:
    """Every node keeps a log of its own, which the audit reads."""
    return replace(rabbitmq_servers(layout), keep_logs=True)


def _brokers(access: Access) -> ForeignRabbits:
    found = file.layout(access.topology)
    return ForeignRabbits(access, found, stream_queues(found))


RABBITMQ_STREAM = replace(
    rabbitmq_declaration(
        "rabbitmq-stream",
        layout_file=StreamLayoutFile,
        guarantees=stream_guarantees,
        replicated="a majority of the stream's replicas had written the message to a file, "
        "without flushing it to disk",
        containers=replace(
            RABBITMQ_CONTAINERS,
            # No command shows how much of a stream one replica holds; the audit reads each.
            parts=lambda stand: parts_of(stand, stream_queues(stand.layout), by_nobody),
        ),
        foreign=Foreign(
            shape=STREAM_TOPOLOGY,
            layout=file.layout,
            clients=AMQP_DOOR,
            brokers=_brokers,
            other_ways=api_ways,
            from_compose=None,  # its services get quorum queues
            example=text_in("harness.systems", "examples/rabbitmq_stream.toml"),
            driven_by=(),
        ),
    ),
    servers=_servers,
)
