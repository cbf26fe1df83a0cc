"""Nobody judges an experiment whose harness still records."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.run.going import MARK, at_work, problems

ROOT = Path(__file__).parents[3]
DIES_AT_WORK = (
    "import os, sys; from pathlib import Path; from harness.run.going import at_work\n"
    "with at_work(Path(sys.argv[1])): os._exit(9)"
)


def test_while_its_harness_works_an_experiment_is_not_judged_and_afterwards_it_is(
    tmp_path: Path,
) -> None:
    with at_work(tmp_path):
        (found,) = problems([tmp_path])
        assert "its runs still go on (process " in str(found)
    assert list(problems([tmp_path])) == []
    assert list(tmp_path.iterdir()) == []


def test_a_harness_that_failed_is_at_work_no_more(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full"), at_work(tmp_path):
        raise OSError("the disk is full")
    assert list(problems([tmp_path])) == []


@pytest.mark.slow
def test_what_a_harness_that_was_killed_has_recorded_may_be_judged(tmp_path: Path) -> None:
    words = [sys.executable, "-c", DIES_AT_WORK, str(tmp_path)]
    assert subprocess.run(words, cwd=ROOT, check=False).returncode == 9
    assert (tmp_path / MARK).exists()
    assert list(problems([tmp_path])) == []


def test_a_mark_that_nobody_can_read_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / MARK).write_bytes(b"\xff\x00")
    assert list(problems([tmp_path, tmp_path / "nowhere"])) == []
