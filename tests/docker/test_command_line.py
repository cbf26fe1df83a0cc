"""`mqproof run` as people use it, on real clusters of its own: ended, killed, and let through."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.deploy import engine, labels
from tests.docker.command_line import mqproof, read_until
from tests.docker.conftest import require_docker

pytestmark = pytest.mark.docker

END_LIMIT_S = 90.0
GONE_LIMIT_S = 60.0
QUICK = """
title = "A long cut, for tests that end it"
[workload]
queues = ["orders"]
publishers = 1
consumers = 1
rate = 100
publisher_endpoint = "master of orders"
consumer_endpoint = "uninvolved"
[[fault]]
kind = "partition"
target = "master of orders"
lasts = "10 min"
[phases]
baseline = "2 s"
recovery = "6 s"
"""


@pytest.fixture(autouse=True)
def _docker() -> None:
    require_docker()


@pytest.fixture
def armed(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """An `mqproof run` whose fault is in force."""
    (tmp_path / "quick.toml").write_text(QUICK)
    process = mqproof(tmp_path, "run", "quick.toml", "--layout", "all-automatic@T=60")
    read_until(process, "fault: partition")
    yield process
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=END_LIMIT_S)


def test_ctrl_c_in_a_fault_exits_130_and_cleans_up(
    armed: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    """Seal the run, exit with 130 and leave nothing behind."""
    armed.send_signal(signal.SIGINT)
    said, _ = armed.communicate(timeout=END_LIMIT_S)
    assert armed.returncode == 130, said
    assert _left(tmp_path) == []
    (manifest,) = _manifests(tmp_path)
    assert manifest["phase"] == "sealed"
    assert all(worker["log_closed"] for worker in manifest["workers"])
    again = mqproof(tmp_path, "analyse", str(_experiment(tmp_path)))
    said, _ = again.communicate(timeout=END_LIMIT_S)
    assert again.returncode == 2, said
    assert "the run was interrupted" in said


@pytest.mark.nightly
def test_killed_harness_is_cleaned_up_within_a_minute(
    armed: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    """Remove everything within a minute of `kill -9`."""
    assert _left(tmp_path), "otherwise the test shows nothing"
    armed.kill()
    armed.wait()
    died = time.monotonic()
    while left := _left(tmp_path):
        assert time.monotonic() - died < GONE_LIMIT_S, left
    again = mqproof(tmp_path, "analyse", str(_experiment(tmp_path)))
    said, _ = again.communicate(timeout=END_LIMIT_S)
    assert again.returncode == 2, said
    assert "the harness ended in phase" in said


@pytest.mark.nightly
@pytest.mark.parametrize(
    "scenarios", [("master-crash",), ("client-link-hang", "cut-one-node")], ids="-and-".join
)
def test_scenarios_are_judged_as_expected(tmp_path: Path, scenarios: tuple[str, ...]) -> None:
    process = mqproof(tmp_path, "run", *scenarios, "--judge", "expectations", "--seed", "7")
    said, _ = process.communicate(timeout=900)
    verdict = json.loads((_experiment(tmp_path) / "verdict.json").read_text())
    assert [run["cell"]["scenario"] for run in verdict["runs"]] == list(scenarios), said
    assert process.returncode in (0, 2), said  # 2: this machine stalled, so time is not judged
    differ = [cell for cell in verdict["cells"] if cell["standing"] == "differs"]
    assert differ == [], said
    for run in verdict["runs"]:
        assert run["judged"], run
        outcome = {claim["claim"]: claim["outcome"] for claim in run["claims"]}
        assert outcome["confirmed-is-delivered"] == "PASS", run
        assert outcome["nothing-unexpected"] == "PASS", run
    for manifest in _manifests(tmp_path):
        assert [(w["verified"], w["gone"]) for w in manifest["windows"]] == [(True, True)]
    assert _left(tmp_path) == []


@pytest.mark.nightly
def test_late_mirror_loses_older_messages_and_the_run_reports_it(tmp_path: Path) -> None:
    cell = ("--layout", "exactly-2-manual@T=10", "--judge", "expectations", "--seed", "7")
    run = _one_run(tmp_path, "unsynchronised-mirror", "--system", "rabbitmq-mirrored", *cell)
    outcome = {claim["claim"]: claim["outcome"] for claim in run["claims"]}
    assert outcome["unsynchronised-messages-are-lost"] == "INCONCLUSIVE", run
    assert outcome["confirmed-is-delivered"] == "FAIL", run
    assert outcome["nothing-unexpected"] == "PASS", run
    (manifest,) = _manifests(tmp_path)
    states = [manifest["state"]["windows"][number] for number in ("1", "2")]
    assert [state["fault_target_role"] for state in states] == ["mirror", "master"]
    assert [state["synchronised_mirrors_at_fault"] for state in states] == [1, 0]


@pytest.mark.nightly
def test_the_reference_survives_a_master_crash_in_containers_too(tmp_path: Path) -> None:
    cell = ("--system", "reference-mirrored", "--deployment", "compose", "--judge", "expectations")
    run = _one_run(tmp_path, "master-crash", *cell, "--seed", "7")
    outcome = {claim["claim"]: claim["outcome"] for claim in run["claims"]}
    for claim in (
        "confirmed-is-delivered",
        "election-loses-nothing",
        "oldest-mirror-takes-over",
    ):
        assert outcome[claim] == "PASS", run


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("scenario", "layout"),
    [
        ("memory-alarm", "all-automatic"),
        ("disk-alarm", "all-automatic"),
        ("cut-one-node", "all-automatic-autoheal"),
        ("cut-one-node", "all-automatic-pause-if-all-down"),
    ],
)
def test_the_reference_in_containers_is_judged_as_expected(
    tmp_path: Path, scenario: str, layout: str
) -> None:
    cell = ("--system", "reference-mirrored", "--deployment", "compose", "--judge", "expectations")
    run = _one_run(tmp_path, scenario, *cell, "--layout", f"{layout}@T=10", "--seed", "7")
    outcome = {claim["claim"]: claim["outcome"] for claim in run["claims"]}
    assert outcome["nothing-unexpected"] == "PASS", run


def _one_run(folder: Path, *words: str) -> dict[str, Any]:
    """The verdict of an experiment of one run that went as expected, and left nothing."""
    process = mqproof(folder, "run", *words)
    said, _ = process.communicate(timeout=600)
    assert process.returncode in (0, 2), said  # 2: this machine stalled, so time is not judged
    verdict = json.loads((_experiment(folder) / "verdict.json").read_text())
    assert [c for c in verdict["cells"] if c["standing"] == "differs"] == [], said
    (run,) = verdict["runs"]
    assert run["judged"], said
    (manifest,) = _manifests(folder)
    assert all(w["verified"] and w["gone"] for w in manifest["windows"]), manifest["windows"]
    assert _left(folder) == []
    return dict(run)


def _left(folder: Path) -> list[str]:
    """What an experiment in this folder still has in the engine, by its label."""
    client = engine.connect()
    everything: list[Any] = [
        *client.containers.list(all=True, ignore_removed=True),
        *client.networks.list(),
        *client.volumes.list(),
    ]
    return [found.name for found in everything if str(folder) in _mark(found)]


def _mark(found: Any) -> str:
    marks = found.attrs.get("Labels") or found.attrs.get("Config", {}).get("Labels") or {}
    return str(marks.get(labels.EXPERIMENT, ""))


def _experiment(folder: Path) -> Path:
    (experiment,) = (folder / "results").iterdir()
    return experiment


def _manifests(folder: Path) -> list[dict[str, Any]]:
    found = sorted(_experiment(folder).glob("runs/*/manifest.json"))
    return [json.loads(path.read_text()) for path in found]
