"""Commands for brokers in the containers of a compose project: containers.PlaceCommands.

1. A node that is down gets another container in its place: its disk, its network, its environment,
   another command. It is always removed. It carries the project's labels, so removing the project
   removes it, too.
2. What the engine, or the way to it, raises becomes a FaultError.
"""

from collections.abc import Sequence

import requests
from docker import DockerClient
from docker.errors import DockerException
from docker.models.containers import Container

from faults.core.model import FaultError
from faults.core.places import host_of
from faults.executors.project import (
    CLUSTER_LABEL,
    HOST_LABEL,
    PROJECT_LABEL,
    ROLE_LABEL,
    Project,
)
from harness.systems.core.services import BECOMES_A_USER

ROLE = "operator"


class ProjectCommands:
    """containers.PlaceCommands of one project."""

    def __init__(self, client: DockerClient, project: str) -> None:
        self._client = client
        self._project = Project(client, project)

    def run(self, place: str, command: Sequence[str]) -> tuple[int, str]:
        output = self._project.execute(self._project.processes(place)[0], list(command))
        return output.status, output.text

    def run_instead(self, place: str, script: str, limit_s: float) -> tuple[int, str]:
        process = self._project.processes(place)[0]
        if process.status == "running":
            raise FaultError(f"{process.name} runs; that is for a node that is down")
        try:
            return self._run_once(self._made(process, host_of(place), script, limit_s), limit_s)
        except (DockerException, requests.RequestException) as error:
            raise FaultError(str(error)) from error

    def _run_once(self, container: Container, limit_s: float) -> tuple[int, str]:
        try:
            container.start()
            status = int(container.wait(timeout=limit_s)["StatusCode"])
            return status, container.logs().decode(errors="replace")
        finally:
            container.remove(force=True)

    def _made(self, process: Container, host: str, script: str, limit_s: float) -> Container:
        return self._client.containers.create(
            image=process.attrs["Image"],
            environment=process.attrs["Config"]["Env"],
            entrypoint=["timeout", f"{limit_s:.0f}", "sh", "-c", script],
            network_mode=f"container:{self._project.host(host).id}",
            volumes_from=[str(process.id)],
            cap_drop=["ALL"],
            cap_add=list(BECOMES_A_USER),
            security_opt=["no-new-privileges:true"],
            labels={
                PROJECT_LABEL: self._project.name,
                CLUSTER_LABEL: self._project.name,
                ROLE_LABEL: ROLE,
                HOST_LABEL: host,
            },
        )
