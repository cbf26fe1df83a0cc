"""RocketMQ's groups of a master and its slaves, of which none is ever elected."""

from harness.systems.files import shipped
from harness.systems.port import Declaration
from harness.systems.rocketmq.containers import ROCKETMQ_CONTAINERS
from harness.systems.rocketmq.drain import TOPIC_DRAIN
from harness.systems.rocketmq.servers import master_slave_servers
from harness.systems.rocketmq_2m2s.layouts import RocketLayoutFile, mistakes
from harness.systems.rocketmq_2m2s.promises import master_slave_promises

ROCKETMQ_2M2S = Declaration(
    name="rocketmq-2m2s",
    folder=shipped("rocketmq-2m2s"),
    layout_file=RocketLayoutFile,
    mistakes=mistakes,
    promises=master_slave_promises,
    servers=master_slave_servers,
    drain=TOPIC_DRAIN,
    processes=None,
    misbehaves=(),
    containers=ROCKETMQ_CONTAINERS,
)
