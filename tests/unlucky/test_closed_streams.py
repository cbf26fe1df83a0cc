"""Closed and full standard streams: exit code 1 means a broken promise, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LIMIT_S = 120


def ended(words: str, redirection: str) -> "subprocess.CompletedProcess[str]":
    command = f"{sys.executable} -m harness {words} {redirection}"
    return subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S
    )


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&-", ">&- 2>&- <&-", "| head -c 1"])
@pytest.mark.parametrize("words", ["list suites", "--help"])
def test_a_closed_stream_changes_no_exit_code(words: str, redirection: str) -> None:
    done = ended(words, f"{redirection}; exit ${{PIPESTATUS[0]}}")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", ["list suites", "--help"])
def test_a_full_standard_output_is_named_and_not_passed(words: str) -> None:
    done = ended(words, "> /dev/full")
    assert done.returncode == 2
    assert done.stderr == (
        "mqproof: not all was written: standard output: No space left on device\n"
    )


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", ">/dev/full 2>/dev/full"])
def test_bad_input_stays_bad_input_if_output_is_closed(redirection: str) -> None:
    assert ended("run no-such-scenario", redirection).returncode == 254


def test_a_module_that_cannot_be_loaded_is_no_broken_promise(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise MemoryError\n")
    words = [sys.executable, "-m", "harness", "--help"]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 255
    assert "MemoryError" in done.stderr
