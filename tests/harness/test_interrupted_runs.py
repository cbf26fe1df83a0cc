"""`mqproof run` by local processes, ended at every stage: nothing is left, and all is reported."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from faults.executors import local_processes as processes
from harness.run_folder.whole import whole
from tests.rigs.machine.left_behind import guardians, java, standbys

pytestmark = [pytest.mark.slow, pytest.mark.long]

NIGHTLY = pytest.mark.nightly
ROOT = Path(__file__).parents[2]
END_LIMIT_S = 60.0
LOAD = """
title = "For tests that end it"
[workload]
queues = ["orders"]
publishers = 2
consumers = 1
rate = 100
publisher_endpoint = "master of orders"
consumer_endpoint = "uninvolved"
[phases]
baseline = "1 s"
recovery = "1 s"
settle = "1 s"
drain_limit = "20 s"
"""
FAULTS = """
[[fault]]
kind = "freeze"
target = "master of orders"
opens = "0 s"
lasts = "10 min"
[[fault]]
kind = "kill"
target = "mirror of orders"
opens = "0.3 s"
lasts = "10 min"
"""


class Run:
    """One `mqproof run` as a process, and what it said."""

    def __init__(self, folder: Path, scenario: str, *before: str) -> None:
        self.folder = folder
        self.said: list[str] = []
        (folder / "short.toml").write_text(scenario, encoding="utf-8")
        cell = ("--system", "reference-mirrored", "--layout", "all-automatic-ignore@T=2")
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", "harness", "run", "short.toml", *cell],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def read_until(self, *words: str) -> None:
        """A line that has all of them."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if all(word in line for word in words):
                return
        raise AssertionError("".join(self.said))

    def end(self) -> str:
        """All that it said."""
        rest, _ = self.process.communicate(timeout=END_LIMIT_S)
        self.said.append(rest)
        return "".join(self.said)

    @property
    def experiment(self) -> Path:
        (found,) = (self.folder / "results").iterdir()
        return found

    @property
    def manifest(self) -> dict[str, Any]:
        (found,) = self.experiment.glob("runs/*/manifest.json")
        return dict(json.loads(found.read_text(encoding="utf-8")))

    def assert_nothing_is_left(self) -> None:
        mine = str(self.experiment)
        left = [one for one in processes.every() if one.mark(processes.EXPERIMENT) == mine]
        assert left == []
        assert guardians(self.experiment) == []
        assert standbys(self.experiment) == []
        assert not (self.experiment / "harness").exists(), "the mark of who is at work"
        assert not list(self.experiment.glob("deployments/*/data"))
        assert not list(self.experiment.glob("**/crash-*"))


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[list[Run]]:
    """Runs that a test began; what it left running is ended."""
    runs: list[Run] = []
    yield runs
    for run in runs:
        if run.process.poll() is None:
            run.process.send_signal(signal.SIGTERM)
            run.process.communicate(timeout=END_LIMIT_S)
        for guardian in guardians(run.experiment):
            os.kill(guardian, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGHUP, marks=NIGHTLY)])
def test_signal_during_two_faults_exits_130_in_time_and_clean(
    number: signal.Signals, begun: list[Run], tmp_path: Path
) -> None:
    """Seal the run and leave no fault, process or container behind."""
    run = Run(tmp_path, LOAD + FAULTS)
    begun.append(run)
    run.read_until("fault: freeze ", "kill ")
    run.process.send_signal(number)
    said = run.end()
    assert run.process.returncode == 130, said
    assert "\ninterrupted: undoing 2 faults\n" in said
    run.assert_nothing_is_left()
    manifest = run.manifest
    assert (manifest["phase"], manifest["interrupted"]) == ("sealed", True)
    assert all(window["ended_ns"] for window in manifest["windows"]), manifest["windows"]
    assert all(worker["log_closed"] for worker in manifest["workers"]), manifest["workers"]
    facts = whole(run.experiment / "runs" / manifest["run"]).facts
    assert facts is not None and facts["clock_problem"] == "the run was interrupted"
    verdict = json.loads((run.experiment / "verdict.json").read_text(encoding="utf-8"))
    assert (verdict["interrupted"], verdict["exit_code"]) == (True, 130)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        pytest.param("start the nodes of", signal.SIGTERM, marks=NIGHTLY),
        ("connect the workers ...", signal.SIGINT),
        pytest.param(" drain |", signal.SIGTERM, marks=NIGHTLY),
        ("tear the cluster down ...", signal.SIGHUP),
    ],
)
def test_signal_at_any_other_stage_exits_130_and_clean(
    words: str, number: signal.Signals, begun: list[Run], tmp_path: Path
) -> None:
    run = Run(tmp_path, LOAD)
    begun.append(run)
    run.read_until(words)
    run.process.send_signal(number)
    said = run.end()
    assert run.process.returncode == 130, said
    assert "\ninterrupted: undoing 0 faults\n" in said
    run.assert_nothing_is_left()
    assert run.manifest["phase"] == "sealed"
    whole(run.experiment / "runs" / run.manifest["run"])


