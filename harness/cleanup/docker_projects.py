"""The projects that mqproof made on a Docker engine: found, swept, rid of workers, removed.

1. A project is what carries our owner label: containers, networks or volumes, so that one that
   died while it was started is found, too.
2. Steps do not keep each other from happening: all are tried, then what failed is one FaultError.
"""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from docker import DockerClient

from faults.core.alarms import NOTHING, Command
from faults.core.model import FaultError
from faults.executors.compose import ComposeExecutor
from faults.executors.core import client_processes, netem, packet_filter
from faults.executors.once import OnceAgent
from faults.executors.project import PAUSED, RUNNING, Project, engine_errors
from harness.cleanup.heal import RunningProject
from harness.cluster.port import DeployError
from harness.deploy import labels
from harness.deploy.compose.sweep import sweep as remove_all
from harness.deploy.engine import NoEngine, connect
from harness.systems.registry import registry

WORKER_MARK = "harness.workers"  # in the command line of every worker, and of the agent
RESET_LIMIT_S = 15.0


class DockerProjects:
    """heal.Projects and guardian.Workers of one engine."""

    def __init__(self, client: DockerClient) -> None:
        self._client = client

    async def find(self) -> Sequence[RunningProject]:
        return await asyncio.to_thread(self._find)

    def executor(self, project: str) -> ComposeExecutor:
        return ComposeExecutor(self._client, project)

    async def sweep(self, project: str) -> Sequence[str]:
        swept, failures = await asyncio.to_thread(
            self._sweep_hosts, Project(self._client, project)
        )
        try:
            swept += await asyncio.to_thread(_thaw_workers, Project(self._client, project))
        except FaultError as failure:
            failures.append(str(failure))
        try:
            if await asyncio.to_thread(self._agent_runs, project):
                agent = OnceAgent(Project(self._client, project))
                await agent.call("toxic_reset", RESET_LIMIT_S)
                swept.append("the proxy is reset")
        except FaultError as failure:
            failures.append(str(failure))
        if failures:
            raise FaultError("; ".join([*failures, *swept]))
        return swept

    async def remove(self, project: str) -> None:
        try:
            await asyncio.to_thread(remove_all, self._client, project)
        except DeployError as error:
            raise FaultError(str(error)) from error

    async def workers(self, project: str) -> Sequence[str]:
        """The command lines of workers and agents that run now."""
        return await asyncio.to_thread(self._workers, project)

    async def kill_workers(self, project: str) -> None:
        """Restarts their containers: nothing in them survives, and they stand for inspection."""
        await asyncio.to_thread(self._kill_workers, project)

    def _find(self) -> Sequence[RunningProject]:
        every: dict[str, str | list[str] | bool] = {"label": labels.OWNER}
        with engine_errors("find labelled projects"):
            containers = self._client.containers.list(all=True, filters=every, ignore_removed=True)
            networks = self._client.networks.list(filters=every)
            volumes = self._client.volumes.list(filters=every)
        marks: list[dict[str, str]] = [
            *(container.labels for container in containers),
            *(network.attrs.get("Labels") or {} for network in networks),
            *(volume.attrs.get("Labels") or {} for volume in volumes),
        ]
        found = {mark[labels.PROJECT]: mark for mark in marks if labels.PROJECT in mark}
        return [_running_project(name, found[name]) for name in sorted(found)]

    def _sweep_hosts(self, project: Project) -> tuple[list[str], list[str]]:
        swept: list[str] = []
        failures: list[str] = []
        owners = project.containers(labels.ROLE_HOST)
        hosts = {owner.labels[labels.HOST] for owner in owners}  # a balancer has no such container
        for owner in owners:
            host = owner.labels[labels.HOST]
            if owner.status != "running":
                continue  # Its namespace is gone, and its filters with it.
            for sweep_away in (self._sweep_host, self._sweep_queues, self._sweep_alarms):
                try:
                    swept += sweep_away(project, host)
                except FaultError as failure:
                    failures.append(str(failure))
        for process in project.containers(labels.ROLE_PROCESS):
            if process.labels[labels.HOST] not in hosts:
                try:
                    swept += _run_on(process)
                except FaultError as failure:
                    failures.append(str(failure))
        return swept, failures

    def _sweep_host(self, project: Project, host: str) -> list[str]:
        swept = [result for process in project.processes(host) for result in _run_on(process)]
        chains = project.help(host, packet_filter.join_all()).text.split()
        return [*swept, *(f"{chain} removed from {host}" for chain in chains)]

    def _sweep_queues(self, project: Project, host: str) -> list[str]:
        cleared = project.help(host, netem.clear()).text.split()
        return [f"netem removed from {interface} of {host}" for interface in cleared]

    def _sweep_alarms(self, project: Project, host: str) -> list[str]:
        """A process that has just been started has the limits of its configuration."""
        swept = []
        for process in project.processes(host):
            for command in alarms_cleared():
                result = project.execute(process, list(command))
                if not result.status and result.text.strip() not in ("", NOTHING):
                    swept.append(f"{process.name}: alarms {result.text.strip()} cleared")
        return swept

    def _agent_runs(self, project: str) -> bool:
        found = Project(self._client, project).containers(labels.ROLE_AGENT)
        return any(container.status == "running" for container in found)

    def _workers(self, project: str) -> Sequence[str]:
        return [line for _, lines in self._worker_containers(project) for line in lines]

    def _kill_workers(self, project: str) -> None:
        for container, _ in self._worker_containers(project):
            with engine_errors(f"restart {container.name}"):
                container.restart(timeout=0)

    def _worker_containers(self, project: str) -> list[tuple[Any, list[str]]]:
        """Containers in which workers run, with their command lines."""
        found = []
        # An agent carries no load, and a kept cluster may have another harness's.
        for container in Project(self._client, project).containers(labels.ROLE_WORKERS):
            with engine_errors(f"list processes of {container.name}"):
                running = container.status == "running"
                processes = container.top()["Processes"] if running else []
            lines = [row[-1] for row in processes if WORKER_MARK in row[-1]]
            if lines:
                found.append((container, lines))
        return found


def connected() -> DockerProjects:
    """Return the projects of the machine's engine. Raise FaultError if it does not answer."""
    try:
        return DockerProjects(connect())
    except NoEngine as error:
        raise FaultError(str(error)) from error


def alarms_cleared() -> Iterable[Command]:
    """Return the commands that clear alarms of every system: no label names the system."""
    made = (one.containers for one in registry().systems.values() if one.containers is not None)
    return dict.fromkeys(one.alarms.all_cleared for one in made if one.alarms is not None)


def _run_on(process: Any) -> list[str]:
    """What was done to a process that did not run, or stood still."""
    if process.status == PAUSED:
        with engine_errors(f"unpause {process.name}"):
            process.unpause()
        return [f"{process.name} unpaused"]
    if process.status != RUNNING:
        with engine_errors(f"start {process.name}"):
            process.start()
        return [f"{process.name} started"]
    return []


def _thaw_workers(project: Project) -> list[str]:
    result = project.execute(project.workers(), client_processes.thaw_all()).text.strip()
    return [f"{result} workers run on"] if result not in ("", "0") else []


def _running_project(name: str, mark: dict[str, str]) -> RunningProject:
    return RunningProject(
        name=name,
        experiment=Path(mark.get(labels.EXPERIMENT, ".")),
        owner=mark.get(labels.OWNER, ""),
        keep=mark.get(labels.KEEP, "0") == "1",
    )
