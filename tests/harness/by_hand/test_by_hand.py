"""`mqproof up`, `status`, `fault` and `down` as people use them, without Docker."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pika
import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from faults.executors import local_processes as processes
from harness.by_hand import requests
from harness.by_hand.requests import KeptClusters
from harness.cli import main
from harness.deploy.by_hand_files import DOCUMENT, state
from tests.rigs.machine.left_behind import guardians

pytestmark = [pytest.mark.slow, pytest.mark.long]

LIMIT_S = 60.0
CLEAN = "reference-mirrored all-automatic@T=60: clean"
QUEUE = "Orders.EU"
WORDS = ("up", "reference-mirrored:all-automatic@T=60")
Said = Callable[..., str]


@retry(
    stop=stop_after_delay(LIMIT_S),
    wait=wait_fixed(0.05),
    retry=retry_if_result(lambda done: not done),
    retry_error_callback=lambda _: False,
)
def eventually(holds: Callable[[], bool]) -> bool:
    return holds()


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(autouse=True)
def _own_state(states: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(states))


@pytest.fixture(scope="module")
def cluster(states: Path) -> Iterator[KeptClusters]:
    """One boot for the tests that leave it as they found it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(states))
        assert main(WORDS) == 0
        (one,) = requests.kept()
        queue_of(one)
        yield one
        assert main(["down"]) == 0


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Run a command; return what it wrote, after checking its exit code."""

    def run(code: int, *words: str) -> str:
        capsys.readouterr()
        assert main(words) == code, capsys.readouterr()
        written = capsys.readouterr()
        return " ".join(f"{written.out}{written.err}".split())

    return run


def queue_of(one: KeptClusters) -> None:
    """Declare a queue, and have a message confirmed, by the first published port."""
    assert one.clusters is not None
    port = one.clusters.clusters[0].ports[0]
    parameters = pika.ConnectionParameters(port.address, port.port)
    with pika.BlockingConnection(parameters) as connection:
        channel = connection.channel()
        channel.queue_declare(QUEUE, durable=True)
        channel.confirm_delivery()
        channel.basic_publish("", QUEUE, b"one", mandatory=True)


def started(*words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def verified(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    heard = []
    for line in process.stdout:
        heard.append(line)
        if line.startswith("verified active"):
            return
    raise AssertionError(heard)


def frozen(one: KeptClusters) -> list[str]:
    assert one.clusters is not None
    name = one.clusters.clusters[0].cluster
    return [running.mark(processes.HOST) for running in processes.of(name) if running.stopped]


def left(one: KeptClusters) -> list[object]:
    """What runs of the clusters, or lies there."""
    assert one.clusters is not None
    name = one.clusters.clusters[0].cluster
    return [*processes.of(name), *guardians(one.folder), *requests.kept()]


def test_status_shows_ports_and_that_clusters_are_clean(cluster: KeptClusters, said: Said) -> None:
    assert cluster.clusters is not None
    text = said(0, "status")
    assert CLEAN in text
    for port in cluster.clusters.clusters[0].ports:
        assert f"{port.host} {'' if port.clients else 'http://'}{port.address}:{port.port}" in text


def test_a_fault_is_verified_active_and_ended(cluster: KeptClusters, said: Said) -> None:
    text = said(0, "fault", "kill", f"master of {QUEUE}", "--for", "2 s")
    assert f"(master of {QUEUE}), 2 mirrors, 2 synchronised; it ends in 2 s" in text
    assert "verified active: the process ended with exit code 137 (SIGKILL)" in text
    assert "undone, verified ended; it lasted 2." in text


def test_a_fault_of_links_strikes_the_published_ports(cluster: KeptClusters, said: Said) -> None:
    text = said(0, "fault", "hang", "ref2", "--for", "4 s")
    assert "verified active: 1 link silent" in text


def test_a_fault_without_its_queue_is_not_injected(cluster: KeptClusters, said: Said) -> None:
    text = said(2, "fault", "kill", "master of nothing", "--for", "2 s")
    assert "nothing was injected: master of nothing: no host says" in text
    assert f"there is no queue 'nothing'; valid: {QUEUE}" in text


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("freeze", "rmq1", "--for", "1 s"), "reference-mirrored: no host 'rmq1'"),
        (("freeze", "ref1", "--for", "1 s", "--system", "acme"), "--system: there is no running"),
        (("freze", "ref1", "--for", "1 s"), "KIND: 'freze'"),
        (("freeze", "ref1", "--for", "1 s", "--set", "x"), "--set: 'x' has not the form"),
    ],
)
def test_a_fault_that_means_nothing_is_bad_input(
    cluster: KeptClusters, said: Said, words: tuple[str, ...], place: str
) -> None:
    assert f"bad input: {place}" in said(254, "fault", *words)


def test_ctrl_c_undoes_a_fault_and_exits_with_130(cluster: KeptClusters) -> None:
    with started("fault", "freeze", "ref2", "--for", "10 min") as process:
        verified(process)
        assert frozen(cluster) == ["ref2"]
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert "interrupted: undoing 1 fault" in text and "undone, verified ended" in text
    assert frozen(cluster) == []


def test_a_killed_command_leaves_no_fault(cluster: KeptClusters, said: Said) -> None:
    with started("fault", "freeze", "ref3", "--for", "10 min") as process:
        verified(process)
        text = said(1, "status")
        assert "freeze ref3: verified active" in text
        assert CLEAN not in text and "NOT CLEAN: 1 active fault, see below" in text
        process.kill()
    assert eventually(lambda: not frozen(cluster))
    assert CLEAN in said(0, "status")


def test_a_second_fault_on_one_host_is_refused(cluster: KeptClusters, said: Said) -> None:
    with started("fault", "freeze", "ref3", "--for", "10 min") as process:
        verified(process)
        text = said(2, "fault", "kill", "ref3", "--for", "1 s")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
    assert "the end of one would undo the other" in text


def test_clusters_are_started_once(cluster: KeptClusters, said: Said) -> None:
    text = said(254, *WORDS)
    assert "clusters by hand run already (process" in text
    assert "what to do: `mqproof status`, then `mqproof down`" in text


@pytest.fixture
def _another_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture
def one(_another_state: None) -> Iterator[KeptClusters]:
    """Clusters of one test, which may end them."""
    assert main(["up", "reference-mirrored:unmirrored@T=60"]) == 0
    (found,) = requests.kept()
    yield found
    assert main(["down"]) == 0
    assert left(found) == []


def test_down_works_with_a_damaged_document(one: KeptClusters, said: Said) -> None:
    (one.folder / DOCUMENT).write_text("{")
    text = said(2, "status")
    assert "cannot be read" in text and "`mqproof down`" in text


def test_a_killed_keeper_leaves_no_fault_and_no_cluster(one: KeptClusters, said: Said) -> None:
    assert one.clusters is not None
    with started("fault", "freeze", "ref1", "--for", "10 min") as process:
        verified(process)
        os.kill(one.clusters.pid, signal.SIGKILL)
        text, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 2 and "its guardian undoes the fault" in text
    assert "is dead: `mqproof down` cleans up" in said(2, "status")
    assert "a dead keeper left clusters" in said(254, *WORDS)
    assert eventually(lambda: not guardians(one.folder))
    log = (one.folder / "reference-mirrored" / "guardian.log").read_text()
    assert "undo freeze of ref1 (fault 1 of reference-mirrored)" in log


@pytest.mark.usefixtures("_another_state")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_up_that_is_ended_leaves_nothing(number: signal.Signals, code: int) -> None:
    with started("up", "reference-mirrored:unmirrored@T=60") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("wait until"):
                break
        (one,) = requests.kept()
        process.send_signal(number)
        process.communicate(timeout=LIMIT_S)
    assert process.returncode == code
    assert eventually(lambda: not requests.kept())
    assert not any(
        str(one.folder) in running.mark(processes.FOLDER) for running in processes.every()
    )
    assert eventually(lambda: not guardians(one.folder))


@pytest.mark.usefixtures("_another_state")
def test_without_clusters_commands_say_so(said: Said) -> None:
    assert "no clusters by hand are running" in said(0, "down")
    assert "`mqproof up` starts some" in said(2, "status")
    assert "`mqproof up` starts some" in said(2, "fault", "freeze", "ref1", "--for", "1 s")


@pytest.mark.usefixtures("_another_state")
def test_without_docker_nothing_is_left(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    assert "no cluster runs: no Docker engine" in said(2, "up", "rabbitmq-mirrored")
    assert list(state().iterdir()) == []
