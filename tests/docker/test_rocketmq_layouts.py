"""Every layout of RocketMQ stands and passes master-crash: nightly, each a cluster of its own."""

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.plan.model import Layout
from harness.systems.catalogue import layout_names, load_layout
from harness.systems.rocketmq.core.layout import MASTER_ID, brokers, own
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
LEAST_CONFIRMED = 1000  # of 200 a second; while an only master is down there are none
# What is claimed of a master that dies, by the number of masters; and of mirrors that take over.
HOLDS = {
    2: ("other-masters-take-over", "broken-links-are-noticed-soon"),
    1: ("single-master-is-down",),
}
OF_STARTING_CLIENTS = {
    "consumed-in-steady-state"
}  # they may wait for a heartbeat (expectations.toml)
OF_ELECTIONS = (
    "mirror-takes-over",
    "oldest-mirror-takes-over",
    "election-loses-nothing",
    "mirrored-queue-works-on",
)


def _masters(layout: Layout) -> int:
    return sum(broker.id == MASTER_ID for broker in brokers(layout.hosts))


def _combination(layout: Layout) -> tuple[object, ...]:
    """What a layout differs by from others, its name apart."""
    settings = own(layout)
    assert settings is not None
    return layout.hosts, layout.peer_links, settings.version, settings.replication, settings.flush


def _own_name(layout: Layout) -> str:
    return f"{layout.name}-{own(layout).replication}-{own(layout).flush}"


def _not_shipped() -> Iterator[Layout]:
    """Every replica that a confirm may wait for, per set of hosts, if no shipped layout has it."""
    shipped = {_combination(load_layout(SYSTEM, name)) for name in COMPRESSED}
    for base, replication, flush in product(LAYOUTS, WAITS, WAITS):
        layout = load_layout(SYSTEM, f"{base}@compressed")
        settings = replace(own(layout), replication=replication, flush=flush)
        if _combination(other := replace(layout, own=settings)) not in shipped:
            yield other


OWN = {f"{_own_name(layout)}.toml": layout for layout in _not_shipped()}


@pytest.fixture(autouse=True)
def _docker() -> None:
    require_docker(SYSTEM)


@pytest.mark.parametrize("name", COMPRESSED)
def test_layout_is_ready_in_time_and_reports_its_cost(
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
            assert isinstance(samples, AsyncGenerator)
            seen: dict[str, int] = {}
            async with asyncio.timeout(READY_LIMIT_S):
                async for sample in samples:
                    seen[sample.host] = sample.memory_bytes
                    if {host.name for host in layout.hosts} <= seen.keys():
                        break
            await samples.aclose()
            memory = sum(seen[host.name] for host in layout.hosts)
            print(f"{name}: ready after {ready_s:.1f} s, {memory / 2**20:.0f} MiB")
        finally:
            await cluster.down()
        assert ready_s <= READY_LIMIT_S, ready_s

    play(story(), UP_LIMIT_S)


@pytest.mark.parametrize("name", [*COMPRESSED, *OWN])
def test_a_master_crash_loses_nothing_with_any_confirm_level(name: str, tmp_path: Path) -> None:
    layout = OWN.get(name)
    if layout is not None:
        (tmp_path / name).write_text(text(layout))
    words = ("master-crash", "--system", SYSTEM, "--layout", name, "--seed", "7")
    process = mqproof(tmp_path, "run", *words)
    said, _ = process.communicate(timeout=RUN_LIMIT_S)
    # 2: a worker stalled on a busy machine, so that its times are not judged.
    assert process.returncode in (0, 2), said
    (run,) = json.loads(next(tmp_path.glob("results/*/verdict.json")).read_text())["runs"]
    assert (run["judged"], run["failure"]) == (True, ""), said
    assert [fault["verified"] for fault in run["faults"]] == [True], said
    assert confirmed_of_none_lost(run) > LEAST_CONFIRMED, said
    outcomes = {claim["claim"]: claim["outcome"] for claim in run["claims"]}
    failed = {claim for claim, outcome in outcomes.items() if outcome == "FAIL"}
    assert failed <= OF_STARTING_CLIENTS, said
    layout = layout or load_layout(SYSTEM, name)
    assert outcomes["confirmed-is-delivered"] == "PASS", said
    masters = _masters(layout)
    applied = {"PASS", "INCONCLUSIVE"} if run["doubts"] else {"PASS"}
    for number, claims in HOLDS.items():
        right = applied if number == masters else {"NOT APPLICABLE"}
        assert {outcomes[claim] for claim in claims} <= right, said
    assert {outcomes[claim] for claim in OF_ELECTIONS} == {"NOT APPLICABLE"}, said


def confirmed_of_none_lost(run: dict[str, Any]) -> int:
    """How many messages were confirmed, where it was judged that all of them are there."""
    (lost,) = (one for one in run["observations"] if one["name"] == "lost")
    found = re.fullmatch(r"loss 0 of ([\d,]+)", lost["text"])
    assert lost["judged"] and found, lost
    return int(found[1].replace(",", ""))


def text(layout: Layout) -> str:
    """A layout file like a shipped one, whose confirms wait for others."""
    settings = own(layout)
    return (
        f'like = "{layout.name}"\nname = "{_own_name(layout)}"\ntitle = "{_own_name(layout)}"\n'
        f'replication = "{settings.replication}"\nflush = "{settings.flush}"\n'
    )
