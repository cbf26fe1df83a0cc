"""`mqproof reference` ends as a whole: whatever ends it, no process and no folder is left."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[2]
WORDS = {
    # It takes this port plus 20,000, too; from 32,768 on the kernel gives ports to clients.
    "mirrored": ("mirrored", "--nodes", "2", "--port", "11372"),
    "2m2s": ("2m2s", "--port", "19876"),
}


# Starts the command in a session of its own, as a test's fixture does.
PARENT = "import subprocess, sys; subprocess.run(sys.argv[1:], start_new_session=True)"


@pytest.fixture
def begun(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    with begin(request.param, tmp_path) as process:
        yield process


@contextmanager
def begin(word: str, tmp_path: Path, *before: str) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "harness", "reference", *WORDS[word]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "Ctrl-C stops them all" in line:
            break
    yield process
    process.kill()
    process.communicate(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("begun", ["mirrored"], indirect=True)
def test_no_process_and_no_folder_outlives_the_command(
    begun: "subprocess.Popen[str]", number: signal.Signals, tmp_path: Path
) -> None:
    assert list(tmp_path.glob("mqproof-reference-*")) != []
    begun.send_signal(number)
    begun.wait(60)
    assert _left(tmp_path) == []


def test_a_reference_ends_with_its_killed_parent(tmp_path: Path) -> None:
    with begin("mirrored", tmp_path, sys.executable, "-c", PARENT) as parent:
        assert list(tmp_path.glob("mqproof-reference-*")) != []
        parent.kill()
        parent.wait(60)
        assert _left(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
@pytest.mark.parametrize("begun", WORDS, indirect=True)
def test_nor_does_it_if_the_cluster_is_killed_itself(
    begun: "subprocess.Popen[str]", number: signal.Signals, tmp_path: Path
) -> None:
    played = [f"reference_impl {word} " for word in WORDS]
    (cluster,) = [
        pid for pid, words in _processes(tmp_path) if any(word in words for word in played)
    ]
    os.kill(cluster, number)
    begun.wait(60)
    assert _left(tmp_path) == []


@retry(
    stop=stop_after_delay(60),
    wait=wait_fixed(0.1),
    retry=retry_if_result(bool),
    retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
)
def _left(folder: Path) -> list[str]:
    """Return what remains after the permitted time."""
    left = [str(path) for path in folder.glob("mqproof-reference-*")]
    return left + [words for _, words in _processes(folder)]


def _processes(folder: Path) -> Iterator[tuple[int, str]]:
    """The processes that were started in a folder, with their command lines."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == folder:
                yield int(entry.name), (entry / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
