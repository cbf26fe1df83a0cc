"""Whole runs over a cluster in memory in which a node does not come back by itself.

Each is a history that a start for the audit could have made a wrong verdict of: a broker that lost
what it confirmed and would pass, or one that keeps it and would fail.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from faults.core.actions import Kill, Start, Stop
from harness.cluster.port import DeadBroker
from harness.run.core.view import LiveCounts
from harness.run_folder.manifest import AuditStart
from harness.systems.catalogue import load_layout
from tests.harness.run.live_runs import Done, run
from tests.harness.run.test_rocketmq_run import of as rocketmq
from tests.harness.run.test_stream_run import STREAMS, on_streams
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.plans import LAYOUT, fault, operated, operation, plan

UNMIRRORED = replace(LAYOUT, copies=1, synchronise="none")
QUEUE = "mqproof.quick-1-00ff.orders"
CRASHED = 1
EVERYTHING = tuple(range(1, 21))
NO_CONSUMER = replace(plan(consumers=0), layout=UNMIRRORED)


def crash(cluster: SimulatedCluster, *places: str) -> None:
    """They will end as the drain begins, and no fault does that."""

    def happen() -> None:
        cluster.world.dead.update(dict.fromkeys(places, CRASHED))
        cluster.when_drained = lambda: None

    cluster.when_drained = happen


def crash_master(cluster: SimulatedCluster) -> None:
    def happen() -> None:
        cluster.world.dead[cluster.declared[QUEUE]] = CRASHED
        cluster.when_drained = lambda: None

    cluster.when_drained = happen


def freeze(cluster: SimulatedCluster, host: str) -> None:
    """Let it run without answering from the drain on."""

    def happen() -> None:
        cluster.world.frozen.add(host)

    cluster.when_drained = happen


def counts(done: Done) -> dict[str, int]:
    totals: dict[str, int] = {}
    for row in done.findings.counts:
        totals[row.measure] = totals.get(row.measure, 0) + row.count
    return totals


def missing(done: Done) -> dict[str, int]:
    names = ("lost", "stranded", "unreachable", "loss_unknown")
    return {name: number for name, number in counts(done).items() if name in names}


def starts(cluster: SimulatedCluster) -> list[Start]:
    return [one for one in cluster.executor.performed if isinstance(one, Start)]


def only(done: Done) -> AuditStart:
    (record,) = done.manifest.audit_starts
    return record


def test_messages_absent_after_a_node_start_are_lost(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}))
    crash(cluster, "rmq3")
    done = run(cluster, plan(), tmp_path)
    assert missing(done) == {"lost": 1}
    assert [one.host for one in starts(cluster)] == ["rmq3"]


def test_audit_start_is_recorded_after_all_measurements(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    crash(cluster, "rmq3")
    done = run(cluster, plan(), tmp_path)
    record, manifest = only(done), done.manifest
    assert (record.place, record.left) == ("rmq3", "")
    assert record.found == "its process has ended with exit code 1"
    assert " of orders" in record.detail
    assert record.issued_ns is not None and record.answered_ns is not None
    assert manifest.load_ended_ns is not None
    phases = manifest.phases_ns
    assert manifest.load_ended_ns < phases["drain"] < phases["audit"] < record.issued_ns
    assert record.issued_ns < record.answered_ns < phases["closing"]
    assert manifest.cluster_altered == "rmq3 started for the audit", "no later run gets this one"


def test_measures_are_those_of_the_same_run_without_the_start(tmp_path: Path) -> None:
    found = []
    for name, places in (("started", ("rmq3",)), ("calm", ())):
        cluster = SimulatedCluster(LAYOUT)
        crash(cluster, *places)
        done = run(cluster, plan(fault("hang")), tmp_path / name)
        found.append((counts(done), [row.operations for row in done.findings.availability]))
        assert len(starts(cluster)) == len(places)
    assert found[0] == found[1]


def test_message_on_the_disk_of_the_only_master_is_found(tmp_path: Path) -> None:
    """A queue without mirrors keeps what it confirmed: the drain found no host, the audit does."""
    cluster = SimulatedCluster(UNMIRRORED, elects=False, on_disk=EVERYTHING)
    crash_master(cluster)
    done = run(cluster, NO_CONSUMER, tmp_path)
    assert missing(done) == {"stranded": 20}
    assert [
        (end.drained, end.undrained_reason, end.unreadable) for end in done.manifest.queues
    ] == [(True, "", ())]
    assert only(done).detail == (
        "master of orders (no mirror); orders was read then, and could not be "
        "drained before (no host holds it)"
    )


def test_node_that_starts_empty_has_lost_what_it_confirmed(tmp_path: Path) -> None:
    """Its start is what its owner would do: a host that keeps nothing over that has lost it."""
    cluster = SimulatedCluster(UNMIRRORED, elects=False, on_disk=())
    crash_master(cluster)
    done = run(cluster, NO_CONSUMER, tmp_path)
    assert missing(done) == {"lost": 20}


def test_queue_stays_undecided_if_its_started_master_is_partly_read(tmp_path: Path) -> None:
    auditors = frozenset(f"audit-orders-{host.name}" for host in LAYOUT.hosts)
    cluster = SimulatedCluster(UNMIRRORED, elects=False, on_disk=(), deaf=auditors)
    crash_master(cluster)
    done = run(cluster, NO_CONSUMER, tmp_path)
    assert missing(done) == {"loss_unknown": 20}


def test_messages_on_a_stale_connection_leave_loss_undecided(tmp_path: Path) -> None:
    cluster = SimulatedCluster(UNMIRRORED, elects=False, on_disk=(), dead_listed_s=1e6)
    crash_master(cluster)
    done = run(cluster, NO_CONSUMER, tmp_path)
    assert missing(done) == {"loss_unknown": 20}


def test_audit_of_another_node_does_not_complete_a_slow_drain(tmp_path: Path) -> None:
    """The rest of a long queue is no node's fault: it is not stranded."""
    slow = "not empty within 5 s: messages kept coming"
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}), drain_doubt=slow, on_disk=(3,))

    def happen() -> None:
        (mirror, *_) = [one.name for one in LAYOUT.hosts if one.name != cluster.declared[QUEUE]]
        cluster.world.dead[mirror] = CRASHED
        cluster.when_drained = lambda: None

    cluster.when_drained = happen
    done = run(cluster, plan(), tmp_path)
    assert only(done).answered_ns is not None
    assert missing(done) == {"loss_unknown": 1}


