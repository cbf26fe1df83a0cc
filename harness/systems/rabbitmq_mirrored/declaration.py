"""RabbitMQ with mirrored classic queues."""

from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.declaration import rabbitmq_declaration
from harness.systems.rabbitmq_mirrored.foreign import MIRRORED_FOREIGN
from harness.systems.rabbitmq_mirrored.layouts import (
    REPLICATED,
    RabbitLayoutFile,
    mirrored_guarantees,
)

RABBITMQ_MIRRORED = rabbitmq_declaration(
    "rabbitmq-mirrored",
    layout_file=RabbitLayoutFile,
    guarantees=mirrored_guarantees,
    replicated=REPLICATED,
    containers=RABBITMQ_CONTAINERS,
    foreign=MIRRORED_FOREIGN,
)
