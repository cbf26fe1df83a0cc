"""RabbitMQ with streams, on the same kind of nodes as rabbitmq-mirrored.

1. Over AMQP 0-9-1 a node serves consumers from its own replica alone, and refuses them without
   one. Clients here go from node to node, so every host has a replica.
"""

from collections.abc import Iterator
from dataclasses import replace

from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.servers import Servers
from harness.plan.model import Layout
from harness.systems.files import text_in
from harness.systems.foreign import Access, Foreign
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.declaration import rabbitmq_declaration
from harness.systems.rabbitmq.foreign import file
from harness.systems.rabbitmq.foreign.brokers import ForeignRabbits
from harness.systems.rabbitmq.foreign.door import AMQP_DOOR
from harness.systems.rabbitmq.foreign.own import api_ways
from harness.systems.rabbitmq.held import by_nobody
from harness.systems.rabbitmq.member_layouts import MembersLayoutFile
from harness.systems.rabbitmq.parts import parts_of
from harness.systems.rabbitmq.servers import rabbitmq_servers
from harness.systems.rabbitmq_stream.queues import stream_guarantees, stream_queues
from harness.systems.rabbitmq_stream.topology_file import STREAM_TOPOLOGY


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
            example=text_in("harness.systems.rabbitmq_stream", "topology_example.toml"),
            driven_by=(),
        ),
    ),
    servers=_servers,
)