def test_host_left_down_for_good_by_a_fault_stays_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.drain_and_audit.ASK_LIMIT_S", 0.1)
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}))
    done = run(cluster, plan(fault("kill", "rmq3", returns=False)), tmp_path)
    assert starts(cluster) == []
    assert missing(done) == {"unreachable": 1}
    assert only(done).left == "fault 1 (kill) is still active: the scenario never ends it"
    assert only(done).issued_ns is None
    assert done.manifest.cluster_altered == ""


def test_host_left_down_by_an_operation_stays_down_during_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.drain_and_audit.ASK_LIMIT_S", 0.1)
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}))
    done = run(cluster, operated(operation("stop_node", "rmq3", how="kill")), tmp_path)
    assert missing(done) == {"unreachable": 1}
    assert only(done).left == "operation 1 (stop_node) left it down"


def test_fault_that_could_not_be_undone_is_left_for_repair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.drain_and_audit.ASK_LIMIT_S", 0.1)
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.refuse = (Start,)
    done = run(cluster, plan(fault("kill", "rmq3")), tmp_path)
    assert only(done).left == "fault 1 (kill) is still active: its undo failed"


def test_silent_live_process_is_not_ended_for_the_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.drain_and_audit.ASK_LIMIT_S", 0.1)
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}))
    freeze(cluster, "rmq3")
    done = run(cluster, plan(), tmp_path)
    assert cluster.executor.performed == []
    assert missing(done) == {"unreachable": 1}
    assert only(done).left.startswith("its process runs, and does not answer")


def test_a_returning_host_is_awaited_and_not_started(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}))
    freeze(cluster, "rmq3")
    waited: list[LiveCounts] = []

    def comes(view: LiveCounts) -> bool:
        waited.extend([view] if view.armed == ("wait for rmq3, 60 s at most",) else [])
        if len(waited) == 100:  # some 10 s
            cluster.world.frozen.discard("rmq3")
        return False

    done = run(cluster, plan(), tmp_path, comes)
    assert len(waited) >= 100
    assert cluster.executor.performed == []
    assert done.manifest.audit_starts == []
    assert missing(done) == {"lost": 1}


def test_a_start_that_fails_leaves_the_place_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.drain_and_audit.ASK_LIMIT_S", 0.1)
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}))
    cluster.executor.refuse = (Start,)
    crash(cluster, "rmq3")
    done = run(cluster, plan(), tmp_path)
    assert missing(done) == {"unreachable": 1}
    assert only(done).detail == "it could not be started: Start: the engine said no"
    assert only(done).answered_ns is None


def test_a_node_that_ends_again_is_started_no_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.drain_and_audit.ASK_LIMIT_S", 0.1)
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}))
    cluster.executor.idle = True
    crash(cluster, "rmq3")
    done = run(cluster, plan(), tmp_path)
    assert missing(done) == {"unreachable": 1}
    assert only(done).detail == "its process ended again, with exit code 1"
    assert len(starts(cluster)) == 1


def test_all_that_are_down_are_started_side_by_side(tmp_path: Path) -> None:
    """One after another, a stale node could become master while the fresh one is down."""
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.takes_s = 5.0
    crash(cluster, "rmq2", "rmq3")
    done = run(cluster, plan(), tmp_path)
    first, second = done.manifest.audit_starts
    assert first.answered_ns is not None and second.issued_ns is not None
    assert second.issued_ns < first.answered_ns


