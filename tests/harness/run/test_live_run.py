"""Whole runs over a cluster that stands in memory: what is recorded, undone and doubted."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from faults.core.actions import (
    AddToxic,
    ClearAlarm,
    ClearImpairment,
    Cut,
    Disable,
    Enable,
    Freeze,
    FreezeClients,
    Impair,
    Isolate,
    Join,
    Kill,
    KillClients,
    RaiseAlarm,
    Rejoin,
    RemoveToxic,
    ReplaceClients,
    Start,
    Stop,
    Thaw,
    ThawClients,
)
from faults.core.mechanisms import COMPOSE, TOXIPROXY
from faults.kinds import KINDS as FAULT_KINDS
from faults.kinds import mechanism
from harness.cluster.port import Link
from harness.plan.layouts.layout_values import BALANCER
from harness.plan.model import FaultPlan, RunPlan
from harness.run.core.view import LiveCounts
from harness.run.worker_handles import WorkerLost
from harness.run_folder.journal import Journal
from harness.run_folder.planned import TargetRecord
from harness.workers.protocol import Endpoint
from spark_analysis.files.log import LogFull, LogWriter
from spark_analysis.schema.tables import FAULTS, RESOURCES
from spark_analysis.schema.words import UnverifiedCause
from tests.docker.whole_runs import BY_PEER_LINKS, ON_DIRECT_LINKS
from tests.harness.run.live_runs import Done, run
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import LAYOUT, fault, plan


def events(done: Done) -> list[tuple[object, object]]:
    rows = read_rows(done.folder / "logs" / "harness", FAULTS)
    return [(row["event"], row["ok"]) for row in rows]


def unexpected_doubts(done: Done) -> list[tuple[str, str]]:
    """All caveats except that of a fault which kept every client away."""
    reasons = [(doubt.scope, doubt.reason) for doubt in done.findings.doubts]
    return [reason for reason in reasons if not reason[1].endswith("_absent")]


def turns(cluster: SimulatedCluster) -> tuple[type, ...]:
    """The kinds of actions that were performed; what comes and goes, as if it did so once."""
    performed = [type(action) for action in cluster.executor.performed]
    while performed[:4] == [Cut, Join, Cut, Join]:
        del performed[:2]
    if performed[:3] == [Cut, Join, Join]:  # it was joined when its window closed
        del performed[1]
    return tuple(performed)


def counts(done: Done) -> dict[str, int]:
    return {row.measure: row.count for row in done.findings.counts}


KINDS = {
    "kill": (Kill, Start),
    "stop": (Stop, Start),
    "freeze": (Freeze, Thaw),
    "hang": (AddToxic, RemoveToxic),
    "close": (Disable, Enable, Enable),
    "refuse": (Disable, Enable),
    "reset": (Disable, AddToxic, Enable, RemoveToxic, Enable),
    "slow": (AddToxic, AddToxic, RemoveToxic, RemoveToxic),
    "cut_after": (AddToxic, RemoveToxic),
    "partition": (Cut, Join),
    "black_hole": (Isolate, Rejoin),
    "reboot": (Isolate, Kill, Rejoin, Start),
    "flap": (Cut, Join),  # the first and the last; in between the same in turn
    "slow_peers": (AddToxic, RemoveToxic),
    "packet_loss": (Impair, ClearImpairment),
    "packet_delay": (Impair, ClearImpairment),
    "alarm": (RaiseAlarm, ClearAlarm),
    "client_crash": (KillClients, ReplaceClients),
    "client_freeze": (FreezeClients, ThawClients),
}


LASTS_S = {"flap": 1.3}  # longer than it takes to be cut twice
PROXIED = replace(LAYOUT, peer_links=TOXIPROXY)


def cluster_for(kind: str) -> SimulatedCluster:
    """One that can suffer it: some kinds need peers that meet through a proxy."""
    return SimulatedCluster(LAYOUT if mechanism(kind, COMPOSE) else PROXIED)


def played(kind: str, cluster: SimulatedCluster) -> RunPlan:
    return replace(plan(fault(kind), lasts_s=LASTS_S.get(kind, 0.3)), layout=cluster.layout)


def test_whole_runs_try_every_kind_here_and_on_real_brokers() -> None:
    assert KINDS.keys() == FAULT_KINDS.keys()
    assert {*ON_DIRECT_LINKS, *BY_PEER_LINKS} == FAULT_KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_fault_is_armed_verified_undone_and_verified_ended(kind: str, tmp_path: Path) -> None:
    cluster = cluster_for(kind)
    done = run(cluster, played(kind, cluster), tmp_path)
    assert turns(cluster) == KINDS[kind]
    assert [event for event in events(done) if event[0] not in ("down", "up")] == [
        ("issued", 1),
        ("returned", 1),
        ("verified", 1),
        ("undo_issued", 1),
        ("undo_returned", 1),
        ("gone", 1),
    ]
    assert unexpected_doubts(done) == []
    assert cluster.witness.open == []
    (window,) = done.facts.windows
    assert window.ended_ns is not None
    assert window.over_ns is not None
    assert window.over_ns - window.ended_ns >= 1e9


@pytest.mark.parametrize("kind", KINDS)
def test_an_executor_that_does_nothing_makes_the_run_unknown(kind: str, tmp_path: Path) -> None:
    cluster = cluster_for(kind)
    cluster.executor.idle = True
    done = run(cluster, played(kind, cluster), tmp_path)
    assert ("verified", 0) in events(done)
    assert unexpected_doubts(done) == [("run", "fault")]


@pytest.mark.parametrize("kind", ["kill", "stop", "reboot"])
def test_a_fault_that_a_supervisor_ends_does_not_count(kind: str, tmp_path: Path) -> None:
    cluster = cluster_for(kind)
    cluster.world.supervised = True
    done = run(cluster, played(kind, cluster), tmp_path)
    (window,) = done.facts.windows
    assert (window.verified, window.gone) == (False, True)
    assert window.unverified_cause == UnverifiedCause.ENDED_EARLY
    assert "it was verified active, but just before its undo" in window.unverified_reason
    assert unexpected_doubts(done) == [("run", "fault")]


def test_a_repeated_undo_leaves_the_proof_as_it_was(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.refuse = (Start,)
    done = run(cluster, plan(fault("kill")), tmp_path)
    (window,) = done.facts.windows
    assert window.verified
    assert "the undo failed" in window.unverified_reason


def test_only_unfrozen_clients_count_for_broker_availability(
    tmp_path: Path,
) -> None:
    frozen = plan(fault("client_freeze", "publisher-1"), publishers=2)
    done = run(SimulatedCluster(LAYOUT), frozen, tmp_path)
    (window,), (absence,) = done.facts.windows, done.facts.absences
    assert (absence.from_ns, absence.until_ns) == (window.origin_ns, window.ended_ns)
    assert absence.worker == 1
    target = TargetRecord(1, "client_freeze", "publisher-1", "publisher-1")
    assert done.manifest.targets == [target]
    assert done.findings.doubts == ()


def test_killed_client_and_its_successor_have_separate_absences(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, plan(fault("client_crash", "consumer-1"), consumers=2), tmp_path)
    (window,), (dead, new) = done.facts.windows, done.facts.absences
    assert (dead.worker, dead.from_ns, dead.until_ns) == (2, window.origin_ns, None)
    assert (new.worker, new.from_ns) == (4, 0)
    assert new.until_ns is not None and new.until_ns <= (window.ended_ns or 0)
    assert cluster.workers["consumer-3"].heard == [
        "hello",
        "configure",
        "start",
        "stop_load",
        "close",
    ]
    assert cluster.configured["consumer-3"].queue == cluster.configured["consumer-1"].queue
    record = next(each for each in done.manifest.workers if each.name == "consumer-1")
    assert (record.exit_code, record.log_closed, record.log_whole) == (137, False, True)
    assert record.failure == "killed by fault 1, as planned"
    assert done.findings.doubts == ()


def test_a_client_that_cannot_be_replaced_leaves_the_others_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.worker_handles.HELLO_LIMIT_S", 0.2)
    cluster = SimulatedCluster(LAYOUT, deaf=frozenset({"consumer-3"}))
    done = run(cluster, plan(fault("client_crash"), consumers=2), tmp_path)
    (window,), names = done.facts.windows, done.manifest.worker_names
    assert "the undo failed: consumer-3 did not answer" in window.unverified_reason
    assert sorted(names[away.worker] for away in done.facts.absences) == [
        "consumer-1",
        "consumer-2",
        "consumer-4",
        "publisher-1",
        "publisher-2",
    ]


def test_worker_without_the_harness_did_not_observe_the_end(tmp_path: Path) -> None:
    """It closed its log, and then nothing was due any more: no outage of the broker's."""
    cluster = SimulatedCluster(LAYOUT, orphaned=frozenset({"publisher-1"}))
    done = run(cluster, plan(fault("kill")), tmp_path)
    record = next(each for each in done.manifest.workers if each.name == "publisher-1")
    assert (record.exit_code, record.log_closed, record.ended_early) == (71, True, True)
    assert "heard nothing of mqproof for 5 s" in record.failure
    reasons = {(doubt.scope, doubt.reason) for doubt in done.findings.doubts}
    assert {("availability", "publisher_log"), ("loss", "publisher_log")} <= reasons


