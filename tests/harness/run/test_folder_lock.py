"""An experiment is judged only if no harness records it and no other process judges it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.plan.problems import PlanError
from harness.run.folder_lock import MARK, alone, at_work, problems

ROOT = Path(__file__).parents[3]
DIES_AT_WORK = (
    "import os, sys; from pathlib import Path; from harness.run.folder_lock import at_work\n"
    "with at_work(Path(sys.argv[1])): os._exit(9)"
)
DIES_ALONE = (
    "import os, sys; from pathlib import Path; from harness.run.folder_lock import alone\n"
    "with alone([Path(sys.argv[1])]): os._exit(9)"
)


def test_experiment_is_judged_only_after_its_harness_finished(
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
def test_recordings_of_a_killed_harness_may_be_judged(tmp_path: Path) -> None:
    words = [sys.executable, "-c", DIES_AT_WORK, str(tmp_path)]
    assert subprocess.run(words, cwd=ROOT, check=False).returncode == 9
    assert (tmp_path / MARK).exists()
    assert list(problems([tmp_path])) == []


def test_an_unreadable_mark_has_no_owner(tmp_path: Path) -> None:
    (tmp_path / MARK).write_bytes(b"\xff\x00")
    assert list(problems([tmp_path, tmp_path / "nowhere"])) == []


def test_second_judge_learns_the_process_of_the_first(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    with alone([one, one, other]):
        with pytest.raises(PlanError) as error, alone([other, one]):
            raise AssertionError("both judge")
        for folder in (one, other):
            assert f"{folder}: another mqproof (process {os.getpid()}) judges it" in str(
                error.value
            )
    with alone([one, other]):
        assert [*one.iterdir(), *other.iterdir()] == []


def test_required_judge_waits_for_the_running_one(tmp_path: Path) -> None:
    began: list[str] = []
    waiting = threading.Event()

    def second() -> None:
        waiting.set()
        with alone([tmp_path], wait=True):
            began.append("second")

    with alone([tmp_path]):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(10)
        thread.join(0.2)
        assert began == []
    thread.join(10)
    assert began == ["second"]


@pytest.mark.slow
def test_a_killed_judge_does_not_block_the_next(tmp_path: Path) -> None:
    words = [sys.executable, "-c", DIES_ALONE, str(tmp_path)]
    assert subprocess.run(words, cwd=ROOT, check=False).returncode == 9
    with alone([tmp_path]):
        assert list(tmp_path.iterdir()) == []


def test_missing_folder_is_reported_by_its_reader(tmp_path: Path) -> None:
    with alone([tmp_path / "nowhere"]):
        assert not (tmp_path / "nowhere").exists()
