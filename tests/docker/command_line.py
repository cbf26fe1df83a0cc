"""`mqproof` as a process of its own, for tests that end or kill it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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


def failing(folder: Path, limit_s: float, *words: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Plays a suite of the incident, in which nothing that was confirmed may be lost; by client
    and publisher, what is reported of whose sends failed."""
    process = mqproof(folder, "run", "incident", *words)
    said, _ = process.communicate(timeout=limit_s)
    (experiment,) = (folder / "results").iterdir()
    verdict = json.loads((experiment / "verdict.json").read_text())
    for run in verdict["runs"]:
        assert run["judged"], said
        outcome = {claim["claim"]: claim["outcome"] for claim in run["claims"]}
        assert outcome["confirmed-is-delivered"] == "PASS", said
    return {
        (run["cell"]["client"], one["publisher"]): one
        for run in verdict["runs"]
        for one in run["failing"]
    }
