"""Which deployment serves a plan, and what a machine without Docker can do all the same."""

from pathlib import Path

import pytest

from harness.cleanup.guardian import DeploymentKind
from harness.cleanup.guards import Guards
from harness.cleanup.heal import Chosen, RunningProject
from harness.cleanup.local_projects import LocalProjects
from harness.deploy.doctor import MachineCheck
from harness.deploy.owner import owner
from harness.pipeline import performing, stages
from harness.pipeline.port import RunOptions
from harness.plan.problems import PlanError
from harness.systems import catalogue
from tests.rigs.runs.displays import Heard


def test_every_deployment_that_a_system_names_is_there(tmp_path: Path) -> None:
    guards = Guards(tmp_path, False, lambda _: None)
    there = performing.deployments_of(RunOptions(tmp_path), guards)
    named = {
        name
        for system in catalogue.system_names()
        for name in catalogue.load_system(system).deployments
    }
    assert named == set(there) == {"compose", "local", "external"}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (DeploymentKind.LOCAL, "-m harness.cleanup.local_projects mqproof-1"),
        (DeploymentKind.COMPOSE, "docker compose -p mqproof-1 "),
    ],
)
def test_kept_cluster_is_reported_with_its_removal_command(
    kind: DeploymentKind, words: str, tmp_path: Path
) -> None:
    show = Heard()
    Guards(tmp_path, True, show.message, kinds={"mqproof-1": kind}).end()
    assert words in show.messages[-1]


async def nothing(_: LocalProjects) -> tuple[RunningProject, ...]:
    return ()


def test_without_an_engine_healing_looks_at_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setattr(LocalProjects, "find", nothing)  # what runs here is none of a test's
    show = Heard()
    assert stages.heal(show)
    assert show.messages[-2:] == [
        "no containers were looked for: no Docker engine: none runs here",
        "nothing was left behind",
    ]


def test_missing_experiment_is_bad_input_and_existing_ones_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def one(_: LocalProjects) -> tuple[RunningProject, ...]:
        return (RunningProject("p", tmp_path / "20261124-one", owner(), False),)

    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setattr(LocalProjects, "find", one)
    with pytest.raises(PlanError, match=r"--experiment: .*20261124-tow.*'20261124-one'"):
        stages.heal(Heard(), Chosen(experiment="20261124-tow"))
    with pytest.raises(PlanError, match="--results: there is no folder"):
        stages.heal(Heard(), Chosen(tmp_path / "elsewhere"))
    show = Heard()
    assert stages.heal(show, Chosen(experiment="20261124-one"))
    assert "still runs" in show.messages[0]


@pytest.mark.parametrize(
    ("row", "word", "ok"),
    [
        (MachineCheck("Docker engine", "none", False, "start it", optional=True), "absent ", True),
        (MachineCheck("free disk", "1 GB", False, "free some"), "MISSING", False),
    ],
)
def test_only_what_nothing_can_do_without_is_missing(
    row: MachineCheck, word: str, ok: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "examine", lambda _: (row,))
    show = Heard()
    assert stages.doctor(show) is ok
    assert show.messages == [f"{word} {row.what}: {row.found}", f"        {row.remedy}"]
