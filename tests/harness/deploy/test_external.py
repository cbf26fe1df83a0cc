"""A cluster that mqproof did not start: put under test, broken by its owner's commands, left alone."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from faults.compile import compile as compile_fault
from faults.model import Armed, FaultError, Proof
from faults.performing import perform_all
from faults.verification import gone, held
from harness.deploy.external import ExternalDeployment
from harness.deploy.external_cluster import ExternalCluster
from harness.deploy.external_faults import equip
from harness.deploy.external_site import noted
from harness.deploy.port import DeployError
from harness.plan.topology import Topology
from harness.plan.topology_toml import layout_of
from tests.fault_world import CLIENTS, REAL_OPTIONS_OF
from tests.harness.deploy import external_rig
from tests.harness.deploy.external_rig import Owner
from tests.plans import plan
from tests.topologies import HOSTS, START

RUN = plan(name="quick-1-00ff")
HELD_S, GONE_S = 12.0, 30.0


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with external_rig.standing(tmp_path_factory.mktemp("owners") / "cluster") as found:
        found.mirror()
        yield found


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_USER", "guest")
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")


@asynccontextmanager
async def up(topology: Topology, folder: Path, limit_s: float = 30.0) -> AsyncIterator[ExternalCluster]:
    (folder / "runs" / RUN.name).mkdir(parents=True, exist_ok=True)
    deployment = ExternalDeployment(equip, stand_limit_s=limit_s)
    cluster = await deployment.up(layout_of(topology), folder, lambda _: None)
    try:
        yield cluster
    finally:
        await cluster.down()


def armed(cluster: ExternalCluster, kind: str, host: str, proxies: tuple[str, ...] = ()) -> Armed:
    return compile_fault(
        *(kind, host, host, "", HOSTS, proxies, 1, RUN.name),
        mechanism=cluster.executor.mechanism(kind),
        options=REAL_OPTIONS_OF[kind],
        clients=CLIENTS,
    )


async def seen(cluster: ExternalCluster, fault: Armed, held_s: float = HELD_S) -> tuple[Proof, Proof]:
    await cluster.witness.prepare(fault)
    await perform_all(cluster.executor, fault.actions)
    try:
        holding = await held(fault, cluster.witness, held_s)
    finally:
        await perform_all(cluster.executor, fault.undo)
    leaving = await gone(fault, cluster.witness, GONE_S)
    await cluster.witness.dismiss(fault)
    return holding, leaving


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze"])
def test_what_the_owners_commands_do_is_proven_and_undone(
    kind: str, owner: Owner, tmp_path: Path
) -> None:
    async def story() -> tuple[Proof, Proof]:
        async with up(owner.topology(), tmp_path) as cluster:
            return await seen(cluster, armed(cluster, kind, "beta"))

    holding, leaving = asyncio.run(story())
    assert (holding.ok, leaving.ok) == (True, True), (holding, leaving)
    assert "its verify command ended with 0" in holding.detail
    assert noted() == ()
