"""The local clusters on this machine: found, mended, rid of workers, removed.

1. A cluster is whatever processes of this user say in their environment that they are of it.
2. Steps do not keep each other from happening: all are tried, then what failed is one FaultError.
3. A proxy that is gone has taken its stalls with it; a node is started again as it was.

`python -m harness.cleanup.local_projects CLUSTER` removes a cluster that was kept.
"""

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from faults.core.model import FaultError
from faults.executors import local_processes as processes
from faults.executors.local import LocalExecutor
from faults.executors.local_processes import Running
from faults.toxiproxy import TOKEN
from harness.cleanup.heal import RunningProject
from harness.cluster.port import DeployError
from harness.deploy.local.faults import AgentHere
from harness.deploy.local.removal import remove
from harness.deploy.local.site import TOXIPROXY, folder_of, load, runs, start_unit
from harness.outside.text import visible

RESET_LIMIT_S = 15.0


class LocalProjects:
    """heal.Projects and guardian.Workers of this machine.

    `experiment`: where a cluster's folder lies if none of its processes can tell any more.
    """

    def __init__(self, experiment: Path = Path()) -> None:
        self._experiment = experiment
        self._folders: dict[str, Path] = {}  # of those that were found, also once all have ended

    async def find(self) -> Sequence[RunningProject]:
        found = {
            running.mark(processes.CLUSTER): running
            for running in processes.every()
            if not running.mark(processes.EXTERNAL)  # others heal what is around those
        }
        for name, running in found.items():
            self._folders[name] = Path(running.mark(processes.FOLDER))
        return [_running_project(name, found[name]) for name in sorted(found)]

    def executor(self, project: str) -> LocalExecutor:
        folder, agent = self._folder(project), _agent(project)

        def start(place: str) -> None:
            _start(folder, place)

        def broker(place: str) -> tuple[str, int]:
            return load(folder).broker(place)

        return LocalExecutor(project, start, broker, agent, agent)

    async def sweep(self, project: str) -> Sequence[str]:
        swept = _thaw(project)
        failures: list[str] = []
        try:
            swept += _start(self._folder(project))
        except OSError as failure:
            failures.append(f"start nodes: {failure}")
        try:
            if processes.of(project, processes.PROXY):
                await _agent(project).call("toxic_reset", RESET_LIMIT_S)
                swept.append("the proxy is reset")
        except FaultError as failure:
            failures.append(str(failure))
        if failures:
            raise FaultError("; ".join([*failures, *swept]))
        return swept

    async def remove(self, project: str) -> None:
        try:
            await remove(project, self._folder(project), ask=False)
        except DeployError as error:
            raise FaultError(str(error)) from error

    async def workers(self, project: str) -> Sequence[str]:
        return [running.mark(processes.HOST) for running in _workers(project)]

    async def kill_workers(self, project: str) -> None:
        for running in _workers(project):
            running.signal(signal.SIGKILL)

    def _folder(self, project: str) -> Path:
        folders = [running.mark(processes.FOLDER) for running in processes.of(project)]
        if folders:
            return Path(folders[0])
        return self._folders.get(project) or folder_of(self._experiment, project)


def _running_project(name: str, running: Running) -> RunningProject:
    return RunningProject(
        name=name,
        experiment=Path(running.mark(processes.EXPERIMENT)),
        owner=running.mark(processes.OWNER),
        keep=running.mark(processes.KEEP) == "1",
    )


def _workers(project: str) -> tuple[Running, ...]:
    return processes.of(project, processes.WORKER)


def _agent(project: str) -> AgentHere:
    """Asks the proxy that the processes of the cluster name, with the token that it has itself."""
    addresses = [running.mark(TOXIPROXY) for running in processes.of(project)]
    tokens = [running.mark(TOKEN) for running in processes.of(project, processes.PROXY)]
    return AgentHere(addresses[0] if addresses else "127.0.0.1:0", tokens[0] if tokens else "")


def _thaw(project: str) -> list[str]:
    frozen = [running for running in processes.of(project) if running.stopped]
    for running in frozen:
        running.signal(signal.SIGCONT)
    return [f"{running.mark(processes.HOST)} runs on" for running in frozen]


def _start(folder: Path, place: str = "") -> list[str]:
    """What of a place, or of all the cluster, does not run. Raises OSError."""
    site = load(folder)
    ended = [unit for unit in (site.of(place) if place else site.units) if not runs(site, unit)]
    for unit in ended:
        start_unit(site, unit)
    return [f"{site.met_at(unit)} started" for unit in ended]


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m harness.cleanup.local_projects CLUSTER", file=sys.stderr)
        return 254
    found = {running.mark(processes.CLUSTER) for running in processes.every()}
    if arguments[0] not in found:
        there = ", ".join(sorted(found)) or "none"
        print(f"no local cluster {arguments[0]}; there are: {there}", file=sys.stderr)
        return 254
    try:
        asyncio.run(LocalProjects().remove(arguments[0]))
    except FaultError as failure:
        print(visible(str(failure)), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
