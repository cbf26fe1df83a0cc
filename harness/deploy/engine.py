"""The Docker engine: how it is reached, and what to do where it is not.

1. The engine that the command line uses is the one that is used here: DOCKER_HOST first, then the
   current context, then the default socket.
2. Many threads ask it at once. The library keeps the connections of each URL apart, those of few
   URLs, and ends the oldest ones though a thread may still wait for an answer (AttributeError: no
   qsize). All URLs lead to one socket: here they share their connections.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import docker
from docker.errors import DockerException
from docker.transport.unixconn import UnixHTTPAdapter, UnixHTTPConnectionPool

from harness.cluster.port import DeployError

CALL_LIMIT_S = 60
CONNECTIONS_MAX = 64  # that are kept
_PREFIX = "http+docker://"


class NoEngine(DeployError):
    """No engine answers us: why, and what to do about it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"no Docker engine: {reason}", remedy)
        self.reason = reason


def connect(limit_s: float = CALL_LIMIT_S) -> docker.DockerClient:
    """A client that has spoken to the engine. Raises NoEngine."""
    try:
        client = _client(limit_s)
        client.ping()
    except (DockerException, OSError) as error:
        raise _explain(str(error)) from error
    return client


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Raise DeployError for what the engine, or the way to it, raises. `what`: what was tried."""
    try:
        yield
    except (DockerException, OSError) as error:  # those of requests are OSErrors
        raise DeployError(f"{what}: {error}") from error


class OnePool(UnixHTTPAdapter):
    """Connections to a socket, whatever URL they are for."""

    def get_connection(self, url: bytes | str, proxies: Any = None) -> UnixHTTPConnectionPool:
        del url
        return super().get_connection(_PREFIX, proxies)


def _client(limit_s: float) -> docker.DockerClient:
    address = os.environ.get("DOCKER_HOST") or _context_address()
    environment = {**os.environ, **({"DOCKER_HOST": address} if address else {})}
    client = docker.DockerClient.from_env(timeout=int(limit_s), environment=environment)
    known = client.api.adapters.get(_PREFIX)
    if isinstance(known, UnixHTTPAdapter):
        one = OnePool(known.socket_path, known.timeout, max_pool_size=CONNECTIONS_MAX)
        client.api.mount(_PREFIX, one)
    return client


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
