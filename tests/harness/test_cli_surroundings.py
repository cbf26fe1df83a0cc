"""A command in bad surroundings says what they lack, and leaves by a code of its own."""

import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cleanup.heal import Chosen
from harness.cli import main
from harness.deploy import doctor
from harness.deploy.external import site
from harness.outside import homes
from harness.plan.clients.registry import registry
from harness.workers.clients import jars
from harness.workers.clients.rocketmq import client_python

DRY = ("run", "master-crash", "--system", "reference-mirrored", "--dry-run")
GONE = "the current folder is gone: cd to one that exists"


@pytest.fixture
def _gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is removed."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()


@pytest.mark.usefixtures("_gone")
def test_no_plan_is_made_in_a_folder_that_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(DRY) == 254
    assert f"--results: results: {GONE}" in capsys.readouterr().err


@pytest.mark.usefixtures("_gone")
def test_a_plan_that_needs_no_current_folder_is_made_without_one(tmp_path: Path) -> None:
    assert main([*DRY, "--results", str(tmp_path / "results")]) == 0


@pytest.mark.usefixtures("_gone")
def test_whatever_wants_the_current_folder_says_that_it_is_gone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def load() -> object:
        return Path.cwd()

    assert main(["build", "--system", "reference-mirrored"], load) == 2  # type: ignore[arg-type]
    assert GONE in capsys.readouterr().err


@pytest.mark.usefixtures("_gone")
def test_the_doctor_has_a_row_for_a_folder_that_is_gone() -> None:
    row = doctor.folder_row(Path())
    assert not row.ok
    assert f"{row.found}: {row.remedy}" == GONE
    assert doctor.folder_row(Path("/")).found != row.found


@pytest.fixture
def _homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user of whom the machine knows no home."""

    def unknown(_: int) -> object:
        raise KeyError

    for name in ("HOME", homes.STATE, homes.CACHE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


@pytest.mark.usefixtures("_homeless")
def test_clusters_by_hand_need_a_home_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 254
    assert "no home folder; set HOME or XDG_STATE_HOME" in capsys.readouterr().err
    with pytest.raises(homes.NoHome, match="set HOME or XDG_STATE_HOME"):
        site.noted()


@pytest.mark.usefixtures("_homeless")
@pytest.mark.parametrize("folder", [jars.jars_folder, client_python.folder])
def test_what_was_fetched_lies_in_a_cache_that_needs_a_home(folder: Callable[[], Path]) -> None:
    with pytest.raises(homes.NoHome, match="set HOME or XDG_CACHE_HOME"):
        folder()


@pytest.mark.usefixtures("_homeless")
def test_the_doctor_says_that_there_is_no_home_to_look_in() -> None:
    looks = [row for row in doctor._looked_for(registry()) if row.remedy]
    assert looks
    assert all("set HOME or XDG_CACHE_HOME" in row.remedy for row in looks)


def test_a_folder_of_the_users_own_is_where_a_variable_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(homes.CACHE, str(tmp_path))
    assert homes.user_folder(homes.CACHE) == tmp_path
    monkeypatch.setenv(homes.CACHE, "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert homes.user_folder(homes.CACHE) == tmp_path / ".cache"


def test_rings_of_links_are_refused_as_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ring = tmp_path / "ring"
    ring.symlink_to(ring)
    assert main([*DRY, "--results", str(ring)]) == 254
    assert f"--results: {ring}: its symbolic links lead round" in capsys.readouterr().err
    assert main(["compare", str(ring), str(tmp_path)]) == 254
    assert str(ring) in capsys.readouterr().err
    assert not Chosen(results=ring).means(tmp_path)
    assert not Chosen(experiment=str(ring)).means(tmp_path)
