"""The analysis finds exactly what a group loses that does not keep one of its rules: a group of
DLedger, or of CTGMQ.

Real brokers of the reference, proxy and workers. What members cut from their logs to follow their
leader they admit (rocketmq/broker/misbehaving.py). Of the other rules schedules of the simulator
show what each costs (tests/reference_impl/rocketmq: dledger/test_schedules.py,
ctgmq/test_admissions.py).
"""

import asyncio
from pathlib import Path

import pytest

from faults.core.places import place
from harness.analyse.marts import judge_all
from harness.cluster.polling import until
from harness.cluster.port import Cluster
from harness.deploy.local.cluster import LocalCluster
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip
from harness.plan.model import RunPlan
from harness.run.interrupts import Interrupt
from harness.run.series import Hooks, Series
from harness.systems.catalogue import load_layout
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.core.layout import MASTER_ID, ServerProcess
from tests.harness.misbehave.runs import BOOT_ID, classes
from tests.harness.misbehave.scenarios import (
    AWAY,
    AWAY_OF_REPLICAS,
    FIRST,
    LEADER,
    SECOND,
    group_experiment,
    group_of,
    misbehave,
)

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

SEED = 41
LEADER_LIMIT_S = 30.0
LEAST = 20  # of hundreds that were confirmed while the group lacked the rule
# Without complete-log one of two candidates has everything, and it may be the one that is elected.
RUNS = {"without-complete-log": 5}


@pytest.mark.parametrize("kind", [*AWAY, *AWAY_OF_REPLICAS])
def test_messages_that_a_missing_rule_costs_are_found_and_no_others(
    kind: str, tmp_path: Path
) -> None:
    lost = []
    for number in range(RUNS.get(kind, 1)):
        folder = tmp_path / str(number)
        folder.mkdir()
        asyncio.run(_perform(kind, folder, SEED + number))
        (run,) = judge_all(folder, lambda _: None).runs
        found = classes(run)
        assert [str(each) for each in found.values() if not each.exact] == []
        lost.append(len(found["lost"].found))
        if lost[-1] >= LEAST:
            break
    print(f"{kind}: {lost} lost")
    assert max(lost) >= LEAST


async def _perform(kind: str, folder: Path, seed: int) -> None:
    """One run on a group whose leader is known."""
    layout = load_layout(*group_of(kind))
    deployment = LocalDeployment(equip, misbehave=misbehave(kind, seed))
    cluster = await deployment.up(layout, folder, lambda _: None)

    async def up(_: RunPlan) -> Cluster:
        return cluster

    hooks = Hooks(Interrupt(), lambda *_: None, lambda _: None, lambda _: None, print, keep=False)
    planned = group_experiment(kind, seed, await _members(cluster))
    await Series(planned, folder, BOOT_ID.read_text().strip(), {}, up, hooks).perform()


async def _members(cluster: LocalCluster) -> dict[str, str]:
    """Places by LEADER, FIRST and SECOND."""
    assert isinstance(cluster.broker, RocketBroker)
    leading = cluster.broker._leading
    # A busy machine may hold the answer of who leads back for a moment.
    found = await until(leading.now, lambda all: any(map(_leads, all)), LEADER_LIMIT_S)
    brokers = sorted(found, key=lambda one: not _leads(one))
    assert _leads(brokers[0]), brokers
    places = [place(one.host, one.process) for one in brokers]
    return dict(zip((LEADER, FIRST, SECOND), places, strict=False))


def _leads(broker: ServerProcess) -> bool:
    return broker.id == MASTER_ID
