"""Runs of several clients, played together: which are, what they share, and what cannot be."""

from dataclasses import replace

import pytest

from harness.plan.experiment import Catalogue, ExperimentOptions, group_obstacles, plan
from harness.plan.layouts.worker_addresses import ADDRESSES
from harness.plan.model import Experiment, RunPlan, Scenario
from harness.plan.problems import PlanError
from harness.request.run_request import scenario
from harness.systems.catalogue import load_layout, load_system
from tests.rigs.runs.plans import LAYOUT, SYSTEM, fault, operated, operation
from tests.rigs.runs.plans import plan as run_plan

MIRRORED = load_system("rabbitmq-mirrored")
ROCKET = load_system("rocketmq-2m2s")
COLOCATED = load_layout("rocketmq-2m2s", "colocated@compressed")
KILL = fault("kill")


def planned(
    *scenarios: str, clients: tuple[str, ...] = ROCKET.clients[:2], repeats: int = 1
) -> Experiment:
    request = ExperimentOptions(
        name="e",
        seed=7,
        scenarios=tuple(map(scenario, scenarios)),
        layouts=(COLOCATED.label,),
        clients=clients,
        repeats=repeats,
        together=True,
    )
    return plan(request, Catalogue((ROCKET,), (COLOCATED,)))


def reasons(of: Scenario, runs: int = 2) -> list[str]:
    return list(group_obstacles(of, SYSTEM, LAYOUT, runs))


def test_runs_of_all_clients_are_grouped_per_scenario_and_repeat() -> None:
    experiment = planned("master-crash", "cut-one-node", repeats=2)
    assert [[run.client.word for run in group] for group in experiment.groups] == [
        list(ROCKET.clients[:2])
    ] * 4
    for group in experiment.groups:
        assert len({(run.scenario.name, run.repeat) for run in group}) == 1
        assert all(run.together == tuple(one.name for one in group) for run in group)


def test_grouped_runs_share_chance_and_phases_but_no_name() -> None:
    for group in planned("master-crash", repeats=2).groups:
        assert len({run.seed for run in group}) == 1
        assert len({run.number for run in group}) == len({run.name for run in group}) == 2
        assert all(run.schedule == group[0].schedule for run in group)
    seeds = {run.seed for run in planned("master-crash", repeats=2).runs}
    assert len(seeds) == 2  # repeats are not the same run


def test_without_it_every_run_is_played_alone() -> None:
    request = ExperimentOptions(
        "e", 7, (scenario("master-crash"),), (), (COLOCATED.label,), ROCKET.clients[:2]
    )
    experiment = plan(request, Catalogue((ROCKET,), (COLOCATED,)))
    assert [len(group) for group in experiment.groups] == [1, 1]
    assert all(run.together == () for run in experiment.runs)


def test_one_client_cannot_run_together() -> None:
    with pytest.raises(PlanError, match="--together: it takes several clients"):
        planned("master-crash", clients=ROCKET.clients[:1])


def test_cell_playable_by_one_client_only_is_played_alone() -> None:
    clients = (MIRRORED.clients[0], ROCKET.clients[0])
    systems, layouts = (MIRRORED, ROCKET), (LAYOUT, COLOCATED)
    request = ExperimentOptions(
        name="e",
        seed=7,
        scenarios=(scenario("master-crash"),),
        systems=tuple(system.name for system in systems),
        layouts=tuple(layout.label for layout in layouts),
        clients=clients,
        together=True,
    )
    experiment = plan(request, Catalogue(systems, layouts))
    assert [(run.client.word, run.together) for run in experiment.runs] == [
        (clients[0], ()),
        (clients[1], ()),
    ]


@pytest.mark.parametrize(
    ("of", "reason"),
    [
        (run_plan(fault("client_crash")), "fault 1: a client_crash affects clients"),
        (run_plan(KILL, fault("flap")), "fault 2: a flap comes and goes by the clock of one run"),
        (
            run_plan(fault("kill", "name_server_of consumer-1")),
            "fault 1: name_server_of consumer-1 depends on a client",
        ),
        (
            run_plan(fault("kill", "host of name_server_of publisher-1")),
            "each run has its own publisher-1",
        ),
        (operated(operation("restart_node", "all")), "operation 1: restart_node would be done"),
    ],
)
def test_grouped_runs_refuse_faults_with_differing_targets(of: RunPlan, reason: str) -> None:
    (found,) = reasons(of.scenario)
    assert reason in found


def test_grouped_runs_allow_faults_with_one_target() -> None:
    for kind in ("kill", "partition", "black_hole", "hang", "alarm", "slow_peers"):
        assert reasons(run_plan(fault(kind)).scenario) == []


def test_the_workers_of_all_runs_need_addresses() -> None:
    of = run_plan(queues=("a", "b", "c"), publishers=20, consumers=20).scenario
    assert list(group_obstacles(of, ROCKET, COLOCATED, 1)) == []
    (found,) = group_obstacles(of, ROCKET, COLOCATED, 2)
    assert f"there are {ADDRESSES}" in found
    assert "in each of 2 runs" in found


def test_impossible_grouping_is_a_problem_that_names_the_cell() -> None:
    with pytest.raises(PlanError) as refused:
        planned("master-crash", "consumer-crash")
    (problem,) = refused.value.problems
    place = f"consumer-crash on rocketmq-2m2s {COLOCATED.label}"
    assert problem.place == "--together"
    assert problem.text.startswith(f"{place}: fault 1")


def test_runs_of_one_name_played_alone_are_no_group() -> None:
    one = run_plan(KILL)
    assert len(Experiment("e", 7, (one, replace(one)), ()).groups) == 2
