"""The reference of CTGMQ: two brokers a group, whose master name servers replace by Raft."""

from dataclasses import replace

from harness.plan.misbehave import OF_REPLICAS
from harness.systems.port import Foreground
from harness.systems.reference_2m2s.declaration import REFERENCE_CONTAINERS
from harness.systems.reference_2m2s.processes import ElectedServers
from harness.systems.reference_ctgmq.foreground import switched_group_to_play_with
from harness.systems.reference_ctgmq.layout import CtgmqFile, ctgmq_configuration
from harness.systems.rocketmq.declaration import rocketmq_declaration
from harness.systems.rocketmq.layout import ServerProcess
from harness.systems.rocketmq.services import services
from harness.systems.rocketmq_controller.layout import (
    REPLICATED,
    controller_guarantees,
    controller_servers,
    controllers,
)
from harness.systems.rocketmq_controller.parts import ControllersWord, controller_parts


def _ports(one: ServerProcess) -> tuple[int, ...]:
    """A name server listens at one port more, for control nodes and queries."""
    return (*one.ports, one.votes_at) if one.is_name_server else one.ports


SWITCHED_SERVERS = ElectedServers(ctgmq_configuration, ControllersWord, controllers, _ports)
REFERENCE_CTGMQ = rocketmq_declaration(
    "reference-ctgmq",
    layout_file=CtgmqFile,
    guarantees=controller_guarantees,
    replicated=REPLICATED,
    servers=controller_servers,
    processes=SWITCHED_SERVERS,
    misbehaves=OF_REPLICAS,
    containers=replace(
        REFERENCE_CONTAINERS,
        services=services(ctgmq_configuration),
        parts=controller_parts,
    ),
    foreground=Foreground("ctgmq", switched_group_to_play_with),
)
