"""What the engine says of containers: which has ended, its last words, and its address.

1. A container that does not run has no address: it went with its network. If it is frozen it
   cannot answer, so the result is unknown: DeployError.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import docker
import requests
from docker.errors import DockerException

from harness.cluster.port import DeployError
from harness.deploy.engine import engine_errors

WORDS_MAX = 20  # lines of a process's output that an error quotes
_ENDED = ("exited", "dead")


@dataclass(frozen=True, slots=True)
class Start:
    """A look at a cluster on its way up. `failure`: which process has ended, with its last words;
    none is started again by itself."""

    silent: tuple[str, ...]
    failure: str

    @property
    def over(self) -> bool:
        return bool(self.failure) or not self.silent


def failure(client: docker.DockerClient, processes: Mapping[str, str]) -> str:
    """Return which of these containers has ended, with its last words; "" where none has.

    `processes`: container -> the place of its process. What the engine does not say is no failure:
    the limit of the start decides then.
    """
    for name, place in processes.items():
        try:
            state = client.containers.get(name).attrs["State"]
        except (DockerException, requests.RequestException):
            continue
        if state["Status"] in _ENDED:
            words = last_words(client, (name,))
            return f"the process of {place} ended with {state['ExitCode']}{words}"
    return ""


def last_words(client: docker.DockerClient, names: Iterable[str]) -> str:
    """Return the ends of what these containers wrote, in lines that are set in."""
    lines: list[str] = []
    for name in names:
        try:
            output = client.containers.get(name).logs(tail=WORDS_MAX)
        except (DockerException, requests.RequestException):
            continue
        lines += output.decode("utf-8", "replace").splitlines()
    return "".join(f"\n  {line}" for line in lines) or "; it wrote nothing"


_COMMAND = ("ip", "-4", "-o", "addr", "show", "to")


def has_address(client: docker.DockerClient, container: str, address: str) -> bool:
    """Raises DeployError where the container cannot tell."""
    with engine_errors("a balancer cannot be queried for its address"):
        found = client.containers.get(container)
        if found.status == "exited":
            return False
        result = found.exec_run([*_COMMAND, f"{address}/32"])
    assert isinstance(result.output, bytes), "it is no stream"
    if result.exit_code:
        output = result.output.decode(errors="replace").strip()
        raise DeployError(f"a balancer cannot report its address: {output}")
    return bool(result.output.strip())
