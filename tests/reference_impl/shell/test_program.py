"""A node as a process: what becomes of it when something in it breaks."""

import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from reference_impl.node.config import Config

ROOT = Path(__file__).parents[3]
LIMIT_S = 30.0
FREE = {"amqp_port": 0, "api_port": 0, "peer_port": 0}
BROKEN = """
import asyncio, sys
from reference_impl.node.config import parsed
from reference_impl.node.node import Node
from reference_impl.shell.program import run

def broken(node):
    raise LookupError("an unforeseen error")

Node.run = broken
with open(sys.argv[1], "rb") as config:
    sys.exit(asyncio.run(run(parsed(config.read()), False)))
"""


def run_node(
    folder: Path, *program: str, ports: Mapping[str, int] = FREE
) -> subprocess.CompletedProcess[str]:
    config = Config(
        name="ref1",
        bind="127.0.0.1",
        data=str(folder / "data"),
        cookie="what only these nodes know",
        peers={},
        founders=("ref1",),
        **ports,
    )
    (folder / "config").write_bytes(msgspec.json.encode(config))
    return subprocess.run(
        [sys.executable, *program, str(folder / "config")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )


@pytest.mark.slow
def test_a_turn_that_breaks_ends_the_node_which_says_why(tmp_path: Path) -> None:
    done = run_node(tmp_path, "-c", BROKEN)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "LookupError: an unforeseen error"


@pytest.mark.slow
@pytest.mark.parametrize("name", FREE)
def test_a_node_whose_port_is_taken_ends_in_one_line(name: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ports = {**FREE, name: other.getsockname()[1]}
        done = run_node(tmp_path, "-m", "reference_impl", "node", ports=ports)
    assert done.returncode == 1
    where = f"ref1 cannot listen on 127.0.0.1:{ports[name]}: another program uses this port"
    assert re.fullmatch(
        rf"{re.escape(where)}; expected: .* choose another port\..*\n", done.stderr
    )


@pytest.mark.slow
def test_a_name_server_whose_port_is_taken_ends_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        config = tmp_path / "namesrv.conf"
        config.write_text(f"listenPort={port}\nbindAddress=127.0.0.1\n")
        done = subprocess.run(
            [sys.executable, "-m", "reference_impl", "name-server", str(config)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    assert done.returncode == 1
    where = f"This server cannot listen on 127.0.0.1:{port}: another program uses this port; "
    assert done.stderr.startswith(where) and done.stderr.count("\n") == 1
