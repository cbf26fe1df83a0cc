"""A container that stands in for a process that is down: its disk, its network, its environment,
another command.

1. It is always removed; it carries the project's labels, so that removing the project removes it,
   too.
2. Everything here blocks; callers bring threads.
"""

from docker import DockerClient
from docker.models.containers import Container

from faults.executors.project import (
    CLUSTER_LABEL,
    HOST_LABEL,
    PROJECT_LABEL,
    ROLE_LABEL,
    Project,
)
from faults.model import FaultError
from faults.places import host_of
from harness.systems.services import BECOMES_A_USER

ROLE = "operator"


def run_instead(
    client: DockerClient, project: Project, place: str, text: str, limit_s: float
) -> tuple[int, str]:
    """A shell script instead of the first process of a place (faults/places.py): its status, and
    what it said. Raises FaultError where that process runs, and the engine's own errors."""
    process = project.processes(place)[0]
    if process.status == "running":
        raise FaultError(f"{process.name} runs; that is for a node that is down")
    container = _made(client, project, process, host_of(place), text, limit_s)
    try:
        container.start()
        status = int(container.wait(timeout=limit_s)["StatusCode"])
        return status, container.logs().decode(errors="replace")
    finally:
        container.remove(force=True)


def _made(
    client: DockerClient,
    project: Project,
    process: Container,
    host: str,
    text: str,
    limit_s: float,
) -> Container:
    return client.containers.create(
        image=process.attrs["Image"],
        environment=process.attrs["Config"]["Env"],
        entrypoint=["timeout", f"{limit_s:.0f}", "sh", "-c", text],
        network_mode=f"container:{project.host(host).id}",
        volumes_from=[str(process.id)],
        cap_drop=["ALL"],
        cap_add=list(BECOMES_A_USER),
        security_opt=["no-new-privileges:true"],
        labels={
            PROJECT_LABEL: project.name,
            CLUSTER_LABEL: project.name,
            ROLE_LABEL: ROLE,
            HOST_LABEL: host,
        },
    )
