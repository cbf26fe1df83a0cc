"""Cells that the Docker host's kernel cannot do are NOT APPLICABLE, with the reason."""

from dataclasses import replace

import pytest

from harness.plan.model import Experiment, RunPlan
from harness.plan.problems import PlanError
from harness.request.kernel import fitting, obstacles
from tests.rigs.runs.plans import fault, plan

WITHOUT = "was built without sch_netem (CONFIG_NET_SCH_NETEM is not set)"


def lacking(module: str) -> str:
    assert module == "sch_netem"
    return WITHOUT


def has_all(module: str) -> str:
    assert module
    return ""


def experiment(*runs: RunPlan) -> Experiment:
    return Experiment("e", 7, runs, ())


def of(kind: str) -> RunPlan:
    made = plan(fault(kind))
    return replace(made, scenario=replace(made.scenario, name=f"with-{kind.replace('_', '-')}"))


@pytest.mark.parametrize("kind", ["packet_loss", "packet_delay"])
def test_a_fault_of_packets_needs_netem_in_containers(kind: str) -> None:
    (why,) = obstacles((fault("kill"), fault(kind)), "compose", lacking)
    assert (
        f"fault 2: compose offers no {kind} here: the kernel of the Docker host {WITHOUT}" in why
    )
    assert "Run `modprobe sch_netem` on the Docker host" in why
    assert not [*obstacles((fault(kind),), "compose", has_all)]
    assert not [*obstacles((fault(kind),), "local", lacking)], "planning says why not there"


def test_other_faults_need_no_module() -> None:
    faults = [fault(kind) for kind in ("kill", "partition", "slow", "alarm")]
    assert not [*obstacles(faults, "compose", lacking)]


def test_a_cell_that_the_kernel_cannot_do_is_not_applicable() -> None:
    kill, loss = of("kill"), of("packet_loss")
    found = fitting(experiment(loss, kill, replace(loss, repeat=2)), lacking)
    assert found.runs == (kill,)
    (skipped,) = found.skipped
    assert skipped.cell == loss.cell
    assert WITHOUT in skipped.reason
    assert fitting(experiment(loss, kill), has_all) == experiment(loss, kill)


def test_an_experiment_without_any_cell_left_is_bad_input() -> None:
    with pytest.raises(PlanError, match="not applicable: fault 1: compose offers no packet_loss"):
        fitting(experiment(of("packet_loss")), lacking)
