"""Files that mqproof writes are whole or as they were, and a refusal names the place."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.run_folder.experiments import remember_merged
from spark_analysis.files.writing import naming, replacing, write_whole
from tests.rigs.machine.file_limit import small_files

HARNESS = Path(__file__).parents[3] / "harness"
WRITING_FOR_PEOPLE = ("campaigns", "commands", "compare", "nightly", "report")
BY_THEMSELVES = {"commands/crash.py"}  # traces of crashes go wherever there is room


def test_refused_file_is_unchanged_and_the_error_names_it(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    assert write_whole(path, "old \udcff") == path
    with small_files(4), pytest.raises(OSError, match="File too large") as refused:
        write_whole(path, "a longer text")
    assert refused.value.filename == str(path)
    assert path.read_text() == "old ?"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("durable", [False, True])
def test_whatever_lay_at_the_partial_files_name_is_no_obstacle(
    tmp_path: Path, durable: bool
) -> None:
    os.mkfifo(tmp_path / "note.partial")
    write_whole(tmp_path / "note", "new", durable=durable)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"note": "new"}


def test_a_file_is_as_it_was_after_any_exception(tmp_path: Path) -> None:
    write_whole(tmp_path / "note", "old")

    def interrupted() -> None:
        with replacing(tmp_path / "note") as partial:
            partial.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"note": "old"}


@pytest.mark.parametrize("put", [os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_only_regular_files_are_replaced(put: Callable[[Path], None], tmp_path: Path) -> None:
    put(tmp_path / "page")
    with pytest.raises(OSError, match="a regular file was expected"):
        write_whole(tmp_path / "page", "new")
    assert not (tmp_path / "page").is_file()
    assert list(tmp_path.iterdir()) == [tmp_path / "page"]


def test_a_symlink_is_replaced_and_not_followed(tmp_path: Path) -> None:
    write_whole(tmp_path / "other", "of somebody else")
    (tmp_path / "page").symlink_to("other")
    write_whole(tmp_path / "page", "new")
    assert (tmp_path / "other").read_text() == "of somebody else"
    assert (tmp_path / "page").read_text() == "new"


def test_an_error_that_has_a_path_keeps_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing, naming(tmp_path / "other"):
        (tmp_path / "none").read_text()
    assert missing.value.filename == str(tmp_path / "none")


def test_refused_new_file_does_not_block_the_next_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with small_files(4):
        assert main(["new", "scenario", "mine"]) == 254
    assert "mine.toml cannot be written: File too large" in capsys.readouterr().err
    assert main(["new", "scenario", "mine"]) == 0


def test_an_experiment_that_is_refused_leaves_no_folder(tmp_path: Path) -> None:
    with small_files(4), pytest.raises(OSError, match="File too large"):
        remember_merged([], "mqproof analyse", tmp_path / "merged")
    assert list(tmp_path.iterdir()) == []


def test_files_for_people_are_written_atomically() -> None:
    files = [path for folder in WRITING_FOR_PEOPLE for path in (HARNESS / folder).rglob("*.py")]
    assert len(files) > len(WRITING_FOR_PEOPLE)
    found = {
        str(path.relative_to(HARNESS))
        for path in files
        if any(word in path.read_text() for word in (".write_text(", ".write_bytes("))
    }
    assert found == BY_THEMSELVES
