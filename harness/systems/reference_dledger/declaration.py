"""The reference of RocketMQ's DLedger groups: what it promises is what they promise."""

from dataclasses import replace

from harness.plan.misbehave import OF_LEDGERS
from harness.systems.files import shipped
from harness.systems.port import Declaration, Foreground
from harness.systems.reference_2m2s.containers import REFERENCE_CONTAINERS
from harness.systems.reference_dledger.foreground import group_to_play_with
from harness.systems.reference_dledger.layouts import ReferenceGroupsFile
from harness.systems.reference_dledger.processes import ReferenceGroups
from harness.systems.reference_dledger.settings import reference_configuration
from harness.systems.rocketmq.broker import VERSION
from harness.systems.rocketmq.drain import TOPIC_DRAIN
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_dledger.guarantees import dledger_guarantees
from harness.systems.rocketmq_dledger.layouts import mistakes
from harness.systems.rocketmq_dledger.servers import dledger_servers
from spark_analysis.schema.words import LEVELS

REFERENCE_DLEDGER = Declaration(
    name="reference-dledger",
    folder=shipped("reference-dledger"),
    layout_file=ReferenceGroupsFile,
    mistakes=mistakes,
    guarantees=dledger_guarantees,
    servers=dledger_servers,
    drain=TOPIC_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=ReferenceGroups(),
    misbehaves=OF_LEDGERS,
    containers=replace(
        REFERENCE_CONTAINERS,
        services=services(reference_configuration),
        parts="harness.systems.rocketmq_dledger.parts:dledger_parts",
    ),
    foreground=Foreground("dledger", group_to_play_with),
    demo=None,
    foreign=None,
)
