"""Holds `silence` against a stall whose length the proxy itself tells (docs/verdicts.md 7.2).

usage: python tests/benchmarks/silence_calibration.py [--runs 10] [--results DIR]
A `bandwidth 0` stall of 2 s in front of a publisher at 500 publishes a second, deadline 10 s. The
stall lasts from the proxy's answer to `add` until its answer to `remove`. Prints both numbers and
their difference for every run; the goal is at most 20 ms.
"""

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq

SCENARIO = Path(__file__).with_name("silence.toml")
GOAL_MS = 20.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--results", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        results = options.results or Path(scratch)
        words = ["run", str(SCENARIO), "--repeats", str(options.runs), "--results", str(results)]
        subprocess.run([sys.executable, "-m", "harness", *words], check=False)
        experiment = max(results.iterdir(), key=lambda folder: folder.name)
        return _compare(experiment)


def _compare(experiment: Path) -> int:
    marts = ds.dataset(experiment / "marts" / "availability").to_table().to_pylist()
    worst = 0.0
    print(f"{'run':32} {'stall ms':>10} {'silence ms':>10} {'difference':>10}")
    for folder in sorted((experiment / "runs").iterdir()):
        if not (folder / "raw" / "faults.parquet").exists():
            print(f"{folder.name:32} not measured: see its manifest")
            worst = math.inf
            continue
        stall_ms = _stall_ms(folder)
        silence_ms = next(
            row["silence_ns"] / 1e6
            for row in marts
            if (row["run"], row["window"], row["queue"]) == (folder.name, 1, "")
        )
        worst = max(worst, abs(silence_ms - stall_ms))
        print(
            f"{folder.name:32} {stall_ms:10.1f} {silence_ms:10.1f} {silence_ms - stall_ms:10.1f}"
        )
    print(f"largest difference {worst:.1f} ms, goal {GOAL_MS:g} ms")
    return 0 if worst <= GOAL_MS else 1


def _stall_ms(folder: Path) -> float:
    """From the proxy's answer that it stalls to its answer that it does not any more."""
    rows = pq.read_table(folder / "raw" / "faults.parquet").to_pylist()
    at = {row["event"]: row["at_ns"] for row in rows}
    return float(at["undo_returned"] - at["returned"]) / 1e6


if __name__ == "__main__":
    sys.exit(main())
