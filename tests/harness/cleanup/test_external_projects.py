"""What becomes of somebody's brokers when the harness that broke them is killed."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from faults.executors import local_processes as processes
from harness.cleanup.everywhere import settle
from harness.cleanup.external_projects import ExternalProjects
from harness.cleanup.guardian import LOG
from harness.cleanup.heal import HealResult, heal
from harness.cleanup.local_projects import LocalProjects
from harness.deploy.external.site import load, noted
from harness.deploy.owner import alive
from harness.run_folder.journal import read, standing
from tests.rigs.clusters import external as rig
from tests.rigs.clusters.external import Owner
from tests.rigs.clusters.topologies import START

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[3]
JOURNAL = Path("runs/run-1/journal.jsonl")
QUEUE = "mqproof.run-1.orders"

HARNESS = """
import asyncio, os, signal, sys
from pathlib import Path
from faults.performing import perform_all
from harness.deploy.external.deployment import ExternalDeployment
from harness.deploy.external.faults import equip
from harness.systems.topologies import layout_of, read_topology
from harness.cleanup.guardian import DeploymentKind, start_guardian
from harness.run_folder.journal import Journal
from tests.rigs.clusters.fault_world import compiled_fault
from tests.rigs.clusters.topologies import HOSTS, SYSTEMS

async def main(folder, file, *words):
    def guard(cluster):
        if "guarded" in words:
            start_guardian(cluster, folder, False, DeploymentKind.EXTERNAL)

    layout = layout_of(read_topology("staging", Path(file).read_text(), SYSTEMS))
    cluster = await ExternalDeployment(equip, guard).up(layout, folder, lambda _: None)
    (folder / "runs" / "run-1").mkdir(parents=True)
    journal = Journal(folder / "runs" / "run-1" / "journal.jsonl")
    await cluster.broker.declare("mqproof.run-1.orders", True, "alpha")
    for window, (kind, host) in enumerate((("kill", "gamma"), ("freeze", "beta")), 1):
        fault = compiled_fault(
            kind, host, HOSTS, window=window, run="run-1", mechanism="command"
        )
        journal.armed(fault)
        await perform_all(cluster.executor, fault.actions)
    await cluster.spawn("publisher-1")
    print(cluster.site.cluster, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with rig.standing(tmp_path_factory.mktemp("owners") / "cluster") as found:
        found.mirror()
        yield found


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, owner: Owner) -> Iterator[None]:
    """A state folder of each test's own; every node runs when it ends."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("REFERENCE_USER", "guest")
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")
    yield
    assert all_run(owner)


def killed_harness(owner: Owner, folder: Path, *words: str) -> str:
    """A harness that is killed while one broker is dead and one frozen; the name of its note."""
    file = folder / "staging.toml"
    file.write_text(owner.text(START))
    command = [sys.executable, "-c", HARNESS, str(folder), str(file), *words]
    ended = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False, env=os.environ
    )
    assert ended.stdout.startswith("mqproof-"), "the harness failed before it was killed"
    return ended.stdout.strip()


def broken(owner: Owner) -> tuple[str, str]:
    """What the dead and the frozen one are now: by the kernel's letters."""
    return owner.state(owner.node_of("gamma")), owner.state(owner.node_of("beta"))


@retry(stop=stop_after_delay(30), wait=wait_fixed(0.1), retry=retry_if_result(lambda ok: not ok))
def all_run(owner: Owner) -> bool:
    return all(owner.state(node.name) in ("S", "R", "D") for node in owner.nodes)


@retry(stop=stop_after_delay(60), wait=wait_fixed(0.2), retry=retry_if_result(lambda ok: not ok))
def until_forgotten() -> bool:
    return not noted()


def wait_for_log(log: Path, words: str) -> str:
    @retry(stop=stop_after_delay(30), wait=wait_fixed(0.1), retry=retry_if_result(lambda t: not t))
    def log_text() -> str:
        text = log.read_text()
        return text if words in text else ""

    return str(log_text())


def left(cluster: str) -> tuple[processes.Running, ...]:
    return processes.of(cluster)


