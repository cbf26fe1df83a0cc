"""Disks that are full or read-only, and Sparks that die: each is reported with its cause."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import cli
from spark_analysis.files.sealed import RAW
from tests.rigs.machine.disks import Disk, disk
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.sealed_runs import recorded, sealed
from tests.rigs.runs.stored import stored

pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.usefixtures("shared_spark")]

FILES = "verdict.json", "junit.xml", "report.html"
DEATH = """
import os, signal, sys
from pyspark import SparkContext
from harness import cli
from harness.analyse import sessions
start = sessions.session
def dying(where):
    spark = start(where)
    process = SparkContext._gateway.proc
    process.kill()
    process.wait()
    return spark
sessions.session = dying
sys.exit(cli.main(["analyse", sys.argv[1]]))
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Disk]:
    with disk(tmp_path / "disk", 16_000) as made:
        folder = stored(made.path / "e", [("whole", CELL), ("recorded", CELL)])
        sealed(folder / "runs" / "whole", 150)
        recorded(folder / "runs" / "recorded", 150)
        yield made


def test_read_only_folder_judges_sealed_runs_and_reports_the_rest(
    place: Disk, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = place.path / "e"
    place.close_for_writing()
    assert cli.main(["analyse", str(folder)]) == 2
    said = capfd.readouterr()
    assert "lost 0 of 150" in said.out
    assert f"the marts were not kept: {folder / 'marts'}: Read-only file system" in said.out
    for name in FILES:
        assert f"{name} was not written: {folder / name}" in said.out
    raw = folder / "runs" / "recorded" / RAW
    assert f"not judged: {raw}: Read-only file system" in said.out
    assert plain(said.out + said.err)


def test_full_disk_judges_sealed_runs_and_reports_the_rest(
    place: Disk, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = place.path / "e"
    place.fill()
    before = files(folder)
    assert cli.main(["analyse", str(folder)]) == 2
    said = capfd.readouterr()
    assert "lost 0 of 150" in said.out
    refused = folder / "runs" / "recorded" / RAW / "attempts.parquet"
    assert f"not judged: {refused}: No space left on device" in said.out
    assert f"the marts were not kept: {folder / 'marts'}" in said.out
    assert plain(said.out + said.err)
    assert files(folder) == before, "neither halves nor empty files are left"
    place.free()
    cli.main(["analyse", str(folder)])
    assert "not judged: /" not in capfd.readouterr().out
    assert {folder / name for name in FILES} <= files(folder)


def test_a_spark_that_is_killed_is_reported_in_a_sentence(tmp_path: Path) -> None:
    folder = stored(tmp_path / "e", [("whole", CELL)])
    sealed(folder / "runs" / "whole")
    command = [sys.executable, "-c", DEATH, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "nothing was judged: Spark ended while it judged: its JVM ended" in done.stderr
    assert plain(done.stdout + done.stderr)
    assert not list(folder.glob("crash-*"))


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def plain(said: str) -> bool:
    """No trace of Python's or Java's."""
    return not any(word in said for word in ("Traceback", "py4j", "org.apache", "\tat "))
