"""What the keeper says before its clusters run, as `mqproof up` understands it."""

import io
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from harness.by_hand import requests
from harness.cli import main
from harness.cluster.port import DeployError
from harness.deploy import by_hand_lines as lines
from harness.deploy.by_hand_files import SOCKET, state
from harness.outside.locks import lock
from harness.plan.problems import PlanError
from harness.workers.protocol import encode

STEP = encode({"say": lines.STEP, "text": "start"})


def heard(*said: bytes) -> tuple[bool, list[str]]:
    """Whether the clusters are up, and the texts of the steps."""
    texts: list[str] = []
    up = requests._is_up(io.BytesIO(b"".join(said)), lambda one: texts.append(one["text"]))
    return up, texts


def test_steps_are_passed_on_until_the_clusters_are_up() -> None:
    assert heard(STEP, encode({"say": lines.UP}), STEP) == (True, ["start"])
    assert heard(STEP) == (False, ["start"])


def test_wrong_input_of_a_keeper_is_bad_input() -> None:
    with pytest.raises(PlanError, match="ports 5672 in use"):
        heard(STEP, encode({"say": lines.REFUSED, "problems": ["ports 5672 in use"]}))


def test_any_other_failure_of_a_keeper_is_none() -> None:
    with pytest.raises(DeployError, match="the engine is silent"):
        heard(encode({"say": lines.FAILED, "text": "the engine is silent"}))


def answering(folder: Path, *said: bytes) -> Iterator[None]:
    """A keeper that answers one request with these lines, and dies."""
    with ExitStack() as held, socket.socket(socket.AF_UNIX) as listener:
        assert lock(folder, held, wait=False)
        listener.bind(str(folder / SOCKET))
        listener.listen()

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"".join(said))

        thread = threading.Thread(target=answer)
        thread.start()
        yield
        thread.join()


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ((), 2),
        ((encode({"say": lines.END, "code": 130}),), 2),
        ((encode({"say": lines.END, "code": 0}),), 0),
    ],
)
def test_clusters_are_down_only_if_the_keeper_says_so(
    last: tuple[bytes, ...],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = state() / "abc"
    folder.mkdir(parents=True)
    with contextmanager(answering)(folder, STEP, *last):
        assert main(["down"]) == code
    output = capsys.readouterr()
    assert ("the clusters are down" in output.out) is (code == 0)
    assert ("ended before all was removed; again: mqproof down" in output.err) is (code == 2)
