"""Check whether a container has an address now, by its own kernel.

1. A container that does not run has none: its address went with its network.
2. If it is frozen it cannot answer, so the result is unknown: DeployError.
"""

import docker
from docker.errors import DockerException

from harness.cluster.port import DeployError

_COMMAND = ("ip", "-4", "-o", "addr", "show", "to")


def has_address(client: docker.DockerClient, container: str, address: str) -> bool:
    """Raises DeployError where the container cannot tell."""
    try:
        found = client.containers.get(container)
        if found.status == "exited":
            return False
        result = found.exec_run([*_COMMAND, f"{address}/32"])
    except DockerException as error:
        raise DeployError(f"a balancer cannot be asked for its address: {error}") from error
    assert isinstance(result.output, bytes), "it is no stream"
    if result.exit_code:
        output = result.output.decode(errors="replace").strip()
        raise DeployError(f"a balancer cannot tell its address: {output}")
    return bool(result.output.strip())
