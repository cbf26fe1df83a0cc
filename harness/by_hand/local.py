"""Clusters by hand as subprocesses of the keeper: they end with it.

1. Each cluster has a folder of its own: a dead keeper's faults are undone by the journal there.
2. People dial a host at an address of the proxy that is the host's alone, at the standard port.
"""

from functools import partial
from pathlib import Path
from typing import Any

from harness.by_hand.choosing import ByHandChoice
from harness.by_hand.starting import PublishedWay, RunningByHand, ToStart, publish, write_hosts
from harness.cleanup.guardian import DeploymentKind
from harness.cleanup.local_projects import LocalProjects
from harness.deploy.by_hand_files import ByHandCluster
from harness.deploy.local.cluster import LocalCluster
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip
from harness.deploy.standing.subprocesses import facts_of
from harness.plan.layouts.published import PublishedPort, published


class LocalForRuns:
    """ForRuns of nodes that are this process's children."""

    def __init__(self, cluster: LocalCluster) -> None:
        self._cluster = cluster
        self.workers = LocalProjects(Path(cluster.site.experiment))

    def facts(self) -> dict[str, Any]:
        return facts_of(self._cluster)

    def start(self, place: str) -> int:
        self._cluster.nodes.start(place)
        return self._cluster.nodes.pids(place)[place]

    async def collect(self, logs: Path) -> None:
        """The workers wrote them there."""

    def ends(self) -> dict[int, int]:
        return {pid: code for pid, (_, code) in self._cluster.nodes.ends().items()}


async def start_local(wanted: ToStart) -> None:
    """Start the clusters one after another. Raise DeployError."""
    for choice in wanted.choices:
        await _start(wanted, choice)


async def _start(wanted: ToStart, choice: ByHandChoice) -> None:
    experiment = wanted.folder / choice.system.name
    guards = wanted.guarded(experiment)
    deployment = LocalDeployment(equip, guard=partial(guards.begin, DeploymentKind.LOCAL))
    cluster = await deployment.up(choice.layout, experiment, wanted.progress)
    wanted.started.down.append(cluster.down)
    servers = choice.system.servers(choice.layout)
    ports = published(choice.layout, servers)
    ways = [_way(cluster, port) for port in ports]
    await publish(cluster, ways)
    addresses = {way.port.host: way.reached[0] for way in ways}
    described = ByHandCluster(
        system=choice.system.name,
        layout=choice.layout.label,
        layout_word=choice.layout_word,
        title=choice.layout.title,
        cluster=cluster.site.cluster,
        proxy=cluster.site.toxiproxy,
        token=cluster.site.token,
        ports=tuple(way.reachable for way in ways),
        hosts_file=write_hosts(experiment, addresses) if servers.by_names else "",
    )
    running = RunningByHand(choice, cluster, experiment, ports, described, LocalForRuns(cluster))
    wanted.started.running.append(running)


def _way(cluster: LocalCluster, port: PublishedPort) -> PublishedWay:
    site = cluster.site
    # Workers of runs take these addresses from the other end.
    address = site.block.for_workers[-1 - port.number]
    number = site.block.port(port.port)
    at = (address, number)
    upstream = f"{site.address(port.host)}:{number}"
    return PublishedWay(port, f"{address}:{number}", upstream, at, at)