@pytest.mark.parametrize(
    ("words", "number"),
    [
        pytest.param("start Spark ...", signal.SIGTERM, marks=NIGHTLY),
        ("judge the runs ...", signal.SIGINT),
    ],
)
def test_signal_during_judging_leaves_no_java_and_allows_rejudging(
    words: str, number: signal.Signals, begun: list[Run], tmp_path: Path
) -> None:
    run = Run(tmp_path, LOAD)
    begun.append(run)
    run.read_until(words)
    until_java_runs(tmp_path)
    run.process.send_signal(number)
    said = run.end()  # what still ran would have its output open
    assert run.process.returncode == 130, said
    assert "\ninterrupted: undoing 0 faults\n" in said
    assert "mqproof analyse" in said
    assert java(tmp_path) == []
    run.assert_nothing_is_left()
    assert not whole(run.experiment / "runs" / run.manifest["run"]).interrupted


@retry(
    stop=stop_after_delay(30), wait=wait_fixed(0.05), retry=retry_if_result(lambda one: not one)
)
def until_java_runs(folder: Path) -> bool:
    return bool(java(folder))


def test_nohup_ignores_hangup_and_other_signals_end_the_run(
    begun: list[Run], tmp_path: Path
) -> None:
    run = Run(tmp_path, LOAD + FAULTS, "nohup")
    begun.append(run)
    run.read_until(" steady state |")
    run.process.send_signal(signal.SIGHUP)
    run.read_until("fault: freeze")
    run.process.send_signal(signal.SIGTERM)
    assert "interrupted: undoing" in run.end()
    assert run.process.returncode == 130
    assert "".join(run.said).count("interrupted: undoing") == 1
    run.assert_nothing_is_left()


@retry(stop=stop_after_delay(20), wait=wait_fixed(0.05), retry=retry_if_result(bool))
def ended(pid: int) -> bool:
    """Waits until it is gone, or waits for its parent."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_killed_guardian_is_restarted_and_ends_with_the_run(
    begun: list[Run], tmp_path: Path
) -> None:
    run = Run(tmp_path, LOAD + FAULTS)
    begun.append(run)
    run.read_until("fault: freeze")
    (first,) = guardians(run.experiment)
    os.kill(first, signal.SIGKILL)
    run.read_until("the guardian of mqproof-", "died (signal 9): another one is started")
    run.read_until("is guarded again, after ")
    (second,) = guardians(run.experiment)
    assert second != first
    run.process.kill()  # the new one does what the first one would have done
    run.process.communicate(timeout=END_LIMIT_S)
    ended(second)
    log = (run.experiment / "guardian.log").read_text(encoding="utf-8")
    assert "undo freeze" in log
    assert "FAILED" not in log
    assert not _left(run)


def test_run_without_a_guardian_is_inconclusive_with_the_reason(
    begun: list[Run], tmp_path: Path
) -> None:
    run = Run(tmp_path, LOAD + FAULTS)
    begun.append(run)
    run.read_until("fault: freeze", "kill")
    (first,) = guardians(run.experiment)
    (run.experiment / "guardian.log").unlink(missing_ok=True)
    (run.experiment / "guardian.log").mkdir()  # no other one can be started
    os.kill(first, signal.SIGKILL)
    said = run.end()
    why = "died (signal 9), and there was none for more than 2 s"
    assert "interrupted: undoing 2 faults (the guardian of mqproof-" in said
    assert run.process.returncode == 2, said
    assert "not judged: ended early: the guardian of mqproof-" in said
    manifest = run.manifest
    assert manifest["interrupted"] and manifest["failure"].endswith(why)
    assert manifest["phase"] == "sealed"


def test_heal_of_one_experiment_spares_a_live_one(begun: list[Run], tmp_path: Path) -> None:
    dead, live = (Run(_made(tmp_path / name), LOAD + FAULTS) for name in ("dead", "live"))
    begun += [dead, live]
    for run in (dead, live):
        run.read_until("fault: freeze")
    (guardian,) = guardians(dead.experiment)
    os.kill(guardian, signal.SIGSTOP)  # alive, but it does nothing: heal is to do it
    dead.process.kill()
    dead.process.communicate(timeout=END_LIMIT_S)
    output = _heal(tmp_path, "--results", str(tmp_path), "--dry-run")
    assert "would undo freeze of " in output
    assert "would remove all of it" in output
    assert "still runs" in output
    assert _left(dead) and _left(live)
    output = _heal(tmp_path, "--experiment", dead.experiment.name, "--results", "dead/results")
    assert "undo freeze of " in output
    assert "still runs" not in output, "nothing was asked of the live one"
    assert not _left(dead)
    assert _left(live)
    output = _heal(tmp_path, "--experiment", live.experiment.name)
    assert "left alone: its owner" in output
    live.process.send_signal(signal.SIGINT)
    assert "interrupted: undoing 2 faults" in live.end()
    live.assert_nothing_is_left()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _left(run: Run) -> bool:
    mine = str(run.experiment)
    nodes = (processes.NODE, processes.PROXY)
    return any(
        one.mark(processes.EXPERIMENT) == mine and one.mark(processes.ROLE) in nodes
        for one in processes.every()
    )


def _heal(folder: Path, *words: str) -> str:
    healed = subprocess.run(
        [sys.executable, "-m", "harness", "heal", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DOCKER_HOST": f"unix://{folder}/none.sock"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=END_LIMIT_S,
    )
    assert healed.returncode == 0, healed.stdout
    return healed.stdout