def test_killed_publisher_leaves_only_broker_availability_unknown(
    tmp_path: Path,
) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(fault("client_crash", "publisher-1")), tmp_path)
    assert [(doubt.window, doubt.reason) for doubt in done.findings.doubts] == [
        (1, "publishers_absent")
    ]


def test_unacknowledged_delivery_to_a_dead_consumer_is_unknown(
    tmp_path: Path,
) -> None:
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}))
    killed = plan(fault("client_crash", "consumer-1"), consumers=2, acknowledge=0)
    done = run(cluster, killed, tmp_path)
    assert counts(done)["loss_unknown"] == 1
    assert [doubt.reason for doubt in done.findings.doubts] == ["consumer_log"]


def test_a_client_that_never_returns_has_no_successor(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    of = plan(fault("client_crash", "consumer-1", returns=False), consumers=2)
    done = run(cluster, of, tmp_path)
    assert [(away.worker, away.until_ns) for away in done.facts.absences] == [(2, None)]
    assert "consumer-3" not in cluster.workers
    assert done.findings.doubts == ()


def test_with_all_clients_frozen_availability_is_unknown(tmp_path: Path) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(fault("client_freeze")), tmp_path)
    assert [(doubt.window, doubt.reason) for doubt in done.findings.doubts] == [
        (1, "publishers_absent"),
        (1, "consumers_absent"),
    ]


