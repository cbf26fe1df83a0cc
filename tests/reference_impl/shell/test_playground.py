"""What a playground does where its servers cannot start."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from reference_impl.shell.children import Children
from reference_impl.shell.playground import (
    BAD_INPUT,
    DID_NOT_START,
    HOST,
    PREFIX,
    NotStarted,
    play_in,
)

pytestmark = pytest.mark.slow  # it opens sockets and starts a sweeper


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_taken_port_is_bad_input_and_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        assert play_in(lambda *_: pytest.fail("it began"), [port]) == BAD_INPUT
    message = capsys.readouterr().err
    assert message.startswith(f"--port: another program uses {port} on {HOST}; expected: free")


def test_a_server_that_does_not_start_ends_all_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folders = list[Path]()

    def begin(folder: Path, _children: Children) -> None:
        folders.append(folder)
        assert folder.is_dir()
        raise NotStarted("ref1, ref3")

    assert play_in(begin, []) == DID_NOT_START
    assert capsys.readouterr().err == "ref1, ref3 did not start; everything is stopped\n"
    (folder,) = folders
    assert folder.name.startswith(PREFIX)
    assert not folder.exists()
