"""RabbitMQ with quorum queues, on the same kind of nodes as rabbitmq-mirrored."""

from dataclasses import replace

from harness.systems.files import shipped
from harness.systems.port import Declaration
from harness.systems.rabbitmq.broker import VERSION
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.drain import RABBITMQ_DRAIN
from harness.systems.rabbitmq.member_layouts import MembersLayoutFile, mistakes
from harness.systems.rabbitmq.servers import rabbitmq_servers
from harness.systems.rabbitmq_quorum.foreign import QUORUM_FOREIGN
from harness.systems.rabbitmq_quorum.guarantees import quorum_guarantees
from spark_analysis.schema.words import LEVELS

RABBITMQ_QUORUM = Declaration(
    name="rabbitmq-quorum",
    folder=shipped("rabbitmq-quorum"),
    layout_file=MembersLayoutFile,
    mistakes=mistakes,
    guarantees=quorum_guarantees,
    servers=rabbitmq_servers,
    drain=RABBITMQ_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=None,
    misbehaves=(),
    containers=replace(
        RABBITMQ_CONTAINERS, parts="harness.systems.rabbitmq_quorum.parts:quorum_parts"
    ),
    foreground=None,
    demo=None,
    foreign=QUORUM_FOREIGN,
)