def healed() -> list[HealResult]:
    async def rows() -> list[HealResult]:
        return [row async for row in heal(ExternalProjects(), alive)]

    return asyncio.run(rows())


def test_guardian_uses_the_owners_commands_and_removes_only_our_objects(
    owner: Owner, tmp_path: Path
) -> None:
    owner.declare("theirs")
    cluster = killed_harness(owner, tmp_path, "guarded")
    until_forgotten()
    output = wait_for_log(tmp_path / LOG, "remove all of it")  # which comes after it was forgotten
    assert all_run(owner)
    assert standing(read(tmp_path / JOURNAL)) == ()
    assert "FAILED" not in output
    assert output.index("undo freeze of beta") < output.index("remove all of it")
    assert left(cluster) == ()
    assert owner.names("queues") == ["theirs"]


def test_without_a_guardian_healing_finds_the_note_and_ends_it(
    owner: Owner, tmp_path: Path
) -> None:
    cluster = killed_harness(owner, tmp_path)
    assert broken(owner)[1] == "T"
    assert noted() == (cluster,)
    assert cluster not in {one.name for one in asyncio.run(LocalProjects().find())}
    rows = healed()
    assert [row.ok for row in rows] == [True, True, True], rows
    assert all_run(owner)
    assert (noted(), left(cluster)) == ((), ())
    assert QUEUE not in owner.names("queues")
    assert healed() == []


def test_an_undo_that_failed_stays_in_the_journal(owner: Owner, tmp_path: Path) -> None:
    cluster = killed_harness(owner, tmp_path)
    script = owner.folder / "stopper.py"
    text = script.read_text()
    script.write_text("import sys; sys.exit('the rack is on fire')")
    rows = healed()
    assert not any(row.ok for row in rows)
    assert "ended with 1: the rack is on fire" in rows[0].doubt
    assert "a fault still stands" in rows[-1].doubt
    assert noted() == (cluster,)
    script.write_text(text)
    assert all(row.ok for row in healed())
    assert (noted(), all_run(owner)) == ((), True)


def test_torn_journal_undoes_whatever_its_verify_command_confirms(
    owner: Owner, tmp_path: Path
) -> None:
    killed_harness(owner, tmp_path)
    journal = tmp_path / JOURNAL
    journal.write_text("no journal of ours\n" + journal.read_text())
    rows = healed()
    swept = next(row for row in rows if row.what.startswith("sweep"))
    assert swept.ok
    assert "kill of gamma undone" in swept.what
    assert "freeze of beta undone" in swept.what
    assert all_run(owner)
    # Other objects may have existed: the note stays until the journal is gone.
    assert "a fault still stands" in rows[-1].doubt
    journal.unlink()
    assert all(row.ok for row in healed())


def test_without_credentials_faults_are_undone_and_leftovers_reported(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_harness(owner, tmp_path)
    monkeypatch.delenv("REFERENCE_PASSWORD")
    rows = healed()
    assert [row.ok for row in rows] == [True, True, False]
    assert "not set in the environment: REFERENCE_PASSWORD" in rows[-1].doubt
    assert all_run(owner)
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")
    said: list[str] = []
    asyncio.run(settle(noted(), said.append))
    assert noted() == ()
    assert said
    assert "try: mqproof heal" not in "".join(said)


def test_unreadable_note_does_not_block_the_rest_of_the_cleanup(
    owner: Owner, tmp_path: Path
) -> None:
    killed_harness(owner, tmp_path)
    torn = tmp_path / "state" / "mqproof" / "external" / "mqproof-torn.json"
    torn.write_text("{")
    rows = healed()
    assert {row.project for row in rows if not row.ok} == {"mqproof-torn"}
    assert all_run(owner)
    assert noted() == ("mqproof-torn",)


def test_a_note_can_be_read_back_whole(owner: Owner, tmp_path: Path) -> None:
    cluster = killed_harness(owner, tmp_path)
    site = load(cluster)
    assert site.topology == owner.topology(START)
    assert site.commands_in == str(ROOT), "where the harness ran, whatever process heals it"
    assert "guest" not in (tmp_path / "state/mqproof/external" / f"{cluster}.json").read_text()
    assert all(row.ok for row in healed())
