"""Makes systems stand in containers: images, compose file, start, agent, readiness.

1. What was started when a step fails, or is interrupted, is removed, unless it is to be kept.
2. The compose file of every cluster is kept in the experiment's folder: it is what ran.
3. Faults are not known here: `equip` puts an executor and a witness on a cluster that stands.
"""

import asyncio
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import docker

from faults.core.model import Executor
from faults.core.shapes import Way
from faults.core.witness import Witness
from harness.cluster.agent import AgentClient
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Progress
from harness.deploy import engine, images, labels
from harness.deploy.compose.cluster import ComposeCluster, FoundContainers, remove
from harness.deploy.compose.compose_layouts import compose_layout
from harness.deploy.compose.core import peer_ways, render
from harness.deploy.compose.core.settings import Settings, host_address
from harness.deploy.compose.execs import start
from harness.deploy.compose.subnets import free_network
from harness.deploy.compose.tool import AddressTaken, ComposeTool, find_tool
from harness.deploy.engine import engine_errors
from harness.deploy.owner import owner
from harness.plan.layouts.layout_values import BROKER_IMAGE, OF_DISTRIBUTION, USERS_IMAGE
from harness.plan.model import Layout
from harness.systems.catalogue import load_system
from harness.systems.files import own_folder
from spark_analysis.files.failed import os_reason
from spark_analysis.files.writing import write_whole

Equip = Callable[[ComposeCluster], tuple[Executor, Witness]]

START_LIMIT_S = 120.0
AGENT_LIMIT_S = 20.0
STAND_LIMIT_S = 120.0
PROXY_LIMIT_S = 10.0
ADDRESS_LIMIT_S = 15.0  # until the proxy answers, and has the address of a peer link
COOKIE_OCTETS = 32
_NETWORK_TRIES = 3  # another experiment may take the same addresses at the same moment
_FILES = "deployments"


@dataclass(frozen=True, slots=True)
class ComposeDeployment:
    """A port.Deployment in containers. `keep`: do not remove it, even after a failure.

    `guard` gets the project's name before anything of it is made. `clients`: those of the load;
    workers' images get the packages that they come from.
    """

    equip: Equip
    keep: bool = False
    guard: Callable[[str], None] = lambda _: None
    clients: tuple[str, ...] = ()

    async def up(
        self, layout: Layout, experiment_folder: Path, progress: Progress
    ) -> ComposeCluster:
        client = await asyncio.to_thread(engine.connect)
        tool = await asyncio.to_thread(find_tool)
        found = await asyncio.to_thread(
            images.ensure,
            client,
            layout.system,
            in_this_loop(progress),
            bool(layout.balancers),
            layout,
            self.clients,
        )
        folder = experiment_folder.resolve()
        made = _Making(client, tool, found, layout, folder, self.equip, self.keep)
        for remaining in reversed(range(_NETWORK_TRIES)):
            project = f"mqproof-{uuid4().hex[:8]}"
            self.guard(project)
            try:
                return await made.cluster(project, progress)
            except BaseException as error:
                if not self.keep:
                    await asyncio.shield(remove(client, project))
                if not remaining or not isinstance(error, AddressTaken):
                    raise
        raise AssertionError("the last try returns or raises")


@dataclass(frozen=True, slots=True)
class _Making:
    """One layout on its way to a cluster."""

    client: docker.DockerClient
    tool: ComposeTool
    images: images.Images
    layout: Layout
    folder: Path
    equip: Equip
    keep: bool

    async def cluster(self, project: str, progress: Progress) -> ComposeCluster:
        network = await asyncio.to_thread(free_network, self.client)
        file = self._write(project, network)
        if ways := peer_ways.addresses(self.layout, network):
            progress(f"make the peer links of {self.layout.label}")
            await self._peer_links(project, file, ways, network)
        progress(f"start containers of {self.layout.label}")
        await self.tool.run(project, file, ["up", "--detach"], START_LIMIT_S)
        containers = await asyncio.to_thread(FoundContainers.find, self.client, project)
        progress("start the agent")
        agent = await start_agent(self.client, containers)
        try:
            cluster = await self._of(project, network, containers, agent)
            progress("wait until every broker answers and the cluster is clean")
            await cluster.stand(STAND_LIMIT_S)
            cluster.executor, cluster.witness = self.equip(cluster)
        except BaseException:
            await agent.close()
            raise
        return cluster

    async def _of(
        self, project: str, network: str, containers: FoundContainers, agent: AgentClient
    ) -> ComposeCluster:
        """Return the cluster of containers that were started."""
        versions = await asyncio.to_thread(
            versions_of, self.client, self.tool, self.images, self.layout
        )
        versions |= {
            f"agent {name}": str(version)
            for name, version in dict(agent.hello.get("versions", {})).items()
        }
        layout = with_addresses(self.layout, network)
        return ComposeCluster(
            self.client, project, layout, self.folder, network, agent, containers, versions
        )

    async def _peer_links(
        self, project: str, file: Path, ways: dict[Way, str], network: str
    ) -> None:
        """Before the first broker looks for its peers: who finds none forms a cluster alone."""
        words = ["up", "--detach", *render.BEFORE_BROKERS]
        await self.tool.run(project, file, words, START_LIMIT_S)
        containers = await asyncio.to_thread(FoundContainers.find, self.client, project)
        agent = await start_agent(self.client, containers)
        try:
            placed = with_addresses(self.layout, network)
            serving = load_system(placed.system).servers(placed).serving
            for name, (listen, upstream) in peer_ways.listeners(ways, placed, serving).items():
                await make_peer_link(agent, name, listen, upstream)
        finally:
            await agent.close()

    def _write(self, project: str, network: str) -> Path:
        settings = settings_of(self.images, network, self.folder, self.keep)
        text = render.render(compose_layout(self.layout, self.images.broker), settings.literal())
        return write_file(self.folder, project, text)


