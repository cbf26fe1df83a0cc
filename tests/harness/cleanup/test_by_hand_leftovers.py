"""`mqproof heal` removes the files of clusters by hand, if their keeper is dead."""

import errno
import fcntl
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.cleanup.heal import EVERYBODY, Chosen
from harness.cleanup.local_leftovers import clean_dead_keepers
from harness.outside.locks import LockAnswer, lock


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    own = tmp_path / "mqproof" / "by-hand" / "abc"
    (own / "reference-mirrored").mkdir(parents=True)
    return own


def rows(chosen: Chosen = EVERYBODY, dry: bool = False, all_ok: bool = True) -> list[str]:
    return [f"{row.project}: {row.what}" for row in clean_dead_keepers(chosen, dry, all_ok)]


def test_the_folder_of_a_dead_keeper_is_removed(folder: Path) -> None:
    assert rows() == ["abc: remove the files of clusters by hand"]
    assert not folder.exists()


def test_the_folder_of_a_living_keeper_stays(folder: Path) -> None:
    with ExitStack() as held:
        assert lock(folder, held, wait=False) is LockAnswer.TAKEN
        assert rows() == []
    assert folder.is_dir()


def test_the_folder_of_a_keeper_that_may_live_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert rows() == []
    assert folder.is_dir()


def test_a_dry_run_removes_nothing(folder: Path) -> None:
    assert rows(dry=True) == ["abc: would remove the files of clusters by hand"]
    assert folder.is_dir()


def test_journals_stay_where_something_failed(folder: Path) -> None:
    assert rows(all_ok=False) == []
    assert folder.is_dir()


def test_other_experiments_do_not_mean_the_folder(folder: Path, tmp_path: Path) -> None:
    assert rows(Chosen(results=tmp_path / "results")) == []
    assert rows(Chosen(experiment="abc")) == []
    assert folder.is_dir()
    assert rows(Chosen(results=folder)) != []
