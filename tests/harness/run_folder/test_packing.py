"""A pack: what is needed to judge runs again, the same bytes every time, and no damaged run."""

import os
import shutil
import tarfile
from pathlib import Path

import pytest

from harness import cli
from harness.outside.files import guarded
from harness.run_folder.claims_copy import ClaimsText
from harness.run_folder.experiments import judge_by, recall
from harness.run_folder.manifest import Manifest
from harness.run_folder.whole import whole
from spark_analysis.files.sealed import RAW
from tests.rigs.machine.disks import disk
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.sealed_runs import recorded, sealed
from tests.rigs.runs.stored import stored


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    folder = stored(tmp_path / "e", [(name, CELL) for name in ("one", "two", "never-begun")])
    sealed(folder / "runs" / "one")
    recorded(folder / "runs" / "two", 30)
    (folder / "runs" / "one" / "broker_logs").mkdir()
    (folder / "runs" / "one" / "broker_logs" / "a.log").write_text("a secret")
    return folder


def test_unpacked_data_is_complete_and_as_requested(experiment: Path, tmp_path: Path) -> None:
    there = unpacked(packed(experiment, tmp_path / "a.tar.xz"), tmp_path / "elsewhere")
    assert [run.name for run in recall(there).runs] == ["one", "two", "never-begun"]
    for name in ("one", "two"):
        run = there / "runs" / name
        assert whole(run) == Manifest.load(experiment / "runs" / name)
        assert {path.name for path in run.iterdir()} == {"manifest.json", RAW}


def test_the_same_runs_give_the_same_bytes_wherever_and_whenever(
    experiment: Path, tmp_path: Path
) -> None:
    first = packed(experiment, tmp_path / "a.tar.xz").read_bytes()
    copy = shutil.copytree(experiment, tmp_path / "copied" / "e")
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
    assert packed(copy, tmp_path / "b.tar.xz").read_bytes() == first


def test_one_run_is_packed_as_an_experiment_of_it_alone(experiment: Path, tmp_path: Path) -> None:
    pack = packed(experiment / "runs" / "two", tmp_path / "a.tar.xz")
    there = unpacked(pack, tmp_path / "elsewhere")
    assert [run.name for run in recall(there).runs] == ["two"]
    assert [path.name for path in (there / "runs").iterdir()] == ["two"]


def test_a_pack_holds_the_users_own_claims(experiment: Path, tmp_path: Path) -> None:
    judge_by(claims := ClaimsText("ours.toml", "# none"), experiment)
    there = unpacked(packed(experiment, tmp_path / "a.tar.xz"), tmp_path / "elsewhere")
    assert recall(there).claims == claims
    assert recall(there).replay_here.endswith(f" --claims {there}/claims.toml")


def test_a_run_that_the_experiment_has_not_is_bad_input(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "a.tar.xz"
    assert cli.main(["pack", str(experiment / "runs" / "tow"), "-o", str(into)]) == 254
    reason = capsys.readouterr().err
    assert f"DIR: {experiment} has no run 'tow'" in reason
    assert "did you mean 'two'?" in reason
    assert "valid: one | two | never-begun" in reason
    assert not into.exists()


def test_runs_that_were_never_begun_are_not_packed(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "a.tar.xz"
    assert cli.main(["pack", str(experiment / "runs" / "never-begun"), "-o", str(into)]) == 2
    assert f"{experiment} holds none of the runs that were chosen" in capsys.readouterr().err
    assert not into.exists()


def test_a_damaged_run_is_not_packed(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = experiment / "runs" / "one" / RAW / "settlements.parquet"
    path.unlink()
    into = tmp_path / "a.tar.xz"
    assert cli.main(["pack", str(experiment), "-o", str(into)]) == 2
    assert f"{path} is gone" in capsys.readouterr().err
    assert not list(tmp_path.glob("a.tar.xz*"))


@pytest.mark.slow
def test_full_disk_packs_nothing_and_the_file_is_named(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with disk(tmp_path / "disk", 64) as made:
        made.fill()
        into = made.path / "a.tar.xz"
        assert cli.main(["pack", str(experiment), "-o", str(into)]) == 2
        output = capsys.readouterr().err
        assert output.splitlines()[1].strip() == f"{into}: No space left on device"
        assert not list(made.path.glob("a.tar.xz*"))


def test_a_place_that_cannot_be_written_is_reported(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "missing" / "a.tar.xz"
    assert cli.main(["pack", str(experiment), "-o", str(into)]) == 2
    assert f"{into}.partial" in capsys.readouterr().err


def test_bad_input_is_named_at_once(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "a.zip"
    into.write_text("mine")
    assert cli.main(["pack", str(tmp_path), "-o", str(into)]) == 254
    reason = capsys.readouterr().err
    assert f"DIR: {tmp_path} is no experiment's folder" in reason
    assert f"--output: {into} does not end with .tar.xz" in reason
    assert f"--output: {into} is already there" in reason
    assert into.read_text() == "mine"


def packed(folder: Path, into: Path) -> Path:
    assert cli.main(["pack", str(folder), "-o", str(into)]) == 0
    return into


def unpacked(pack: Path, into: Path) -> Path:
    with tarfile.open(pack) as tar:
        assert {(one.mtime, one.uid, one.gid, one.uname) for one in tar} == {(0, 0, 0, "")}
        guarded(tar).extractall(into)
    (folder,) = into.iterdir()
    return folder
