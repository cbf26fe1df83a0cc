"""Quorum queues on real nodes: who leads one, and who does when the leader is killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.core.model import Proof
from faults.performing import perform_all
from faults.verification import gone, held, prepare
from harness.cluster.polling import until
from harness.cluster.port import Roles
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.systems.catalogue import load_layout
from tests.docker.conftest import Play, what_is_wrong
from tests.rigs.clusters.fault_world import compiled_fault

pytestmark = pytest.mark.docker

HOSTS = ("rqq1", "rqq2", "rqq3")
QUEUE = "mqproof.quorum-1-00ff.orders"
ELECTION_LIMIT_S = 30.0
GONE_LIMIT_S = 60.0


@pytest.fixture(scope="module")
def three(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    layout = load_layout("rabbitmq-quorum", "three")
    cluster = play(ComposeDeployment(equip).up(layout, experiment_folder, print))
    try:
        yield cluster
    finally:
        play(cluster.down())


def test_follower_leads_after_a_leader_kill_and_the_old_follows(
    three: ComposeCluster, play: Play
) -> None:
    broker = three.broker
    fault = compiled_fault(
        "kill",
        "rqq2",
        HOSTS,
        run="quorum",
        mechanism=three.executor.mechanism("kill"),
    )

    async def leads(wanted: tuple[str, ...]) -> Roles:
        return await until(
            lambda: broker.roles(QUEUE), lambda found: found.master in wanted, ELECTION_LIMIT_S
        )

    async def story() -> tuple[Roles, Proof, Roles, Proof, Roles]:
        await broker.declare(QUEUE, True, "rqq2")
        before = await broker.roles(QUEUE)
        await prepare(fault, three.witness)
        try:
            await perform_all(three.executor, fault.actions)
            holds, meanwhile = await held(fault, three.witness), await leads(("rqq1", "rqq3"))
        finally:
            await perform_all(three.executor, fault.undo)
        left = await gone(fault, three.witness, GONE_LIMIT_S)
        assert await what_is_wrong(three) == ()
        return before, holds, meanwhile, left, await broker.roles(QUEUE)

    before, holds, meanwhile, left, after = play(story())
    assert (before.master, sorted(before.mirrors)) == ("rqq2", ["rqq1", "rqq3"])
    assert before.synchronised is None, "no broker reports what a follower holds"
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt
    assert meanwhile.master in ("rqq1", "rqq3")
    assert "rqq2" not in meanwhile.mirrors
    assert after.master == meanwhile.master, "who comes back does not lead again"
    assert "rqq2" in after.mirrors
    masters = play(broker.masters(QUEUE))
    assert [host for host, claims in masters.items() if claims] == [after.master]
    play(broker.delete(QUEUE))
    assert play(broker.roles(QUEUE)) == Roles(None, (), ())
