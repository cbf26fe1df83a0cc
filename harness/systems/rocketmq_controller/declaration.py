"""RocketMQ 5 whose masters are elected by controllers, of two brokers a group."""

from harness.systems.files import shipped
from harness.systems.port import Declaration
from harness.systems.rocketmq.broker import VERSION
from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.drain import TOPIC_DRAIN
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_controller.guarantees import controller_guarantees
from harness.systems.rocketmq_controller.layouts import ControllerLayoutFile, mistakes
from harness.systems.rocketmq_controller.servers import controller_servers
from harness.systems.rocketmq_controller.settings import configuration
from spark_analysis.schema.words import LEVELS

ROCKETMQ_CONTROLLER = Declaration(
    name="rocketmq-controller",
    folder=shipped("rocketmq-controller"),
    layout_file=ControllerLayoutFile,
    mistakes=mistakes,
    guarantees=controller_guarantees,
    servers=controller_servers,
    drain=TOPIC_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=None,
    misbehaves=(),
    containers=rocketmq_containers(
        services(configuration), "harness.systems.rocketmq_controller.parts:controller_parts"
    ),
    foreground=None,
    demo=None,
    foreign=None,
)
