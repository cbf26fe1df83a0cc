"""A whole run over streams: where readers go on, and which replicas are audited."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.clients.requirements import chosen_client
from harness.plan.model import FaultPlan, RunPlan
from harness.systems.catalogue import load_layout, load_system
from harness.workers.protocol import Role
from tests.harness.run.live_runs import run
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.plans import LAYOUT, fault, plan

STREAMS = load_layout("rabbitmq-stream", "three")
NODES = ("rqs1", "rqs2", "rqs3")


def on_streams(*faults: FaultPlan, **changes: object) -> RunPlan:
    return replace(
        plan(*faults, **changes),  # type: ignore[arg-type]
        system=load_system("rabbitmq-stream"),
        layout=STREAMS,
        client=chosen_client("pika-stream"),
    )


def test_a_drain_goes_on_where_the_consumer_ended(tmp_path: Path) -> None:
    cluster = SimulatedCluster(STREAMS)
    done = run(cluster, on_streams(fault("kill")), tmp_path)
    resumed = {name: one.resume_at for name, one in cluster.configured.items()}
    assert resumed["publisher-1"] is None
    assert resumed["consumer-1"] == 0
    assert resumed["drain-orders"] == cluster.messages
    assert [end.drained for end in done.manifest.queues] == [True]


def test_without_consumers_a_drain_reads_from_the_first_message(tmp_path: Path) -> None:
    cluster = SimulatedCluster(STREAMS)
    run(cluster, on_streams(fault("kill"), consumers=0), tmp_path)
    assert cluster.configured["drain-orders"].resume_at == 0


def test_who_replaces_a_dead_consumer_goes_on_where_it_ended(tmp_path: Path) -> None:
    cluster = SimulatedCluster(STREAMS)
    run(cluster, on_streams(fault("client_crash", "consumer-1")), tmp_path)
    assert cluster.configured["consumer-1"].resume_at == 0
    assert cluster.configured["consumer-2"].resume_at == cluster.messages


def test_every_nodes_replica_is_audited_through_its_own_address(tmp_path: Path) -> None:
    cluster = SimulatedCluster(STREAMS)
    done = run(cluster, on_streams(fault("kill")), tmp_path)
    auditors = [one for one in cluster.configured.values() if one.role is Role.AUDITOR]
    assert sorted(one.endpoints[0].host for one in auditors) == [*NODES]
    assert {(len(one.endpoints), one.endpoints[0].port, one.resume_at) for one in auditors} == {
        (1, 2, 0)
    }
    assert {one.driver.auditor for one in auditors} == {
        "harness.workers.stream_audit:StreamAuditor"
    }
    assert [end.unreadable for end in done.manifest.queues] == [()]


@pytest.mark.parametrize("swallowed", [frozenset({3}), frozenset()])
def test_a_message_that_only_a_replica_has_is_stranded(
    tmp_path: Path, swallowed: frozenset[int]
) -> None:
    """A consumer's offset went past it: no drain looks back, and the audit finds it."""
    on_disk = tuple(range(1, 21))
    cluster = SimulatedCluster(STREAMS, swallowed=swallowed, on_disk=on_disk)
    done = run(cluster, on_streams(fault("kill")), tmp_path)
    found = {row.measure: row.count for row in done.findings.counts}
    assert found.get("stranded", 0) == len(swallowed)
    assert "lost" not in found


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (19, ""),
        (20, ""),
        (22, "the drain ended before offset 20, and the replica on rqs3 ends before offset 22"),
    ],
)
def test_a_replica_that_ends_after_the_drain_leaves_it_open(
    tmp_path: Path, end: int, reason: str
) -> None:
    """The drained node lagged: what it lacked is in other replicas, and not stranded."""
    everything = tuple(range(1, 21))
    cluster = SimulatedCluster(STREAMS, swallowed=frozenset({20}), on_disk=everything)
    cluster.replica_ends["rqs3"] = end
    done = run(cluster, on_streams(fault("kill")), tmp_path)
    assert [(one.drained, one.undrained_reason) for one in done.manifest.queues] == [
        (not reason, reason)
    ]


def test_of_queues_brokers_know_how_far_consumers_have_come(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    run(cluster, plan(fault("client_crash", "consumer-1")), tmp_path)
    assert {one.resume_at for one in cluster.configured.values()} == {None}
