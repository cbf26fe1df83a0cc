"""The Docker engine: how it is reached, and what to do where it is not.

1. The engine that the command line uses is the one that is used here: DOCKER_HOST first, then the
   current context, then the default socket.
"""

import os
import subprocess

import docker
from docker.errors import DockerException

from harness.cluster.port import DeployError

CALL_LIMIT_S = 60


class NoEngine(DeployError):
    """No engine answers us: why, and what to do about it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"no Docker engine: {reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy


def connect(limit_s: float = CALL_LIMIT_S) -> docker.DockerClient:
    """A client that has spoken to the engine. Raises NoEngine."""
    try:
        client = _client(limit_s)
        client.ping()
    except (DockerException, OSError) as error:
        raise _explain(str(error)) from error
    return client


def _client(limit_s: float) -> docker.DockerClient:
    address = os.environ.get("DOCKER_HOST") or _context_address()
    if address is None:
        return docker.DockerClient.from_env(timeout=int(limit_s))
    environment = {**os.environ, "DOCKER_HOST": address}
    return docker.DockerClient.from_env(timeout=int(limit_s), environment=environment)


def _context_address() -> str | None:
    """What the command line's current context names; None where there is no command line."""
    command = ["docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None


def _explain(text: str) -> NoEngine:
    if "Permission denied" in text or "PermissionError" in text:
        return NoEngine("permission denied", "join the group `docker`, then log in again")
    if any(word in text for word in ("Connection refused", "No such file", "FileNotFound")):
        return NoEngine("none runs here", "start Docker; on a bare Debian: `.ci/docker` as root")
    return NoEngine(text, "see whether `docker info` answers")
