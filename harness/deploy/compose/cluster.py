"""A cluster in containers that stands, ready for runs: port.Cluster for compose.

1. Containers are found by their labels, once, when the cluster stands.
2. Workers run in one container on the clients' network and have no road to the brokers but
   Toxiproxy's listeners.
3. The machine itself dials no container: everything goes by exec, or by the agent.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import docker
import requests
from docker.errors import DockerException

from faults.core.model import Executor
from faults.core.places import host_of, place
from faults.core.witness import Witness
from harness.cluster.agent import AgentClient, AgentError
from harness.cluster.log_tails import BYTES_MAX, LeftOut, Tail, those_cut
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
    WrongInput,
)
from harness.cluster.started_clients import StartedClients
from harness.deploy import labels
from harness.deploy.compose import container_state, process_ends
from harness.deploy.compose.container_state import has_address
from harness.deploy.compose.core import balancers, worker_ways
from harness.deploy.compose.core.render import RESULTS, proxy_address
from harness.deploy.compose.execs import start
from harness.deploy.compose.resources import Watched, watch
from harness.deploy.compose.sweep import sweep
from harness.deploy.dead_brokers import by_process
from harness.deploy.engine import engine_errors
from harness.deploy.images import containers_of
from harness.deploy.place_commands import ProjectCommands
from harness.plan.layouts.layout_values import BALANCER
from harness.plan.model import Layout, RunPlan
from harness.systems.catalogue import load_system
from harness.systems.containers import Stand
from harness.systems.registry import registry
from harness.workers.protocol import Endpoint

DOWN_LIMIT_S = 60.0
_GREET_LIMIT_S = 3.0
_LOGS = "logs"
_BROKER_LOGS = "broker_logs"


@dataclass(frozen=True, slots=True)
class FoundContainers:
    """Identifiers by (role, host, service): several processes may be on a host."""

    by_place: dict[tuple[str, str, str], str]
    workers_user: str = ""  # uid:gid; where there are workers

    @classmethod
    def find(cls, client: docker.DockerClient, project: str) -> "FoundContainers":
        """Raises DeployError."""
        mark = f"{labels.PROJECT}={project}"
        with engine_errors(f"the containers of {project} could not be listed"):
            found = client.containers.list(all=True, filters={"label": mark}, ignore_removed=True)
        ours = [one for one in found if labels.ROLE in one.labels]
        workers = (one for one in ours if one.labels[labels.ROLE] == labels.ROLE_WORKERS)
        users = (one.labels[labels.USER] for one in workers)
        return cls({_place(one.labels): str(one.id) for one in ours}, next(users, ""))

    def of(self, hosts: Collection[str]) -> "FoundContainers":
        """Return those of these hosts, and of the instrument."""
        alone = (labels.ROLE_HOST, labels.ROLE_PROCESS)
        return FoundContainers(
            {
                place: found
                for place, found in self.by_place.items()
                if place[0] not in alone or place[1] in hosts
            },
            self.workers_user,
        )

    def one(self, role: str, host: str = "") -> str:
        places = {place[:2]: found for place, found in self.by_place.items()}
        return places[role, host or role]

    def logged(self) -> dict[str, str]:
        """Host, toxiproxy, or process of several on a host -> whose output is its log."""
        roles = (labels.ROLE_PROCESS, labels.ROLE_PROXY)
        places = [place for place in self.by_place if place[0] in roles]
        alone = Counter(host for _, host, _ in places)
        return {
            host if alone[host] == 1 else service: self.by_place[role, host, service]
            for role, host, service in places
        }

    def processes(self) -> dict[str, str]:
        """The container of each broker's process -> its place (faults/core/places.py)."""
        found = [place for place in self.by_place if place[0] == labels.ROLE_PROCESS]
        alone = Counter(host for _, host, _ in found)
        return {
            self.by_place[role, host, service]: host
            if alone[host] == 1
            else place(host, service.removeprefix(f"{host}-"))
            for role, host, service in found
        }

    def watched(self) -> tuple[Watched, ...]:
        """Whose statistics count: the agent is no part of what is measured."""
        leading = (labels.ROLE_HOST, labels.ROLE_PROXY, labels.ROLE_WORKERS)
        # A balancer is a host and its process in one.
        hosts = {host for role, host, _ in self.by_place if role == labels.ROLE_HOST}
        return tuple(
            Watched(found, host, leads=role in leading or host not in hosts)
            for (role, host, _), found in self.by_place.items()
            if role in (*leading, labels.ROLE_PROCESS)
        )


class WorkerLogs(Protocol):
    """Where workers' logs lie on this machine. `logs`: their folder in a run's. Raises OSError."""

    def folder(self, logs: Path, worker: str) -> Path: ...

    def collect(self, logs: Path) -> None: ...


