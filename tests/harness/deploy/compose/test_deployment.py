"""A start that fails: what the engine refuses is a DeployError, and no agent is left."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import requests
from docker import DockerClient
from docker.errors import APIError

from harness.cluster.port import DeployError
from harness.deploy import engine, images
from harness.deploy.compose import deployment
from harness.deploy.compose.cluster import FoundContainers
from harness.deploy.compose.container_state import has_address
from harness.deploy.compose.deployment import ComposeDeployment, versions_of
from harness.deploy.compose.subnets import free_network
from harness.deploy.compose.tool import AddressTaken, ComposeTool
from harness.deploy.images import Images
from harness.systems.catalogue import load_layout
from tests.rigs.machine.loops import in_a_loop

IMAGES = Images("broker:1", "proxy:1", "worker:1")
LAYOUT = load_layout("rabbitmq-mirrored", "all-automatic")
TOOL = ComposeTool(("docker", "compose"), "2.40.3")
ERRORS = [APIError("the server is busy"), requests.ReadTimeout("Read timed out"), OSError("gone")]


def engine_without(
    refused: str, error: Exception, threads: list[int] | None = None
) -> DockerClient:
    """An engine without networks and containers. One of its calls fails."""

    def call(name: str, answer: object) -> Callable[..., object]:
        def perform(*_: object, **__: object) -> object:
            if name == refused:
                if threads is not None:
                    threads.append(threading.get_ident())
                raise error
            return answer

        return perform

    parts = SimpleNamespace(
        networks=SimpleNamespace(list=call("networks", [])),
        containers=SimpleNamespace(list=call("containers", []), get=call("container", None)),
        images=SimpleNamespace(get=call("image", SimpleNamespace(id="sha256:1"))),
        version=call("version", {"Version": "29.0.1"}),
    )
    return cast(DockerClient, parts)


CALLS: dict[str, Callable[[DockerClient], object]] = {
    "networks": free_network,
    "containers": lambda client: FoundContainers.find(client, "mqproof-1"),
    "container": lambda client: has_address(client, "mqproof-1-balancer1", "172.31.7.9"),
    "version": lambda client: versions_of(client, TOOL, IMAGES, LAYOUT),
    "image": lambda client: versions_of(client, TOOL, IMAGES, LAYOUT),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("error", ERRORS)
def test_errors_of_the_engine_are_failures_of_the_start(call: str, error: Exception) -> None:
    with pytest.raises(DeployError, match=str(error)):
        CALLS[call](engine_without(call, error))


class FakeAgent:
    """An agent that makes every peer link."""

    def __init__(self) -> None:
        self.hello: dict[str, Any] = {}
        self.closed = False

    async def call(self, _name: str, /, timeout_s: float, **_arguments: object) -> dict[str, Any]:
        return {"port": 1}

    async def close(self) -> None:
        self.closed = True


class FakeTool:
    """A compose tool that starts nothing."""

    command, version = TOOL.command, TOOL.version

    async def run(self, project: str, file: Path, words: list[str], limit_s: float) -> None:
        assert file.exists()


@in_a_loop
async def test_the_agent_is_closed_if_versions_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents: list[FakeAgent] = []

    async def start_agent(*_: object) -> FakeAgent:
        agents.append(FakeAgent())
        return agents[-1]

    monkeypatch.setattr(deployment, "start_agent", start_agent)
    threads: list[int] = []
    client = engine_without("version", APIError("the server is busy"), threads)
    tool, none = cast(ComposeTool, FakeTool()), cast(Any, None)
    making = deployment._Making(client, tool, IMAGES, LAYOUT, tmp_path, none, keep=False)
    with pytest.raises(DeployError, match="the server is busy"):
        await making.cluster("mqproof-1", lambda _: None)
    assert agents and all(one.closed for one in agents)
    assert threads and threading.get_ident() not in threads, (
        "the loop must not wait for the engine"
    )


@pytest.mark.parametrize(
    ("failure", "tries"), [(AddressTaken("Pool overlaps"), 3), (DeployError("overlaps"), 1)]
)
@in_a_loop
async def test_only_taken_addresses_are_a_reason_to_try_again(
    failure: DeployError, tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects: list[str] = []
    removed: list[str] = []

    async def fail(_: object, project: str, __: object) -> None:
        projects.append(project)
        raise failure

    async def remove(_: object, project: str) -> None:
        removed.append(project)

    monkeypatch.setattr(engine, "connect", lambda: None)
    monkeypatch.setattr(deployment, "find_tool", lambda: TOOL)
    monkeypatch.setattr(images, "ensure", lambda *_: IMAGES)
    monkeypatch.setattr(deployment, "remove", remove)
    monkeypatch.setattr(deployment._Making, "cluster", fail)
    with pytest.raises(DeployError, match="overlaps"):
        await ComposeDeployment(cast(Any, None)).up(LAYOUT, tmp_path, lambda _: None)
    assert len(projects) == tries
    assert removed == projects
