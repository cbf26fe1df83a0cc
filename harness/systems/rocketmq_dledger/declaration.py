"""RocketMQ's groups of three, who elect their leader by Raft (DLedger)."""

from harness.systems.files import shipped
from harness.systems.port import Declaration
from harness.systems.rocketmq.broker import VERSION
from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.drain import TOPIC_DRAIN
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_dledger.guarantees import dledger_guarantees
from harness.systems.rocketmq_dledger.layouts import DledgerLayoutFile, mistakes
from harness.systems.rocketmq_dledger.servers import dledger_servers
from harness.systems.rocketmq_dledger.settings import configuration
from spark_analysis.schema.words import LEVELS

ROCKETMQ_DLEDGER = Declaration(
    name="rocketmq-dledger",
    folder=shipped("rocketmq-dledger"),
    layout_file=DledgerLayoutFile,
    mistakes=mistakes,
    guarantees=dledger_guarantees,
    servers=dledger_servers,
    drain=TOPIC_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=None,
    misbehaves=(),
    containers=rocketmq_containers(
        services(configuration), "harness.systems.rocketmq_dledger.parts:dledger_parts"
    ),
    foreground=None,
    demo=None,
    foreign=None,
)
