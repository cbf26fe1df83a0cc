"""Puts running brokers under test: mqproof's own processes are started around them.

1. A note is written before anything is done, by which `heal` finds what remains.
2. If a step fails or is interrupted, everything started by then is ended; brokers stay as they
   were.
3. Faults are not known here: `equip` adds an executor and a witness to a running cluster.
"""

import asyncio
import secrets
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

from faults.core.model import Executor
from faults.core.witness import Witness
from faults.executors import local_processes as processes
from harness.cluster.agent import AgentClient
from harness.cluster.links import Links
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Progress, wrong_input
from harness.deploy.external.cluster import ExternalCluster, release
from harness.deploy.external.links import DirectLinks
from harness.deploy.external.removal import remove_early
from harness.deploy.external.site import NO_PROXY, Site, exposed, forget, login, start_agent
from harness.deploy.local.site import PROXY_NAME, lower
from harness.deploy.loopback_block import PROXY_PORT, free_block
from harness.deploy.owner import owner
from harness.plan.layouts.topology import EMBEDDED, EVERYWHERE, Topology, unbracketed
from harness.plan.model import Layout
from harness.plan.problems import Problem
from harness.systems.files import PACKAGES
from spark_analysis.files.failed import os_reason

Equip = Callable[[ExternalCluster], tuple[Executor, Witness]]
Process: TypeAlias = subprocess.Popen[bytes]

OWN_PROXY = (sys.executable, "-m", "faults.proxy")
PROXY_LIMIT_S = 20.0
STAND_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class ExternalDeployment:
    """A port.Deployment of external brokers. `guard` gets the name before anything is done.

    `armed`: whether a fault of an experiment is still active.
    """

    equip: Equip
    guard: Callable[[str], None] = lambda _: None
    armed: Callable[[Path], bool] = lambda _: False
    stand_limit_s: float = STAND_LIMIT_S

    async def up(
        self, layout: Layout, experiment_folder: Path, progress: Progress
    ) -> ExternalCluster:
        assert layout.topology is not None, "a plan of this deployment has one"
        login(layout.topology)  # nothing is begun without it
        if why := exposed(layout.topology):
            place, advice = layout.topology.place("[[broker]]"), "take it out of the file"
            expected = "words without the password"
            raise wrong_input([Problem(place, why, expected=expected, advice=advice)])
        site = _site(layout.topology, experiment_folder)
        self.guard(site.cluster)
        site.note()
        begun = _Begun()
        try:
            if site.own_proxy:
                progress("start the proxy between clients and brokers")
                begun.proxy = _start_proxy(site)
            begun.agent = await start_agent(site)
            return await self._cluster(site, layout, progress, begun)
        except BaseException as error:
            await asyncio.shield(_removed(site, begun))
            if isinstance(error, OSError):
                reason = os_reason(error, site.folder)
                raise DeployError(f"what is ours could not be started: {reason}") from error
            raise

    async def _cluster(
        self, site: Site, layout: Layout, progress: Progress, begun: "_Begun"
    ) -> ExternalCluster:
        assert begun.agent is not None, "it was started"
        links = await _links(site, begun.agent, begun.proxy)
        cluster = ExternalCluster(layout, site, begun.agent, links, begun.proxy, self.armed)
        progress("wait until every broker answers and the cluster is clean")
        await cluster.look(self.stand_limit_s)
        begun.settings = True
        await cluster.begin()
        cluster.executor, cluster.witness = self.equip(cluster)
        return cluster


@dataclass(slots=True)
class _Begun:
    """What has to be ended where the cluster does not come to stand."""

    proxy: Process | None = None
    agent: AgentClient | None = None
    settings: bool = False  # they may be set


def _site(topology: Topology, experiment: Path) -> Site:
    site = Site(
        cluster=f"mqproof-{uuid4().hex[:8]}",
        experiment=str(experiment.resolve()),
        owner=owner(),
        topology=topology,
        commands_in=str(Path.cwd()),
    )
    if topology.proxy is None:
        return site
    if topology.proxy.at:
        return replace(site, proxy=topology.proxy.at, listen=topology.proxy.listen)
    block = free_block((), moves=True)
    proxy = f"{block.proxy}:{block.port(PROXY_PORT)}"
    return replace(site, proxy=proxy, listen=block.proxy, token=secrets.token_hex(16))


def _start_proxy(site: Site) -> Process:
    """Start the proxy. The embedded one ends with us; `removal` ends another. Raise OSError."""
    assert site.topology.proxy is not None, "it is ours"
    program = site.topology.proxy.start
    address, _, port = site.proxy.partition(":")
    command = [program, "-host", address, "-port", port]
    if program == EMBEDDED:
        command = [*OWN_PROXY, "--host", address, "--port", port, "--with-parent"]
    with site.output(PROXY_NAME).open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=site.environment(processes.PROXY, PROXY_NAME),
            cwd=PACKAGES,
            start_new_session=True,
        )
    lower(process.pid)
    processes.seen(process.pid)
    return process


async def _links(site: Site, agent: AgentClient, proxy: Process | None) -> Links | DirectLinks:
    entrances = site.topology.entrances
    words = {one.host: one.process for one in entrances}
    if site.proxy == NO_PROXY:
        return DirectLinks({one.host: (one.address, one.port) for one in entrances}, words)
    host, _, port = site.proxy.rpartition(":")
    address = unbracketed(host)

    def ended() -> bool:
        return proxy is not None and proxy.poll() is not None

    async def answers() -> bool:
        answer = await agent.call("connect", 2.0, host=address, port=int(port))
        return bool(answer["connected"])

    async def look() -> bool:
        return ended() or await answers()

    if not await until(look, bool, PROXY_LIMIT_S) or ended():
        see = f"; see {site.output(PROXY_NAME)}" if proxy is not None else ""
        raise DeployError(f"no answer from the proxy at {site.proxy}{see}")
    dialled = address if site.listen in EVERYWHERE else site.listen
    upstreams = {one.host: one.upstream for one in entrances}
    return Links(agent, dialled, upstreams, processes=words)


async def _removed(site: Site, begun: _Begun) -> None:
    """Where something may be left, its note stays."""
    if begun.agent is not None:
        await begun.agent.close()
    if not await remove_early(site, begun.settings):
        forget(site.cluster)
    if begun.proxy is not None:
        release(begun.proxy)
