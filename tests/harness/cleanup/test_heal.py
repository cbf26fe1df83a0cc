"""Healing, over projects and executors that stand in memory."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from faults.core.actions import Action, ClearImpairment, Cut, Join, Kill, Start
from faults.core.model import Armed, FaultError, Receipt
from harness.cleanup.heal import EVERYBODY, Chosen, HealResult, RunningProject, heal
from harness.run_folder.journal import Journal, read, standing
from tests.rigs.clusters.fault_world import OPTIONS_OF, compiled_fault

HOSTS = ("rmq1", "rmq2", "rmq3")
DEAD, ALIVE = "1 1 boot", "2 2 boot"


@dataclass
class Projects:
    """heal.Projects in memory; it is the executor of all its projects."""

    found: list[RunningProject]
    done: list[str] = field(default_factory=list)
    refuse: tuple[type[Action], ...] = ()

    async def find(self) -> Sequence[RunningProject]:
        return self.found

    def executor(self, project: str) -> "Projects":
        assert project
        return self

    async def perform(self, action: Action) -> Receipt:
        if isinstance(action, self.refuse):
            raise FaultError("the engine says no")
        self.done.append(str(action))
        return Receipt(1, 2)

    async def sweep(self, project: str) -> Sequence[str]:
        self.done.append(f"sweep {project}")
        return ["rmq1 started"]

    async def remove(self, project: str) -> None:
        self.done.append(f"remove {project}")


def fault(kind: str, window: int, returns: bool = True) -> Armed:
    return compiled_fault(kind, "rmq1", HOSTS, ("p",), window=window, returns=returns)


def project(folder: Path, owner: str = DEAD, keep: bool = False) -> RunningProject:
    return RunningProject("p", folder, owner, keep)


def journal(folder: Path, run: str, armed: Sequence[Armed], undone: Sequence[Armed] = ()) -> Path:
    path = folder / "runs" / run / "journal.jsonl"
    path.parent.mkdir(parents=True)
    written = Journal(path)
    for one in armed:
        written.armed(one)
    for one in undone:
        written.undone(one)
    written.close()
    return path


def healed(projects: Projects, chosen: Chosen = EVERYBODY, dry: bool = False) -> list[HealResult]:
    async def rows() -> list[HealResult]:
        return [row async for row in heal(projects, lambda owner: owner == ALIVE, chosen, dry)]

    return asyncio.run(rows())


def test_active_faults_are_undone_and_noted_before_the_removal(tmp_path: Path) -> None:
    kill, cut = fault("kill", 1), fault("partition", 2)
    path = journal(tmp_path, "run-1", [kill, cut], undone=[kill])
    projects = Projects([project(tmp_path)])
    rows = healed(projects)
    assert projects.done == [str(cut.undo[0]), "remove p"]
    assert standing(read(path)) == ()
    assert read(path)[-1].by == "heal"
    assert all(row.ok for row in rows)
    assert rows[0].what == "undo partition of rmq1 (fault 2 of run-1)"


@pytest.mark.parametrize("kind", ["packet_loss", "packet_delay"])
def test_an_impairment_of_a_killed_harness_is_cleared_once(tmp_path: Path, kind: str) -> None:
    impaired = compiled_fault(kind, "rmq1", HOSTS, options=OPTIONS_OF[kind])
    path = journal(tmp_path, "run-1", [impaired])
    projects = Projects([project(tmp_path, keep=True)])
    rows = healed(projects)
    assert rows[0].ok
    assert rows[0].what == f"undo {kind} of rmq1 (fault 1 of run-1)"
    assert standing(read(path)) == ()
    healed(projects)
    assert projects.done == [str(ClearImpairment("rmq1"))]


def test_healing_again_does_nothing_again(tmp_path: Path) -> None:
    journal(tmp_path, "run-1", [fault("kill", 1)])
    projects = Projects([project(tmp_path, keep=True)])
    healed(projects)
    assert projects.done == [str(Start("rmq1"))]
    healed(projects)
    assert projects.done == [str(Start("rmq1"))]


def test_heal_undoes_faults_of_a_kept_cluster(tmp_path: Path) -> None:
    journal(tmp_path, "run-1", [fault("kill", 1)])
    projects = Projects([project(tmp_path, keep=True)])
    rows = healed(projects)
    assert projects.done == [str(Start("rmq1"))]
    removal = f"to remove it: mqproof heal --experiment {tmp_path.name}"
    assert rows[-1].what == f"kept, as requested (--keep); {removal}"


def test_a_kept_cluster_is_removed_if_its_experiment_is_named(tmp_path: Path) -> None:
    journal(tmp_path, "run-1", [fault("kill", 1)])
    projects = Projects([project(tmp_path, keep=True)])
    (*_, last) = healed(projects, Chosen(experiment=tmp_path.name), dry=True)
    assert last.what == "would remove all of it"
    healed(projects, Chosen(experiment=tmp_path.name))
    assert projects.done == [str(Start("rmq1")), "remove p"]
    healed(projects, Chosen(tmp_path))
    assert projects.done[2:] == []


@pytest.mark.parametrize(("owner", "why"), [(ALIVE, "process 2, still runs"), ("", "by hand")])
def test_heal_leaves_clusters_with_an_owner_alone(tmp_path: Path, owner: str, why: str) -> None:
    journal(tmp_path, "run-1", [fault("kill", 1)])
    projects = Projects([project(tmp_path, owner=owner)])
    (row,) = healed(projects)
    assert projects.done == []
    assert why in row.what


def test_without_a_folder_everything_is_swept(tmp_path: Path) -> None:
    projects = Projects([project(tmp_path / "gone")])
    rows = healed(projects)
    assert projects.done == ["sweep p", "remove p"]
    assert rows[0].what == "sweep away what could be a fault: rmq1 started"


def test_a_journal_that_cannot_be_read_is_reported_and_swept(tmp_path: Path) -> None:
    good = journal(tmp_path, "run-1", [fault("kill", 1)])
    bad = good.parent.parent / "run-2" / "journal.jsonl"
    bad.parent.mkdir()
    bad.write_bytes(b"{}\n")
    projects = Projects([project(tmp_path)])
    rows = healed(projects)
    assert projects.done == [str(Start("rmq1")), "sweep p", "remove p"]
    assert [row.what for row in rows if not row.ok] == ["read a journal"]


def test_one_undo_that_fails_does_not_keep_the_others(tmp_path: Path) -> None:
    path = journal(tmp_path, "run-1", [fault("partition", 1), fault("kill", 2)])
    projects = Projects([project(tmp_path)], refuse=(Join,))
    rows = healed(projects)
    assert projects.done == [str(Start("rmq1")), "remove p"]
    assert [row.doubt for row in rows if not row.ok] == ["the engine says no"]
    assert [armed.kind for armed in standing(read(path))] == ["partition"]


def test_a_fault_that_never_returns_is_not_undone(tmp_path: Path) -> None:
    journal(tmp_path, "run-1", [fault("kill", 1, returns=False)])
    projects = Projects([project(tmp_path, keep=True)], refuse=(Kill, Cut))
    rows = healed(projects)
    assert projects.done == []
    assert "never ends" in rows[0].what


def two_experiments(folder: Path) -> Projects:
    """Each with a project of its own, both left behind."""
    for name in ("one", "two"):
        journal(folder / name, "run-1", [fault("kill", 1)])
    return Projects([RunningProject(name, folder / name, DEAD, False) for name in ("one", "two")])


@pytest.mark.parametrize(
    ("results", "experiment", "removed"),
    [
        ("", "", ["one", "two"]),
        (".", "", ["one", "two"]),
        ("one", "", ["one"]),
        ("elsewhere", "", []),
        ("", "two", ["two"]),
        ("", "{folder}/two", ["two"]),
        (".", "two", ["two"]),
        ("one", "two", []),
        ("", "tw", []),
    ],
)
def test_heal_leaves_clusters_that_were_not_chosen_alone(
    results: str, experiment: str, removed: list[str], tmp_path: Path
) -> None:
    projects = two_experiments(tmp_path)
    where = tmp_path / results if results else None
    rows = healed(projects, Chosen(where, experiment.format(folder=tmp_path)))
    assert [deed for deed in projects.done if "remove" in deed] == [f"remove {r}" for r in removed]
    assert {row.project for row in rows} == set(removed)


def test_heal_leaves_a_live_chosen_experiment_alone(tmp_path: Path) -> None:
    journal(tmp_path, "run-1", [fault("kill", 1)])
    projects = Projects([project(tmp_path, owner=ALIVE)])
    (row,) = healed(projects, Chosen(experiment=str(tmp_path)))
    assert "still runs" in row.what
    assert projects.done == []


def test_a_dry_run_lists_all_actions_and_performs_none(tmp_path: Path) -> None:
    path = journal(tmp_path, "run-1", [fault("kill", 1), fault("kill", 2, returns=False)])
    before = path.read_bytes()
    projects = Projects([project(tmp_path)])
    assert [row.what for row in healed(projects, dry=True)] == [
        "undo kill of rmq1 (fault 2 of run-1): the scenario never ends it",
        "would undo kill of rmq1 (fault 1 of run-1)",
        "would remove all of it",
    ]
    assert projects.done == []
    assert path.read_bytes() == before
    assert [row.what.removeprefix("would ") for row in healed(projects)][1:2] == [
        "undo kill of rmq1 (fault 1 of run-1)"
    ]


def test_dry_run_lists_what_would_be_removed_and_kept(tmp_path: Path) -> None:
    projects = Projects([project(tmp_path / "gone", keep=True)])
    assert [row.what for row in healed(projects, dry=True)] == [
        "would sweep away what could be a fault: it has no journal",
        "kept, as requested (--keep); to remove it: mqproof heal --experiment gone",
    ]
    assert projects.done == []


def test_a_chosen_folder_is_there_or_is_not(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    assert Chosen(tmp_path).there
    assert Chosen(tmp_path, "one").there
    assert Chosen(experiment=str(tmp_path / "one")).there
    assert not Chosen(tmp_path / "none").there
    assert not Chosen(tmp_path, "two").there
    assert not Chosen(experiment="no-such-experiment").there


def test_a_folder_whose_name_no_disk_takes_is_none(tmp_path: Path) -> None:
    for chosen in (Chosen(Path("x" * 300)), Chosen(None, "x" * 300), Chosen(tmp_path, "x" * 300)):
        assert not chosen.there
    assert Chosen(tmp_path).there
