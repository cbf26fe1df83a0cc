"""Clusters by hand side by side in one Compose project."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.by_hand.choosing import ByHandChoice
from harness.by_hand.starting import PublishedWay, RunningByHand, ToStart, publish, write_hosts
from harness.cleanup.docker_projects import DockerProjects
from harness.cleanup.guardian import DeploymentKind
from harness.deploy.beside import BesideClusters, ListeningPort, SideBySide
from harness.deploy.by_hand_files import ByHandCluster
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.faults import equip
from harness.deploy.loopback_block import PROXY_PORT
from harness.deploy.standing.in_containers import LinkedLogs, facts_of

_EXPERIMENT = "side-by-side"


class BesideForRuns:
    """ForRuns of containers: the engine starts brokers, and shows how they end."""

    def __init__(self, cluster: ComposeCluster, mounted: Path) -> None:
        self._cluster = cluster
        self._mounted = mounted
        self.workers = DockerProjects(cluster.client)

    def facts(self) -> dict[str, Any]:
        return facts_of(self._cluster, self._mounted)

    def start(self, place: str) -> int:
        raise AssertionError(f"the engine starts {place}")

    async def collect(self, logs: Path) -> None:
        await asyncio.to_thread(LinkedLogs(self._mounted).collect, logs)

    def ends(self) -> dict[int, int]:
        return {}


async def start_beside(wanted: ToStart) -> None:
    """Start the clusters together. Raise DeployError."""
    experiment = wanted.folder / _EXPERIMENT
    guards = wanted.guarded(experiment)
    deployment = SideBySide(equip, partial(guards.begin, DeploymentKind.COMPOSE))
    layouts = [choice.layout for choice in wanted.choices]
    found = await deployment.up(layouts, experiment, wanted.progress)
    wanted.started.down.append(found.down)
    for choice, cluster in zip(wanted.choices, found.clusters, strict=True):
        wanted.started.running.append(await _published(choice, cluster, found, experiment))


async def _published(
    choice: ByHandChoice, cluster: ComposeCluster, found: BesideClusters, experiment: Path
) -> RunningByHand:
    hosts_of_layout = {host.name for host in cluster.layout.hosts}
    own = [one for one in found.ports if one.port.host in hosts_of_layout]
    ways = _ways(cluster, found, own)
    await publish(cluster, ways)
    servers = choice.system.servers(cluster.layout)
    addresses = {way.port.host: way.reached[0] for way in ways}
    hosts = write_hosts(experiment / choice.folder, addresses) if servers.by_names else ""
    described = ByHandCluster(
        system=choice.system.name,
        layout=choice.layout.label,
        layout_word=choice.layout_word,
        title=choice.layout.title,
        cluster=cluster.project,
        proxy=f"{found.block.proxy}:{found.block.port(PROXY_PORT)}",
        ports=tuple(way.reachable for way in ways),
        hosts_file=hosts,
    )
    ports = tuple(one.port for one in own)
    for_runs = BesideForRuns(cluster, experiment)
    return RunningByHand(choice, cluster, experiment, ports, described, for_runs)


def _ways(
    cluster: ComposeCluster, found: BesideClusters, own: Sequence[ListeningPort]
) -> list[PublishedWay]:
    addresses = {host.name: host.address for host in cluster.layout.hosts}
    return [
        PublishedWay(
            port,
            listen=f"0.0.0.0:{listens_at}",
            upstream=f"{addresses[port.host]}:{port.port}",
            dialled=(found.proxy, listens_at),
            reached=(found.block.host(port.number), found.block.port(port.port)),
        )
        for port, listens_at in own
    ]