def test_competing_leader_created_by_the_start_counts_from_then(tmp_path: Path) -> None:
    """A copy delivered under load is not laid to two masters that did not live then."""
    cluster = SimulatedCluster(LAYOUT, claims={"rmq2": True, "rmq3": True, "rmq1": False})
    crash(cluster, "rmq3")
    done = run(cluster, plan(fault("hang")), tmp_path)
    (pair,) = done.manifest.competing_leaders
    assert pair.from_ns == only(done).issued_ns
    assert done.manifest.load_ended_ns is not None and pair.from_ns > done.manifest.load_ended_ns


def test_leaders_competing_without_the_start_count_from_the_fault(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, claims={"rmq1": True, "rmq2": True})
    crash(cluster, "rmq3")
    done = run(cluster, plan(fault("hang")), tmp_path)
    (pair,) = done.manifest.competing_leaders
    assert pair.from_ns == done.manifest.windows[0].origin_ns


@dataclass
class Paused(SimulatedCluster):
    """RabbitMQ has stopped within its process: it waits for a majority, or failed to come back."""

    async def dead_broker(self, place: str) -> DeadBroker | None:
        found = DeadBroker("RabbitMQ has stopped", (Stop(place), Start(place)), waits=True)
        return found if place in self.world.frozen else await super().dead_broker(place)


def test_a_broker_that_stopped_within_its_process_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.drain_and_audit.ASK_LIMIT_S", 0.1)
    cluster = Paused(LAYOUT, swallowed=frozenset({3}))
    freeze(cluster, "rmq3")
    done = run(cluster, plan(), tmp_path)
    assert [type(one) for one in cluster.executor.performed] == [Stop, Start]
    assert only(done).found == "RabbitMQ has stopped"


def test_minority_paused_for_a_host_that_stays_down_remains_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it holds is what the scenario asks about: serving no more is what it promised."""
    monkeypatch.setattr("harness.run.drain_and_audit.ASK_LIMIT_S", 0.1)
    cluster = Paused(LAYOUT, swallowed=frozenset({3}))
    freeze(cluster, "rmq3")
    done = run(cluster, plan(fault("kill", "rmq2", returns=False)), tmp_path)
    assert [type(one) for one in cluster.executor.performed] == [Kill]
    assert missing(done) == {"unreachable": 1}
    killed, paused = done.manifest.audit_starts
    assert (killed.place, paused.place) == ("rmq2", "rmq3")
    assert "fault 1 (kill)" in killed.left
    assert "rmq2" in paused.left, "whom it waits for"


def test_interrupt_during_an_audit_start_leaves_a_readable_run(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.takes_s = 60.0
    crash(cluster, "rmq3")
    at_it = ("start rmq3 for the audit, 120 s at most",)
    done = run(cluster, plan(), tmp_path, lambda view: view.armed == at_it)
    assert done.manifest.interrupted
    assert done.manifest.phase == "sealed"
    assert done.facts.clock_problem == "the run was interrupted"
    assert only(done).issued_ns is not None
    assert only(done).answered_ns is None
    assert all(worker.log_closed for worker in done.manifest.workers)
    assert cluster.deleted, "its queues are removed"


COLOCATED = load_layout("rocketmq-2m2s", "colocated@compressed")


@pytest.mark.parametrize("place", ["rkt1/broker-a-0", "rkt3/broker-a-1", "rkt2/name-server"])
def test_only_the_ended_process_of_a_shared_host_is_started(tmp_path: Path, place: str) -> None:
    cluster = SimulatedCluster(COLOCATED, drain_doubt="no route", on_disk=())
    cluster.swallowed, cluster.subscribes = frozenset({3}), False
    crash(cluster, place)
    done = run(cluster, rocketmq(), tmp_path)
    assert [one.host for one in starts(cluster)] == [place]
    assert only(done).place == place
    assert missing(done) == {"lost": 1}, "every log was read from its start"


SLOW = "not empty within 5 s: messages kept coming"


def test_a_started_broker_completes_no_drain_that_was_slow(tmp_path: Path) -> None:
    """The rest of a log that was read too slowly could have been got by any client."""
    cluster = SimulatedCluster(COLOCATED, drain_doubt=SLOW, on_disk=(3,))
    cluster.swallowed = frozenset({3})
    crash(cluster, "rkt1/broker-a-0")
    done = run(cluster, rocketmq(), tmp_path)
    assert only(done).answered_ns is not None
    assert [end.undrained_reason for end in done.manifest.queues] == [SLOW]


@pytest.mark.parametrize("subscribes", [True, False])
def test_a_started_node_completes_no_drain_of_a_stream(tmp_path: Path, subscribes: bool) -> None:
    """Its clients keep their place: what they had not read is in every replica, by right."""
    cluster = SimulatedCluster(STREAMS, drain_doubt="not empty", subscribes=subscribes)
    crash(cluster, "rqs2")
    done = run(cluster, on_streams(), tmp_path)
    assert only(done).answered_ns is not None
    assert [end.drained for end in done.manifest.queues] == [False]
