"""RabbitMQ with mirrored classic queues."""

from harness.systems.files import shipped
from harness.systems.port import Declaration
from harness.systems.rabbitmq.broker import VERSION
from harness.systems.rabbitmq.containers import RABBITMQ_CONTAINERS
from harness.systems.rabbitmq.drain import RABBITMQ_DRAIN
from harness.systems.rabbitmq.servers import rabbitmq_servers
from harness.systems.rabbitmq_mirrored.foreign import MIRRORED_FOREIGN
from harness.systems.rabbitmq_mirrored.guarantees import mirrored_guarantees
from harness.systems.rabbitmq_mirrored.layouts import RabbitLayoutFile, mistakes
from spark_analysis.schema.words import LEVELS

RABBITMQ_MIRRORED = Declaration(
    name="rabbitmq-mirrored",
    folder=shipped("rabbitmq-mirrored"),
    layout_file=RabbitLayoutFile,
    mistakes=mistakes,
    guarantees=mirrored_guarantees,
    servers=rabbitmq_servers,
    drain=RABBITMQ_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=None,
    misbehaves=(),
    containers=RABBITMQ_CONTAINERS,
    foreground=None,
    demo=None,
    foreign=MIRRORED_FOREIGN,
)
