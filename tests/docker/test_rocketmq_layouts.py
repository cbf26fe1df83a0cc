"""Every layout of RocketMQ stands and passes master-crash: nightly, each a cluster of its own."""

import asyncio
import time
from itertools import product
from pathlib import Path

import pytest

from harness.deploy.catalogue import layout_names, load_layout
from harness.deploy.compose import ComposeDeployment
from harness.deploy.compose_faults import equip
from tests.docker.command_line import mqproof
from tests.docker.conftest import Play, require_docker

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

SYSTEM = "rocketmq-2m2s"
READY_LIMIT_S = 60.0  # of containers, their images apart
UP_LIMIT_S = 900.0  # images included
RUN_LIMIT_S = 900.0
LAYOUTS = ("colocated", "separated", "one-group")
WAITS = ("sync", "async")
COMPRESSED = [name for name in layout_names(SYSTEM) if name.endswith("@compressed")]


@pytest.fixture(autouse=True)
def _docker() -> None:
    require_docker(SYSTEM)


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_layout_is_ready_in_time_and_says_what_it_takes(
    name: str, play: Play, tmp_path: Path
) -> None:
    steps: list[tuple[str, float]] = []

    async def story() -> None:
        deployment = ComposeDeployment(equip)
        layout = load_layout(SYSTEM, name)

        def began(step: str) -> None:
            steps.append((step, time.monotonic()))

        cluster = await deployment.up(layout, tmp_path, began)
        ready_s = time.monotonic() - next(at for step, at in steps if "containers" in step)
        try:
            memory = 0
            samples = cluster.resources()
            seen: dict[str, int] = {}
            async with asyncio.timeout(READY_LIMIT_S):
                async for sample in samples:
                    seen[sample.host] = sample.memory_bytes
                    if {host.name for host in layout.hosts} <= seen.keys():
                        break
            await samples.aclose()  # type: ignore[attr-defined]
            memory = sum(seen[host.name] for host in layout.hosts)
            print(f"{name}: ready after {ready_s:.1f} s, {memory / 2**20:.0f} MiB")
        finally:
            await cluster.down()
        assert ready_s <= READY_LIMIT_S, ready_s

    play(story(), UP_LIMIT_S)  # type: ignore[call-arg]


@pytest.mark.parametrize(("base", "replication", "flush"), list(product(LAYOUTS, WAITS, WAITS)))
def test_a_master_crash_is_survived_whoever_a_confirm_waits_for(
    base: str, replication: str, flush: str, tmp_path: Path
) -> None:
    name = f"{base}-{replication}-{flush}"
    (tmp_path / f"{name}.toml").write_text(
        f'like = "{base}"\nname = "{name}"\ntitle = "{name}"\n'
        f'replication = "{replication}"\nflush = "{flush}"\n'
    )
    words = ("master-crash", "--system", SYSTEM, "--layout", f"{name}.toml", "--seed", "7")
    process = mqproof(tmp_path, "run", *words)
    said, _ = process.communicate(timeout=RUN_LIMIT_S)
    assert process.returncode == 0, said
