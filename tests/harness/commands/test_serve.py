"""`mqproof serve` as it is typed."""

import signal
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest

from harness.cli import main
from tests.harness.nightly.verdicts import experiment, run_of


@pytest.mark.parametrize(
    ("name", "message"), [("none", "there is no folder"), ("", "has no experiment")]
)
def test_a_folder_without_experiments_is_bad_input(
    tmp_path: Path, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(tmp_path / name)]) == 254
    text = capsys.readouterr().err
    assert message in text
    assert "`mqproof run` and `mqproof nightly` write one" in text


def test_a_port_that_is_taken_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment(tmp_path, "first", [run_of()])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", str(tmp_path), "--port", port]) == 254
    assert f"--port: {port}: " in capsys.readouterr().err


@pytest.mark.slow
def test_a_browser_gets_the_page_until_ctrl_c(tmp_path: Path) -> None:
    experiment(tmp_path, "first", [run_of()])
    words = [sys.executable, "-m", "harness", "serve", str(tmp_path), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0].removeprefix("http://").rstrip("/")
        connection = HTTPConnection(address, timeout=10)
        connection.request("GET", "/")
        assert "first/report.html" in connection.getresponse().read().decode()
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
