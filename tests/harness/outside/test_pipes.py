"""Pipes are read within a time and a size; other special files are refused at once."""

import gzip
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.histories import files
from harness.outside import pipes
from harness.outside.files import HISTORY_BYTES_MAX, Unreadable, text_of
from harness.plan.problems import PlanError
from spark_analysis.files.regular import content_of


def test_a_pipe_without_a_name_is_read_to_its_end() -> None:
    reads, writes = os.pipe()
    os.write(writes, b"[1]")
    os.close(writes)
    assert files.text_of(Path(f"/dev/fd/{reads}")) == "[1]"
    os.close(reads)


def test_a_silent_pipe_is_given_up() -> None:
    reads, writes = os.pipe()
    with pytest.raises(Unreadable, match="brought nothing"):
        pipes.content_of(Path(f"/dev/fd/{reads}"), 10, idle_limit_s=0.05)
    with pytest.raises(Unreadable, match="not ended after"):
        pipes.content_of(Path(f"/dev/fd/{reads}"), 10, limit_s=0.0)
    os.close(reads)
    os.close(writes)


def test_a_pipe_brings_no_more_than_its_bound() -> None:
    reads, writes = os.pipe()
    os.write(writes, b"x" * 100)
    assert len(pipes.content_of(Path(f"/dev/fd/{reads}"), 10)) == 11
    os.write(writes, b"x" * 100)
    with pytest.raises(PlanError, match="more than 10 bytes"):
        files.text_of(Path(f"/dev/fd/{reads}"), 10)
    os.close(reads)
    os.close(writes)


@pytest.mark.slow
def test_standard_input_is_read() -> None:
    code = "from harness.histories.files import text_of; from pathlib import Path; "
    code += "print(text_of(Path('-')))"
    root = Path(__file__).parents[3]
    words = [sys.executable, "-c", code]
    ended = subprocess.run(words, cwd=root, input="{}", capture_output=True, text=True, check=True)
    assert ended.stdout == "{}\n"


@pytest.mark.parametrize("read", [files.text_of, lambda path: text_of(path, 10), content_of])
def test_a_named_pipe_and_a_device_are_refused(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")
    os.mkfifo(tmp_path / "fifo.gz")
    for path in (tmp_path / "fifo", tmp_path / "fifo.gz", Path("/dev/zero")):
        with pytest.raises((PlanError, Unreadable, OSError), match="a regular file was expected"):
            read(path)


def test_a_named_pipe_is_refused_with_advice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(PlanError, match=r"to judge a pipe: COMMAND \| mqproof judge -"):
        files.text_of(tmp_path / "fifo")


def test_a_large_bound_allocates_no_memory(tmp_path: Path) -> None:
    plain, packed = tmp_path / "one.json", tmp_path / "one.json.gz"
    plain.write_text("[1]")
    packed.write_bytes(gzip.compress(b"[1]"))
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 27), limits[1]))
    try:
        texts = [text_of(path, HISTORY_BYTES_MAX) for path in (plain, packed)]
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert texts == ["[1]", "[1]"]
