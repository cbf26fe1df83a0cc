"""A booted cluster for all Docker tests, in an event loop of its own that never stands still."""

import asyncio
import os
import threading
import warnings
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
from docker import DockerClient

from harness.cluster.port import DeployError
from harness.deploy import engine, images, labels
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.deploy.compose.tool import find_tool
from harness.systems.catalogue import load_layout
from tests.docker.looks import in_force

HEALTH_LIMIT_S = 90.0
CALL_LIMIT_S = 180.0
OWN_FILES = ("mqproof/worker", "mqproof/reference")
SYSTEMS = ("rabbitmq-mirrored", "reference-mirrored")  # RocketMQ's tests ask for its own images
T = TypeVar("T")


class Play(Protocol):
    """Runs a coroutine to its end, at most so long, and returns its result."""

    def __call__(self, work: Awaitable[T], limit_s: float = CALL_LIMIT_S) -> T: ...


def why_not(*systems: str) -> str:
    """Empty where Docker tests can run; images of our own files are made in seconds."""
    try:
        client = engine.connect(5.0)
        find_tool()
        missing = missing_images(client, *(systems or SYSTEMS))
    except DeployError as error:
        return str(error)
    return f"images are missing: {', '.join(missing)}; `mqproof build`" if missing else ""


def missing_images(client: DockerClient, *systems: str) -> list[str]:
    """Those that a test does not make by itself."""
    return [name for name in images.missing(client, *systems) if not name.startswith(OWN_FILES)]


def require_docker(*systems: str) -> None:
    """Skips with the reason where Docker, or an image of these systems, is missing; where CI
    promised it, that is a failure."""
    if reason := why_not(*systems):
        if os.environ.get("MQPROOF_REQUIRE_DOCKER"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def play() -> Play:
    """Runs a coroutine to its end. Between tests the loop runs on: the agent must be heard of."""
    require_docker()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def whole(work: Awaitable[T]) -> T:
        return await work

    def run(work: Awaitable[T], limit_s: float = CALL_LIMIT_S) -> T:
        return asyncio.run_coroutine_threadsafe(whole(work), loop).result(limit_s)

    return run


@pytest.fixture(scope="session")
def experiment_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiment")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the tests of a module find the clusters that `mqproof up` started."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture
def own_state(states: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(states))


class SharedCluster:
    """The cluster that tests share. A broken one is replaced: no test pays for another.

    At T=60 no node notices a short cut: one that is noticed just as it ends leaves a split brain
    (rabbitmq-server issue 8110).
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cluster: ComposeCluster | None = None
        self.worn = False

    async def clean(self) -> ComposeCluster:
        if self._cluster and not self.worn:
            self.worn = True  # also where the question itself fails
            doubts = await what_is_wrong(self._cluster)
            self.worn = bool(doubts)
            if not doubts:
                return self._cluster
            warnings.warn(f"replaced before this test: {'; '.join(doubts)}", stacklevel=1)
        await self.down()
        layout = load_layout("rabbitmq-mirrored", "all-automatic@T=60")
        self._cluster = await ComposeDeployment(equip).up(layout, self._folder, print)
        return self._cluster

    async def down(self) -> None:
        cluster, self._cluster, self.worn = self._cluster, None, False
        if cluster:
            await cluster.down()

    async def left_clean(self) -> tuple[str, ...]:
        """What a test has left wrong; a crash of RabbitMQ's own is a warning.

        A node that had paused may not start its application again: its management agent crashes
        in `rabbit_net:dist_info`, now and then (rabbitmq-server issue 5496). Only that is
        forgiven: a fault that is still in force, or another reason to stay away, is a failure.
        """
        assert self._cluster
        cluster, self.worn = self._cluster, True
        doubts = await what_is_wrong(cluster)
        if not doubts:
            self.worn = False
            return ()
        if any(not what.endswith(" is exited") for what in await in_force(cluster)):
            return doubts
        crashed = [
            host.name for host in cluster.layout.hosts if _agent_crashed(cluster, host.name)
        ]
        if not crashed:
            return doubts
        warnings.warn(f"{', '.join(crashed)} crashed in rabbit_net:dist_info", stacklevel=1)
        return ()


async def what_is_wrong(cluster: ComposeCluster) -> tuple[str, ...]:
    return (await cluster.health(HEALTH_LIMIT_S)).doubts


@pytest.fixture(scope="session")
def shared(play: Play, experiment_folder: Path) -> Iterator[SharedCluster]:
    one = SharedCluster(experiment_folder)
    yield one
    play(one.down())


@pytest.fixture
def cluster(shared: SharedCluster, play: Play) -> ComposeCluster:
    """Clean before the test. Who breaks something asserts that it is so afterwards, too."""
    return play(shared.clean())


@pytest.fixture
def spent(cluster: ComposeCluster, shared: SharedCluster) -> Iterator[ComposeCluster]:
    """A cluster that no later test uses: whether it recovers does not matter."""
    yield cluster
    shared.worn = True


def _agent_crashed(cluster: ComposeCluster, host: str) -> bool:
    said = _process(cluster, host).logs(tail=2000).decode(errors="replace")
    return "rabbit_net:dist_info" in said or "rabbit_net,dist_info" in said


def _process(cluster: ComposeCluster, host: str) -> Any:
    marks = {labels.PROJECT: cluster.project, labels.ROLE: "process", labels.HOST: host}
    words = [f"{name}={value}" for name, value in marks.items()]
    (process,) = cluster.client.containers.list(all=True, filters={"label": words})
    return process
