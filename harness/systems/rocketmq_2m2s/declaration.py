"""RocketMQ's groups of a master and its slaves; no slave is ever elected."""

from harness.systems.files import shipped
from harness.systems.port import Declaration
from harness.systems.rocketmq.broker import VERSION
from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.drain import TOPIC_DRAIN
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_2m2s.guarantees import master_slave_guarantees
from harness.systems.rocketmq_2m2s.layouts import RocketLayoutFile, mistakes
from harness.systems.rocketmq_2m2s.servers import master_slave_servers
from harness.systems.rocketmq_2m2s.settings import configuration
from spark_analysis.schema.words import LEVELS

ROCKETMQ_2M2S = Declaration(
    name="rocketmq-2m2s",
    folder=shipped("rocketmq-2m2s"),
    layout_file=RocketLayoutFile,
    mistakes=mistakes,
    guarantees=master_slave_guarantees,
    servers=master_slave_servers,
    drain=TOPIC_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=None,
    misbehaves=(),
    containers=rocketmq_containers(
        services(configuration), "harness.systems.rocketmq_2m2s.parts:master_slave_parts"
    ),
    foreground=None,
    demo=None,
    foreign=None,
)
