"""A node as a process: what becomes of it when something in it breaks."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from reference_impl.node.config import Config

ROOT = Path(__file__).parents[3]
LIMIT_S = 30.0
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


@pytest.mark.slow
def test_a_turn_that_breaks_ends_the_node_which_says_why(tmp_path: Path) -> None:
    config = Config(
        name="ref1",
        bind="127.0.0.1",
        data=str(tmp_path / "data"),
        cookie="what only these nodes know",
        peers={},
        founders=("ref1",),
        peer_port=0,
    )
    (tmp_path / "config").write_bytes(msgspec.json.encode(config))
    done = subprocess.run(
        [sys.executable, "-c", BROKEN, str(tmp_path / "config")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "LookupError: an unforeseen error"
