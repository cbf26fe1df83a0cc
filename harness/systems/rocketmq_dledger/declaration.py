"""RocketMQ's groups of three, who elect their leader by Raft (DLedger)."""

from harness.systems.rocketmq.containers import rocketmq_containers
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_dledger.foreign import DLEDGER_FOREIGN
from harness.systems.rocketmq_dledger.layout import (
    DledgerLayoutFile,
    configuration,
    dledger_guarantees,
    dledger_servers,
    mistakes,
)

ROCKETMQ_DLEDGER = rocketmq_declaration(
    "rocketmq-dledger",
    layout_file=DledgerLayoutFile,
    mistakes=mistakes,
    guarantees=dledger_guarantees,
    servers=dledger_servers,
    containers=rocketmq_containers(
        services(configuration), "harness.systems.rocketmq_dledger.parts:dledger_parts"
    ),
    foreign=DLEDGER_FOREIGN,
)
