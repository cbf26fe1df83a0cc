"""A cluster of subprocesses that another process of mqproof started and keeps: attached for a run.

1. The keeper is the nodes' parent: `start` has it start one, `ends` gets how each ended.
2. The run has an agent of its own. Proxy, addresses and files are those of the cluster's plan.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from faults.core.places import place
from harness.cluster.port import DeployError
from harness.deploy.local.cluster import LocalCluster
from harness.deploy.local.deployment import Equip, here, local_agent, processes_of
from harness.deploy.local.nodes import LocalNodes
from harness.deploy.local.site import Site, load
from harness.plan.model import Layout
from harness.systems.port import Unit

FOLDER, PEERS, PIDS, VERSIONS = "folder", "peers", "pids", "versions"

StartNode = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class KeptNode:
    """A node that is another process's child. `ends`: exit statuses by pid."""

    pid: int
    ends: Mapping[int, int]
    stdin: IO[bytes] | None = None

    def poll(self) -> int | None:
        return self.ends.get(self.pid)


def facts_of(cluster: LocalCluster) -> dict[str, Any]:
    """Return what another process needs to attach to it."""
    return {
        FOLDER: str(cluster.site.folder),
        PEERS: {name: list(way) for name, way in cluster.peer_ways.items()},
        PIDS: cluster.nodes.pids(),
        VERSIONS: cluster.versions(),
    }


async def attached(
    layout: Layout,
    facts: Mapping[str, Any],
    start: StartNode,
    ends: Mapping[int, int],
    equip: Equip,
) -> LocalCluster:
    """Raises DeployError."""
    try:
        site = load(Path(facts[FOLDER]))
    except OSError as error:
        raise DeployError(f"the cluster's plan cannot be read: {error}") from error

    def begin(_: Site, unit: Unit) -> KeptNode:
        return KeptNode(start(place(unit.host, unit.word)), ends)

    nodes = LocalNodes(site, begin)
    pids = facts[PIDS]
    nodes.adopt({one: KeptNode(int(pids[place(one.host, one.word)]), ends) for one in site.units})
    agent = await local_agent(site)
    try:
        adapters = processes_of(layout).adapters(here(site, layout, agent))
        peers = {name: (str(way[0]), int(way[1])) for name, way in facts[PEERS].items()}
        cluster = LocalCluster(layout, nodes, agent, adapters, peers)
        cluster.adopt_versions(facts[VERSIONS])
        cluster.executor, cluster.witness = equip(cluster)
    except BaseException:
        await agent.close()
        raise
    return cluster
