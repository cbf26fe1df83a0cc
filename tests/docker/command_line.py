"""`mqproof` as a process of its own, for tests that end or kill it."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
UP_LIMIT_S = 240.0


def mqproof(folder: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def read_until(process: "subprocess.Popen[str]", words: str) -> None:
    assert process.stdout is not None
    heard = []
    ends = time.monotonic() + UP_LIMIT_S
    for line in process.stdout:
        heard.append(line)
        if words in line:
            return
        assert time.monotonic() < ends, "".join(heard)
    raise AssertionError("".join(heard))
