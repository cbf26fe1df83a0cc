"""RabbitMQ 3.10.8 with mirrored classic queues."""

from harness.systems.files import shipped
from harness.systems.port import Declaration
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.drain import MIRRORED_DRAIN
from harness.systems.rabbitmq.servers import mirrored_servers
from harness.systems.rabbitmq_mirrored.layouts import MirroredLayoutFile, mistakes
from harness.systems.rabbitmq_mirrored.promises import mirrored_promises

RABBITMQ_MIRRORED = Declaration(
    name="rabbitmq-mirrored",
    folder=shipped("rabbitmq-mirrored"),
    layout_file=MirroredLayoutFile,
    mistakes=mistakes,
    promises=mirrored_promises,
    servers=mirrored_servers,
    drain=MIRRORED_DRAIN,
    processes=None,
    misbehaves=(),
    containers=RABBITMQ_CONTAINERS,
)
