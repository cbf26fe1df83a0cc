"""`mqproof run --on-standing` as people use it, without Docker."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.executors import local_processes as processes
from harness.by_hand import requests
from harness.by_hand.requests import KeptClusters
from harness.cli import main
from harness.run_folder.journal import read, standing
from tests.harness.by_hand.test_by_hand import Said, eventually, said, started, verified

__all__ = ["said"]
pytestmark = [pytest.mark.slow, pytest.mark.long]

LIMIT_S = 400.0
LAYOUT = "all-automatic-ignore@T=2"
RUN = ("run", "short.toml", "--on-standing")
SCENARIO = """
title = "For tests"
[workload]
queues = ["orders"]
publishers = 2
consumers = 1
rate = 100
[phases]
baseline = "2 s"
recovery = "5 s"
settle = "1 s"
drain_limit = "20 s"
[[fault]]
kind = "kill"
target = "master of orders"
opens = "0 s"
lasts = "{lasts}"
"""


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(autouse=True)
def _own_state(states: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(states))


@pytest.fixture(scope="module")
def kept(states: Path) -> Iterator[KeptClusters]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(states))
        assert main(["up", f"reference-mirrored:{LAYOUT}"]) == 0
        (one,) = requests.kept()
        yield one
        assert main(["down"]) == 0
        assert processes.of(name_of(one)) == ()


def name_of(one: KeptClusters) -> str:
    assert one.clusters is not None
    return one.clusters.clusters[0].cluster


def nodes(one: KeptClusters) -> int:
    return len(processes.of(name_of(one), processes.NODE))


def played(folder: Path, lasts: str) -> "subprocess.Popen[str]":
    (folder / "short.toml").write_text(SCENARIO.format(lasts=lasts))
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *RUN],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def verdict(folder: Path) -> dict[str, Any]:
    (found,) = folder.rglob("verdict.json")
    (one,) = json.loads(found.read_text(encoding="utf-8"))["runs"]
    assert isinstance(one, dict)
    return one


def is_clean(said: Said) -> bool:
    try:
        return "clean" in said(0, "status")
    except AssertionError:
        return False


def test_a_run_uses_the_cluster_and_leaves_it_clean(
    kept: KeptClusters, said: Said, tmp_path: Path
) -> None:
    before = name_of(kept)
    with played(tmp_path, "4 s") as process:
        text, _ = process.communicate(timeout=LIMIT_S)
    run = verdict(tmp_path)
    assert run["judged"], text
    assert (run["summary"]["faults"], run["summary"]["faults_seen"]) == (1, 1), text
    assert "cluster: the one that `mqproof up` had started" in text
    (again,) = requests.kept()
    assert name_of(again) == before and nodes(kept) == 3
    assert f"reference-mirrored {LAYOUT}: clean" in said(0, "status")
    assert "--on-standing" in text.splitlines()[-1], "the replay uses it, too"


def test_a_killed_run_leaves_no_fault_and_no_queue(
    kept: KeptClusters, said: Said, tmp_path: Path
) -> None:
    with played(tmp_path, "10 min") as process:
        assert eventually(lambda: nodes(kept) == 2)
        text = said(254, "fault", "freeze", "ref1", "--for", "1 s")
        assert "a run uses reference-mirrored: experiment" in text
        assert "a run uses reference-mirrored: experiment" in said(254, "down")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LIMIT_S)
    assert eventually(lambda: nodes(kept) == 3)
    (journal,) = tmp_path.rglob("journal.jsonl")
    assert eventually(lambda: standing(read(journal)) == ())
    assert eventually(lambda: is_clean(said))
    assert eventually(lambda: not processes.of(name_of(kept), processes.WORKER))


def test_no_run_begins_while_a_fault_is_active(
    kept: KeptClusters, said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.toml").write_text(SCENARIO.format(lasts="1 s"))
    with started("fault", "freeze", "ref3", "--for", "10 min") as process:
        verified(process)
        text = said(254, *RUN)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
    assert "--on-standing: reference-mirrored: a fault is active: freeze ref3" in text
    assert not list(tmp_path.rglob("manifest.json"))


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (("--system", "rabbitmq-mirrored"), ("--system: there is no system",)),
        (("--keep",), ("--keep: the clusters run already",)),
        (
            ("--layout", "x", "--deployment", "compose", "--version", "4.0.5", "--together"),
            ("--layout: the", "--deployment: the", "--version: the", "--together: the"),
        ),
    ],
)
def test_flags_that_do_not_go_with_it_are_bad_input(
    kept: KeptClusters,
    said: Said,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    places: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.toml").write_text(SCENARIO.format(lasts="1 s"))
    text = said(254, *RUN, *words)
    assert all(place in text for place in places), text


def test_without_clusters_it_is_bad_input(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    text = said(254, "run", "master-crash", "--on-standing")
    assert "--on-standing: no clusters by hand are running; what to do: `mqproof up`" in text
