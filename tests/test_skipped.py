"""What one machine skipped is what the next one runs, and no test is skipped by both."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rigs.machine.skipped import plain

ROOT = Path(__file__).parents[1]
LIMIT_S = 60.0
MIXED = """
import pytest

def test_runs(): pass

@pytest.mark.parametrize("word", ["a@b", "c d"])
def test_lacks(word): pytest.skip("no engine")

@pytest.mark.xfail
def test_expected(): assert False
"""
WHOLE = "import pytest\npytest.importorskip('no_such_module')\ndef test_inside(): pass\n"
SKIPPED = ["test_mixed.py::test_lacks[a@b]", "test_mixed.py::test_lacks[c d]", "test_whole.py"]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_mixed.py").write_text(MIXED)
    (tmp_path / "test_whole.py").write_text(WHOLE)
    return tmp_path


def play(suite: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pytest", "-p", "tests.rigs.machine.skipped", *words]
    return subprocess.run(
        command,
        cwd=suite,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("-n", "2", "--dist", "loadgroup")], ids=["one", "two"])
def test_the_file_has_every_skipped_test_and_no_other(suite: Path, words: tuple[str, ...]) -> None:
    done = play(suite, "--skipped-to", "skipped", *words)
    assert done.returncode == 0, done.stdout
    assert sorted({*(suite / "skipped").read_text().splitlines()}) == SKIPPED


@pytest.mark.slow
def test_the_next_machine_runs_these_tests_alone(suite: Path) -> None:
    play(suite, "--skipped-to", "skipped")
    (suite / "test_mixed.py").write_text(MIXED.replace('pytest.skip("no engine")', "pass"))
    (suite / "test_whole.py").write_text("def test_inside(): pass\n")
    done = play(suite, "--no-skips", "@skipped")
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


@pytest.mark.slow
def test_a_test_that_is_skipped_there_too_is_a_failure(suite: Path) -> None:
    done = play(suite, "--no-skips")
    assert done.returncode == 1, done.stdout
    assert all(name in done.stdout for name in SKIPPED)


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("a.py::test@a.py", "a.py::test"),
        ("a.py::test[x@y]@spark_~long", "a.py::test[x@y]"),
        ("a.py::test[x@y]", "a.py::test[x@y]"),
        ("a.py::test", "a.py::test"),
    ],
)
def test_group_of_a_test_is_no_part_of_its_name(nodeid: str, name: str) -> None:
    assert plain(nodeid) == name