@pytest.mark.parametrize(
    "never",
    [fault("kill", returns=False), fault("kill", "mirror of bills")],
    ids=["ends", "opens"],
)
def test_the_end_of_an_unopened_or_endless_window_is_unknown(
    never: FaultPlan, tmp_path: Path
) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(never), tmp_path)
    assert [window.over_ns for window in done.facts.planned_windows] == [None]


def test_second_window_finds_the_cluster_as_the_first_left_it(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    of = plan(fault("kill", "mirror of orders"), fault("kill"), lasts_s=0.2)
    first, second = of.schedule.windows
    after = replace(of.schedule, windows=(first, replace(second, opens_s=0.5)))
    done = run(cluster, replace(of, schedule=after), tmp_path)
    mirror, master = (each.host for each in cluster.executor.performed if isinstance(each, Kill))
    assert cluster.executor.performed == [Kill(mirror), Start(mirror), Kill(master), Start(master)]
    gone_ns, opened_ns = (window.origin_ns for window in done.facts.windows)
    assert opened_ns - gone_ns > 0.2e9
    states = done.manifest.state["windows"]
    assert [states[number]["fault_target_role"] for number in ("1", "2")] == ["mirror", "master"]
    assert [states[number]["promoted_mirror_rank"] for number in ("1", "2")] == [None, 1]
    assert done.findings.doubts == ()


@pytest.mark.parametrize("kind", ["black_hole", "reboot"])
def test_two_hosts_dark_together_are_both_verified(kind: str, tmp_path: Path) -> None:
    both = plan(fault(kind, "mirror of orders"), fault(kind), lasts_s=0.3)
    done = run(SimulatedCluster(LAYOUT), both, tmp_path)
    assert [(one.verified, one.gone, one.unverified_reason) for one in done.facts.windows] == [
        (True, True, "")
    ] * 2


def test_unconsumed_messages_are_drained_and_their_order_is_judged(
    tmp_path: Path,
) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(fault("kill"), consumers=0), tmp_path)
    assert [worker.role for worker in done.manifest.workers] == ["publisher", "drainer"]
    assert "lost" not in counts(done)
    assert counts(done)["in_order"] == 20
    assert done.findings.doubts == ()


