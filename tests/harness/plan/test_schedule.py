"""Schedules: lengths become seconds, windows get their numbers."""

from dataclasses import replace

from faults.kinds import KINDS
from harness.plan import schedule
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.spans import Duration
from harness.plan.files.targets import CLUSTER, parse_target
from harness.plan.model import FaultPlan, Layout, OperationPlan, Scenario, Schedule
from harness.plan.operation_options import PolicyNameOptions, StopOptions
from harness.plan.operations import DELETE_POLICY, RESTART_NODE
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rocketmq.core.layout import own
from tests.rigs.runs.plans import LAYOUT, workload

FIRST = FaultPlan(KINDS["kill"], parse_target("master of orders"), Duration(30), Duration(15))
SECOND = FaultPlan(
    KINDS["partition"], parse_target("uninvolved"), Duration(timers=1), Duration(15, 1.5)
)
SCENARIO = Scenario(
    name="two",
    title="",
    story="",
    workload=workload(),
    faults=(FIRST, SECOND),
    baseline=Duration(12),
    recovery=Duration(15),
    settle=Duration(5, 0.5),
    drain_limit=Duration(60),
    source="",
)


def resolved(scenario: Scenario, layout: Layout, client: str) -> Schedule:
    guarantees = load_system(layout.system).guarantees(layout)
    return schedule.resolve(scenario, layout, guarantees, chosen_client(client))


def test_windows_are_numbered_as_they_open() -> None:
    at_10 = resolved(SCENARIO, LAYOUT, "pika")
    assert [(w.number, w.fault, w.opens_s, w.lasts_s) for w in at_10.windows] == [
        (1, SECOND, 22, 15),
        (2, FIRST, 42, 15),
    ]
    assert (at_10.baseline_s, at_10.settle_s, at_10.load_s) == (12, 5, 72)


def test_a_longer_timer_moves_what_is_written_in_timers() -> None:
    at_60 = resolved(SCENARIO, replace(LAYOUT, detection_timeout_s=60), "pika")
    assert [(w.number, w.fault, w.opens_s, w.lasts_s) for w in at_60.windows] == [
        (1, FIRST, 42, 15),
        (2, SECOND, 72, 90),
    ]
    assert (at_60.settle_s, at_60.load_s) == (30, 177)


def test_settling_takes_at_least_one_deadline() -> None:
    """Wait so long that no open publish is called missed before its time."""
    patient = replace(SCENARIO, workload=replace(SCENARIO.workload, deadline_s=60))
    assert resolved(patient, LAYOUT, "pika").settle_s == 60
    assert resolved(patient, replace(LAYOUT, detection_timeout_s=200), "pika").settle_s == 100


def test_load_continues_until_clients_recover_and_enough_was_due() -> None:
    name, sync = "rocketmq-java-5.3.3", load_layout("rocketmq-2m2s", "colocated@compressed")
    assert own(sync).timers.poll_s == 5
    back_s = SCENARIO.workload.deadline_s + 5 + 3  # a poll, and a send that was under way
    slow, many, usual, unread = (
        replace(SCENARIO, recovery=Duration(2), workload=replace(SCENARIO.workload, **changed))
        for changed in (
            {"rate": 15},
            {"rate": 75, "publishers": 20},
            {"rate": 200},
            {"rate": 40, "consumers": 0},
        )
    )
    assert resolved(slow, sync, name).recovery_s == back_s + 10  # of 100 operations
    assert resolved(many, sync, name).recovery_s == back_s + 8  # of 20 of each publisher
    assert resolved(usual, sync, name).recovery_s == back_s + 6  # a silence of 5 s shows
    assert resolved(unread, sync, name).recovery_s == back_s + 3.75  # no consumer could starve
    assert resolved(SCENARIO, LAYOUT, "pika").recovery_s == 15  # asked for, and enough
    calm = replace(slow, faults=())
    assert resolved(calm, sync, name).recovery_s == 2


def test_window_awaits_those_that_end_before_it_plus_pause() -> None:
    at_10 = resolved(SCENARIO, LAYOUT, "pika")
    first, second = at_10.windows
    assert at_10.awaited(first) == {}
    assert at_10.awaited(second) == {1: 5}


def test_an_overlapping_window_waits_for_no_one() -> None:
    overlapping = replace(SCENARIO, faults=(FIRST, replace(FIRST, opens=Duration(35))))
    at_10 = resolved(overlapping, LAYOUT, "pika")
    assert at_10.awaited(at_10.windows[1]) == {}


LATE = OperationPlan(RESTART_NODE, RESTART_NODE.target("all"), Duration(70), StopOptions())
EARLY = OperationPlan(DELETE_POLICY, CLUSTER, Duration(timers=1), PolicyNameOptions())
OPERATED = replace(SCENARIO, operations=(LATE, EARLY))


def test_operations_are_numbered_separately_in_time_order() -> None:
    found = resolved(OPERATED, LAYOUT, "pika")
    assert [(step.number, step.operation, step.at_s) for step in found.steps] == [
        (1, EARLY, 22),
        (2, LATE, 82),
    ]
    assert found.load_s == 97


def test_predecessor_and_successor_of_an_operation_and_pauses_are_known() -> None:
    found = resolved(OPERATED, LAYOUT, "pika")
    (cut, kill), (early, late) = found.windows, found.steps
    assert (found.windows_before(early), found.steps_before(early)) == ({}, {})
    assert found.windows_before(late) == {1: 45, 2: 25}
    assert found.steps_before(late) == {1: 60}
    assert found.steps_before(cut) == {}, "what begins at the same time overlaps on purpose"
    assert found.steps_before(kill) == {1: 20}


def test_a_schedule_names_the_leader_of_a_quorum_queue() -> None:
    quorum = load_layout("rabbitmq-quorum", "three@T=10")
    targets = [str(one.fault.target) for one in resolved(SCENARIO, quorum, "pika").windows]
    assert targets == ["uninvolved", "leader of orders"]
