"""A command in bad surroundings says what they lack, and leaves by a code of its own."""

from pathlib import Path

import pytest

from harness import cli
from harness.cli import main
from harness.deploy import doctor

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
    assert cli.is_folder_gone()


@pytest.mark.usefixtures("_gone")
def test_the_doctor_has_a_row_for_a_folder_that_is_gone() -> None:
    row = doctor.folder_row(Path())
    assert not row.ok
    assert f"{row.found}: {row.remedy}" == GONE
    assert doctor.folder_row(Path("/")).found != row.found
