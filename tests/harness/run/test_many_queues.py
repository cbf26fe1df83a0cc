"""Runs with many queues: who serves them, who drains them, and whose loss stays unknown."""

from pathlib import Path

import pytest

from harness.cluster.port import Roles
from harness.plan.clients.amqp_section import AmqpWorkload
from harness.plan.distribution import generated
from harness.plan.layouts.role_words import LEADER_AND_FOLLOWER, MASTER_AND_MIRROR
from harness.run.core.resolving import describe
from harness.run.drain_and_audit import READERS_MAX
from harness.workers.protocol import Role, WorkerConfig
from tests.harness.run.live_runs import run
from tests.harness.run.test_rocketmq_run import COLOCATED
from tests.harness.run.test_rocketmq_run import of as rocketmq
from tests.rigs.clusters.simulated_cluster import ScriptedWorker, SimulatedCluster
from tests.rigs.runs.plans import LAYOUT, plan

QUEUES = ("orders", *generated(39))


def configured(cluster: SimulatedCluster, role: Role) -> list[WorkerConfig]:
    return [one for one in cluster.configured.values() if one.role is role]


def words_of(config: WorkerConfig) -> list[str]:
    return [word for _, word in config.queues]


def test_queues_are_shared_by_clients_and_drainers(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, plan(queues=QUEUES, publishers=3, consumers=2), tmp_path)
    for role, count in ((Role.PUBLISHER, 3), (Role.CONSUMER, 2), (Role.DRAINER, READERS_MAX)):
        workers = configured(cluster, role)
        assert len(workers) == count
        assert sorted(word for one in workers for word in words_of(one)) == sorted(QUEUES)
    for name, word in configured(cluster, Role.PUBLISHER)[0].queues:
        assert name == f"mqproof.quick-1-00ff.{word}"
    assert [end.queue for end in done.facts.queues] == list(QUEUES)
    assert all(end.drained and end.ordered for end in done.facts.queues)


def test_a_queue_that_is_not_drained_is_unknown_alone(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, undrained={"queue-7": "messages kept coming"})
    done = run(cluster, plan(queues=QUEUES, publishers=3, consumers=2), tmp_path)
    undrained = {end.queue: end.undrained_reason for end in done.facts.queues if not end.drained}
    assert undrained == {"queue-7": "messages kept coming"}


def test_competing_masters_are_read_by_few_auditors(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, claims={"rmq1": True, "rmq2": True, "rmq3": False})
    done = run(cluster, plan(queues=QUEUES, publishers=3, consumers=2), tmp_path)
    auditors = configured(cluster, Role.AUDITOR)
    assert len(auditors) == 2 * READERS_MAX
    for host in ("rmq1", "rmq2"):
        read = [words_of(one) for one in auditors if one.endpoints[0].host == host]
        assert sorted(word for words in read for word in words) == sorted(QUEUES)
    assert {one.queue for one in done.facts.competing_leaders} == set(QUEUES)


class ReadersAtOnce(SimulatedCluster):
    """Knows how many drainers and auditors ran at once."""

    most = 0

    async def spawn(self, worker: str) -> ScriptedWorker:
        spawned = await super().spawn(worker)
        running = [one for one in self.workers.values() if await one.exit_code() is None]
        readers = [one for one in running if one.name.startswith(("drain-", "audit-"))]
        self.most = max(self.most, len(readers))
        return spawned


def test_readers_of_one_queue_each_run_eight_at_once(tmp_path: Path) -> None:
    cluster = ReadersAtOnce(COLOCATED)
    done = run(cluster, rocketmq(queues=QUEUES, publishers=3, consumers=2), tmp_path)
    assert len(configured(cluster, Role.DRAINER)) == len(QUEUES)
    assert cluster.most == READERS_MAX
    assert all(end.drained and not end.unreadable for end in done.facts.queues)


def test_the_role_of_a_host_counts_many_queues() -> None:
    roles = {
        queue: Roles("rmq1", ("rmq2", "rmq3"), ("rmq2",) if number else ())
        for number, queue in enumerate(QUEUES)
    }
    assert describe("rmq1", roles, MASTER_AND_MIRROR) == "master of 40 queues"
    assert describe("rmq2", roles, LEADER_AND_FOLLOWER) == (
        "synchronised follower of 39 queues; unsynchronised follower of 1 queue"
    )
    assert describe("rmq4", roles, MASTER_AND_MIRROR) == "holds no queue"


@pytest.mark.parametrize(("levels", "highest"), [(0, 0), (3, 2)])
def test_queues_are_declared_with_the_highest_priority(
    tmp_path: Path, levels: int, highest: int
) -> None:
    cluster = SimulatedCluster(LAYOUT)
    run(cluster, plan(amqp=AmqpWorkload(priorities=levels)), tmp_path)
    assert set(cluster.priorities.values()) == {highest}
