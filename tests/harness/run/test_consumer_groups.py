"""Runs with consumer groups: who sends and reads what, and what is recorded of it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from harness.run.core.run_queues import RunQueues
from harness.run_folder.seal import seal
from harness.systems.reference_mirrored import COMMAND
from harness.workers.protocol import Role, WorkerConfig
from spark_analysis.schema.facts import ConsumerGroup, Facts, GroupQueue
from tests.harness.run.live_runs import Done, run
from tests.harness.run.test_local_run import NOT_DELIVERED, performed
from tests.harness.run.test_rocketmq_run import COLOCATED
from tests.harness.run.test_rocketmq_run import of as rocketmq
from tests.oracle.judge import judge
from tests.rigs.clusters.local import UNMIRRORED
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.plans import LAYOUT, fault, plan, workload
from tests.rigs.runs.run_folders import rows_of

GROUPS = ("billing", "audit")
PREFIX = "mqproof.quick-1-00ff."
AT_BILLING = "master of orders-billing"


def played(tmp_path: Path, **changes: object) -> tuple[SimulatedCluster, Done]:
    cluster = SimulatedCluster(LAYOUT)
    hang = fault("hang", AT_BILLING)
    of = plan(hang, consumer_groups=GROUPS, publisher_endpoint=entry(), **changes)
    return cluster, run(cluster, of, tmp_path)


def entry() -> object:
    return workload().consumer_endpoint


def configured(cluster: SimulatedCluster, role: Role) -> list[WorkerConfig]:
    found = (one for one in cluster.configured.values() if one.role is role)
    return sorted(found, key=lambda one: one.number)


def test_publishers_send_to_an_exchange_that_feeds_a_queue_of_each_group(tmp_path: Path) -> None:
    cluster, _ = played(tmp_path)
    own = (f"{PREFIX}orders-billing", f"{PREFIX}orders-audit")
    assert cluster.bound == {f"{PREFIX}orders": own}
    assert set(cluster.declared) == set(own)
    assert len(set(cluster.declared.values())) == 1, "one host declares the queues of all groups"
    (publisher,) = configured(cluster, Role.PUBLISHER)
    assert (publisher.fans_out, publisher.queues) == (True, ((f"{PREFIX}orders", "orders"),))
    readers = [*configured(cluster, Role.CONSUMER), *configured(cluster, Role.DRAINER)]
    assert not any(one.fans_out for one in readers)
    assert sorted(queue for one in readers for queue in one.queues) == sorted(
        2 * [(name, name.removeprefix(PREFIX)) for name in own]
    )


def test_each_group_has_its_consumers_and_its_queue_end(tmp_path: Path) -> None:
    cluster, done = played(tmp_path, consumers=2)
    consumers = configured(cluster, Role.CONSUMER)
    assert [one.group for one in consumers] == ["billing", "billing", "audit", "audit"]
    numbers = [one.number for one in consumers]
    assert done.facts.consumer_groups == tuple(
        ConsumerGroup(name, (GroupQueue(f"orders-{name}", "orders"),), tuple(own))
        for name, own in (("billing", numbers[:2]), ("audit", numbers[2:]))
    )
    assert [end.queue for end in done.facts.queues] == ["orders-billing", "orders-audit"]
    assert not any(end.ordered for end in done.facts.queues), "two consumers share each queue"


def test_a_topic_is_read_by_a_group_of_the_broker_for_each_group(tmp_path: Path) -> None:
    cluster = SimulatedCluster(COLOCATED)
    of = rocketmq(consumer_groups=GROUPS, publisher_endpoint=entry())
    done = run(cluster, of, tmp_path)
    assert cluster.bound == {}
    assert set(cluster.declared) == {f"{PREFIX}orders"}
    (publisher,) = configured(cluster, Role.PUBLISHER)
    assert not publisher.fans_out
    for role in (Role.CONSUMER, Role.DRAINER):
        found = configured(cluster, role)
        assert {one.queue for one in found} == {publisher.queue}
        assert [(one.group, one.queue_word) for one in found] == [
            (name, f"orders-{name}") for name in GROUPS
        ]
    assert [group.name for group in done.facts.consumer_groups] == list(GROUPS)
    assert [end.queue for end in done.facts.queues] == ["orders-billing", "orders-audit"]


@pytest.mark.parametrize("in_logs", [True, False])
def test_without_groups_a_queue_is_what_it_was(in_logs: bool) -> None:
    queues = RunQueues.of(workload(queues=("a", "b")), "p.", in_logs=in_logs)
    assert queues.read == queues.sent_to == {"a": "p.a", "b": "p.b"}
    assert not queues.fans_out
    assert queues.exchanges() == {}
    assert queues.declared_on({"a": "h1", "b": "h2"}) == {"p.a": "h1", "p.b": "h2"}


def test_groups_of_a_log_read_one_queue() -> None:
    queues = RunQueues.of(workload(consumer_groups=GROUPS), "p.", in_logs=True)
    assert queues.read == {"orders-billing": "p.orders", "orders-audit": "p.orders"}
    assert queues.declared_on({"orders": "h1"}) == {"p.orders": "h1"}


@pytest.mark.slow
@pytest.mark.long
def test_every_group_gets_every_confirmed_message_of_the_reference(tmp_path: Path) -> None:
    calm = plan(consumer_groups=GROUPS, publisher_endpoint=entry())
    of = replace(calm, layout=UNMIRRORED, deployment="local")
    asyncio.run(asyncio.wait_for(performed(of, tmp_path, node=COMMAND), 180))
    folder = tmp_path / "runs" / of.name
    manifest = seal(folder)
    assert manifest.failure == ""
    findings = judge(Facts.from_json(manifest.facts or {}), rows_of(folder))
    counted = {(row.queue, row.measure): row.count for row in findings.counts}
    confirmed = counted["orders", "state"]
    assert confirmed > 0
    for name in GROUPS:
        assert counted[f"orders-{name}", "in_order"] == confirmed
    bad = (*NOT_DELIVERED, "duplicated", "misrouted", "unexpected")
    assert not {measure for _, measure in counted} & set(bad)
    assert {one.scope for one in findings.doubts} <= {"availability"}
