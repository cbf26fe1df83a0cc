"""Real brokers that elect their master, with the containers' settings: who leads, and who next."""

import time
from pathlib import Path

import pytest

from harness.cluster.polling import until
from harness.cluster.port import DeployError, Roles
from harness.plan.layouts.servers import Voter as Declared
from harness.plan.model import Layout
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rocketmq.core.layout import brokers, own, server_of
from harness.workers.protocol import VOTERS, Endpoint
from harness.workers.rocketmq.connection import Unanswered
from harness.workers.rocketmq.line import Line
from harness.workers.rocketmq.voters import Voter, say, voters
from tests.rigs.machine.loops import within
from tests.rigs.rocketmq.launcher import HERE
from tests.rigs.rocketmq.layouts import Running, standing
from tests.rigs.rocketmq.needs import require_servers

pytestmark = pytest.mark.slow
READY_LIMIT_S = 300.0  # five JVMs on a machine that has other things to do
SWITCH_LIMIT_S = 90.0
TEST_LIMIT_S = 600.0
ASK_LIMIT_S = 5.0
QUEUE = "mqproof.r1.orders"


@pytest.mark.parametrize(
    "system",
    [pytest.param("rocketmq-dledger", marks=pytest.mark.nightly), "rocketmq-controller"],
)
def test_killed_master_is_replaced_and_follows_the_new_one(system: str, tmp_path: Path) -> None:
    layout = load_layout(system, "colocated@compressed")
    require_servers(own(layout).version)

    @within(TEST_LIMIT_S)
    async def story() -> None:
        async with standing(layout, tmp_path) as running:
            await _ready(running)
            before = await _declared(running)
            await _said_by_voters(layout, before)
            await _killed(running, before)
            await _back(running, before)

    story()


async def _ready(running: Running) -> None:
    began = time.monotonic()
    health = await running.broker.health(READY_LIMIT_S)
    print(f"{running.layout.system} is clean after {time.monotonic() - began:.1f} s")
    assert health.clean, health.doubts


async def _declared(running: Running) -> Roles:
    await running.broker.declare(QUEUE, True, running.layout.hosts[0].name)
    roles = await running.broker.roles(QUEUE)
    assert roles.master is not None
    assert roles.synchronised == roles.mirrors
    assert len(roles.mirrors) == (running.layout.copies or 0) - 1
    claims = await running.broker.masters(QUEUE)
    assert [host for host, claimed in claims.items() if claimed] == [roles.master]
    return roles


async def _said_by_voters(layout: Layout, roles: Roles) -> None:
    """Each of them names the same leader; one of a group knows its term, or epoch."""
    declared = load_system(layout.system).servers(layout).voters
    said = [str(await _said(voter)) for voter in _voters(layout, declared)]
    assert len(said) == 3
    assert len({one.split(",")[0].split(";")[0] for one in said}) == 1, said
    assert any("term " in one or "epoch " in one for one in said), said
    assert all("no broker" not in one for one in said), said
    if layout.system == "rocketmq-controller":
        (master,) = (one for one in brokers(layout.hosts) if one.host == roles.master)
        at = master.advertised
        assert any(f"{at} is master" in one for one in said), said


def _voters(layout: Layout, declared: tuple[Declared, ...]) -> tuple[Voter, ...]:
    """As a run tells a prober of them; every host is this machine."""
    described = [
        {
            "host": one.host,
            "word": one.word,
            "query": one.query,
            "groups": list(one.groups),
            "id": one.id,
            "peer": one.peer,
            "address": HERE,
            "port": server_of(layout.hosts, one.host, one.word).votes_at,
        }
        for one in declared
    ]
    return voters({VOTERS: described})


async def _said(voter: Voter) -> object:
    line = Line(Endpoint(voter.endpoint.host, HERE, voter.endpoint.port))
    try:
        return await say(voter, lambda request: line.ask(request, ASK_LIMIT_S))
    finally:
        line.close()


async def _killed(running: Running, before: Roles) -> None:
    """With the name server beside it: the others tell."""
    assert before.master is not None
    running.kill(before.master)
    began = time.monotonic()

    async def look() -> str | None:
        try:
            return (await running.broker.roles(QUEUE)).master
        except (DeployError, Unanswered):
            return None

    master = await until(look, lambda one: one not in (None, before.master), SWITCH_LIMIT_S)
    print(f"{running.layout.system}: {master} leads after {time.monotonic() - began:.1f} s")
    assert master in before.mirrors
    doubts = (await running.broker.health(0.0)).doubts
    assert any(before.master in one for one in doubts), doubts


async def _back(running: Running, before: Roles) -> None:
    assert before.master is not None
    running.start(before.master)
    health = await running.broker.health(READY_LIMIT_S)
    assert health.clean, health.doubts
    roles = await running.broker.roles(QUEUE)
    assert roles.master != before.master
    assert before.master in roles.mirrors
    await running.broker.delete("mqproof.r1.")
