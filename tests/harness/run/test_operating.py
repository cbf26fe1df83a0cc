"""Whole runs with operations over a cluster in memory: what is done, recorded, doubted, mended."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from faults.core.actions import Action, Kill, Start, Stop
from harness.cluster.orders import (
    AddNode,
    CancelSync,
    DeletePolicy,
    ForceBoot,
    ForgetNode,
    Promote,
    ResetNode,
    SetPolicy,
    Synchronise,
    WipeNode,
)
from harness.plan.layouts.layout_values import Host
from harness.plan.model import FaultPlan
from harness.plan.operations import OPERATIONS as KINDS
from harness.plan.operations import parse_through
from harness.run.operations import promoting
from harness.run.operations.afterwards import OWN_WORD
from harness.run_folder.journal import read, standing
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.tables import OPERATIONS
from tests.harness.run.live_runs import Done, run
from tests.rigs.clusters.fault_world import World
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import LAYOUT, fault, operated, operation, plan

ALL = ("rmq1", "rmq2", "rmq3")


def doubts(done: Done) -> list[tuple[str, str]]:
    return [(doubt.scope, doubt.reason) for doubt in done.findings.doubts]


def rows(done: Done) -> list[dict[str, object]]:
    return list(read_rows(done.folder / "logs" / "harness", OPERATIONS))


def test_a_restarted_node_is_stopped_started_and_written_down(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, operated(operation("restart_node", "master of orders")), tmp_path)
    master = cluster.declared["mqproof.quick-1-00ff.orders"]
    assert cluster.executor.performed == [Stop(master), Start(master, 30.0)]
    (row,) = rows(done)
    assert (row["operation"], row["kind"], row["target"]) == (
        1,
        "restart_node",
        "master of orders",
    )
    assert (row["resolved"], row["ok"]) == (master, 1)
    (record,) = done.manifest.operations
    assert (record.resolved, record.ok) == (master, True)
    assert (record.began_ns, record.returned_ns) == (row["at_ns"], row["returned_ns"])
    assert done.findings.doubts == ()
    assert done.manifest.cluster_altered == ""
    (leadership_change,) = done.facts.leadership_changes
    assert leadership_change.over_ns is not None and record.returned_ns is not None
    assert (leadership_change.origin_ns, leadership_change.over_ns - record.returned_ns) == (
        record.began_ns,
        1_000_000_000,
    )
    (at_work,) = done.facts.operations
    assert (at_work.origin_ns, at_work.over_ns) == (record.began_ns, leadership_change.over_ns)
    assert Facts.from_json(json.loads(json.dumps(done.facts.to_json()))) == done.facts


def test_whole_cluster_stops_in_turn_and_starts_last_first(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    of = operated(
        operation("stop_node", "mirror of orders"),
        operation("stop_node", "mirror of orders"),
        operation("stop_node", "master of orders"),
        operation("start_node", "all", order="last stopped first"),
    )
    done = run(cluster, of, tmp_path)
    stopped = [each.host for each in cluster.executor.performed if isinstance(each, Stop)]
    started = [each.host for each in cluster.executor.performed if isinstance(each, Start)]
    assert sorted(stopped) == sorted(ALL)
    assert started == stopped[::-1]
    assert done.findings.doubts == ()
    assert {key: done.manifest.state[key] for key in FACTS} == {
        "all_stopped": "in turn",
        "started_first": "last stopped",
        "lost_disk": "none",
        "node_removed": "none",
        "queues_have_masters": True,
        "mirrors_after_operations": 2,
    }


FACTS = (
    "all_stopped",
    "started_first",
    "lost_disk",
    "node_removed",
    "queues_have_masters",
    "mirrors_after_operations",
)


def test_hosts_that_are_killed_by_one_operation_go_at_once(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    of = operated(operation("stop_node", "all", how="kill"), operation("start_node", "all"))
    done = run(cluster, of, tmp_path)
    assert {each for each in cluster.executor.performed if isinstance(each, Kill)} == {
        Kill(host) for host in ALL
    }
    state = done.manifest.state
    assert (state["all_stopped"], state["started_first"]) == ("at once", "other")


def test_wipe_forget_and_force_boot_reach_the_right_hosts(
    tmp_path: Path,
) -> None:
    cluster = SimulatedCluster(LAYOUT)
    of = operated(
        *(operation("stop_node", host, how="kill") for host in ALL),
        operation("wipe_node", "last stopped"),
        operation("forget_node", "lost", offline=True),
        operation("force_boot", "last stopped"),
        operation("start_node", "last stopped"),
        operation("start_node", "first stopped"),
        operation("start_node", "lost"),
    )
    done = run(cluster, of, tmp_path)
    assert cluster.operator.carried_out == [
        WipeNode("rmq3"),
        ForgetNode("rmq3", "rmq2", offline=True),
        ForceBoot("rmq2"),
    ]
    started = [each.host for each in cluster.executor.performed if isinstance(each, Start)]
    assert started == ["rmq2", "rmq1", "rmq3"]
    state = done.manifest.state
    assert (state["lost_disk"], state["node_removed"]) == ("last stopped", "offline")
    assert done.manifest.cluster_altered == "wipe_node, forget_node, force_boot"
    assert done.findings.doubts == ()


@pytest.mark.parametrize(
    ("word", "offline", "host"),
    [("first stopped", True, "rmq1"), ("last stopped", True, "rmq2"), ("rmq3", False, "rmq3")],
)
def test_scenario_chooses_the_host_that_executes_an_order(
    word: str, offline: bool, host: str, tmp_path: Path
) -> None:
    cluster = SimulatedCluster(LAYOUT)
    of = operated(
        operation("stop_node", "rmq1"),
        operation("stop_node", "rmq2"),
        operation("forget_node", "first stopped", offline=offline, through=parse_through(word)),
    )
    done = run(cluster, of, tmp_path)
    assert cluster.operator.carried_out == [ForgetNode("rmq1", host, offline=offline)]
    assert done.manifest.operations[-1].ok


def test_running_node_is_informed_about_forgotten_added_and_reset_nodes(tmp_path: Path) -> None:
    spare = replace(LAYOUT, spares=(Host("rmq4", "10.0.0.4", ("rabbitmq",)),))
    cluster = SimulatedCluster(spare)
    of = operated(
        operation("stop_node", "rmq1"),
        operation("forget_node", "first stopped"),
        operation("add_node", "spare"),
        operation("reset_node", "rmq3"),
        of=replace(plan(), layout=spare),
    )
    done = run(cluster, of, tmp_path)
    assert cluster.operator.carried_out == [
        ForgetNode("rmq1", "rmq2", offline=False),
        AddNode("rmq4", "rmq2"),
        ResetNode("rmq3"),
    ]
    assert done.manifest.cluster_altered == (
        "forget_node, add_node, reset_node, rmq1 was left stopped"
    )


def test_policies_and_synchronisation_reach_brokers_by_name(
    tmp_path: Path,
) -> None:
    cluster = SimulatedCluster(LAYOUT)
    definition = (("ha-mode", "exactly"), ("ha-params", 2))
    of = operated(
        operation("set_policy", definition=definition, priority=3),
        operation("delete_policy"),
        operation("synchronise", "orders"),
        operation("cancel_sync", "orders"),
    )
    done = run(cluster, of, tmp_path)
    queue = "mqproof.quick-1-00ff.orders"
    assert cluster.operator.carried_out == [
        SetPolicy("mqproof", r"^mqproof\.", definition, 3),
        DeletePolicy("mqproof"),
        Synchronise(queue),
        CancelSync(queue),
    ]
    assert [row["resolved"] for row in rows(done)] == ["mqproof", "mqproof", queue, queue]
    assert [leadership_change.over_ns for leadership_change in done.facts.leadership_changes] == [
        None,
        None,
    ]
    assert [one.moves_leader for one in done.facts.operations] == [True, True, False]
    assert all(one.over_ns is not None for one in done.facts.operations)
    assert done.manifest.cluster_altered == "set_policy, delete_policy"


@pytest.mark.parametrize(
    ("kind", "target", "why"),
    [
        ("start_node", "first stopped", "there is no such host"),
        ("add_node", "spare", "no such spare host"),
        ("stop_node", "mirror of bills", "no such queue"),
    ],
)
def test_operation_without_a_target_fails_and_makes_the_run_unknown(
    kind: str, target: str, why: str, tmp_path: Path
) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, operated(operation(kind, target)), tmp_path)
    assert cluster.executor.performed == []
    (record,) = done.manifest.operations
    assert why in record.detail
    assert f"operation 1 ({kind} {target}) failed" in done.facts.clock_problem
    assert [(doubt.scope, doubt.reason) for doubt in done.findings.doubts] == [("run", "clock")]


def test_refused_operation_is_recorded_and_later_ones_continue(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.operator.refuse = (DeletePolicy,)
    of = operated(operation("delete_policy"), operation("restart_node", "rmq1"))
    done = run(cluster, of, tmp_path)
    assert [record.ok for record in done.manifest.operations] == [False, True]
    assert "the broker said no" in done.facts.clock_problem
    assert done.manifest.cluster_altered == "delete_policy"


def test_an_executor_that_does_nothing_makes_the_run_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.operations.operating.STOP_LIMIT_S", 0.3)
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.idle = True
    done = run(cluster, operated(operation("stop_node", "rmq1")), tmp_path)
    assert "its process had not ended" in done.facts.clock_problem


POLICY = (("ha-mode", "exactly"), ("ha-params", 2))
UNDONE = {  # an operation whose operator says `done` and does nothing -> what is seen instead
    "add_node": (operation("add_node", "spare"), "rmq1 did not list rmq4 within 60 s"),
    "forget_node": (operation("forget_node", "rmq3"), "rmq1 did not strike off rmq3 within 60 s"),
    "reset_node": (operation("reset_node", "master of orders"), "it was not emptied within 60 s"),
    "set_policy": (operation("set_policy", definition=POLICY), "policy mqproof does not have"),
    "delete_policy": (operation("delete_policy"), "policy mqproof still exists"),
    "synchronise": (operation("synchronise", "orders"), "was not synchronised within 120 s"),
}
OF_PROCESSES = {"stop_node", "start_node", "restart_node"}  # the executor's, not an operator's


def test_every_operation_is_verified_or_recorded_as_the_operators_word() -> None:
    offered = {name for name, one in KINDS.items() if one.offers}
    assert {*UNDONE, *OWN_WORD, *OF_PROCESSES, "promote"} == offered


@pytest.mark.parametrize("kind", UNDONE)
def test_operator_that_does_nothing_and_reports_success_is_not_believed(
    kind: str, tmp_path: Path
) -> None:
    layout = replace(LAYOUT, spares=(Host("rmq4", "10.0.0.4", ("rabbitmq",)),))
    order, seen = UNDONE[kind]
    before = [operation("stop_node", "rmq3")] if kind == "forget_node" else []
    of = operated(*before, order, of=replace(plan(), layout=layout))
    for idle in (True, False):
        cluster = SimulatedCluster(
            layout, synchronised=False, policies={"mqproof": {"ha-mode": "all"}}
        )
        cluster.operator.idle = idle
        done = run(cluster, of, tmp_path / str(idle))
        record = done.manifest.operations[-1]
        assert record.ok is not idle, record
        assert (seen in record.detail) == idle, record
        assert (("run", "clock") in doubts(done)) == idle


@pytest.mark.parametrize("kind", ["wipe_node", "force_boot", "cancel_sync"])
def test_operation_no_broker_can_confirm_is_recorded_by_its_word(
    kind: str, tmp_path: Path
) -> None:
    target = "orders" if kind == "cancel_sync" else "first stopped"
    of = operated(operation("stop_node", "rmq3"), operation(kind, target))
    done = run(SimulatedCluster(LAYOUT), of, tmp_path)
    record = done.manifest.operations[-1]
    assert record.ok
    assert record.detail == f"done (its operator's word alone: {OWN_WORD[kind]})"


def test_reset_of_a_node_without_copies_is_believed_and_noted(tmp_path: Path) -> None:
    single = replace(LAYOUT, copies=1)
    of = operated(operation("reset_node", "uninvolved"), of=replace(plan(), layout=single))
    (record,) = run(SimulatedCluster(single), of, tmp_path).manifest.operations
    assert record.ok
    assert "no queue is known that it held, but as the youngest mirror" in record.detail


@pytest.mark.parametrize("kind", ["start_node", "restart_node"])
def test_an_executor_that_starts_nothing_is_not_believed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = World.change

    def lazy(world: World, action: Action) -> None:
        if not isinstance(action, Start):
            change(world, action)

    monkeypatch.setattr(World, "change", lazy)
    stopped = [operation("stop_node", "rmq1")] if kind == "start_node" else []
    of = operated(*stopped, operation(kind, "rmq1"))
    done = run(SimulatedCluster(LAYOUT), of, tmp_path)
    assert "its process ended with exit code 0 before it served" in done.facts.clock_problem


def test_broker_that_ends_before_serving_is_not_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tests.rigs.clusters.fault_world.World.change", lambda world, _: world.dead.update(rmq1=1)
    )
    done = run(SimulatedCluster(LAYOUT), operated(operation("restart_node", "rmq1")), tmp_path)
    assert "its process ended with exit code 1 before it served" in done.facts.clock_problem


def test_nodes_left_stopped_by_operations_start_after_the_run(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, operated(operation("stop_node", "rmq2")), tmp_path)
    assert cluster.executor.performed == [Stop("rmq2"), Start("rmq2", 30.0)]
    assert done.manifest.cluster_altered == "rmq2 was left stopped"
    assert standing(read(done.folder / "journal.jsonl")) == ()


def test_the_journal_lists_every_stopped_host_for_heal(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    cluster.executor.refuse = (Start,)
    done = run(cluster, operated(operation("stop_node", "all")), tmp_path)
    left = standing(read(done.folder / "journal.jsonl"))
    assert {(armed.kind, armed.undo) for armed in left} == {
        ("stop_node", (Start(host, 30.0),)) for host in ALL
    }


def test_interrupt_stops_an_operation_and_starts_its_stopped_nodes(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, health_doubts=("rmq3: partition",))
    cluster.world.unending.add("rmq1")
    of = operated(operation("stop_node", "rmq1"))
    done = run(cluster, of, tmp_path, lambda view: "stop_node rmq1" in view.armed)
    assert done.manifest.interrupted
    assert cluster.executor.performed == [Stop("rmq1"), Start("rmq1", 30.0)]
    (record,) = done.manifest.operations
    assert (record.ok, record.detail) == (False, "broken off")
    assert record.returned_ns is not None


def test_operation_fails_if_the_cluster_is_not_clean_as_required(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, health_doubts=("rmq3: partition",))
    of = operated(operation("restart_node", "all", order="in turn", waits="clean"))
    done = run(cluster, of, tmp_path)
    assert "rmq3: partition" in done.facts.clock_problem
    stops = [each for each in cluster.executor.performed if isinstance(each, Stop)]
    assert stops == [Stop("rmq1")], "the next one does not come before the cluster is clean"


def test_an_operation_after_a_fault_waits_until_that_is_gone(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    faulted = plan(fault("kill", "rmq1"), lasts_s=0.2)
    of = operated(operation("restart_node", "rmq2"), of=faulted)
    (step,) = of.schedule.steps
    of = replace(of, schedule=replace(of.schedule, steps=(replace(step, at_s=0.5),)))
    done = run(cluster, of, tmp_path)
    assert cluster.executor.performed == [
        Kill("rmq1"),
        Start("rmq1"),
        Stop("rmq2"),
        Start("rmq2", 30.0),
    ]
    assert done.findings.doubts == ()


# --- a human makes a mirror the master -----------------------------------------------------------


def promoted(tmp_path: Path, cluster: SimulatedCluster, *killed: FaultPlan) -> Done:
    """The kill, if any, stands when the operator comes to it."""
    of = operated(operation("promote", "orders"), of=plan(*killed, lasts_s=2.0))
    later = tuple(replace(step, at_s=0.6) for step in of.schedule.steps)
    return run(cluster, replace(of, schedule=replace(of.schedule, steps=later)), tmp_path)


def test_mirror_of_a_dead_master_is_promoted_by_a_restart(tmp_path: Path) -> None:
    """Record the promotion first, then stop the mirror and start it."""
    cluster = SimulatedCluster(LAYOUT, elects=False)
    killed = fault("kill", "master of orders", returns=False)
    done = promoted(tmp_path, cluster, killed)
    (order,) = cluster.operator.carried_out
    assert isinstance(order, Promote)
    (record,) = done.manifest.operations
    assert record.ok, record.detail
    assert record.detail.endswith(f"; {order.host} is shown as master")
    own = [one for one in cluster.executor.performed if getattr(one, "host", "") == order.host]
    assert own == [Stop(order.host), Start(order.host, 30.0)]
    assert done.manifest.cluster_altered == "promote"
    assert [one.kind for one in standing(read(done.folder / "journal.jsonl"))] == ["kill"]


def test_a_queue_that_has_a_master_gets_no_second_one(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = promoted(tmp_path, cluster)
    assert cluster.operator.carried_out == []
    assert cluster.executor.performed == []
    (record,) = done.manifest.operations
    assert not record.ok
    assert record.detail.endswith("another one would make two")


def test_mirror_not_shown_as_master_anywhere_was_not_promoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promoting, "SERVE_LIMIT_S", 0.2)
    cluster = SimulatedCluster(LAYOUT, elects=False)
    cluster.operator.idle = True
    done = promoted(tmp_path, cluster, fault("kill", "master of orders", returns=False))
    (record,) = done.manifest.operations
    assert not record.ok
    assert "master after 0.2 s" in record.detail


def test_an_operator_that_cannot_record_stops_no_host(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT, elects=False)
    cluster.operator.refuse = (Promote,)
    done = promoted(tmp_path, cluster, fault("kill", "master of orders", returns=False))
    assert [type(one) for one in cluster.executor.performed] == [Kill]
    assert not done.manifest.operations[0].ok
