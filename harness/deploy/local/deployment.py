"""Makes systems stand as subprocesses on this machine: Linux, no root, no Docker.

1. What was started when a step fails, or is interrupted, is ended, unless it is to be kept.
2. Plan, configurations and logs of every cluster stay in the experiment's folder: they tell what
   ran.
3. Faults are not known here: `equip` puts an executor and a witness on a cluster that stands.
4. The proxy is there before the nodes are: it is their only way to each other.
"""

import asyncio
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from uuid import uuid4

from faults.core.model import Executor
from faults.core.peers import peer_link
from faults.core.witness import Witness
from faults.executors import local_processes as processes
from harness.cluster.agent import AgentClient
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Progress
from harness.deploy.local.channel import PipeChannel
from harness.deploy.local.cluster import LocalCluster
from harness.deploy.local.nodes import LocalNodes
from harness.deploy.local.removal import remove
from harness.deploy.local.site import Site, configure
from harness.deploy.loopback_block import free_block
from harness.deploy.owner import owner
from harness.plan.misbehave import Misbehave
from harness.plan.model import Layout
from harness.systems.files import PACKAGES
from harness.systems.port import Here, Processes, Unit
from harness.systems.registry import registry
from spark_analysis.files.failed import os_reason

Equip = Callable[[LocalCluster], tuple[Executor, Witness]]

PROXY = (sys.executable, "-m", "faults.proxy")
PROXY_LIMIT_S = 20.0
AGENT_LIMIT_S = 20.0
LISTEN_LIMIT_S = 10.0
STAND_LIMIT_S = 60.0
COOKIE_OCTETS = 32


@dataclass(frozen=True, slots=True)
class LocalDeployment:
    """A port.Deployment of subprocesses. `keep`: do not remove it, even after a failure.

    `guard` gets the cluster's name before anything of it is made. `misbehave` goes into every
    node's configuration.
    """

    equip: Equip
    keep: bool = False
    guard: Callable[[str], None] = lambda _: None
    misbehave: Misbehave | None = None
    node: tuple[str, ...] = ()  # instead of the commands by which the system says to start units
    proxy: tuple[str, ...] = PROXY
    stand_limit_s: float = STAND_LIMIT_S

    async def up(
        self, layout: Layout, experiment_folder: Path, progress: Progress
    ) -> LocalCluster:
        own = processes_of(layout)
        units = own.units(layout)
        site = Site(
            cluster=f"mqproof-{uuid4().hex[:8]}",
            experiment=str(experiment_folder.resolve()),
            block=free_block(ports_by_host(units), own.moves),
            units=tuple(replace(one, command=self.node or one.command) for one in units),
            peer_port=own.peers_at,
            owner=owner(),
            keep=self.keep,
            proxy=self.proxy,
            token=secrets.token_hex(16),
        )
        self.guard(site.cluster)
        nodes = LocalNodes(site)
        try:
            return await self._cluster(site, nodes, layout, progress)
        except BaseException as error:
            if not self.keep:
                await asyncio.shield(_removed(site, nodes))
            if isinstance(error, OSError):
                reason = os_reason(error, site.folder)
                raise DeployError(f"the cluster could not be started: {reason}") from error
            raise

    async def _cluster(
        self, site: Site, nodes: LocalNodes, layout: Layout, progress: Progress
    ) -> LocalCluster:
        site.save()
        progress(f"start the proxy between clients and nodes of {layout.label}")
        nodes.start_proxy()
        agent = await local_agent(site)
        try:
            await _proxy_answers(agent, nodes)
            progress(f"start the nodes of {layout.label}")
            own = processes_of(layout)
            peers = await _peer_links(site, agent)
            cookie = secrets.token_hex(COOKIE_OCTETS)
            configure(site, layout, own, peers, self.misbehave, cookie)
            for host in site.hosts:
                nodes.start(host)
            adapters = own.adapters(here(site, layout, agent))
            cluster = LocalCluster(layout, nodes, agent, adapters, peers)
            progress("wait until every node answers and the cluster is clean")
            await cluster.stand(self.stand_limit_s)
            cluster.executor, cluster.witness = self.equip(cluster)
        except DeployError as error:
            await agent.close()
            # A process that has ended is the cause, not what a call met at its address.
            if failure := nodes.failure():
                raise DeployError(failure) from error
            raise
        except BaseException:
            await agent.close()
            raise
        return cluster


def processes_of(layout: Layout) -> Processes:
    """Raises DeployError where its system does not run so."""
    found = registry().systems[layout.system].processes
    if found is None:
        raise DeployError(f"{layout.system} does not run as subprocesses of this machine")
    return found


async def local_agent(site: Site) -> AgentClient:
    command = [sys.executable, "-m", "harness.workers.agent"]
    environment = site.environment(processes.AGENT, "agent")
    channel = await PipeChannel.start("the agent", command, environment, PACKAGES)
    return await AgentClient.start(channel, AGENT_LIMIT_S)


async def _proxy_answers(agent: AgentClient, nodes: LocalNodes) -> None:
    address, _, port = nodes.site.toxiproxy.partition(":")

    async def look() -> bool:
        if nodes.failure():
            return True
        answer = await agent.call("connect", 2.0, host=address, port=int(port))
        return bool(answer["connected"])

    if not await until(look, bool, PROXY_LIMIT_S) or nodes.failure():
        raise DeployError(nodes.failure() or f"no answer from the proxy at {address}:{port}")


def ports_by_host(units: Sequence[Unit]) -> tuple[tuple[int, ...], ...]:
    """Standard ones, in the order of hosts."""
    hosts = dict.fromkeys(unit.host for unit in units)
    return tuple(
        tuple(port for unit in units if unit.host == host for port in unit.ports) for host in hosts
    )


def here(site: Site, layout: Layout, agent: AgentClient) -> Here:
    def configured(host: str, word: str) -> str:
        return str(site.config(site.unit(host, word)))

    return Here(
        layout=layout,
        agent=agent,
        addresses=site.addresses,
        port=site.block.port,
        configured=configured,
        proxy=site.block.proxy,
        free=site.block.for_workers,
    )


async def _peer_links(site: Site, agent: AgentClient) -> dict[str, tuple[str, int]]:
    """A listener for every way from one node to another, where they pass the proxy."""
    if site.peer_port is None:
        return {}
    links = {peer_link(*way): way for way in permutations(site.hosts, 2)}
    made = await asyncio.gather(*(_listens(agent, name, links[name][1], site) for name in links))
    return {name: (site.block.proxy, port) for name, port in zip(links, made, strict=True)}


async def _listens(agent: AgentClient, name: str, peer: str, site: Site) -> int:
    address, port = site.peer(peer)
    made = await agent.call(
        "proxy_create", LISTEN_LIMIT_S, name=name, upstream=f"{address}:{port}"
    )
    return int(made["port"])


async def _removed(site: Site, nodes: LocalNodes) -> None:
    await remove(site.cluster, site.folder, ask=False)
    nodes.reap()