class LogsInPlace:
    """WorkerLogs in the run's own folder, which containers mount."""

    def folder(self, logs: Path, worker: str) -> Path:
        return logs / worker

    def collect(self, logs: Path) -> None:
        """They are there."""


class ComposeCluster:
    """A port.Cluster in containers. compose.Equip sets `executor` and `witness`."""

    executor: Executor
    witness: Witness

    def __init__(
        self,
        client: docker.DockerClient,
        project: str,
        layout: Layout,
        experiment_folder: Path,
        network: str,
        agent: AgentClient,
        containers: FoundContainers,
        versions: dict[str, str],
    ) -> None:
        addresses = {host.name: host.address for host in layout.hosts}
        self.client = client
        self.project = project
        self.layout = layout
        self.agent = agent
        self._balancer_address = balancers.balancer_address(layout, network)
        by_names = registry().systems[layout.system].servers(layout).by_names
        made = containers_of(layout.system).parts(
            Stand(
                commands=ProjectCommands(client, project),
                layout=layout,
                agent=agent,
                addresses=addresses,
                proxy=proxy_address(network),
                client_endpoint=self._balancer_address,
                free=worker_ways.addresses(network) if by_names else (),
            )
        )
        self.broker = made.broker
        self.operator = made.operator
        self.service_ports = made.service_ports
        self.alarms = made.alarms
        self.started_clients = StartedClients(self.broker.connections, (DeployError,))
        self._addresses = addresses
        self._experiment_folder = experiment_folder
        self._links = made.ways
        self.published: dict[str, tuple[str, int]] = {}  # listeners for people
        self._dead_broker = made.dead_broker
        self._containers = containers
        self._versions = versions
        self._fetched: dict[str, int] = {}  # bytes of each container's log
        self.log_bytes_max = BYTES_MAX
        self.worker_logs: WorkerLogs = LogsInPlace()
        self.release: Release | None = None  # of a cluster that another process keeps

    async def spawn(self, worker: str) -> Channel:
        container = self._containers.one(labels.ROLE_WORKERS)
        command = ["python", "-m", "harness.workers", worker]
        names = [host.name for host in self.layout.hosts]
        command = worker_ways.command(names, self._links.names_mean(worker), command)
        command = worker_ways.begun_by_root(self._containers.workers_user, command)
        return await start(self.client, container, worker, command)

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        return await self._links.make(run.name, worker)

    async def unlink(self, run: RunPlan) -> None:
        await self._links.remove(run.name)

    async def direct(self, host: str) -> Endpoint:
        return await self._links.direct(host)

    def dial(self, proxy: str) -> tuple[str, int]:
        """A proxy's listener, as the agent and workers dial it."""
        return self.published.get(proxy) or self._links.dial(proxy)

    async def health(self, limit_s: float) -> Health:
        """Return the health of brokers and balancers.

        A balancer takes a broker for healthy only after some checks, so it is waited for, too.
        """
        until_s = time.monotonic() + limit_s
        health = await self.broker.health(limit_s)
        left_s = max(until_s - time.monotonic(), 0.0)
        mute = await until(self._mute, lambda found: not found, left_s)
        doubts = tuple(f"{way}: no broker answers behind it" for way in mute)
        return Health(health.clean and not doubts, (*health.doubts, *doubts))

    async def _mute(self) -> list[str]:
        """The balancers, and the way that clients dial, behind which no broker answers."""
        ways = (
            *self.layout.balancers,
            *([self._balancer_address] if self._balancer_address else []),
        )
        return [way for way in ways if not await self._lets_in(way)]

    async def entered(self) -> tuple[str, ...]:
        """Of a pair, by each one's own kernel; one that does not run has no address."""
        if len(self.layout.balancers) < 2:
            return self.layout.balancers
        containers = self._containers
        found = await asyncio.gather(
            *(
                asyncio.to_thread(
                    has_address,
                    self.client,
                    containers.one(labels.ROLE_PROCESS, name),
                    self._balancer_address,
                )
                for name in self.layout.balancers
            )
        )
        return tuple(name for name, has in zip(self.layout.balancers, found, strict=True) if has)

    async def dead_broker(self, place: str) -> DeadBroker | None:
        found = await by_process(self.witness, place)
        if found is not None or self._dead_broker is None:
            return found
        return await asyncio.to_thread(self._dead_broker, place)

    def log_folder(self, run_folder: Path, worker: str) -> str:
        logs = run_folder.resolve() / _LOGS
        logs.mkdir(parents=True, exist_ok=True)
        inside = self.worker_logs.folder(logs, worker).relative_to(self._experiment_folder)
        return f"{RESULTS}/{inside.as_posix()}"

    async def fetch_logs(self, run_folder: Path) -> LeftOut:
        """Workers' logs are there already; a broker's goes on where the last fetch ended.

        One after the other: each is held in memory, as much of it as is kept.
        """
        try:
            await asyncio.to_thread(self.worker_logs.collect, run_folder / _LOGS)
        except OSError as error:
            raise DeployError(f"logs of workers could not be fetched: {error}") from error
        folder = run_folder / _BROKER_LOGS
        folder.mkdir(parents=True, exist_ok=True)
        found = []
        for host, container in self._containers.logged().items():
            file = folder / f"{host}.log"
            found.append((file.name, await asyncio.to_thread(self._fetch_log, container, file)))
        return those_cut(found)

    def resources(self) -> AsyncIterator[HostSample]:
        return watch(self.client, self._containers.watched())

    def process_ends(self) -> AsyncIterator[Ended]:
        return process_ends.watch(self.client, self.project, self._containers.processes())

    def versions(self) -> dict[str, str]:
        return dict(self._versions)

    async def down(self) -> None:
        await self.agent.close()
        if self.release is not None:
            await self.release()
            return
        await remove(self.client, self.project)

    async def stand(self, limit_s: float) -> None:
        """Waits until every broker answers, sets policies, waits until clean, or DeployError."""
        hosts = (*self._addresses, *([BALANCER] if self._balancer_address else []))
        start = await until(lambda: self._look(hosts), lambda start: start.over, limit_s)
        if start.failure:
            raise DeployError(start.failure)
        if start.silent:
            mute = self._containers.processes().items()
            names = [name for name, at in mute if host_of(at) in start.silent]
            words = await asyncio.to_thread(container_state.last_words, self.client, names)
            silent = ", ".join(start.silent)
            raise DeployError(f"no answer from {silent} within {limit_s:.0f} s{words}")
        health = await self.health(limit_s)
        await self.broker.set_policies()
        if not health.clean:
            raise DeployError(f"not clean after {limit_s:.0f} s: {'; '.join(health.doubts)}")
        self._versions |= await self.broker.versions()
        if wrong := self._wrong_version():
            raise WrongInput(wrong)

    def _wrong_version(self) -> str:
        known = load_system(self.layout.system).versions
        if known is None:
            return ""
        layout = self.layout
        users = layout.image or layout.distribution
        wanted = layout.version or ("" if users else layout.file_version or known.default)
        return known.contradiction(wanted, layout.image, self._versions)

    async def _look(self, hosts: tuple[str, ...]) -> container_state.Start:
        answered = await self._greeted()
        silent = tuple(host for host in hosts if host not in answered)
        if not silent:
            return container_state.Start((), "")
        processes = self._containers.processes()
        failure = await asyncio.to_thread(container_state.failure, self.client, processes)
        return container_state.Start(silent, failure)

    async def _greeted(self) -> list[str]:
        hosts = tuple(self._addresses)
        answers = await asyncio.gather(*map(self.broker.greets, hosts))
        found = [host for host, answered in zip(hosts, answers, strict=True) if answered]
        if len(found) == len(hosts) and self._balancer_address:
            found += [BALANCER] if await self._lets_in(self._balancer_address) else []
        return found

    async def _lets_in(self, way: str) -> bool:
        greets = self.service_ports.greeting
        try:
            answer = await self.agent.call(
                greets.call,
                _GREET_LIMIT_S,
                host=way,
                port=self.service_ports.usual,
                **greets.arguments,
            )
        except AgentError:
            return False
        return bool(answer["answered"])

    def _fetch_log(self, container: str, file: Path) -> int:
        """How many bytes of what is new are left out."""
        known, seen = self._fetched.get(container, 0), 0
        tail = Tail(self.log_bytes_max)
        try:
            found = self.client.containers.get(container)
            for chunk in found.logs(stream=True, follow=False):
                tail.add(chunk[max(0, known - seen) :])
                seen += len(chunk)
            if seen < known:  # the engine has dropped the oldest: all that is there is new
                del self._fetched[container]
                return self._fetch_log(container, file)
            tail.append_to(file)
        except (DockerException, requests.RequestException, OSError) as error:
            raise DeployError(f"{file.name} could not be fetched: {error}") from error
        self._fetched[container] = seen
        return tail.left_out


def _place(marks: dict[str, str]) -> tuple[str, str, str]:
    """What Compose did not make has no service."""
    return marks[labels.ROLE], marks[labels.HOST], marks.get(labels.SERVICE, "")


async def remove(client: docker.DockerClient, project: str) -> None:
    """Everything of a cluster, within a limit; again is harmless. Raises DeployError."""
    removal = asyncio.ensure_future(asyncio.to_thread(sweep, client, project))
    try:
        # A removal that was begun is finished, even if the caller gives up waiting.
        await asyncio.wait_for(asyncio.shield(removal), DOWN_LIMIT_S)
    except TimeoutError:
        raise DeployError(f"{project} was not removed within {DOWN_LIMIT_S:.0f} s") from None
