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

from faults.proxy.__main__ import TOKEN
from faults.toxiproxy import TOKEN as TOKEN_OF_CALLERS
from faults.toxiproxy import Toxiproxy, ToxiproxyError

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[3]
LIMIT_S = 20.0


def start(*words: str, **options: Any) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "faults.proxy", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=REPOSITORY, **{**pipes, **options})


def listening(process: "subprocess.Popen[str]") -> tuple[str, int]:
    assert process.stdout is not None
    address = json.loads(process.stdout.readline())["listening"]
    host, _, port = address.rpartition(":")
    return host, int(port)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_the_proxy_prints_its_address_and_ends_by_signal(ending: signal.Signals) -> None:
    with start("--port", "0") as process:
        address = listening(process)
        with socket.create_connection(address, timeout=LIMIT_S):
            process.send_signal(ending)
            assert process.wait(LIMIT_S) == 0
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)


def test_the_proxy_listens_only_at_the_given_host() -> None:
    with start("--host", "127.0.0.3", "--port", "0") as process:
        host, port = listening(process)
        assert host == "127.0.0.3"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        process.terminate()


def test_the_proxy_ends_when_its_input_closes() -> None:
    with start("--port", "0", "--with-parent", stdin=subprocess.PIPE) as process:
        listening(process)
        assert process.stdin is not None
        process.stdin.write("what is said means nothing\n")
        process.stdin.flush()
        process.stdin.close()
        assert process.wait(LIMIT_S) == 0


def test_the_proxy_ends_when_its_parent_is_killed() -> None:
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


def test_without_with_parent_the_proxy_outlives_its_input() -> None:
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


def test_the_proxy_raises_its_limit_of_open_files() -> None:
    with start("--port", "0") as process:
        listening(process)
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        found = re.search(r"Max open files +(\d+) +(\d+)", limits)
        assert found is not None
        assert found[1] == found[2]
        process.terminate()


def test_the_proxy_imports_little_beyond_the_standard_library() -> None:
    """Every local cluster starts one: it must be up at once."""
    program = (
        "import sys\n"
        "before = {name.partition('.')[0] for name in sys.modules}\n"
        "import faults.proxy.__main__\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " - set(sys.stdlib_module_names) - before))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "['faults', 'h11']"


def said(process: "subprocess.Popen[str]", *fields: str) -> bytes:
    """The answer to a listener that is asked for, with these header fields."""
    body = b'{"name":"a","listen":"127.0.0.1:0","upstream":"127.0.0.1:1"}'
    head = [
        "POST /proxies HTTP/1.1",
        "Host: h",
        "Connection: close",
        f"Content-Length: {len(body)}",
    ]
    with socket.create_connection(listening(process), timeout=LIMIT_S) as conversation:
        conversation.sendall("\r\n".join([*head, *fields, "", ""]).encode() + body)
        return b"".join(iter(lambda: conversation.recv(1 << 16), b""))


@pytest.mark.parametrize(
    "fields",
    [(), ("Authorization: Bearer wrong",), ("Authorization: secret",), ("Authorization: Bearer",)],
)
def test_a_caller_without_the_token_reads_and_changes_nothing(
    fields: tuple[str, ...],
) -> None:
    with start("--port", "0", env={**os.environ, TOKEN: "secret"}) as process:
        answer = said(process, *fields)
        process.terminate()
    assert answer.startswith(b"HTTP/1.1 401 Unauthorized")
    assert answer.endswith(b"the token of this proxy is missing\n")


def test_a_request_with_the_token_is_served() -> None:
    with start("--port", "0", env={**os.environ, TOKEN: "secret"}) as process:
        assert said(process, "Authorization: Bearer secret").startswith(b"HTTP/1.1 201 Created")
        process.terminate()


def test_toxiproxys_client_brings_the_token_that_it_was_given() -> None:
    with start("--port", "0", env={**os.environ, TOKEN: "secret"}) as process:
        host, port = listening(process)
        assert Toxiproxy(host, port, token="secret").version().endswith("embedded")
        with pytest.raises(ToxiproxyError, match=r"401: the token of this proxy is missing"):
            Toxiproxy(host, port).version()
        process.terminate()


@pytest.mark.parametrize("listen", ["0.0.0.0:0", ":0", "[::]:0", "", "192.0.2.1:4000"])
def test_a_listener_that_others_could_reach_is_refused(listen: str) -> None:
    with start("--port", "0") as process:
        proxies = Toxiproxy(*listening(process))
        with pytest.raises(ToxiproxyError, match=r"500: listen tcp .*: not on loopback"):
            proxies.create("a", "127.0.0.1:1", listen)
        assert proxies.create("b", "127.0.0.1:1", "127.0.0.2:0").listen.startswith("127.0.0.2:")
        process.terminate()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "", "localhost"])
def test_its_own_api_is_on_loopback_or_nowhere(host: str) -> None:
    with start("--host", host, "--port", "0") as process:
        out, error = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, out) == (2, "")
    assert error == f"--host {host} is not on loopback: 127.0.0.1, ::1\n"


def test_the_proxy_and_its_callers_mean_the_same_variable() -> None:
    assert TOKEN == TOKEN_OF_CALLERS
