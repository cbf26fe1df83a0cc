"""Removes everything of a cluster, found by its labels; again is harmless.

1. Nothing is asked to stop: there is nothing in a cluster that outlives it.
2. Containers go first, side by side; then networks and volumes, which they hold.
3. It looks again until nothing is left: what an interrupted start had asked for may come late.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import docker
import requests
from docker.errors import DockerException, NotFound

from harness.cluster.port import DeployError
from harness.deploy import labels

_AT_ONCE = 8
_ROUNDS = 4


def sweep(client: docker.DockerClient, project: str) -> None:
    """Raises DeployError, naming what could not be removed."""
    failures: list[str] = []
    for _ in range(_ROUNDS):
        failures = []
        found = False
        for things, remove in _kinds(client, project, failures):
            found = found or bool(things)
            failures += _remove_all(things, remove)
        if not found:
            break
    if failures:
        raise DeployError("\n".join([f"{project} was not removed completely:", *failures]))


def _kinds(
    client: docker.DockerClient, project: str, failures: list[str]
) -> Iterator[tuple[list[Any], Callable[[Any], None]]]:
    """What there is, a kind at a time: each is looked up when those before it are gone."""
    filters: dict[str, Any] = {}
    try:
        for label in (labels.CLUSTER, labels.PROJECT):
            filters = {"label": f"{label}={project}"}
            found = client.containers.list(all=True, filters=filters, ignore_removed=True)
            yield found, _remove_container
        yield client.networks.list(filters=filters), lambda network: network.remove()
        yield client.volumes.list(filters=filters), lambda volume: volume.remove(force=True)
    except (DockerException, requests.RequestException) as error:
        failures.append(str(error))


def _remove_container(container: Any) -> None:
    container.remove(force=True, v=True)


def _remove_all(found: list[Any], remove: Callable[[Any], None]) -> list[str]:
    """The failures. What somebody else has removed meanwhile is none."""
    if not found:
        return []
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return [text for text in threads.map(lambda thing: _removed(thing, remove), found) if text]


def _removed(thing: Any, remove: Callable[[Any], None]) -> str:
    try:
        remove(thing)
    except NotFound:
        return ""
    except (DockerException, requests.RequestException) as error:
        return f"{thing.name}: {error}"
    return ""
