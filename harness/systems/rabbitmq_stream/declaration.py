"""RabbitMQ with streams, on the same kind of nodes as rabbitmq-mirrored."""

from dataclasses import replace

from harness.plan.model import Layout
from harness.plan.servers import Servers
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.declaration import rabbitmq_declaration
from harness.systems.rabbitmq.member_layouts import MembersLayoutFile
from harness.systems.rabbitmq.servers import rabbitmq_servers
from harness.systems.rabbitmq_stream.foreign import STREAM_FOREIGN
from harness.systems.rabbitmq_stream.guarantees import stream_guarantees
from harness.systems.rabbitmq_stream.layouts import mistakes


def _servers(layout: Layout) -> Servers:
    """Every node keeps a log of its own, which the audit reads."""
    return replace(rabbitmq_servers(layout), keep_logs=True)


RABBITMQ_STREAM = replace(
    rabbitmq_declaration(
        "rabbitmq-stream",
        layout_file=MembersLayoutFile,
        mistakes=mistakes,
        guarantees=stream_guarantees,
        containers=replace(
            RABBITMQ_CONTAINERS, parts="harness.systems.rabbitmq_stream.parts:stream_parts"
        ),
        foreign=STREAM_FOREIGN,
    ),
    servers=_servers,
)
