"""The reference of RabbitMQ's mirrored queues: what it promises is what they do."""

from harness.plan.misbehave import DRAWN
from harness.systems.files import shipped
from harness.systems.port import Declaration, Demo, Foreground
from harness.systems.rabbitmq.broker import VERSION
from harness.systems.rabbitmq.drain import RABBITMQ_DRAIN
from harness.systems.rabbitmq.servers import rabbitmq_servers
from harness.systems.rabbitmq_mirrored.foreign import MIRRORED_FOREIGN
from harness.systems.rabbitmq_mirrored.guarantees import mirrored_guarantees
from harness.systems.rabbitmq_mirrored.layouts import MirroredLayoutFile, mistakes
from harness.systems.reference_mirrored.containers import REFERENCE_CONTAINERS
from harness.systems.reference_mirrored.foreground import nodes_to_play_with
from harness.systems.reference_mirrored.processes import ReferenceNodes
from spark_analysis.schema.words import LEVELS

REFERENCE_MIRRORED = Declaration(
    name="reference-mirrored",
    folder=shipped("reference-mirrored"),
    layout_file=MirroredLayoutFile,
    mistakes=mistakes,
    guarantees=mirrored_guarantees,
    servers=rabbitmq_servers,
    drain=RABBITMQ_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=ReferenceNodes(),
    misbehaves=(*DRAWN, "stale-guard"),
    containers=REFERENCE_CONTAINERS,
    foreground=Foreground("mirrored", nodes_to_play_with),
    demo=Demo(
        deployment="local",
        keeps="all-automatic@T=10",
        breaks="exactly-2-manual@T=10",
        real="rabbitmq-mirrored",
    ),
    foreign=MIRRORED_FOREIGN,
)
