"""A broker, a fault kind and a client of another package, installed beside mqproof, and judged.

Nothing of mqproof knows the package: it is found by its entry points alone.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tenacity import retry, retry_if_exception_type, retry_if_result, stop_after_delay, wait_fixed

from faults.executors import local_processes as processes
from tests.extending.installing import install
from tests.extending.runs import HERE, ROOT, Run
from tests.rigs.machine.left_behind import guardians

pytestmark = [pytest.mark.slow, pytest.mark.long]

STALLED = (HERE / "stalled-disk.toml").read_text()
SHIPPED = (ROOT / "harness/plan/scenarios/master-crash.toml").read_text()
LENGTHS = {  # of the scenario as it is shipped -> shorter, for a test
    'lasts = "1 T, at least 10 s"': 'lasts = "1 s"',
    'baseline = "12 s"': 'baseline = "2 s"',
    'recovery = "10 s"': 'recovery = "3 s"',
    'settle = "0.5 T, at least 5 s"': 'settle = "1 s"',
    'deadline = "2 s"': 'deadline = "1 s"',
}
ABOUT_MIRRORS = (
    "confirmed-is-on-all-mirrors",
    "mirror-takes-over",
    "oldest-mirror-takes-over",
    "election-loses-nothing",
    "crash-promotes-any-mirror",
    "unsynchronised-messages-are-lost",
    "other-masters-take-over",
)


def shortened() -> str:
    text = SHIPPED
    for length, shorter in LENGTHS.items():
        assert length in text
        text = text.replace(length, shorter)
    return text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def both(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, Run]]:
    """An honest cluster's run and a hasty one's, side by side, and beside all that is tested
    here: most of their time is waiting."""
    folder = tmp_path_factory.mktemp("runs")
    honest = Run(site, folder / "honest", shortened(), "--layout", "three")
    hasty = Run(site, folder / "hasty", STALLED, "--layout", "hasty")
    yield honest, hasty
    for run in (honest, hasty):
        if run.process.poll() is None:
            run.process.terminate()
            run.process.wait()


def test_a_foreign_package_appears_in_every_list(site: Path) -> None:
    for what, name in (
        ("systems", "pigeonhole"),
        ("faults", "stall_disk"),
        ("faults", "pigeonhole"),  # the systems that can suffer it
        ("clients", "pigeonhole-py"),
        ("facts", "pigeonhole_confirms_early"),
        ("facts", "pigeonhole_window"),
        ("claims", "stored-before-confirmed"),
    ):
        said = mqproof(site, "list", what)
        assert (said.returncode, name in said.stdout) == (0, True), said.stdout + said.stderr


def test_its_fault_is_refused_on_other_systems_before_running(
    site: Path,
) -> None:
    cell = ("--system", "reference-mirrored", "--deployment", "local", "--dry-run")
    said = mqproof(site, "run", str(HERE / "stalled-disk.toml"), *cell)
    assert said.returncode == 254
    text = " ".join(said.stderr.split())
    assert "reference-mirrored can suffer no stall_disk: only pigeonhole can" in text


def test_options_of_its_fault_are_checked_as_ours_are(site: Path, tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(
        STALLED.replace("waiting = 2", "waiting = 0").replace('"kill"', '"kill"\nwaiting = 2')
    )
    said = mqproof(site, "run", str(file), "--system", "pigeonhole", "--dry-run")
    assert said.returncode == 254
    text = " ".join(said.stderr.split())
    assert "[[fault]] 1, waiting: must be from 1 to 100, not 0" in text
    assert "[[fault]] 2, waiting: a kill takes no waiting; only stall_disk does" in text


def test_options_of_its_fault_appear_in_a_dry_run(site: Path) -> None:
    cell = ("--system", "pigeonhole", "--deployment", "local", "--dry-run")
    said = mqproof(site, "run", str(HERE / "stalled-disk.toml"), *cell)
    assert "stall_disk master of orders, waiting 2" in " ".join(said.stdout.split()), said.stderr


def test_its_section_of_the_workload_is_checked_as_ours_are(site: Path, tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(STALLED.replace("window = 50", "window = 0\nwindw = 5"))
    said = mqproof(site, "run", str(file), "--system", "pigeonhole", "--dry-run")
    assert said.returncode == 254
    text = " ".join(said.stderr.split())
    assert "[workload.pigeonhole], window: must be at least 1, not 0" in text
    assert "windw: there is no such key; did you mean 'window'?; valid: window" in text


def test_a_section_is_unknown_without_its_package(tmp_path: Path) -> None:
    file = tmp_path / "foreign.toml"
    file.write_text(shortened() + "[workload.pigeonhole]\nwindow = 50\n")
    said = mqproof(tmp_path, "run", str(file), "--system", "reference-mirrored", "--dry-run")
    assert said.returncode == 254
    text = " ".join(said.stderr.split())
    assert "[workload], pigeonhole: there is no such key; valid: queues | publishers" in text


def test_our_clients_ignore_options_that_concern_its_clients_only(
    site: Path, tmp_path: Path
) -> None:
    file = tmp_path / "foreign.toml"
    file.write_text(shortened() + "[workload.pigeonhole]\nwindow = 50\n")
    cell = ("--system", "reference-mirrored", "--deployment", "local", "--dry-run")
    said = mqproof(site, "run", str(file), *cell)
    assert said.returncode == 0, said.stderr
    assert "ignored    section [workload.pigeonhole]: it does not apply to pika" in said.stdout


def test_master_crash_runs_on_it_without_confirmed_loss(
    both: tuple[Run, Run],
) -> None:
    verdict = both[0].verdict()
    assert verdict.run["judged"] and not verdict.run["failure"], both[0].said
    (fault,) = verdict.run["faults"]
    assert (fault["kind"], fault["verified"]) == ("kill", True)
    assert verdict.confirmed > 1000 and verdict.lost == 0
    busy = "(host busy)" in both[0].said  # then nobody can say when it served again
    assert verdict.exit_code == (2 if busy else 0), both[0].said
    assert verdict.versions["pigeonhole"] == "0.1"  # as system.py says that it is versioned
    assert verdict.outcomes["confirmed-is-delivered"] == "PASS"
    assert verdict.outcomes["stored-before-confirmed"] == "PASS"  # by facts that it brings
    assert verdict.outcomes["durable-queue-returns"] == ("INCONCLUSIVE" if busy else "PASS")


def test_claims_about_mirrors_do_not_apply_to_queues_without_mirrors(
    both: tuple[Run, Run],
) -> None:
    outcomes = both[0].verdict().outcomes
    assert {outcomes[claim] for claim in ABOUT_MIRRORS} == {"NOT APPLICABLE"}


def test_a_hasty_node_is_found_to_lose_what_it_confirmed(both: tuple[Run, Run]) -> None:
    verdict = both[1].verdict()
    assert verdict.run["judged"] and not verdict.run["failure"], both[1].said
    assert verdict.lost > 0 and verdict.exit_code == 1, both[1].said
    assert verdict.outcomes["confirmed-is-delivered"] == "FAIL"
    assert verdict.outcomes["stored-before-confirmed"] == "NOT APPLICABLE"


def test_its_own_fault_is_performed_verified_and_undone(both: tuple[Run, Run]) -> None:
    stall, kill = both[1].verdict().run["faults"]
    assert (stall["kind"], stall["verified"]) == ("stall_disk", True)
    assert (kill["kind"], kill["verified"]) == ("kill", True)
    (journal,) = both[1].experiment.glob("runs/*/journal.jsonl")
    events = [(one["event"], one["armed"]["kind"], one["by"]) for one in lines(journal)]
    assert events[:2] == [("armed", "stall_disk", "run"), ("undone", "stall_disk", "run")]


def test_guardian_undoes_its_fault_after_the_harness_is_killed(site: Path, tmp_path: Path) -> None:
    long = STALLED.replace('lasts = "1 s"', 'lasts = "60 s"', 1).replace('"3 s"', '"90 s"', 1)
    run = Run(site, tmp_path / "killed", long, "--keep")
    try:
        journal, host = until_armed(run)
        assert until_node_says(run, host, stalled=True)
        assert state(run, host)["windows"] == [50]  # its own section reaches its consumer
        run.kill()
        assert until_node_says(run, host, stalled=False)
        until_no_guardian(run)
        assert [(one["event"], one["by"]) for one in lines(journal)] == [
            ("armed", "run"),
            ("undone", "guardian"),
        ]
    finally:
        end_all_of(run)


# --- how it is looked at ----------------------------------------------------------------------


def mqproof(site: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), str(ROOT)))}
    command = [sys.executable, "-m", "harness", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)


def lines(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text().splitlines()]


@retry(
    stop=stop_after_delay(60),
    wait=wait_fixed(0.1),
    retry=retry_if_exception_type((ValueError, FileNotFoundError)),
    reraise=True,
)
def until_armed(run: Run) -> tuple[Path, str]:
    """The journal, and the host that its one entry means."""
    (journal,) = run.experiment.glob("runs/*/journal.jsonl")
    (armed,) = lines(journal)
    return journal, str(armed["armed"]["resolved"])


@retry(
    stop=stop_after_delay(20), wait=wait_fixed(0.1), retry=retry_if_result(lambda said: not said)
)
def until_node_says(run: Run, host: str, stalled: bool) -> bool:
    return state(run, host)["stalled"] is stalled


def state(run: Run, host: str) -> dict[str, Any]:
    """Mqproof never calls this."""
    (file,) = run.experiment.glob(f"deployments/*/{host}.conf")
    node = json.loads(file.read_text())
    with socket.create_connection((node["address"], node["client_port"]), 2.0) as wire:
        wire.sendall(b'{"do":"state"}\n')
        return dict(json.loads(wire.makefile().readline()))


@retry(stop=stop_after_delay(30), wait=wait_fixed(0.1), retry=retry_if_result(bool))
def until_no_guardian(run: Run) -> list[int]:
    return guardians(run.experiment)


def end_all_of(run: Run) -> None:
    """By what their environment says of whose they are."""
    run.kill()
    for guardian in guardians(run.experiment):
        os.kill(guardian, signal.SIGKILL)
    for one in processes.every():
        if one.mark(processes.EXPERIMENT) == str(run.experiment):
            one.signal(signal.SIGKILL)
