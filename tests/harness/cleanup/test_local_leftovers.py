"""Data of nodes whose harness and guardian died together: found by their plan, and removed."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.cleanup import local_leftovers
from harness.cleanup.heal import EVERYBODY, Chosen
from harness.deploy.local.site import Site
from harness.deploy.loopback_block import Block
from harness.deploy.owner import owner
from harness.systems.port import Unit

DEAD = "999999999 1 another boot"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


def left(results: Path, name: str = "one", **changes: object) -> Site:
    """A cluster without processes, whose plan and nodes' data remain."""
    site = Site(
        cluster=f"mqproof-{name}",
        experiment=str(results / name),
        block=Block("127.9.9"),
        units=(Unit("ref1", "broker", ("node",), 5672, (5672, 25672)),),
        peer_port=25672,
        owner=DEAD,
        keep=False,
        proxy=("proxy",),
    )
    site = replace(site, **changes)  # type: ignore[arg-type]
    site.save()
    (site.data / "ref1").mkdir(parents=True)
    return site


def cleared(chosen: Chosen, dry: bool = False) -> list[tuple[str, str]]:
    return [(row.project, row.what) for row in local_leftovers.clear(chosen, dry) if row.ok]


def test_dead_cluster_loses_its_stored_data_and_keeps_its_plan(
    results: Path,
) -> None:
    site = left(results)
    removals = cleared(Chosen(results=results))
    assert removals == [("mqproof-one", "remove what its nodes had stored")]
    assert not site.data.exists()
    assert (site.folder / "cluster.json").exists()
    assert cleared(Chosen(results=results)) == [], "again there is nothing"


def test_a_dry_run_lists_leftovers_and_removes_none(results: Path) -> None:
    site = left(results)
    removals = cleared(Chosen(results=results), dry=True)
    assert removals == [("mqproof-one", "would remove what its nodes had stored")]
    assert site.data.exists()


@pytest.mark.parametrize("changes", [{"keep": True}, {"owner": owner()}])
def test_kept_or_owned_data_is_not_removed(results: Path, changes: dict[str, object]) -> None:
    site = left(results, **changes)
    assert cleared(Chosen(results=results)) == []
    assert site.data.exists()


def test_kept_data_is_removed_if_the_experiment_is_named(results: Path) -> None:
    site = left(results, keep=True)
    assert len(cleared(Chosen(results=results, experiment="one"))) == 1
    assert not site.data.exists()


def test_other_experiments_are_left_alone(results: Path) -> None:
    one, other = left(results, "one"), left(results, "other")
    assert len(cleared(Chosen(results=results, experiment="one"))) == 1
    assert not one.data.exists()
    assert other.data.exists()
    assert len(cleared(Chosen(experiment=str(results / "other")))) == 1
    assert not other.data.exists()


def test_without_a_word_it_looks_where_experiments_lie_by_default(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(results.parent)
    site = left(results)
    assert len(cleared(EVERYBODY)) == 1
    assert not site.data.exists()


def test_a_moved_or_foreign_plan_has_no_owner(results: Path) -> None:
    site = left(results)
    site.folder.rename(site.folder.with_name("moved"))
    broken = left(results, "broken")
    (broken.folder / "cluster.json").write_text("{")
    assert cleared(Chosen(results=results)) == []
