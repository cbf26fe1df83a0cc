"""Puts an executor and a witness on a cluster that is not ours."""

from faults.core.model import Executor
from faults.core.witness import Witness
from faults.executors.external import ExternalExecutor
from faults.executors.local_witness import Addresses, LocalWitness
from harness.cluster.port import DeployError
from harness.deploy.external.cluster import ExternalCluster
from harness.deploy.external.site import Site
from harness.deploy.local.faults import AgentHere
from harness.plan.layouts.topology import BrokerNode


def equip(cluster: ExternalCluster) -> tuple[Executor, Witness]:
    """Both share the commands: what looks at a host waits for what is being done to it."""
    failures, site = (DeployError,), cluster.site
    commands = site.commands()
    executor = ExternalExecutor(
        site.cluster,
        commands,
        cluster.agent,
        AgentHere(site.proxy, site.token),
        failures,
        site.own_proxy,
    )
    witness = LocalWitness(
        site.cluster,
        cluster.agent,
        Addresses(brokers={one.host: _ways(one) for one in site.topology.nodes}, peers={}),
        cluster.dial,
        cluster.broker.listed,
        cluster.clients.service_ports,
        lambda _: None,
        failures,
        cluster.started_clients,
        commands,
    )
    return executor, witness


def _ways(broker: BrokerNode) -> tuple[tuple[str, int], ...]:
    """None where only a balancer leads to it: that answers for any broker."""
    return ((broker.address, broker.port),) if broker.reached else ()


def healer(site: Site) -> ExternalExecutor:
    """Return the executor to clean up after a dead harness, whose agent is gone."""
    agent = AgentHere(site.proxy, site.token)
    return ExternalExecutor(site.cluster, site.commands(), agent, agent, (), site.own_proxy)
