"""The containers of one compose project, found by labels, and the operations in them.

1. Everything here blocks; callers bring threads and deadlines. The engine's own errors become
   FaultError, with what was tried.
2. A helper container joins a host's network namespace with NET_ADMIN and sleeps; commands run in
   it, which takes a tenth of the time of a container of their own. It is made when it is first
   needed, once a host, and goes with the project, whose labels it carries. It has the agent's
   image, which is ours, unlike the brokers'.
3. `issued_ns` is read when everything is prepared: just before the call that takes effect.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import requests
from docker import DockerClient
from docker.errors import APIError, DockerException
from docker.models.containers import Container

from faults.core.model import FaultError, Receipt
from faults.core.places import host_of, process_of

PROJECT_LABEL = "com.docker.compose.project"
SERVICE_LABEL = "com.docker.compose.service"  # of a process: `host-process`
CLUSTER_LABEL = "mqproof.cluster"
ROLE_LABEL = "mqproof.role"
HOST_LABEL = "mqproof.host"
HELPER_LIMIT_S = 30
CONFLICT = 409  # the engine's status: the name is taken
RUNNING, PAUSED = "running", "paused"  # the engine's words; a paused one counts as running, too


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a command in a container, and its start and end."""

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

    def workers(self) -> Container:
        """The container of all publishers, consumers and readers."""
        return self._one("workers")

    def processes(self, place: str) -> list[Container]:
        """Of a host, or the one of it that the place names."""
        host, process = host_of(place), process_of(place)
        found = self.containers("process", host)
        if process:
            found = [one for one in found if one.labels[SERVICE_LABEL] == f"{host}-{process}"]
        if not found:
            raise FaultError(f"project {self.name} has no process container of {place}")
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
        """Runs a shell script with NET_ADMIN in a host's network namespace; what it printed.

        Raises FaultError where the script fails.
        """
        helper = self._helper(host)
        with engine_errors(f"helper in the namespace of {host}"):
            issued_ns = time.monotonic_ns()
            result = helper.exec_run(
                ["timeout", str(HELPER_LIMIT_S), "/bin/sh", "-c", script], demux=True
            )
            receipt = Receipt(issued_ns, time.monotonic_ns())
        parts: tuple[bytes | None, bytes | None] = result.output  # type: ignore[assignment]
        printed, complained = ((part or b"").decode(errors="replace") for part in parts)
        if result.exit_code != 0:
            reason = complained.strip() or f"status {result.exit_code}"
            raise FaultError(f"helper in the namespace of {host}: {reason}")
        return Output(0, printed, receipt)

    def _helper(self, host: str) -> Container:
        found = self.containers("helper", host)
        with engine_errors(f"helper in the namespace of {host}"):
            helper = found[0] if found else self._made_helper(host)
            if helper.status != RUNNING:
                helper.start()  # no error where somebody else just did
        return helper

    def _made_helper(self, host: str) -> Container:
        """By a name of its own: of two that make it at once, one finds the other's."""
        name = f"{self.name}-{host}-helper"
        try:
            return self._client.containers.create(
                image=self.agent().attrs["Image"],
                name=name,
                entrypoint=["sleep", "infinity"],
                init=True,
                network_mode=f"container:{self.host(host).id}",
                cap_drop=["ALL"],
                cap_add=["NET_ADMIN", "NET_RAW"],  # iptables asks the kernel by a raw socket
                security_opt=["no-new-privileges:true"],
                mem_limit="256m",
                pids_limit=256,
                labels={
                    PROJECT_LABEL: self.name,
                    CLUSTER_LABEL: self.name,
                    ROLE_LABEL: "helper",
                    HOST_LABEL: host,
                },
            )
        except APIError as error:
            if error.status_code != CONFLICT:
                raise
            return self._client.containers.get(name)

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
