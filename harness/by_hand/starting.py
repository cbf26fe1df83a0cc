"""Clusters by hand from their start until they are down, whatever runs them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from harness.by_hand.choosing import ByHandChoice
from harness.cleanup.guardian import Workers
from harness.cleanup.guards import Guards
from harness.cluster.agent import AgentClient
from harness.cluster.port import Cluster, DeployError, Progress
from harness.deploy.by_hand_files import ByHandCluster, ReachablePort
from harness.plan.layouts.published import PublishedPort
from harness.workers import host_names
from spark_analysis.files.failed import os_reason

_LISTEN_LIMIT_S = 10.0
HOSTS_FILE = "hosts"


class PublishingCluster(Cluster, Protocol):
    """A cluster whose proxy gets listeners for people. `published`: where the agent dials them."""

    agent: AgentClient
    published: dict[str, tuple[str, int]]


class ForRuns(Protocol):
    """What a run on the cluster needs of its keeper. `workers`: of runs, to end them."""

    @property
    def workers(self) -> Workers: ...

    def facts(self) -> dict[str, Any]:
        """Return what another process needs to attach to the cluster, as JSON."""

    def start(self, place: str) -> int:
        """Start a node; return its pid. Raise OSError."""

    async def collect(self, logs: Path) -> None:
        """Move workers' logs to the folder of their run, which has ended. Raise OSError."""

    def ends(self) -> dict[int, int]:
        """Return the exit status of each node's process that has ended, by pid."""


@dataclass(frozen=True, slots=True)
class RunningByHand:
    """A running cluster. `experiment`: the folder of its journal."""

    choice: ByHandChoice
    cluster: PublishingCluster
    experiment: Path
    ports: tuple[PublishedPort, ...]
    described: ByHandCluster
    for_runs: ForRuns

    def named(self, system: str) -> bool:
        return self.choice.system.name == system


@dataclass(slots=True)
class StartedClusters:
    """What runs by now. `down` removes all of it; each part is appended when it is begun."""

    running: list[RunningByHand] = field(default_factory=list)
    down: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def remove(self) -> None:
        """Remove every cluster, whatever becomes of the others. Raise DeployError."""
        results = await asyncio.gather(*(down() for down in self.down), return_exceptions=True)
        failures = [one for one in results if isinstance(one, BaseException)]
        if failures:
            raise DeployError("; ".join(map(str, failures)))


@dataclass(frozen=True, slots=True)
class ToStart:
    """What a keeper starts. `guarded`: makes an experiment's folder, and guards for it."""

    choices: tuple[ByHandChoice, ...]
    folder: Path
    progress: Progress
    guarded: Callable[[Path], Guards]
    started: StartedClusters


@dataclass(frozen=True, slots=True)
class PublishedWay:
    """How one published port is listened at, and where people and the agent reach it."""

    port: PublishedPort
    listen: str  # by the proxy
    upstream: str
    dialled: tuple[str, int]  # by the agent
    reached: tuple[str, int]  # by people

    @property
    def reachable(self) -> ReachablePort:
        own = self.port
        return ReachablePort(own.host, own.process, own.clients, *self.reached)


async def publish(cluster: PublishingCluster, ways: Iterable[PublishedWay]) -> None:
    """Make the listeners. Raise DeployError."""
    for way in ways:
        await cluster.agent.call(
            "proxy_create",
            _LISTEN_LIMIT_S,
            name=way.port.listener,
            upstream=way.upstream,
            listen=way.listen,
        )
        cluster.published[way.port.listener] = way.dialled


def write_hosts(folder: Path, addresses: Mapping[str, str]) -> str:
    """Write the table of hosts that clients use; return its path. Raise DeployError."""
    path = folder / HOSTS_FILE
    try:
        folder.mkdir(exist_ok=True)
        host_names.variables(addresses, path)
    except OSError as error:
        raise DeployError(os_reason(error, path)) from error
    return str(path)
