"""Puts the local executor and witness on a cluster that stands."""

from typing import Any

from faults.core.model import Executor, FaultError
from faults.core.witness import Witness
from faults.executors.local import LocalExecutor
from faults.executors.local_witness import Addresses, LocalWitness
from harness.cluster.port import DeployError
from harness.deploy.local.cluster import LocalCluster
from harness.workers.agent import answer, calls


def equip(cluster: LocalCluster) -> tuple[Executor, Witness]:
    failures = (DeployError,)
    site, nodes = cluster.site, cluster.nodes
    spare = AgentHere(site.toxiproxy, site.token)
    executor = LocalExecutor(
        site.cluster, nodes.start, site.broker, cluster.agent, spare, failures
    )
    witness = LocalWitness(
        site.cluster,
        cluster.agent,
        Addresses(
            brokers={place: site.ways(place) for place in site.places},
            peers={} if site.peer_port is None else {host: site.peer(host) for host in site.hosts},
        ),
        cluster.dial,
        cluster.broker.listed,
        cluster.service_ports,
        nodes.exit_code,
        failures,
        cluster.started_clients,
    )
    return executor, witness


class AgentHere:
    """AgentCalls answered in this process: for healing, and where the agent is lost. `token`: what
    the proxy asks for."""

    def __init__(self, toxiproxy: str, token: str = "") -> None:
        self._known = calls(toxiproxy, toxiproxy.rpartition(":")[0].strip("[]"), token)

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        reply = await answer(self._known, {"do": name, "timeout_s": timeout_s, **arguments})
        if reply["say"] == "error":
            raise FaultError(f"{name}: {reply['kind']}: {reply['text']}")
        return dict(reply["value"])
