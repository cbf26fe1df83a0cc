"""Systems side by side in one Compose project, with ports published at loopback addresses.

1. All share the networks, Toxiproxy and the agent. Each is a cluster by itself.
2. A published port leads to a listener of Toxiproxy, and from there to a broker.
3. What was started when a step fails, or is interrupted, is removed.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import docker

from harness.cluster.agent import AgentClient
from harness.cluster.port import Progress
from harness.deploy import engine, images, users_images
from harness.deploy.compose.cluster import ComposeCluster, FoundContainers, remove
from harness.deploy.compose.compose_layouts import by_hand, compose_layout
from harness.deploy.compose.core import render
from harness.deploy.compose.core.render import PortMapping
from harness.deploy.compose.core.settings import FIRST_HOST
from harness.deploy.compose.deployment import (
    STAND_LIMIT_S,
    START_LIMIT_S,
    Equip,
    in_this_loop,
    settings_of,
    start_agent,
    versions_of,
    with_addresses,
    write_file,
)
from harness.deploy.compose.subnets import free_network
from harness.deploy.compose.tool import ComposeTool, find_tool
from harness.deploy.loopback_block import PROXY_PORT, Block, free_block
from harness.plan.layouts.published import PublishedPort, published
from harness.plan.model import Layout
from harness.systems.registry import registry

LISTENS_FROM = 20_001  # of the proxy, in its container; kernels choose other ports above 32,767
_API = PortMapping(100, PROXY_PORT, PROXY_PORT)  # the proxy's own, as local.block has it


class ListeningPort(NamedTuple):
    """A published port, and where the proxy listens for it."""

    port: PublishedPort
    listens_at: int


@dataclass(frozen=True, slots=True)
class BesideClusters:
    """Running clusters, in the order of their layouts. `block`: where their ports are."""

    clusters: tuple[ComposeCluster, ...]
    ports: tuple[ListeningPort, ...]
    block: Block
    proxy: str  # its address for the agent

    async def down(self) -> None:
        """Remove all of it. Raise DeployError."""
        await self.clusters[0].down()


def published_ports(layouts: Sequence[Layout]) -> tuple[ListeningPort, ...]:
    """Return the published ports of all layouts, whose hosts are counted through."""
    found: list[PublishedPort] = []
    for layout, first in _counted(layouts):
        found += published(layout, registry().systems[layout.system].servers(layout), first)
    return tuple(ListeningPort(one, LISTENS_FROM + n) for n, one in enumerate(found))


def mappings(ports: Sequence[ListeningPort], shift: int = 0) -> tuple[PortMapping, ...]:
    """`shift`: added to every port of this machine."""
    every = (
        *(
            PortMapping(FIRST_HOST + one.port.number, one.port.port, one.listens_at)
            for one in ports
        ),
        _API,
    )
    return tuple(one._replace(port=one.port + shift) for one in every)


def by_hand_file(layouts: Sequence[Layout]) -> str:
    """Return the text of a file for Compose itself, whose variables have defaults. The hosts of
    all layouts have distinct names."""
    ports = mappings(published_ports(layouts))
    return render.side_by_side([compose_layout(one) for one in layouts], by_hand(layouts), ports)


def _counted(layouts: Sequence[Layout]) -> Iterator[tuple[Layout, int]]:
    """Each layout with the number of its first host."""
    number = 0
    for layout in layouts:
        yield layout, number
        number += len(layout.hosts) + len(layout.spares)


def _block(layouts: Sequence[Layout], ports: Sequence[ListeningPort]) -> Block:
    """Return free addresses and ports. Raise DeployError."""
    numbers = range(max((one.port.number for one in ports), default=-1) + 1)
    by_host = [[one.port.port for one in ports if one.port.number == n] for n in numbers]
    by_names = (registry().systems[one.system].servers(one).by_names for one in layouts)
    # Clients that dial what name servers show dial the standard ports.
    return free_block(by_host, moves=not any(by_names))


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Starts them. `guard` gets the project's name before anything of it is made."""

    equip: Equip
    guard: Callable[[str], None]

    async def up(
        self, layouts: Sequence[Layout], folder: Path, progress: Progress
    ) -> BesideClusters:
        """Raises DeployError, and PlanError if a named version or image cannot be had."""
        distinct = render.distinct(layouts)
        ports = published_ports(distinct)
        block = _block(distinct, ports)
        client = await asyncio.to_thread(engine.connect)
        tool = await asyncio.to_thread(find_tool)
        report = in_this_loop(progress)
        await asyncio.to_thread(users_images.prepare_layouts, layouts, report)
        found = [
            await asyncio.to_thread(images.ensure, client, one.system, report, False, one)
            for one in layouts
        ]
        made = _Beside(client, tool, distinct, found, folder.resolve(), self.equip, ports, block)
        project = f"mqproof-{uuid4().hex[:8]}"
        self.guard(project)
        try:
            return await made.clusters(project, progress)
        except BaseException:
            await asyncio.shield(remove(client, project))
            raise


@dataclass(frozen=True, slots=True)
class _Beside:
    """Layouts on their way to clusters. `found`: the images of each."""

    client: docker.DockerClient
    tool: ComposeTool
    layouts: Sequence[Layout]
    found: Sequence[images.Images]
    folder: Path
    equip: Equip
    ports: tuple[ListeningPort, ...]
    block: Block

    async def clusters(self, project: str, progress: Progress) -> BesideClusters:
        network = await asyncio.to_thread(free_network, self.client)
        file = self._write(project, network)
        progress("start containers")
        await self.tool.run(project, file, ["up", "--detach"], START_LIMIT_S)
        containers = await asyncio.to_thread(FoundContainers.find, self.client, project)
        progress("start the agent")
        agent = await start_agent(self.client, containers)
        try:
            versions = [
                await asyncio.to_thread(versions_of, self.client, self.tool, own, layout)
                for layout, own in zip(self.layouts, self.found, strict=True)
            ]
            found = [
                self._cluster(project, network, agent, containers, *one)
                for one in zip(_counted(self.layouts), versions, strict=True)
            ]
            progress("wait until every broker answers and the clusters are clean")
            await asyncio.gather(*(one.stand(STAND_LIMIT_S) for one in found))
            for cluster in found:
                cluster.executor, cluster.witness = self.equip(cluster)
        except BaseException:
            await agent.close()
            raise
        return BesideClusters(tuple(found), self.ports, self.block, render.proxy_address(network))

    def _write(self, project: str, network: str) -> Path:
        worker = by_hand(self.layouts).worker_image
        most = next(
            own
            for own, one in zip(self.found, self.layouts, strict=True)
            if by_hand([one]).worker_image == worker
        )
        settings = settings_of(most, network, self.folder, keep=False).literal()
        composed = [
            compose_layout(one, own.broker)
            for one, own in zip(self.layouts, self.found, strict=True)
        ]
        published_at = replace(settings, loopback=self.block.network)
        text = render.side_by_side(composed, published_at, mappings(self.ports, self.block.shift))
        return write_file(self.folder, project, text)

    def _cluster(
        self,
        project: str,
        network: str,
        agent: AgentClient,
        containers: FoundContainers,
        counted: tuple[Layout, int],
        versions: dict[str, str],
    ) -> ComposeCluster:
        layout = with_addresses(counted[0], network, counted[1])
        hosts = {host.name for host in (*layout.hosts, *layout.spares)}
        return ComposeCluster(
            self.client,
            project,
            layout,
            self.folder,
            network,
            agent,
            containers.of(hosts),
            versions,
        )
