"""One booted cluster for all Docker tests, in an event loop of its own that never stands still."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.deploy import engine, images
from harness.deploy.catalogue import load_layout
from harness.deploy.compose import ComposeDeployment
from harness.deploy.compose_cluster import ComposeCluster
from harness.deploy.compose_faults import equip
from harness.deploy.compose_tool import find_tool
from harness.deploy.port import DeployError

CALL_LIMIT_S = 180.0
OWN_FILES = ("mqproof/worker", "mqproof/reference")
Play = Callable[[Awaitable[Any]], Any]


def why_not() -> str:
    """Empty where Docker tests can run; images of our own files are made in seconds."""
    try:
        client = engine.connect(5.0)
        find_tool()
        missing = [name for name in images.missing(client) if not name.startswith(OWN_FILES)]
    except DeployError as error:
        return str(error)
    return f"images are missing: {', '.join(missing)}; `mqproof build`" if missing else ""


def require_docker() -> None:
    """Skips with the reason where Docker is missing; where CI promised it, that is a failure."""
    if reason := why_not():
        if os.environ.get("MQPROOF_REQUIRE_DOCKER"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def play() -> Play:
    """Runs a coroutine to its end. Between tests the loop runs on: the agent must be heard of."""
    require_docker()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def whole(work: Awaitable[Any]) -> Any:
        return await work

    def run(work: Awaitable[Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(whole(work), loop).result(CALL_LIMIT_S)

    return run


@pytest.fixture(scope="session")
def experiment_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiment")


@pytest.fixture(scope="session")
def cluster(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    """One boot for all tests; each leaves it clean.

    At T=60 no node notices a short cut: one that is noticed just as it ends leaves a split brain
    (rabbitmq-server issue 8110).
    """
    layout = load_layout("rabbitmq-mirrored", "all-automatic@T=60")
    standing = play(ComposeDeployment(equip).up(layout, experiment_folder, print))
    try:
        yield standing
    finally:
        play(standing.down())
