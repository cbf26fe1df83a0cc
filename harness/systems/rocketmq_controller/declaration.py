"""RocketMQ 5 whose masters are elected by controllers, of two brokers a group."""

from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_controller.layout import (
    REPLICATED,
    ControllerLayoutFile,
    configuration,
    controller_guarantees,
    controller_servers,
)
from harness.systems.rocketmq_controller.parts import controller_parts

ROCKETMQ_CONTROLLER = rocketmq_declaration(
    "rocketmq-controller",
    layout_file=ControllerLayoutFile,
    guarantees=controller_guarantees,
    replicated=REPLICATED,
    servers=controller_servers,
    containers=rocketmq_containers(services(configuration), controller_parts),
)
