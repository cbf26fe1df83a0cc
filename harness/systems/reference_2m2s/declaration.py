"""The reference of RocketMQ's masters and slaves: what it promises is what they do."""

from harness.plan.misbehave import OF_LOGS
from harness.systems.files import shipped
from harness.systems.port import Declaration, Foreground
from harness.systems.reference_2m2s.containers import REFERENCE_CONTAINERS
from harness.systems.reference_2m2s.foreground import servers_to_play_with
from harness.systems.reference_2m2s.layouts import ReferenceLayoutFile
from harness.systems.reference_2m2s.processes import ReferenceServers
from harness.systems.rocketmq.broker import VERSION
from harness.systems.rocketmq.drain import TOPIC_DRAIN
from harness.systems.rocketmq_2m2s.guarantees import master_slave_guarantees
from harness.systems.rocketmq_2m2s.layouts import mistakes
from harness.systems.rocketmq_2m2s.servers import master_slave_servers
from spark_analysis.schema.words import LEVELS

REFERENCE_2M2S = Declaration(
    name="reference-2m2s",
    folder=shipped("reference-2m2s"),
    layout_file=ReferenceLayoutFile,
    mistakes=mistakes,
    guarantees=master_slave_guarantees,
    servers=master_slave_servers,
    drain=TOPIC_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=ReferenceServers(),
    misbehaves=("drop", "duplicate", "corrupt", "confirm-early", *OF_LOGS, "truncate"),
    containers=REFERENCE_CONTAINERS,
    foreground=Foreground("2m2s", servers_to_play_with),
    demo=None,
    foreign=None,
)
