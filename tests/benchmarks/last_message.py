"""How long a verdict takes when all is played: from the end of load, from the last log's close.

    python -m tests.benchmarks.last_message [WORDS OF `mqproof run` ...]

Without words: master-crash on the reference. On a quiet machine; the first start of Spark of an
environment writes what later ones read (docs/spark.md), so it is the second one that counts.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

USUAL = ("master-crash", "--system", "reference-mirrored", "--seed", "7")
STEPS = ("start Spark: ", "judge the runs: ", "tear the cluster down: ")
VERDICT = "verdict: "
_NS = 1e9


def main() -> None:
    words = sys.argv[1:] or USUAL
    with tempfile.TemporaryDirectory() as results:
        command = [sys.executable, "-m", "harness", "run", *words, "--results", results]
        at_ns = _verdict_ns(command)
        for path in sorted(Path(results).glob("*/runs/*/manifest.json")):
            manifest = json.loads(path.read_text())
            phases, origin_ns = manifest["phases_ns"], manifest["origin_wall_ns"]
            over_s = (at_ns - origin_ns - phases["drain"]) / _NS
            closed_s = (at_ns - origin_ns - phases["finished"]) / _NS
            print(
                f"{path.parent.name}: {over_s:.1f} s after the load, {closed_s:.1f} s after logs"
            )


def _verdict_ns(command: list[str]) -> int:
    """By the clock of the day, as manifests tell when their runs began."""
    at_ns = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if line.startswith(STEPS):
                print(line.strip())
            if line.startswith(VERDICT):
                at_ns = time.time_ns()
    assert at_ns, f"no verdict: exit code {run.returncode}"
    return at_ns


if __name__ == "__main__":
    main()
