"""What the keeper says before its clusters run, as `mqproof up` understands it."""

import io
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from harness.by_hand import requests
from harness.cleanup.heal import EVERYBODY
from harness.cleanup.local_leftovers import clean_dead_keepers
from harness.cli import main
from harness.cluster.port import DeployError
from harness.deploy import by_hand_lines as lines
from harness.deploy.by_hand_files import SOCKET, state
from harness.outside.locks import LockAnswer, lock
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
        assert lock(folder, held, wait=False) is LockAnswer.TAKEN
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


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state().mkdir(parents=True)
    return state()


@pytest.mark.parametrize("command", ["status", "down"])
def test_clusters_that_have_only_begun_are_on_their_way(
    command: str, states: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (states / "abc").mkdir()
    with ExitStack() as held:
        assert lock(states, held, wait=False) is LockAnswer.TAKEN
        assert main([command]) == 2
        assert "the clusters are still on their way" in capsys.readouterr().err
        assert list(clean_dead_keepers(EVERYBODY, False, True)) == []
    assert (states / "abc").is_dir()
    assert len(list(clean_dead_keepers(EVERYBODY, False, True))) == 1


def test_of_two_that_begin_at_once_one_is_refused(
    states: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as held:
        assert lock(states, held, wait=False) is LockAnswer.TAKEN
        assert main(["up", "reference-mirrored"]) == 254
    assert "another `mqproof up` has begun; what to do: wait for it" in capsys.readouterr().err
    monkeypatch.setattr(requests, "kept", lambda: ())  # it began after this was looked at
    (states / "abc").mkdir()
    assert main(["up", "reference-mirrored"]) == 254
    assert [one.name for one in states.iterdir()] == ["abc"]
