"""The reference of CTGMQ: two brokers a group, whose master name servers replace by Raft."""

from dataclasses import replace

from harness.plan.misbehave import OF_REPLICAS
from harness.systems.files import shipped
from harness.systems.port import Declaration, Foreground
from harness.systems.reference_2m2s.containers import REFERENCE_CONTAINERS
from harness.systems.reference_ctgmq.foreground import switched_group_to_play_with
from harness.systems.reference_ctgmq.layouts import CtgmqFile, mistakes
from harness.systems.reference_ctgmq.processes import SwitchedServers
from harness.systems.reference_ctgmq.settings import ctgmq_configuration
from harness.systems.rocketmq.broker import VERSION
from harness.systems.rocketmq.drain import TOPIC_DRAIN
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_controller.guarantees import controller_guarantees
from harness.systems.rocketmq_controller.servers import controller_servers
from spark_analysis.schema.words import LEVELS

REFERENCE_CTGMQ = Declaration(
    name="reference-ctgmq",
    folder=shipped("reference-ctgmq"),
    layout_file=CtgmqFile,
    mistakes=mistakes,
    guarantees=controller_guarantees,
    servers=controller_servers,
    drain=TOPIC_DRAIN,
    levels=LEVELS,
    versioned_as=VERSION,
    processes=SwitchedServers(),
    misbehaves=OF_REPLICAS,
    containers=replace(
        REFERENCE_CONTAINERS,
        services=services(ctgmq_configuration),
        parts="harness.systems.rocketmq_controller.parts:controller_parts",
    ),
    foreground=Foreground("ctgmq", switched_group_to_play_with),
    demo=None,
    foreign=None,
)
