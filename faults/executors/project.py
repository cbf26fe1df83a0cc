"""The containers of one compose project, found by labels, and what can be done in them.

1. Everything here blocks; callers bring threads and deadlines. The engine's own errors become
   FaultError, with what was tried.
2. A helper container joins a host's network namespace with NET_ADMIN, runs one command and is
   removed; it carries the project's labels, so that one left behind is found.
3. `issued_ns` is read when everything is prepared: just before the call that takes effect.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import requests
from docker import DockerClient
from docker.errors import DockerException, NotFound
from docker.models.containers import Container

from faults.model import FaultError, Receipt

PROJECT_LABEL = "com.docker.compose.project"
CLUSTER_LABEL = "mqproof.cluster"
ROLE_LABEL = "mqproof.role"
HOST_LABEL = "mqproof.host"
HELPER_LIMIT_S = 30
RUNNING, PAUSED = "running", "paused"  # the engine's words; a paused one counts as running, too


@dataclass(frozen=True, slots=True)
class Output:
    """What a command in a container said, and when it was started and had ended."""

    status: int
    text: str
    receipt: Receipt


class Project:
    """One compose project."""

    def __init__(self, client: DockerClient, name: str) -> None:
        self._client = client
        self.name = name

    def containers(self, role: str, host: str | None = None) -> list[Container]:
        """Running or not, in the order of their names."""
        labels = [f"{PROJECT_LABEL}={self.name}", f"{ROLE_LABEL}={role}"]
        if host is not None:
            labels.append(f"{HOST_LABEL}={host}")
        with engine_errors(f"list {role} containers of {self.name}"):
            found = self._client.containers.list(
                all=True, filters={"label": labels}, ignore_removed=True
            )
        return sorted(found, key=lambda container: str(container.name))

    def hosts(self) -> list[str]:
        return [str(container.labels[HOST_LABEL]) for container in self.containers("host")]

    def host(self, host: str) -> Container:
        """The container that owns the network namespace of a host."""
        return self._one("host", host)

    def agent(self) -> Container:
        return self._one("agent")

    def processes(self, host: str) -> list[Container]:
        found = self.containers("process", host)
        if not found:
            raise FaultError(f"project {self.name} has no process container of host {host}")
        return found

    def addresses(self, host: str) -> list[str]:
        """Every IPv4 address of a host."""
        networks = self.host(host).attrs["NetworkSettings"]["Networks"]
        found = [entry["IPAddress"] for entry in networks.values() if entry["IPAddress"]]
        if not found:
            raise FaultError(f"host {host} has no address (is it running?)")
        return sorted(found)

    def execute(self, container: Container, command: list[str]) -> Output:
        """Runs a command in a running container; any status is an answer."""
        with engine_errors(f"run {command[0]} in {container.name}"):
            issued_ns = time.monotonic_ns()
            result = container.exec_run(command)
            receipt = Receipt(issued_ns, time.monotonic_ns())
        assert result.exit_code is not None, "only a detached command has no status yet"
        assert isinstance(result.output, bytes), "only a streamed one is not bytes"
        return Output(result.exit_code, result.output.decode(errors="replace"), receipt)

    def help(self, host: str, script: str) -> Output:
        """Runs a shell script with NET_ADMIN in a host's network namespace.

        Raises FaultError where the script fails.
        """
        owner = self.host(host)
        with engine_errors(f"helper in the namespace of {host}"):
            helper = self._client.containers.create(
                image=self.processes(host)[0].attrs["Image"],
                entrypoint=["/bin/sh", "-c", script],
                network_mode=f"container:{owner.id}",
                cap_add=["NET_ADMIN"],
                labels={
                    PROJECT_LABEL: self.name,
                    CLUSTER_LABEL: self.name,
                    ROLE_LABEL: "helper",
                    HOST_LABEL: host,
                },
            )
            try:
                return _ran(helper)
            except FaultError as failure:
                raise FaultError(f"helper in the namespace of {host}: {failure}") from None
            finally:
                with suppress(NotFound):
                    helper.remove(force=True)

    def _one(self, role: str, host: str | None = None) -> Container:
        found = self.containers(role, host)
        if len(found) != 1:
            what = f"{role} container" + (f" of {host}" if host else "")
            raise FaultError(f"project {self.name} has {len(found)} {what}s instead of one")
        return found[0]


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Turns what the engine, or the way to it, raises into a FaultError."""
    try:
        yield
    except (DockerException, requests.RequestException) as error:
        raise FaultError(f"{what}: {error}") from error


def _ran(helper: Container) -> Output:
    issued_ns = time.monotonic_ns()
    helper.start()
    ended = helper.wait(timeout=HELPER_LIMIT_S)
    receipt = Receipt(issued_ns, time.monotonic_ns())
    if ended["StatusCode"] != 0:
        raise FaultError(helper.logs(stdout=False).decode(errors="replace").strip())
    return Output(0, helper.logs(stderr=False).decode(errors="replace"), receipt)
