"""What becomes of a local cluster whose harness was killed, with a guardian and without one."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from faults.core.actions import Kill, Start
from faults.executors import local_processes as processes
from harness.cleanup.guardian import LOG
from harness.cleanup.heal import HealResult, heal
from harness.cleanup.local_projects import LocalProjects
from harness.deploy.owner import alive
from harness.run_folder.journal import read, standing

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
JOURNAL = Path("runs/run-1/journal.jsonl")

HARNESS = """
import asyncio, os, signal, sys
from dataclasses import replace
from pathlib import Path
from faults.performing import perform_all
from harness.cleanup.guardian import DeploymentKind, start_guardian
from harness.run_folder.journal import Journal
from tests.rigs.clusters.local import UNMIRRORED, armed, deployment

async def main(folder, end, *words):
    def guard(cluster):
        if "guarded" in words:
            start_guardian(cluster, folder, "keep" in words, DeploymentKind.LOCAL)

    made = deployment(guard=guard, keep="keep" in words)
    cluster = await made.up(UNMIRRORED, folder, lambda _: None)
    (folder / "runs" / "run-1").mkdir(parents=True)
    journal = Journal(folder / "runs" / "run-1" / "journal.jsonl")
    for window, (kind, host) in enumerate((("black_hole", "ref3"), ("freeze", "ref2")), 1):
        fault = replace(armed(cluster, kind, host), window=window)
        journal.armed(fault)
        await perform_all(cluster.executor, fault.actions)
    await cluster.spawn("publisher-1")
    print(cluster.site.cluster, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(Path(sys.argv[1]), *sys.argv[1:]))
"""


@pytest.fixture
def clusters() -> Iterator[list[str]]:
    """Names of clusters that a test made; whatever it left of them is ended."""
    names: list[str] = []
    yield names
    for name in names:
        asyncio.run(LocalProjects().remove(name))


def killed_harness(folder: Path, *words: str) -> str:
    """A harness that is killed in the middle of a black hole and a freeze; its cluster's name."""
    command = [sys.executable, "-c", HARNESS, str(folder), *words]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    assert ended.stdout.startswith("mqproof-"), "the harness failed before it was killed"
    return ended.stdout.strip()


@retry(
    stop=stop_after_delay(40), wait=wait_fixed(0.2), retry=retry_if_result(lambda done: not done)
)
def wait_for_log(log: Path, text: str) -> bool:
    """Waits until a guardian has written it."""
    return log.exists() and text in log.read_text()


def left(cluster: str) -> dict[str, bool]:
    """Who still runs, and whether it is frozen; workers and agent end by themselves."""
    return {
        running.mark(processes.HOST): running.stopped
        for running in processes.of(cluster)
        if running.mark(processes.ROLE) in (processes.NODE, processes.PROXY)
    }


def healed() -> list[HealResult]:
    async def rows() -> list[HealResult]:
        return [row async for row in heal(LocalProjects(), alive)]

    return asyncio.run(rows())


def test_a_guardian_ends_everything_that_a_killed_harness_left(
    tmp_path: Path, clusters: list[str]
) -> None:
    clusters.append(killed_harness(tmp_path, "guarded"))
    wait_for_log(tmp_path / LOG, "remove all of it")
    output = (tmp_path / LOG).read_text()
    assert left(clusters[0]) == {}
    assert not (tmp_path / "deployments" / clusters[0] / "data").exists()
    assert standing(read(tmp_path / JOURNAL)) == ()
    assert "FAILED" not in output
    assert output.index("undo freeze of ref2") < output.index("remove all of it")


def test_kept_cluster_is_repaired_and_runs_until_removed_by_name(
    tmp_path: Path, clusters: list[str]
) -> None:
    clusters.append(killed_harness(tmp_path, "guarded", "keep"))
    wait_for_log(tmp_path / LOG, "kept, as requested (--keep)")
    assert "FAILED" not in (tmp_path / LOG).read_text()
    assert left(clusters[0]) == dict.fromkeys(("ref1", "ref2", "ref3", "toxiproxy"), False)
    command = [sys.executable, "-m", "harness.cleanup.local_projects", clusters[0]]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    assert left(clusters[0]) == {}
    assert subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 254


def test_without_a_guardian_healing_ends_it(tmp_path: Path, clusters: list[str]) -> None:
    clusters.append(killed_harness(tmp_path))
    rows = [row for row in healed() if row.project == clusters[0]]
    assert [row.ok for row in rows] == [True, True, True], rows
    assert left(clusters[0]) == {}


def test_node_of_a_found_cluster_starts_without_any_process_left(
    tmp_path: Path, clusters: list[str]
) -> None:
    """Start the node although all processes of the cluster have ended."""
    clusters.append(killed_harness(tmp_path))

    async def story() -> dict[str, bool]:
        projects = LocalProjects()
        await projects.find()
        await end_all(clusters[0])
        await projects.executor(clusters[0]).perform(Start("ref1"))
        return left(clusters[0])

    assert asyncio.run(story()) == {"ref1": False}


@retry(stop=stop_after_delay(10), wait=wait_fixed(0.05), retry=retry_if_result(bool))
async def end_all(cluster: str) -> int:
    """As a thawed node does that finds its parent gone."""
    found = processes.of(cluster)
    for running in found:
        running.signal(signal.SIGKILL)
    return len(found)


def test_without_a_journal_every_possible_fault_is_undone(
    tmp_path: Path, clusters: list[str]
) -> None:
    clusters.append(killed_harness(tmp_path, "keep"))
    (tmp_path / JOURNAL).unlink()
    asyncio.run(LocalProjects().executor(clusters[0]).perform(Kill("ref1")))
    rows = [row for row in healed() if row.project == clusters[0]]
    assert all(row.ok for row in rows), rows
    assert "ref2 runs on; ref1 started; the proxy is reset" in rows[0].what
    assert left(clusters[0]) == dict.fromkeys(("ref1", "ref2", "ref3", "toxiproxy"), False)
