"""A run on brokers of a third sort: what its system declares is done, and nothing of another's."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.cluster.port import DeployError
from harness.plan.layouts.guarantees import Guarantees
from harness.plan.layouts.servers import Servers
from harness.plan.model import Layout, RunPlan
from spark_analysis.schema.ways import LOAD, DeliveryWay
from spark_analysis.schema.words import Level
from tests.harness.run.live_runs import run
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.plans import SYSTEM, plan


def with_logs(layout: Layout) -> Servers:
    return replace(SYSTEM.servers(layout), keep_logs=True)


def of() -> RunPlan:
    drain = replace(
        SYSTEM.drain, queue_name=str.upper, quiet_s=lambda _: 3.5, more_s=lambda _: 100.0
    )
    third = replace(SYSTEM, name="third", servers=with_logs, drain=drain)
    return replace(plan(), system=third)


def test_a_foreign_system_is_drained_as_declared(tmp_path: Path) -> None:
    cluster = SimulatedCluster(plan().layout)
    run(cluster, of(), tmp_path)
    drainer = cluster.configured["drain-orders"]
    assert (drainer.queue, drainer.quiet_s) == ("MQPROOF.QUICK-1-00FF.ORDERS", 3.5)
    assert drainer.limit_s == of().schedule.drain_limit_s + 100


def test_logs_that_it_keeps_are_read_through_each_brokers_address(tmp_path: Path) -> None:
    cluster = SimulatedCluster(plan().layout)
    done = run(cluster, of(), tmp_path)
    (end,) = done.manifest.queues
    assert end.unreadable == ()
    auditors = [name for name in cluster.configured if name.startswith("audit-orders")]
    assert sorted(auditors) == [f"audit-orders-rmq{one}-rabbit@rmq{one}" for one in (1, 2, 3)]


OWN = (Level(1, "quorum_synced"), Level(9, "quorum_cached"))


def promising(level: Level | None) -> RunPlan:
    def guarantees(layout: Layout) -> Guarantees:
        return replace(SYSTEM.guarantees(layout), strength=level)

    base = of()
    return replace(base, system=replace(base.system, levels=OWN, guarantees=guarantees))


@pytest.mark.parametrize(("promised", "rank"), [(OWN[0], 1), (OWN[1], 9), (None, 9)])
def test_confirms_have_the_level_that_it_declares(
    tmp_path: Path, promised: Level | None, rank: int
) -> None:
    cluster = SimulatedCluster(plan().layout)
    done = run(cluster, promising(promised), tmp_path)
    configured = cluster.configured["publisher-1"]
    assert (configured.strength, configured.levels) == (rank, (1, 9))
    assert done.manifest.levels == [*OWN]


def test_a_run_records_the_ways_that_it_declares(tmp_path: Path) -> None:
    parked = DeliveryWay(9, "parked", LOAD, "delivered from the parking place to", again=True)
    third = replace(of(), system=replace(of().system, ways=(parked,)))
    cluster = SimulatedCluster(plan().layout)
    done = run(cluster, third, tmp_path)
    assert cluster.configured["consumer-1"].ways == (9,)
    assert done.manifest.ways == [parked]
    assert done.facts.ways == (parked,)


def test_a_level_that_it_does_not_declare_starts_no_worker(tmp_path: Path) -> None:
    cluster = SimulatedCluster(plan().layout)
    with pytest.raises(DeployError, match="third declares no confirm level 'stored'"):
        run(cluster, promising(Level(2, "stored")), tmp_path)
    assert not cluster.configured


@pytest.mark.parametrize("ordered", [True, False])
def test_order_guarantee_is_declared_by_the_system(tmp_path: Path, ordered: bool) -> None:
    base = of()
    system = replace(base.system, drain=replace(SYSTEM.drain, in_order=lambda *_: ordered))
    done = run(SimulatedCluster(base.layout), replace(base, system=system), tmp_path)
    assert [end.ordered for end in done.manifest.queues] == [ordered]
