"""A cluster of subprocesses that stands, ready for runs: port.Cluster for local.

1. Nodes, proxy, agent and workers are processes of this user on this machine; each of a worker's
   ways to a broker is a listener of the proxy, and so is each way of a node to another.
2. Nothing listens beyond loopback.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from faults.core.model import Executor
from faults.core.witness import Witness
from faults.executors import local_processes as processes
from harness.cluster import log_tails
from harness.cluster.agent import AgentClient
from harness.cluster.log_tails import LeftOut, append_all, append_new, those_cut
from harness.cluster.polling import until
from harness.cluster.port import (
    Channel,
    DeadBroker,
    DeployError,
    Ended,
    Health,
    HostSample,
    Link,
    Release,
)
from harness.cluster.started_clients import StartedClients
from harness.deploy.dead_brokers import by_process
from harness.deploy.local.channel import PipeChannel
from harness.deploy.local.nodes import LocalNodes
from harness.deploy.local.removal import remove
from harness.deploy.local.site import PROXY_NAME
from harness.deploy.local.usage import watch
from harness.plan.misbehave import TRUTH
from harness.plan.model import Layout, RunPlan
from harness.systems.files import PACKAGES
from harness.systems.port import Adapters
from harness.workers import host_names
from harness.workers.protocol import Endpoint

# --- Ends of a local cluster's nodes, as their parent learns them --------------------------------
# 1. Every end is reported; only the signal shows the cause. An out-of-memory kill sends the same
#    signal as a person.


INTERVAL_S = 0.1


async def watch_ends(nodes: LocalNodes) -> AsyncIterator[Ended]:
    """Of those that run now, and of those that are started later; until closed."""
    known = set(nodes.ends())
    while True:
        for pid, (place, code) in nodes.ends().items():
            if pid not in known:
                known.add(pid)
                yield Ended(place, time.monotonic_ns(), code)
        await asyncio.sleep(INTERVAL_S)


# --- The cluster ---------------------------------------------------------------------------------


_LOGS = "logs"
_BROKER_LOGS = "broker_logs"


@dataclass(frozen=True, slots=True)
class _Start:
    """How far the nodes are on their way; a process that has ended is not waited for."""

    silent: tuple[str, ...]
    failure: str

    @property
    def over(self) -> bool:
        return not self.silent or bool(self.failure)


class LocalCluster:
    """A port.Cluster of subprocesses. local.Equip, which knows faults, sets executor and witness.

    `peer_ways`: where the links by which hosts dial each other are dialled, by name.
    """

    executor: Executor
    witness: Witness

    def __init__(
        self,
        layout: Layout,
        nodes: LocalNodes,
        agent: AgentClient,
        adapters: Adapters,
        peer_ways: Mapping[str, tuple[str, int]],
    ) -> None:
        self.site = nodes.site
        self.layout = layout
        self.nodes = nodes
        self.agent = agent
        self.broker = adapters.broker
        self.operator = adapters.operator
        self.service_ports = adapters.service_ports
        self.started_clients = StartedClients(self.broker.connections, (DeployError,))
        self._links = adapters.ways
        self._peer_ways = dict(peer_ways)
        self.published: dict[str, tuple[str, int]] = {}  # listeners for people
        self._versions = {
            "python": sys.version.partition(" ")[0],
            "priority of brokers and proxy": nodes.priorities(),
        } | {
            f"agent {name}": str(version)
            for name, version in dict(agent.hello.get("versions", {})).items()
        }
        self._fetched: dict[str, int] = {}  # bytes of each log
        self.log_bytes_max = log_tails.BYTES_MAX
        self.release: Release | None = None  # of a cluster that another process keeps

    async def spawn(self, worker: str) -> Channel:
        command = [sys.executable, "-m", "harness.workers", worker]
        environment = {**self.site.environment(processes.WORKER, worker), **self._names(worker)}
        return await PipeChannel.start(worker, command, environment, PACKAGES)

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        return await self._links.make(run.name, worker)

    async def unlink(self, run: RunPlan) -> None:
        await self._links.remove(run.name)

    async def direct(self, host: str) -> Endpoint:
        return await self._links.direct(host)

    def dial(self, proxy: str) -> tuple[str, int]:
        """A proxy's listener, as the agent and workers dial it."""
        ways = self._peer_ways | self.published
        return ways.get(proxy) or self._links.dial(proxy)

    @property
    def peer_ways(self) -> dict[str, tuple[str, int]]:
        return dict(self._peer_ways)

    async def entered(self) -> tuple[str, ...]:
        return ()  # only compose has balancers

    async def health(self, limit_s: float) -> Health:
        return await self.broker.health(limit_s)

    async def dead_broker(self, place: str) -> DeadBroker | None:
        return await by_process(self.witness, place)

    def log_folder(self, run_folder: Path, worker: str) -> str:
        folder = run_folder.resolve() / _LOGS
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder / worker)

    async def fetch_logs(self, run_folder: Path) -> LeftOut:
        """Workers' logs are there already; a node's goes on where the last fetch ended."""
        try:
            return await asyncio.to_thread(self._fetch_all, run_folder)
        except OSError as error:
            raise DeployError(f"a node's log could not be fetched: {error}") from error

    def resources(self) -> AsyncIterator[HostSample]:
        return watch(self.site.cluster, self.site.hosts)

    def process_ends(self) -> AsyncIterator[Ended]:
        return watch_ends(self.nodes)

    def versions(self) -> dict[str, str]:
        return dict(self._versions)

    def adopt_versions(self, versions: Mapping[str, str]) -> None:
        """Take those that its keeper found when the cluster stood."""
        self._versions |= versions

    async def down(self) -> None:
        await self.agent.close()
        if self.release is not None:
            await self.release()
            return
        await remove(self.site.cluster, self.site.folder, ask=True)
        self.nodes.reap()

    async def stand(self, limit_s: float) -> None:
        """Waits until every node answers, sets policies, waits until clean, or DeployError."""
        start = await until(self._look, lambda start: start.over, limit_s)
        if start.failure:
            raise DeployError(start.failure)
        if start.silent:
            silent = start.silent
            words = "".join(self.nodes.last_words_of(host) for host in silent)
            raise DeployError(f"no answer from {', '.join(silent)} in {limit_s:.0f} s{words}")
        health = await self.health(limit_s)
        await self.broker.set_policies()
        if not health.clean:
            raise DeployError(f"not clean after {limit_s:.0f} s: {'; '.join(health.doubts)}")
        self._versions |= await self.broker.versions()

    async def _look(self) -> "_Start":
        hosts = [host.name for host in self.layout.hosts]
        answers = await asyncio.gather(*map(self.broker.greets, hosts))
        silent = tuple(host for host, answer in zip(hosts, answers, strict=True) if not answer)
        return _Start(silent, self.nodes.failure())

    def _names(self, worker: str) -> dict[str, str]:
        """What the names of hosts mean to a worker, where clients dial what servers advertise."""
        address = self._links.names_mean(worker)
        if address is None:
            return {}
        table = self.site.folder / f"{worker}.hosts"
        try:
            return host_names.variables(dict.fromkeys(self.site.hosts, address), table)
        except OSError as error:
            raise DeployError(f"{worker} could not be started: {error}") from error

    def _fetch_all(self, run_folder: Path) -> LeftOut:
        """In a thread: agent and workers end by themselves if the event loop is silent."""
        folder = run_folder / _BROKER_LOGS
        names = self.site.names
        logs = [self.site.log(name) for name in names]
        logs += [self.site.output(name) for name in (*names, PROXY_NAME)]
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            self._fetch_truth(self.site.truth(name), run_folder / TRUTH / f"{name}.jsonl")
        return those_cut((log.name, self._fetch(log, folder / log.name)) for log in logs)

    def _fetch(self, source: Path, target: Path) -> int:
        """Appends what is new; how many bytes of it are left out."""
        known = self._fetched.get(source.name, 0)
        self._fetched[source.name], left_out = append_new(
            source, target, known, self.log_bytes_max
        )
        return left_out

    def _fetch_truth(self, source: Path, target: Path) -> None:
        """A run is judged by it: all of it, however long it is."""
        known = self._fetched.get(source.name, 0)
        self._fetched[source.name] = append_all(source, target, known)