def test_faultless_run_has_no_loss_and_no_caveat(tmp_path: Path) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(), tmp_path)
    assert counts(done)["state"] == 20
    assert "lost" not in counts(done)
    assert done.findings.doubts == ()
    assert done.manifest.phase == "sealed"
    assert all(queue.quiet_ns is not None for queue in done.manifest.queues)
    assert [worker.exit_code for worker in done.manifest.workers] == [0, 0, 0]


def test_swallowed_messages_are_lost(tmp_path: Path) -> None:
    done = run(SimulatedCluster(LAYOUT, swallowed=frozenset({3, 7})), plan(), tmp_path)
    assert counts(done)["lost"] == 2


def test_a_drain_that_did_not_end_leaves_the_loss_unknown(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}), drain_doubt="still 4 ready")
    done = run(cluster, plan(), tmp_path)
    assert "lost" not in counts(done)
    assert counts(done)["loss_unknown"] == 1
    assert [queue.quiet_ns for queue in done.manifest.queues] == [None]


def test_messages_on_a_host_that_cannot_be_queried_are_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.drain_and_audit.ASK_LIMIT_S", 0.1)
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({3}), claims={"rmq3": None})
    done = run(cluster, plan(), tmp_path)
    assert counts(done)["unreachable"] == 1


def test_a_host_without_a_way_is_unknown_and_not_waited_for(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, claims={"rmq3": None})
    cluster.broker.cannot_answer = frozenset({"rmq3"})
    queries: list[str] = []
    masters = cluster.broker.masters

    async def counted(queue: str) -> dict[str, bool | None]:
        queries.append(queue)
        return await masters(queue)

    cluster.broker.masters = counted  # type: ignore[method-assign]
    done = run(cluster, plan(), tmp_path)
    assert len(queries) == 1
    assert [end.unreadable for end in done.facts.queues] == [("rmq3",)]


