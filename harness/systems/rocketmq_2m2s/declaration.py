"""RocketMQ's groups of a master and its slaves; no slave is ever elected."""

from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_2m2s.foreign import ROCKETMQ_FOREIGN
from harness.systems.rocketmq_2m2s.layout import (
    RocketLayoutFile,
    configuration,
    master_slave_guarantees,
    master_slave_servers,
    mistakes,
)

ROCKETMQ_2M2S = rocketmq_declaration(
    "rocketmq-2m2s",
    layout_file=RocketLayoutFile,
    mistakes=mistakes,
    guarantees=master_slave_guarantees,
    servers=master_slave_servers,
    containers=rocketmq_containers(
        services(configuration), "harness.systems.rocketmq_2m2s.parts:master_slave_parts"
    ),
    foreign=ROCKETMQ_FOREIGN,
)
