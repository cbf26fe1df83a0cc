"""RabbitMQ with quorum queues, on the same kind of nodes as rabbitmq-mirrored."""

from dataclasses import replace

from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.declaration import rabbitmq_declaration
from harness.systems.rabbitmq.member_layouts import MembersLayoutFile, mistakes
from harness.systems.rabbitmq_quorum.foreign import QUORUM_FOREIGN
from harness.systems.rabbitmq_quorum.guarantees import quorum_guarantees

RABBITMQ_QUORUM = rabbitmq_declaration(
    "rabbitmq-quorum",
    layout_file=MembersLayoutFile,
    mistakes=mistakes,
    guarantees=quorum_guarantees,
    containers=replace(
        RABBITMQ_CONTAINERS, parts="harness.systems.rabbitmq_quorum.parts:quorum_parts"
    ),
    foreign=QUORUM_FOREIGN,
)
