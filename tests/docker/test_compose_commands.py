"""The commands that `new topology --from-compose` writes, on a container with such labels."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.core.commands import DO, UNDO
from faults.core.model import FaultError
from faults.executors.commands import Commands
from harness.deploy import engine, images
from harness.systems.rabbitmq.foreign.from_compose import topology_text
from harness.systems.topologies import read_topology
from tests.docker.conftest import require_docker
from tests.docker.somebodys import docker

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

COMPOSE = """
name: mqproof-somebodys-shop
services:
  rabbit1:
    image: rabbitmq:4
    hostname: rabbit1
    ports: ["5672:5672", "15672:15672"]
"""
LABELS = {
    "com.docker.compose.project": "mqproof-somebodys-shop",
    "com.docker.compose.service": "rabbit1",
}


@pytest.fixture
def container() -> Iterator[str]:
    require_docker()
    image = images.ensure(engine.connect(), "rabbitmq-mirrored", lambda _: None, False).worker
    labels = [word for name, value in LABELS.items() for word in ("--label", f"{name}={value}")]
    found = docker("run", "-d", "--init", *labels, "--entrypoint", "sleep", image, "infinity")
    yield found
    docker("rm", "-f", found)


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze"])
def test_each_fault_is_done_verified_and_undone(container: str, kind: str, tmp_path: Path) -> None:
    text = topology_text(COMPOSE, "compose.yaml", "shop", "shop.toml")
    topology = read_topology("shop", text, ("rabbitmq-quorum",))
    known = Commands("mqproof-1", topology.commands, tmp_path / "commands.jsonl")

    async def verified() -> bool:
        result = await known.verify_result("rabbit1", kind)
        assert result is not None
        return result.in_force

    async def story() -> None:
        assert not await verified()
        await known.act("rabbit1", kind, DO)
        assert await verified()
        for _ in range(2):  # the undo is harmless if it runs twice
            await known.act("rabbit1", kind, UNDO)
        assert not await verified()

    asyncio.run(story())


def test_without_an_engine_there_is_no_answer(
    container: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = topology_text(COMPOSE, "compose.yaml", "shop", "shop.toml")
    topology = read_topology("shop", text, ("rabbitmq-quorum",))
    known = Commands("mqproof-1", topology.commands, tmp_path / "commands.jsonl")
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("DOCKER_HOST", "unix:///nowhere")
        for kind in topology.brokers[0].commands:
            with pytest.raises(FaultError, match="ended with 126"):
                asyncio.run(known.verify_result("rabbit1", kind))
