"""All systems of compose/ stand side by side, idle, on one machine: `-s` prints what they take."""

import asyncio
import os
from collections import defaultdict
from typing import Any

import pytest

from harness.cluster.polling import until
from harness.deploy import engine, labels
from harness.deploy.compose.sweep import sweep
from harness.deploy.compose.tool import find_tool
from harness.systems.files import compose_folder
from tests.docker.conftest import Play

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

FILE = compose_folder() / "side-by-side.yaml"
UP_LIMIT_S = 180.0
READY_LIMIT_S = 240.0
OF_SYSTEM = {
    "rmq": "rabbitmq-mirrored",
    "rqq": "rabbitmq-quorum",
    "ref": "reference-mirrored",
    "reference-2m2s-": "reference-2m2s",
    "rocketmq-2m2s-": "rocketmq-2m2s",
    "rkd": "rocketmq-dledger",
    "rkl": "reference-dledger",
    "rkc": "rocketmq-controller",
    "rkg": "reference-ctgmq",
}
BROKERS = 3 + 3 + 3 + 6 + 6 + 5 + 5 + 5 + 5
SHARE = 0.5  # of the machine's memory, at most: the tests need some, too


def test_all_systems_fit_in_half_of_the_machines_memory(play: Play) -> None:
    client, tool = engine.connect(), find_tool()
    project = f"mqproof-beside-{os.getpid()}"

    async def story() -> dict[str, int]:
        await tool.run(project, FILE, ["up", "--detach"], UP_LIMIT_S)
        ready = await until(
            lambda: asyncio.to_thread(_ready, client, project),
            lambda found: len(found) == BROKERS,
            READY_LIMIT_S,
        )
        assert len(ready) == BROKERS, ready
        return await asyncio.to_thread(_memory, client, project)

    try:
        taken = play(story(), UP_LIMIT_S + READY_LIMIT_S + 60)
    finally:
        sweep(client, project)
    for name, octets in taken.items():
        print(f"{name}: {octets / 2**20:,.0f} MiB")
    whole = sum(taken.values())
    print(f"together: {whole / 2**20:,.0f} MiB")
    assert whole < SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _containers(client: Any, project: str) -> list[Any]:
    found: list[Any] = client.containers.list(filters={"label": f"{labels.PROJECT}={project}"})
    return found


def _ready(client: Any, project: str) -> list[str]:
    """Brokers and name servers that say of themselves that they serve."""
    return [
        one.name
        for one in _containers(client, project)
        if one.attrs["State"].get("Health", {}).get("Status") == "healthy"
        or b"boot success" in one.logs(tail=200)
    ]


def _memory(client: Any, project: str) -> dict[str, int]:
    """Bytes by system; what all share, the proxy and the workers' container, is `instrument`."""
    taken: dict[str, int] = defaultdict(int)
    for one in _containers(client, project):
        service = one.labels[labels.SERVICE]
        memory = one.stats(stream=False)["memory_stats"]
        kept = memory["usage"] - memory.get("stats", {}).get("total_inactive_file", 0)
        taken[_system(service)] += kept
    return dict(taken)


def _system(service: str) -> str:
    found = (name for prefix, name in OF_SYSTEM.items() if service.startswith(prefix))
    return next(found, "instrument")
