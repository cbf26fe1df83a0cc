"""The reference of RabbitMQ's mirrored queues: what it promises is what they do."""

from harness.plan.misbehave import KINDS
from harness.systems.files import shipped
from harness.systems.port import Declaration
from harness.systems.rabbitmq.drain import MIRRORED_DRAIN
from harness.systems.rabbitmq.servers import mirrored_servers
from harness.systems.rabbitmq_mirrored.layouts import MirroredLayoutFile, mistakes
from harness.systems.rabbitmq_mirrored.promises import mirrored_promises
from harness.systems.reference_mirrored.containers import REFERENCE_CONTAINERS
from harness.systems.reference_mirrored.processes import ReferenceNodes

REFERENCE_MIRRORED = Declaration(
    name="reference-mirrored",
    folder=shipped("reference-mirrored"),
    layout_file=MirroredLayoutFile,
    mistakes=mistakes,
    promises=mirrored_promises,
    servers=mirrored_servers,
    drain=MIRRORED_DRAIN,
    processes=ReferenceNodes(),
    misbehaves=KINDS,
    containers=REFERENCE_CONTAINERS,
)