def test_competing_masters_are_each_read_and_their_messages_stranded(tmp_path: Path) -> None:
    competing_leaders = {host.name: True for host in LAYOUT.hosts[:2]}
    cluster = SimulatedCluster(LAYOUT, swallowed=frozenset({1}), claims=competing_leaders)
    done = run(cluster, plan(), tmp_path)
    assert counts(done)["stranded"] == 1
    assert {name for name in cluster.workers if name.startswith("audit")} >= {
        "audit-orders-rmq1",
        "audit-orders-rmq2",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_interrupt_in_a_fault_undoes_it_and_seals_the_run(kind: str, tmp_path: Path) -> None:
    cluster = cluster_for(kind)
    of = replace(plan(fault(kind), lasts_s=60), layout=cluster.layout)
    done = run(cluster, of, tmp_path, lambda view: bool(view.armed))
    assert turns(cluster) == KINDS[kind]
    assert done.manifest.interrupted
    assert done.manifest.phase == "sealed"
    assert all(worker.log_closed or worker.log_whole for worker in done.manifest.workers)
    assert done.facts.clock_problem == "the run was interrupted"


def hopeless() -> tuple[SimulatedCluster, RunPlan]:
    """A freeze and a kill at once; the killed host never serves again."""
    cluster = SimulatedCluster(LAYOUT)
    cluster.world.slow_start = 10_000
    of = overlapping(fault("freeze", "rmq1"), fault("kill", "rmq2"))
    first, second = of.schedule.windows
    long = replace(first, lasts_s=600), replace(second, lasts_s=600)
    return cluster, replace(of, schedule=replace(of.schedule, windows=long))


def compiled(view: LiveCounts) -> bool:
    """A fault whose target is known by now: `kill rmq1 (master of orders)`."""
    return any(" (" in title for title in view.armed)


def both_armed(cluster: SimulatedCluster) -> Callable[[LiveCounts], bool]:
    return lambda view: len(view.armed) == len(cluster.executor.performed) == 2


def closed_after_s(done: Done) -> float:
    """From the end of the load, which an interrupt ends at once, until the run closes."""
    assert done.manifest.load_ended_ns is not None
    return (done.manifest.phases_ns["closing"] - done.manifest.load_ended_ns) / 1e9


def test_interrupt_undoes_all_at_once_and_verifies_three_seconds(
    tmp_path: Path,
) -> None:
    cluster, of = hopeless()
    done = run(cluster, of, tmp_path, both_armed(cluster))
    assert done.notices == ["interrupted: undoing 2 faults"]
    assert cluster.executor.performed[2:] in (
        [Thaw("rmq1"), Start("rmq2")],
        [Start("rmq2"), Thaw("rmq1")],
    )
    load_ended_ns = done.manifest.load_ended_ns
    assert load_ended_ns is not None
    undone = [window.ended_ns for window in done.manifest.windows]
    assert all(at_ns and at_ns - load_ended_ns < 1e9 for at_ns in undone)
    assert 2.5 < closed_after_s(done) < 4.5
    assert [window.gone for window in done.manifest.windows] == [True, False]
    assert "an interrupt ended the verification" in done.manifest.windows[1].unverified_reason
    assert done.manifest.interrupted
    assert done.manifest.phase == "sealed"


def test_second_interrupt_ends_the_verification_and_a_third_changes_nothing(
    tmp_path: Path,
) -> None:
    cluster, of = hopeless()
    done = run(cluster, of, tmp_path, both_armed(cluster), again_after_s=(0.0, 0.0))
    assert done.notices == [
        "interrupted: undoing 2 faults",
        "interrupted again: not verifying that they have ended",
    ]
    assert {Thaw("rmq1"), Start("rmq2")} == set(cluster.executor.performed[2:])
    assert closed_after_s(done) < 1.0
    assert all(worker.log_closed for worker in done.manifest.workers)


def test_an_interrupted_load_is_broken_off_before_anything_is_undone(tmp_path: Path) -> None:
    cluster, of = hopeless()
    run(cluster, of, tmp_path, both_armed(cluster))
    assert {name: worker.heard[-2:] for name, worker in cluster.workers.items()} == {
        "publisher-1": ["break_off", "close"],
        "consumer-1": ["break_off", "close"],
    }


def test_drain_reader_log_is_closed_after_an_interrupt(
    tmp_path: Path,
) -> None:
    cluster = SimulatedCluster(LAYOUT, endless_drain=True)
    done = run(cluster, plan(), tmp_path, lambda _: "drain-orders" in cluster.configured)
    assert cluster.workers["drain-orders"].heard[-1] == "close"
    assert done.notices == ["interrupted: undoing 0 faults"]
    assert all(worker.log_closed for worker in done.manifest.workers)
    assert done.facts.clock_problem == "the run was interrupted"


def test_an_interrupt_before_arming_prevents_the_fault(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.world.slow_prepare_s = 60.0
    done = run(cluster, plan(fault("kill")), tmp_path, lambda view: bool(view.armed))
    assert done.notices == ["interrupted: undoing 1 fault"]
    assert cluster.executor.performed == []
    assert "never began" in done.manifest.not_begun[0].unverified_reason
    assert closed_after_s(done) < 1.0


def test_an_interrupt_ends_the_look_whether_a_fault_holds(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.idle = True
    done = run(cluster, plan(fault("kill"), lasts_s=60.0), tmp_path, compiled)
    (window,) = done.manifest.windows
    assert window.unverified_reason.startswith("not verified active: an interrupt ended the check")
    assert window.ended_ns is not None and done.manifest.load_ended_ns is not None
    assert window.ended_ns - done.manifest.load_ended_ns < 1e9


def test_every_change_of_a_flapping_link_is_recorded(tmp_path: Path) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(fault("flap"), lasts_s=1.3), tmp_path)
    rows = read_rows(done.folder / "logs" / "harness", FAULTS)
    changes = [(row["event"], row["at_ns"]) for row in rows if row["event"] in ("down", "up")]
    assert [event for event, _ in changes] == ["up", "down", "up", "down"]
    origin_ns = done.facts.windows[0].origin_ns
    for number, (_, at_ns) in enumerate(changes, 1):
        assert isinstance(at_ns, int)
        assert 0 <= at_ns - origin_ns - number * 0.3e9 < 0.15e9


def test_a_rhythm_that_is_not_kept_makes_the_run_unknown(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.takes_s = 0.2
    done = run(cluster, plan(fault("flap"), lasts_s=1.3), tmp_path)
    assert "changes came late" in done.facts.windows[0].unverified_reason
    assert [(doubt.scope, doubt.reason) for doubt in done.findings.doubts] == [("run", "fault")]
    assert cluster.world.cuts == {}


def test_an_action_that_failed_is_undone_all_the_same(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.refuse = (Cut,)
    done = run(cluster, plan(fault("partition")), tmp_path)
    assert [type(action) for action in cluster.executor.performed] == [Cut, Join]
    (doubt,) = done.findings.doubts
    assert (doubt.scope, doubt.reason) == ("run", "fault")
    assert "the engine said no" in done.facts.windows[0].unverified_reason


def test_target_missing_when_the_window_opens_makes_the_run_unknown(
    tmp_path: Path,
) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, plan(fault("kill", "mirror of bills")), tmp_path)
    assert cluster.executor.performed == []
    assert "no such queue" in done.facts.not_begun[0].unverified_reason
    assert [doubt.reason for doubt in done.findings.doubts] == ["fault"]


def overlapping(outer: FaultPlan, inner: FaultPlan) -> RunPlan:
    of = plan(outer, inner, lasts_s=1.0)
    first, second = of.schedule.windows
    inside = replace(second, opens_s=0.5, lasts_s=0.2)
    return replace(of, schedule=replace(of.schedule, windows=(first, inside)))


@pytest.mark.parametrize("inner", ["kill", "stop", "freeze", "reboot"])
def test_a_host_in_a_window_is_excluded_from_other_targets(inner: str, tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, overlapping(fault("kill", "rmq1"), fault(inner, "rmq1")), tmp_path)
    assert cluster.executor.performed == [Kill("rmq1"), Start("rmq1")]
    (held,), (never,) = done.manifest.windows, done.manifest.not_begun
    assert (held.verified, held.gone, held.unverified_reason) == (True, True, "")
    assert never.unverified_reason == (
        f"never began: {inner} rmq1 means rmq1, where fault 1 (kill rmq1) is active: the end of "
        f"one would undo the other"
    )
    assert [(doubt.scope, doubt.reason) for doubt in done.findings.doubts] == [("run", "fault")]


def test_late_bound_target_that_moved_to_another_host_is_used(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, overlapping(fault("kill"), fault("kill")), tmp_path)
    first, second = (one.host for one in cluster.executor.performed if isinstance(one, Kill))
    assert first != second
    assert [window.unverified_reason for window in done.manifest.windows] == ["", ""]


def test_a_host_that_never_returns_is_not_killed_again(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    of = overlapping(fault("kill", "rmq2", returns=False), fault("kill", "rmq2"))
    first, second = of.schedule.windows
    after = replace(of.schedule, windows=(replace(first, lasts_s=0.1), second))
    done = run(cluster, replace(of, schedule=after), tmp_path)
    assert cluster.executor.performed == [Kill("rmq2")]
    assert done.manifest.not_begun[0].unverified_reason.startswith(
        "never began: kill rmq2 means rmq2"
    )


def test_a_clock_that_moves_makes_the_run_unknown(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, clock_skew_ns=500_000_000)
    done = run(cluster, plan(), tmp_path)
    assert "its clock moved" in done.facts.clock_problem
    assert ("run", "clock") in [(doubt.scope, doubt.reason) for doubt in done.findings.doubts]


def test_silent_worker_ends_the_run_before_any_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.worker_handles.HELLO_LIMIT_S", 0.2)
    cluster = SimulatedCluster(LAYOUT, deaf=frozenset({"consumer-1"}))
    with pytest.raises(WorkerLost, match="consumer-1 did not answer"):
        run(cluster, plan(), tmp_path)


def test_worker_with_a_full_disk_stops_the_run_with_reason(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, failing=frozenset({"publisher-1"}))
    done = run(cluster, plan(), tmp_path)
    assert done.manifest.failure == "publisher-1: No space left on device"
    assert done.facts.clock_problem == done.manifest.failure
    assert not done.manifest.workers[0].log_closed


def test_worker_that_writes_what_is_no_message_stops_the_run(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, garbled=frozenset({"consumer-1"}))
    done = run(cluster, plan(), tmp_path)
    assert done.manifest.failure == "consumer-1: consumer-1 wrote what is no message"
    (worker,) = (one for one in done.manifest.workers if one.name == "consumer-1")
    assert (worker.failure, worker.exit_code) == ("consumer-1 wrote what is no message", 137)
    assert not worker.reaches_the_end


@pytest.mark.parametrize("of", [LogWriter, Journal])
def test_full_disk_under_the_harness_stops_a_run_with_reason(
    of: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own log, or the journal when an undo is noted: what was armed is undone."""
    name = "flush" if of is LogWriter else "_append"
    honest = getattr(of, name)

    def full(self: Any, *words: Any) -> None:
        late = (of is LogWriter and "faults" in self._files) or words[:1] == ("undone",)
        if late:
            refused = OSError(28, "No space left on device", "the/file")
            if of is LogWriter:
                raise LogFull(str(refused))
            self.doubt = "the/file: No space left on device"
            raise refused
        honest(self, *words)

    monkeypatch.setattr(of, name, full)
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, plan(fault("partition"), fault("partition")), tmp_path)
    assert "No space left on device" in done.manifest.failure
    assert done.facts.clock_problem == done.manifest.failure
    assert cluster.world.cuts == {}
    assert "audit" not in done.manifest.phases_ns


def test_only_the_drainer_of_single_host_clients_knows_all_hosts(
    tmp_path: Path,
) -> None:
    layout = replace(LAYOUT, client_endpoint="one")
    cluster = SimulatedCluster(layout)
    run(cluster, replace(plan(fault("client_crash")), layout=layout), tmp_path)
    known = {
        name: [endpoint.host for endpoint in config.endpoints]
        for name, config in cluster.configured.items()
    }
    assert {len(hosts) for name, hosts in known.items() if name.startswith("publisher")} == {1}
    assert {len(hosts) for name, hosts in known.items() if name.startswith("consumer")} == {1}
    (drainer,) = (hosts for name, hosts in known.items() if name.startswith("drain"))
    assert sorted(drainer) == ["rmq1", "rmq2", "rmq3"]
    assert len([name for name in known if name.startswith("publisher")]) > 1  # a successor, too


class BalancedCluster(SimulatedCluster):
    """Clients' listeners lead to what stands before the brokers."""

    async def link(self, of: RunPlan, worker: str) -> tuple[Link, ...]:
        name = f"mqproof.{of.name}.{worker}.{BALANCER}"
        return (Link(worker, BALANCER, name, Endpoint(BALANCER, "127.0.0.1", 1)),)


def behind_a_balancer(
    folder: Path, target: str, entered: tuple[str, ...] = ("balancer1",)
) -> tuple[Done, BalancedCluster]:
    layout = replace(LAYOUT, client_endpoint="haproxy-pair")
    cluster = BalancedCluster(layout, entered_at=entered)
    done = run(cluster, replace(plan(fault("kill", target)), layout=layout), folder)
    return done, cluster


def test_behind_a_balancer_the_brokers_of_clients_are_unknown(
    tmp_path: Path,
) -> None:
    done, cluster = behind_a_balancer(tmp_path, "master of orders")
    for name, config in cluster.configured.items():
        if not name.startswith("audit"):
            assert [endpoint.host for endpoint in config.endpoints] == [BALANCER], name
    state = done.manifest.state["windows"]["1"]
    assert state["fault_target_role"] == "master"
    assert state["publishers_connected_to_target"] is None
    assert done.manifest.windows[0].verified


def test_killed_balancer_is_no_host_of_a_queue(tmp_path: Path) -> None:
    done, cluster = behind_a_balancer(tmp_path, "balancer1")
    (window,) = done.manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    assert cluster.executor.performed == [Kill("balancer1"), Start("balancer1")]
    assert done.manifest.state["windows"]["1"]["fault_target_role"] == BALANCER


@pytest.mark.parametrize(
    ("target", "killed", "role"),
    [
        ("active balancer", "balancer2", "balancer"),
        ("standby balancer", "balancer1", "standby balancer"),
        ("balancer1", "balancer1", "standby balancer"),
    ],
)
def test_balancer_target_depends_on_the_current_holder_of_the_address(
    target: str, killed: str, role: str, tmp_path: Path
) -> None:
    done, cluster = behind_a_balancer(tmp_path, target, entered=("balancer2",))
    assert cluster.executor.performed == [Kill(killed), Start(killed)]
    assert done.manifest.state["windows"]["1"]["fault_target_role"] == role
    assert done.manifest.windows[0].verified


@pytest.mark.parametrize("entered", [(), ("balancer1", "balancer2")])
def test_while_an_address_moves_no_balancer_is_meant(
    entered: tuple[str, ...], tmp_path: Path
) -> None:
    done, cluster = behind_a_balancer(tmp_path, "active balancer", entered)
    assert cluster.executor.performed == []
    (window,) = done.manifest.not_begun
    held = " and ".join(entered) or "no balancer"
    assert window.unverified_reason == (
        f"never began: active balancer: {held} has the address of clients"
    )


def test_every_host_and_second_has_its_resources(tmp_path: Path) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(), tmp_path)
    hosts = {row["host"] for row in read_rows(done.folder / "logs" / "harness", RESOURCES)}
    assert hosts == {"rmq1", "rmq2", "rmq3"}


def test_state_that_claims_need_is_recorded_at_the_fault(tmp_path: Path) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(fault("kill")), tmp_path)
    not_applicable = {"not_applicable": "clients of this system use no name server"}
    assert done.manifest.state["windows"]["1"] == {
        "name_servers_hit": not_applicable,
        "name_servers_left": not_applicable,
        "name_servers_at_target": not_applicable,
        "publishers_attached_to_target": not_applicable,
        "fault_resource": {"not_applicable": "the fault is no alarm"},
        "publishers_not_blocked": None,
        "synchronised_at_last": None,
        "synchronised_when_rejoined": None,
        "consumers_of_target": [2],
        "consumers_attached": None,
        "consumers_cancelled": 0,
        "clients_report_lost": True,
        "clients_of_target_cut_off": None,  # the series reports their endpoint
        "rejoined_as": "master",
        "fault_returned": True,
        "promoted_mirror_rank": 1,
        "fault_kind": "kill",
        "fault_target_role": "master",
        "mirrors_at_fault": 2,
        "synchronised_mirrors_at_fault": 2,
        "publishers_connected_to_target": True,
        "consumers_connected_to_target": False,
    }


def test_role_of_a_recovered_host_is_recorded_after_all_faults(
    tmp_path: Path,
) -> None:
    mirror = run(SimulatedCluster(LAYOUT), plan(fault("kill", "mirror of orders")), tmp_path)
    assert mirror.manifest.state["windows"]["1"]["rejoined_as"] == "mirror"


@pytest.mark.parametrize("held", [7, 0, None])
def test_host_that_is_a_mirror_again_is_queried_for_messages(
    tmp_path: Path, held: int | None
) -> None:
    cluster = SimulatedCluster(LAYOUT, held=held, synchronised=False)
    done = run(cluster, plan(fault("kill", "mirror of orders")), tmp_path)
    state = done.manifest.state["windows"]["1"]
    assert (state["held_when_rejoined"], state["synchronised_when_rejoined"]) == (held, False)
    assert state["synchronised_at_last"] is False


def test_targets_without_queues_rejoin_with_no_role(tmp_path: Path) -> None:
    frozen = plan(fault("client_freeze", "publisher-1"), publishers=2)
    client = run(SimulatedCluster(LAYOUT), frozen, tmp_path / "1")
    assert client.manifest.state["windows"]["1"]["rejoined_as"] == "none"
    balancer, _ = behind_a_balancer(tmp_path / "2", "balancer1")
    assert balancer.manifest.state["windows"]["1"]["rejoined_as"] == "balancer"


def test_the_role_of_an_unverified_host_is_unknown(tmp_path: Path) -> None:
    stuck = SimulatedCluster(LAYOUT)
    stuck.executor.refuse = (Start,)
    dead = run(stuck, plan(fault("kill")), tmp_path)
    assert not dead.manifest.windows[0].gone
    assert "rejoined_as" not in dead.manifest.state["windows"]["1"]


def test_displayed_progress_never_decreases_and_keeps_the_faults_place(
    tmp_path: Path,
) -> None:
    twice = plan(fault("kill"), fault("client_freeze", "publisher-1"), publishers=2)
    done = run(SimulatedCluster(LAYOUT), twice, tmp_path)
    for before, after in pairwise(done.views):
        assert [part.phase for part in before.parts] == [part.phase for part in after.parts]
        both = zip(before.parts, after.parts, strict=True)
        assert all(old.done <= new.done for old, new in both)
    last = done.views[-1].strip
    assert last is not None
    assert [(one.from_ns, one.until_ns) for one in last.faults] == [
        (window.origin_ns, window.ended_ns) for window in done.facts.windows
    ]


def test_phases_skipped_by_an_interrupt_are_shown_as_not_done(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, plan(fault("kill")), tmp_path, lambda view: view.phase == "windows")
    shown = {part.phase: part.done for part in done.views[-1].parts}
    assert (shown["baseline"], shown["recovery"], shown["drain"]) == (1, 0, 0)


def test_no_share_is_shown_without_a_schedule(tmp_path: Path) -> None:
    done = run(SimulatedCluster(LAYOUT), plan(fault("kill"), rate=None), tmp_path)
    assert {view.strip for view in done.views} == {None}
