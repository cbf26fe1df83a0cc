"""The embedded proxy as a program: how it says where it is, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[3]
LIMIT_S = 20.0


def start(*words: str, **options: Any) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "faults.proxy", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=REPOSITORY, **{**pipes, **options})


def listening(process: "subprocess.Popen[str]") -> tuple[str, int]:
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())["listening"]
    host, _, port = told.rpartition(":")
    return host, int(port)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_it_tells_where_it_listens_and_a_signal_ends_it(ending: signal.Signals) -> None:
    with start("--port", "0") as process:
        address = listening(process)
        with socket.create_connection(address, timeout=LIMIT_S):
            process.send_signal(ending)
            assert process.wait(LIMIT_S) == 0
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)


def test_it_listens_at_the_host_that_it_is_given_and_nowhere_else() -> None:
    with start("--host", "127.0.0.3", "--port", "0") as process:
        host, port = listening(process)
        assert host == "127.0.0.3"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        process.terminate()


def test_it_ends_with_its_parents_pipe() -> None:
    with start("--port", "0", "--with-parent", stdin=subprocess.PIPE) as process:
        listening(process)
        assert process.stdin is not None
        process.stdin.write("what is said means nothing\n")
        process.stdin.flush()
        process.stdin.close()
        assert process.wait(LIMIT_S) == 0


def test_it_ends_when_its_parent_is_killed() -> None:
    """A parent that has no time to close anything: the kernel closes its pipe."""
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-m', 'faults.proxy', '--port', '0',"
        " '--with-parent'], stdin=subprocess.PIPE)\n"
        "child.wait()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )
    address = listening(parent)
    with socket.create_connection(address, timeout=LIMIT_S) as conversation:
        parent.kill()
        assert conversation.recv(1) == b""
    parent.communicate(timeout=LIMIT_S)


def test_it_outlives_its_standard_input_when_nobody_asked_it_not_to() -> None:
    with start("--port", "0", stdin=subprocess.DEVNULL) as process:
        with socket.create_connection(listening(process), timeout=LIMIT_S) as conversation:
            conversation.sendall(b"GET /version HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            assert conversation.recv(100).startswith(b"HTTP/1.1 200 OK")
        process.terminate()


def test_a_port_in_use_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        with start("--port", str(busy.getsockname()[1])) as process:
            said, error = process.communicate(timeout=LIMIT_S)
        assert (process.returncode, said) == (1, "")
        assert re.fullmatch(
            r"cannot listen at 127\.0\.0\.1:\d+: .*address already in use.*\n", error
        )


def test_a_parent_that_cannot_be_watched_is_said() -> None:
    with start("--port", "0", "--with-parent", stdin=subprocess.DEVNULL) as process:
        _, error = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 2
    assert "--with-parent needs a pipe" in error


def test_it_allows_itself_as_many_connections_as_it_may() -> None:
    with start("--port", "0") as process:
        listening(process)
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        found = re.search(r"Max open files +(\d+) +(\d+)", limits)
        assert found is not None
        assert found[1] == found[2]
        process.terminate()


def test_it_imports_nothing_beyond_the_standard_library() -> None:
    program = (
        "import sys, faults.proxy.__main__\n"
        "ours = {'faults'}\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " - set(sys.stdlib_module_names) - ours - {'__main__'}))\n"
    )
    said = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "[]"
