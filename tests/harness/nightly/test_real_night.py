"""A real night: brokers of the reference, killed with everything that plays it, and said again."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.nightly import record
from harness.nightly.record import Night

pytestmark = pytest.mark.nightly

SCENARIO = """
title = "A short crash"
story = "The master's node is killed for three seconds."

[workload]
queues = ["orders"]
publishers = 1
consumers = 1
keys = 4
rate = 100
body_bytes = 64
durable = true
persistent = true
confirms = true
retry = "until_confirmed"
acknowledge = 1
deadline = "2 s"
publisher_endpoint = "master of orders"
consumer_endpoint = "mirror of orders"

[phases]
baseline = "6 s"
recovery = "2 s"
settle = "2 s"
drain_limit = "30 s"

[[fault]]
kind = "kill"
target = "master of orders"
lasts = "3 s"
"""
SUITE = """
title = "A short night"
baseline = "good"
hours = 1
busy = 1
wait = "1 s"
keep.passed = 5

[[cells]]
scenarios = ["{scenario}"]
systems = ["reference-mirrored"]
repeats = 2
"""
LIMIT_S = 600


def words(folder: Path) -> list[str]:
    scenario = folder / "short-crash.toml"
    scenario.write_text(SCENARIO)
    suite = folder / "suite.toml"
    suite.write_text(SUITE.format(scenario=scenario))
    return [
        *(sys.executable, "-m", "harness", "nightly", str(suite)),
        *("--results", str(folder / "nights")),
    ]


def tonight(folder: Path) -> Night:
    (night,) = record.nights(folder / "nights")
    return night


def until_recorded(folder: Path, playing: "subprocess.Popen[bytes]") -> None:
    """Until a fault of the second play is on record."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline and playing.poll() is None:
        journals = sorted((folder / "nights").glob("*/runs/*/journal.jsonl"))
        if len(journals) == 2 and any(b"armed" in one.read_bytes() for one in journals[1:]):
            return
        time.sleep(0.2)  # noqa: TID251
    pytest.fail("no second play began")


def test_night_killed_in_a_fault_continues_and_judges_recorded_runs(
    tmp_path: Path,
) -> None:
    said = words(tmp_path)
    with subprocess.Popen(said, start_new_session=True) as first:
        until_recorded(tmp_path, first)
        for child in _children(first.pid):
            os.kill(child, signal.SIGKILL)
        first.kill()
    assert tonight(tmp_path).exit_code is None
    again = subprocess.run(said, capture_output=True, text=True, timeout=LIMIT_S)
    night = tonight(tmp_path)
    assert again.returncode == night.exit_code == 2, again.stderr  # there is no baseline
    assert "mqproof continues the night of" in again.stderr
    assert [one.why for one in night.played][1] == "it was broken off"
    assert all(one.judged for one in (night.played[0], night.played[-1]))
    assert (tmp_path / "nights" / "site" / "index.html").exists()


def _children(pid: int) -> list[int]:
    """The harness of the run; the guardian has a session of its own and does what it is for."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(one) for one in children.split()]


def test_a_gate_is_rehearsed_as_the_page_says(tmp_path: Path) -> None:
    honest, defect = words(tmp_path), 'misbehave = "drop:5%"\n'
    suite, good = tmp_path / "suite.toml", tmp_path / "good"
    suite.write_text(suite.read_text().replace("repeats = 2", "repeats = 1"))
    assert subprocess.run(honest, check=False, timeout=LIMIT_S).returncode == 2
    good.mkdir()
    for one in (tmp_path / "nights").glob("20*"):
        shutil.copytree(one, good / one.name)
    text = suite.read_text()
    suite.write_text(text + defect)
    rehearsed = subprocess.run(
        honest, check=False, timeout=LIMIT_S, capture_output=True, text=True
    )
    assert rehearsed.returncode == 1, rehearsed.stderr
    assert rehearsed.stdout.startswith("mqproof nightly: REHEARSAL: WORSE in ")
    suite.write_text(text)
    assert subprocess.run(honest, check=False, timeout=LIMIT_S).returncode == 0
    assert [one.is_rehearsal for one in record.nights(tmp_path / "nights")] == [False, True, False]
