"""Suites: experiments that bring their systems, layouts and clients, by one word."""

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest

from harness.plan.files.suite import Part, Suite
from harness.plan.model import Experiment
from harness.plan.problems import PlanError
from harness.request import kernel, suites
from harness.request.run_request import RunRequest, experiment_of, replay, scenario_names
from harness.request.suites import names, suite


def request(
    *scenarios: str, repeats: int | None = None, compressed: bool = False, **more: object
) -> RunRequest:
    given = RunRequest(scenarios=scenarios, repeats=repeats, seed=7, compressed=compressed)
    return replace(given, **more)  # type: ignore[arg-type]


def planned(**more: object) -> Experiment:
    return experiment_of(request("incident", **more), "experiment")  # type: ignore[arg-type]


def test_incident_plays_every_failure_on_every_layout_the_first_thrice() -> None:
    faults = Counter((group[0].scenario.name, group[0].layout.label) for group in planned().groups)
    assert faults.pop(("incident-freeze", "colocated@default")) == 3
    assert set(faults.values()) == {1}
    assert len(faults) == 12


def test_all_clients_suffer_one_fault_at_once() -> None:
    clients = suite("incident").clients
    for group in planned().groups:
        assert [run.client.word for run in group] == clients
        assert {run.together for run in group} == {tuple(run.name for run in group)}
        assert len({run.seed for run in group}) == 1


def test_no_two_runs_have_one_name() -> None:
    runs = planned().runs
    assert len({run.name for run in runs}) == len(runs)
    assert [int(run.name.split("-")[-2]) for run in runs] == list(range(1, len(runs) + 1))


def test_a_short_suite_has_one_fault_and_lists_excluded_clients() -> None:
    short = planned(compressed=True)
    (group,) = short.groups
    assert {run.layout.label for run in group} == {"colocated@compressed"}
    (skipped,) = short.skipped
    assert skipped.cell[3] == "rocketmq-native"
    assert "cannot do settings" in skipped.reason
    assert group[0].schedule.load_s < 300


def test_repeats_are_those_requested() -> None:
    assert len(planned(repeats=2).groups) == 2 * 13


def test_naming_a_suite_excludes_flags_that_it_sets() -> None:
    with pytest.raises(PlanError) as error:
        planned(layouts=("colocated",), clients=("pika",), together=True)
    places = [problem.place for problem in error.value.problems]
    assert places == ["--layout", "--client", "--together"]
    with pytest.raises(PlanError, match="played alone"):
        experiment_of(request("incident", "master-crash"), "experiment")


def test_incident_runs_on_another_system_with_its_own_means() -> None:
    reference = suite("incident").on["reference-2m2s"]
    for compressed in (False, True):
        short = planned(systems=("reference-2m2s",), compressed=compressed)
        assert short.skipped == ()
        for group in short.groups:
            assert [run.client.word for run in group] == reference.clients
            assert {run.system.name for run in group} == {"reference-2m2s"}
            assert {run.deployment for run in group} == {"local"}
    (group,) = short.groups
    assert group[0].schedule.load_s < 60


def test_only_its_own_system_may_be_named() -> None:
    named = planned(systems=("rocketmq-2m2s",))
    assert [run.cell for run in named.runs] == [run.cell for run in planned().runs]
    with pytest.raises(PlanError) as error:
        planned(systems=("rocketmq-dledger", "reference-2m2s"))
    texts = [str(problem) for problem in error.value.problems]
    assert len(texts) == 2
    assert "rocketmq-dledger" in texts[0]
    assert "rocketmq-2m2s | reference-2m2s" in texts[0]
    assert "played on one" in texts[1]


def test_compressed_is_for_suites_alone() -> None:
    with pytest.raises(PlanError, match="for suites alone; valid: incident"):
        experiment_of(request("master-crash", compressed=True), "experiment")


def test_a_suites_name_is_no_scenarios() -> None:
    assert not set(names()) & set(scenario_names())


def test_the_command_that_does_it_again_says_so() -> None:
    words = replay(request("incident", repeats=2, compressed=True), "claims")
    assert words == "mqproof run incident --repeats 2 --compressed --judge claims --seed 7"


def test_the_system_is_said_again() -> None:
    words = replay(request("incident", systems=("reference-2m2s",), compressed=True), "claims")
    assert words == (
        "mqproof run incident --system reference-2m2s --compressed --judge claims --seed 7"
    )


def test_replay_states_one_repeat_if_the_suite_would_repeat() -> None:
    words = replay(request("incident", repeats=1), "claims")
    assert words == "mqproof run incident --repeats 1 --judge claims --seed 7"


def test_cells_that_the_kernel_cannot_do_are_not_applicable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    part = Part(
        scenarios=["packet-loss", "master-crash"], layouts=["all-automatic@T=60"], repeats=2
    )
    lossy = Suite(
        title="For tests",
        system="rabbitmq-mirrored",
        together=False,
        clients=["pika"],
        part=[part],
        compressed=[part],
        on={},
    )
    lacking = partial(kernel.fitting, lacking=lambda module: f"has no module {module}")
    monkeypatch.setattr(kernel, "fitting", lacking)
    monkeypatch.setattr(suites, "suite", lambda _: lossy)
    found = planned()
    assert [run.scenario.name for run in found.runs] == ["master-crash"] * 2
    (skipped,) = found.skipped
    assert skipped.cell == ("packet-loss", "rabbitmq-mirrored", "all-automatic@T=60", "pika")
    assert "the kernel of the Docker host has no module sch_netem" in skipped.reason


def test_a_problem_of_every_part_is_reported_once() -> None:
    with pytest.raises(PlanError) as error:
        planned(repeats=0)
    assert [problem.place for problem in error.value.problems] == ["--repeats"]


def test_a_word_that_is_misspelt_may_have_meant_a_suite() -> None:
    with pytest.raises(PlanError, match="did you mean 'incident'"):
        experiment_of(request("incidnt"), "experiment")
