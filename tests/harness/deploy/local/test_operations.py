"""Operators' deeds on a real cluster of the reference as subprocesses: each is seen by what its
nodes say of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from faults.core.actions import Kill, Start
from harness.cluster.orders import AddNode, ForceBoot, ForgetNode, Order, ResetNode, WipeNode
from harness.cluster.polling import until
from harness.cluster.port import DeployError
from harness.deploy.local.cluster import LocalCluster
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip
from harness.run.operations import afterwards
from harness.systems.catalogue import load_layout
from harness.systems.rabbitmq.broker import RabbitBroker
from tests.rigs.machine.loops import within

pytestmark = pytest.mark.slow

LIMIT_S, SERVES_LIMIT_S, MEMBERS_LIMIT_S = 120.0, 30.0, 15.0
QUEUE = "mqproof.operations-test.orders"
TWO, THREE = {"ref1", "ref2"}, {"ref1", "ref2", "ref3"}
FOUR = {*THREE, "ref4"}


@asynccontextmanager
async def standing(folder: Path) -> AsyncIterator[LocalCluster]:
    """With a spare host."""
    layout = load_layout("reference-mirrored", "all-automatic-spare@T=2")
    cluster = await LocalDeployment(equip).up(layout, folder, lambda _: None)
    try:
        yield cluster
    finally:
        await cluster.down()


async def carry_out(cluster: LocalCluster, *orders: Order) -> None:
    for order in orders:
        await cluster.operator.carry_out(order)


async def members(cluster: LocalCluster, host: str, wanted: set[str]) -> set[str]:
    """The nodes that a host lists, by its own word; as soon as it is these."""

    async def look() -> set[str]:
        return set(await cluster.broker.members(host))

    return await until(look, lambda found: found == wanted, MEMBERS_LIMIT_S)


async def down(cluster: LocalCluster, *hosts: str) -> None:
    for host in hosts:
        await cluster.executor.perform(Kill(host))

        async def look(host: str = host) -> bool:
            return not (await cluster.witness.process(host)).running

        assert await until(look, bool, SERVES_LIMIT_S), host


async def up(cluster: LocalCluster, *hosts: str) -> None:
    for host in hosts:
        await cluster.executor.perform(Start(host))

        async def look(host: str = host) -> bool:
            return (await cluster.witness.greets(host)).answered

        assert await until(look, bool, SERVES_LIMIT_S), host


@within(LIMIT_S)
async def test_a_spare_host_starts_alone_and_is_queried_after_joining(
    tmp_path: Path,
) -> None:
    async with standing(tmp_path) as cluster:
        assert await members(cluster, "ref1", THREE) == THREE
        assert isinstance(cluster.broker, RabbitBroker)
        assert "ref4" not in cluster.broker.api.hosts
        add = AddNode("ref4", "ref1")
        await carry_out(cluster, add)
        await afterwards.of_members(cluster.broker, add)
        assert await members(cluster, "ref4", FOUR) == FOUR


@within(LIMIT_S)
async def test_only_a_stopped_node_is_forgotten(tmp_path: Path) -> None:
    async with standing(tmp_path) as cluster:
        forget = ForgetNode("ref3", "ref1", offline=False)
        with pytest.raises(DeployError, match="The node ref3 is running"):
            await carry_out(cluster, forget)
        await down(cluster, "ref3")
        await carry_out(cluster, forget)
        await afterwards.of_members(cluster.broker, forget)
        await carry_out(cluster, WipeNode("ref3"))
        await up(cluster, "ref3")
        assert await members(cluster, "ref1", THREE) == THREE, "it joined as a new one"


@within(LIMIT_S)
async def test_node_that_was_reset_returns_as_an_empty_member(tmp_path: Path) -> None:
    async with standing(tmp_path) as cluster:
        await cluster.broker.declare(QUEUE, True, "ref2")
        before = {QUEUE: await cluster.broker.roles(QUEUE)}
        await carry_out(cluster, ResetNode("ref2"))

        async def roles() -> dict[str, object]:
            return {QUEUE: await cluster.broker.roles(QUEUE)}

        await afterwards.of_reset("ref2", before, roles)  # type: ignore[arg-type]
        assert (await cluster.health(SERVES_LIMIT_S)).clean


@within(LIMIT_S)
async def test_forced_boot_starts_a_node_that_stopped_earlier_alone(tmp_path: Path) -> None:
    async with standing(tmp_path) as cluster:
        for order in (ForceBoot("ref1"), WipeNode("ref1"), ForgetNode("ref2", "ref1", True)):
            with pytest.raises(DeployError, match="this is for one that is down"):
                await carry_out(cluster, order)
        await down(cluster, "ref1", "ref2", "ref3")
        await carry_out(cluster, ForceBoot("ref1"))
        await up(cluster, "ref1")


@within(LIMIT_S)
async def test_last_node_is_forgotten_offline_and_the_other_boots(
    tmp_path: Path,
) -> None:
    async with standing(tmp_path) as cluster:
        await down(cluster, "ref1", "ref2", "ref3")
        await carry_out(cluster, WipeNode("ref3"), ForgetNode("ref3", "ref2", offline=True))
        await up(cluster, "ref2", "ref1")
        assert await members(cluster, "ref2", TWO) == TWO
        await up(cluster, "ref3")
        assert await members(cluster, "ref2", THREE) == THREE