def settings_of(found: images.Images, network: str, folder: Path, keep: bool) -> Settings:
    """Return the settings of a deployment that this process makes."""
    return Settings(
        network=network,
        proxy_image=found.proxy,
        worker_image=found.worker,
        balancer_image=found.balancer,
        experiment=str(folder),
        owner=owner(),
        keep="1" if keep else "0",
        user=f"{os.getuid()}:{os.getgid()}",
        cookie=secrets.token_hex(COOKIE_OCTETS),
    )


def write_file(folder: Path, project: str, text: str) -> Path:
    """Write a project's compose file; return its path. Raise DeployError."""
    file = folder / _FILES / project / "compose.yaml"
    try:
        own_folder(file.parent)  # it tells the brokers' cookie
        write_whole(file, text.encode())
    except OSError as error:
        reason = os_reason(error, file)
        raise DeployError(f"the compose file could not be written: {reason}") from error
    return file


async def start_agent(client: docker.DockerClient, containers: FoundContainers) -> AgentClient:
    """Start the agent in its container. Raise DeployError."""
    command = ["python", "-m", "harness.workers.agent"]
    channel = await start(client, containers.one(labels.ROLE_AGENT), "the agent", command)
    return await AgentClient.start(channel, AGENT_LIMIT_S)


def versions_of(
    client: docker.DockerClient, tool: ComposeTool, found: images.Images, layout: Layout
) -> dict[str, str]:
    """Return the versions of the engine, the tool and the images. Raise DeployError."""
    parts = {BROKER_IMAGE: found.broker, "proxy image": found.proxy, "worker image": found.worker}
    parts |= {"balancer image": found.balancer} if found.balancer else {}
    parts |= {USERS_IMAGE: layout.image} if layout.image else {}
    made_of = {OF_DISTRIBUTION: layout.distribution} if layout.distribution else {}
    with engine_errors("the versions of the Docker engine and of images could not be read"):
        return {
            "docker engine": str(client.version()["Version"]),
            "compose": f"{' '.join(tool.command)} {tool.version}",
            **made_of,
            **{part: f"{name} {_digest(client, name)}" for part, name in parts.items()},
        }


def _digest(client: docker.DockerClient, name: str) -> str:
    return str(client.images.get(name).id)


async def make_peer_link(agent: AgentClient, name: str, listen: str, upstream: str) -> None:
    """Waits for the proxy, and for its address. Raises DeployError."""
    arguments = {"name": name, "listen": listen, "upstream": upstream}

    async def make() -> dict[str, object]:
        return await agent.call("proxy_create", PROXY_LIMIT_S, **arguments)

    await until(make, bool, ADDRESS_LIMIT_S)


def with_addresses(layout: Layout, network: str, first: int = 0) -> Layout:
    """Members first, then spares, as they are rendered. `first`: the number of the first host."""
    hosts = tuple(
        replace(host, address=host_address(network, number))
        for number, host in enumerate((*layout.hosts, *layout.spares), start=first)
    )
    members = len(layout.hosts)
    return replace(layout, hosts=hosts[:members], spares=hosts[members:])


def in_this_loop(progress: Progress) -> Progress:
    """Return the same callback, to be called from another thread."""
    loop = asyncio.get_running_loop()

    def report(text: str) -> None:
        loop.call_soon_threadsafe(progress, text)

    return report
