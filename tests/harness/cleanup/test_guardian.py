"""The guardian as a real process, over a sphere that is a folder."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from harness.cleanup.guardian import LOG, GuardianError, start_guardian
from tests.harness.cleanup.fake_guardian import fault, with_fault
from tests.rigs.machine.left_behind import guardians, standbys

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
COMMAND = (sys.executable, "-m", "tests.harness.cleanup.fake_guardian")

HARNESS = """
import os, signal, sys
from pathlib import Path
from harness.cleanup.guardian import start_guardian
from tests.harness.cleanup.test_guardian import COMMAND
guardian = start_guardian("p", Path(sys.argv[1]), sys.argv[2] == "keep", command=COMMAND)
print(guardian._process.pid, flush=True)
if sys.argv[3] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
guardian.done()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_fault(tmp_path)


def harness(folder: Path, keep: str, end: str) -> int:
    """Runs a harness to its end; the pid of its guardian."""
    words = [sys.executable, "-c", HARNESS, str(folder), keep, end]
    ended = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return int(ended.stdout)


@retry(stop=stop_after_delay(40), wait=wait_fixed(0.1), retry=retry_if_result(lambda there: there))
def ended(pid: int) -> bool:
    """Wait until the process is gone; it is no child of this one."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def deeds(folder: Path) -> list[str]:
    done = folder / "done"
    return (
        [line.split(" ", 1)[1] for line in done.read_text().splitlines()] if done.exists() else []
    )


def test_done_ends_it_without_any_action(folder: Path) -> None:
    ended(harness(folder, "remove", "done"))
    assert deeds(folder) == []
    assert not (folder / LOG).exists()


def test_harness_kill_undoes_faults_first_and_then_removes_all(
    folder: Path,
) -> None:
    (folder / "worker").touch()
    killed_at = time.monotonic()
    ended(harness(folder, "remove", "killed"))
    assert deeds(folder) == [f"perform {fault().undo[0]}", "remove p"]
    undone_at = float((folder / "done").read_text().split(" ", 1)[0])
    assert undone_at - killed_at < 10.0
    assert "no worker runs" in (folder / LOG).read_text()


def test_workers_that_do_not_stop_are_killed(folder: Path) -> None:
    (folder / "worker").touch()
    (folder / "stubborn").touch()
    ended(harness(folder, "keep", "killed"))
    assert deeds(folder) == [f"perform {fault().undo[0]}", "kill workers of p"]
    assert "publisher-1" in (folder / LOG).read_text()


def test_the_guardian_undoes_faults_of_a_kept_cluster(folder: Path) -> None:
    ended(harness(folder, "keep", "killed"))
    assert deeds(folder) == [f"perform {fault().undo[0]}"]
    assert (folder / "project").exists()


def test_the_guardian_ignores_signals_that_end_a_harness(folder: Path) -> None:
    guardian = start_guardian("p", folder, False, command=COMMAND)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(guardian._process.pid, number)
    assert guardian.watching()
    guardian.done()
    assert not guardian.watching()


def test_one_that_does_not_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GuardianError, match="did not start"):
        start_guardian("p", tmp_path, False, command=(sys.executable, "-c", "print('no')"))


def test_one_whose_log_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / LOG).mkdir()
    with pytest.raises(GuardianError, match=r"did not start: .*guardian\.log"):
        start_guardian("p", tmp_path, False, command=COMMAND)


def test_process_list_shows_guardian_in_its_command_line(tmp_path: Path) -> None:
    guardian = start_guardian("p", tmp_path, False)
    words = Path(f"/proc/{guardian._process.pid}/cmdline").read_bytes().split(b"\0")
    guardian.done()
    assert [word for word in words if b"guardian" in word] == [b"harness.cleanup.guardian"]


def test_the_end_of_a_guardian_is_reported(folder: Path) -> None:
    guardian = start_guardian("p", folder, False, command=COMMAND)
    assert guardian.ending() == ""
    guardian._process.kill()
    guardian._process.wait()
    assert guardian.ending() == "signal 9"


def test_one_that_is_gone_cannot_be_ended(folder: Path) -> None:
    guardian = start_guardian("p", folder, False, command=COMMAND)
    guardian._process.kill()
    guardian._process.wait()
    with pytest.raises(GuardianError):
        guardian.done()


HARNESS_AND_GUARDIAN = HARNESS.replace(
    "    os.kill(os.getpid(), signal.SIGKILL)",
    "    from tests.harness.cleanup.test_guardian import begun_standbys\n"
    "    begun_standbys(Path(sys.argv[1]))\n"
    "    os.kill(guardian._process.pid, signal.SIGKILL)\n"
    "    os.kill(os.getpid(), signal.SIGKILL)",
)


def test_a_standby_undoes_faults_if_harness_and_guardian_die_together(folder: Path) -> None:
    words = [sys.executable, "-c", HARNESS_AND_GUARDIAN, str(folder), "remove", "killed"]
    subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    killed_s = time.monotonic()
    gone(folder)
    assert deeds(folder) == [f"perform {fault().undo[0]}", "remove p"]
    assert float((folder / "done").read_text().split(" ", 1)[0]) - killed_s < 10.0


def test_a_standby_ends_when_another_guardian_watches(folder: Path) -> None:
    first = start_guardian("p", folder, False, command=COMMAND)
    (old,) = begun_standbys(folder)
    first._process.kill()
    first._process.wait()
    second = start_guardian("p", folder, False, command=COMMAND)
    ended(old)
    assert begun_standbys(folder) != [old]
    second.done()
    assert standbys(folder) == []
    assert deeds(folder) == []


@retry(
    stop=stop_after_delay(10), wait=wait_fixed(0.01), retry=retry_if_result(lambda one: not one)
)
def begun_standbys(folder: Path) -> list[int]:
    """Wait until /proc shows one: it does so a moment after the start."""
    return standbys(folder)


@retry(stop=stop_after_delay(40), wait=wait_fixed(0.1), retry=retry_if_result(lambda there: there))
def gone(folder: Path) -> bool:
    """Wait until no standby and no guardian of this folder runs."""
    return bool(standbys(folder) or guardians(folder))
