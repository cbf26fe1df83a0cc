"""Puts the compose executor and witness on a cluster that stands."""

from faults.core.model import Executor
from faults.core.witness import Witness
from faults.executors.compose import ComposeExecutor
from faults.executors.compose_witness import ComposeWitness
from harness.cluster.port import DeployError
from harness.deploy.compose.cluster import ComposeCluster


def equip(cluster: ComposeCluster) -> tuple[Executor, Witness]:
    failures = (DeployError,)

    async def listed(host: str) -> bool:
        """A balancer serves when it answers: no broker lists it."""
        return host in cluster.layout.balancers or await cluster.broker.listed(host)

    peer_links = cluster.layout.peer_links
    executor = ComposeExecutor(
        cluster.client, cluster.project, cluster.agent, failures, peer_links
    )
    witness = ComposeWitness(
        cluster.client,
        cluster.project,
        cluster.agent,
        cluster.dial,
        listed,
        cluster.service_ports,
        failures,
        alarms=cluster.alarms,
        clients=cluster.started_clients,
        peer_links=peer_links,
    )
    return executor, witness
