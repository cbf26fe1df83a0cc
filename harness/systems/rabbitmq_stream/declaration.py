"""RabbitMQ with streams, on the same kind of nodes as rabbitmq-mirrored."""

from dataclasses import replace

from harness.plan.model import Layout
from harness.plan.servers import Servers
from harness.systems.files import shipped
from harness.systems.port import Declaration
from harness.systems.rabbitmq.broker import VERSION
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.drain import RABBITMQ_DRAIN
from harness.systems.rabbitmq.member_layouts import MembersLayoutFile
from harness.systems.rabbitmq.servers import rabbitmq_servers
from harness.systems.rabbitmq_stream.guarantees import stream_guarantees
from harness.systems.rabbitmq_stream.layouts import mistakes
from spark_analysis.schema.words import LEVELS


def _servers(layout: Layout) -> Servers:
    """Every node keeps a log of its own, which the audit reads."""
    return replace(rabbitmq_servers(layout), keep_logs=True)


RABBITMQ_STREAM = Declaration(
    name="rabbitmq-stream",
    folder=shipped("rabbitmq-stream"),
    layout_file=MembersLayoutFile,
    mistakes=mistakes,
    guarantees=stream_guarantees,
    servers=_servers,
    drain=RABBITMQ_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=None,
    misbehaves=(),
    containers=replace(
        RABBITMQ_CONTAINERS, parts="harness.systems.rabbitmq_stream.parts:stream_parts"
    ),
    foreground=None,
    demo=None,
    foreign=None,
)
